/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/result/waiver.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "certify/result/text.h"

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static int expired(const json_t *waiver) {
    const char *date = text_of(waiver, "expires");
    char today[16];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(today, sizeof today, "%Y-%m-%d", &parts);
    return date != NULL && strcmp(today, date) > 0;
}

static int matches(const json_t *waiver, const attest_entry *entry) {
    const char *id = text_of(waiver, "case"), *check = text_of(waiver, "check");
    const char *requirement = text_of(waiver, "requirement");
    const attest_requirement *broken = attest_requirement_at(entry->result.broken);
    return (id == NULL || strcmp(id, entry->id) == 0) &&
           (check == NULL || strcmp(check, entry->check) == 0) &&
           (requirement == NULL || (broken != NULL && strcmp(requirement, broken->id) == 0));
}

static int usable(const json_t *waiver) {
    return json_is_object(waiver) && text_of(waiver, "reason") != NULL &&
           (text_of(waiver, "case") || text_of(waiver, "check") || text_of(waiver, "requirement"));
}

json_t *attest_waivers_load(const char *path, char why[ATTEST_MESSAGE_BYTES]) {
    json_error_t error;
    json_t *list = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    size_t index;
    json_t *waiver;
    if (!json_is_array(list)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "waivers: %.60s is not a list: %.120s", path,
                 list ? "" : error.text);
        json_decref(list);
        return NULL;
    }
    json_array_foreach(list, index, waiver) {
        if (!usable(waiver)) {
            snprintf(why, ATTEST_MESSAGE_BYTES,
                     "waivers: entry %zu needs a reason and a case, check or requirement",
                     index + 1);
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

void attest_waive(const json_t *waivers, attest_report *report) {
    size_t index;
    const json_t *waiver;
    json_array_foreach(waivers, index, waiver) {
        for (size_t i = 0; !expired(waiver) && i < report->count; i++) {
            attest_entry *entry = &report->entries[i];
            if (attest_verdict_is_bad(entry->result.verdict) && matches(waiver, entry)) {
                char reason[192], link[sizeof entry->waiver - sizeof reason];
                attest_text_copy(reason, sizeof reason, text_of(waiver, "reason"));
                attest_text_copy(link, sizeof link, text_of(waiver, "link"));
                snprintf(entry->waiver, sizeof entry->waiver, "%s%s%s", reason,
                         link[0] ? " " : "", link);
                entry->result.verdict = ATTEST_WAIVED;
            }
        }
    }
}
