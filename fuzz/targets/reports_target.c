/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report and a file of waivers, parted by a byte of 0. A report that is read is shown in every
 * view, written and read again: the certificate that follows from it must be the same.
 */
#include <stdio.h>
#include <string.h>

#include "certify/diagnose/causes.h"
#include "certify/diagnose/suspect.h"
#include "certify/report/print.h"
#include "certify/result/waiver.h"
#include "fuzz/core/fuzz_target.h"

void attest_fuzz_input(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t text = end ? (size_t)(end - data) : size;
    char why[ATTEST_MESSAGE_BYTES] = "", path[256], waivers[256];
    attest_report report, again;
    snprintf(path, sizeof path, "%s", attest_fuzz_file("report.json", data, text));
    snprintf(waivers, sizeof waivers, "%s",
             attest_fuzz_file("waivers.json", end ? end + 1 : NULL, end ? size - text - 1 : 0));
    if (!attest_report_load(path, &report, why)) {
        if (why[0] == '\0') {
            attest_fuzz_stop("report: refused without a reason");
        }
        return;
    }
    json_t *list = attest_waivers_load(waivers, why);
    attest_waive(list, 0, &report);
    json_decref(list);
    attest_suspect(&report);
    attest_causes_find(&report);
    const attest_certificate first = attest_certificate_of(&report);
    for (int view = ATTEST_VIEW_JUNIT; view < ATTEST_VIEWS; view++) {
        if (!attest_view_write((attest_view_kind)view, "/dev/null", &report, &first, why)) {
            attest_fuzz_stop("report: what was read cannot be shown: %s", why);
        }
    }
    if (!attest_view_write(ATTEST_VIEW_JSON, path, &report, &first, why)) {
        attest_fuzz_stop("report: what was read cannot be written: %s", why);
    }
    if (!attest_report_load(path, &again, why)) {
        attest_fuzz_stop("report: what was written is refused: %s", why);
    }
    const attest_certificate second = attest_certificate_of(&again);
    if (first.certified != second.certified || report.count != again.count) {
        attest_fuzz_stop("report: written and read again it says something else: %s / %s",
                         first.reason, second.reason);
    }
    attest_report_free(&report);
    attest_report_free(&again);
}
