/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/result/waiver.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "certify/result/text.h"

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static int is_date(const char *text) {
    int year, month, day, used = 0;
    return sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 && used == 10 &&
           text[used] == '\0' && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static int expired(const json_t *waiver, time_t now) {
    const char *date = text_of(waiver, "expires");
    char today[16];
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(today, sizeof today, "%Y-%m-%d", &parts);
    return date != NULL && strcmp(today, date) > 0;
}

static int matches(const json_t *waiver, const char *kernel, const attest_entry *entry) {
    const attest_requirement *broken = attest_requirement_at(entry->result.broken);
    const char *const facts[][2] = {{"kernel", kernel},
                                    {"case", entry->id},
                                    {"check", entry->check},
                                    {"requirement", broken != NULL ? broken->id : ""}};
    for (int i = 0; i < 4; i++) {
        const char *wanted = text_of(waiver, facts[i][0]);
        if (wanted != NULL && strcmp(wanted, facts[i][1]) != 0) {
            return 0;
        }
    }
    return 1;
}

/* What is wrong with a waiver; NULL if nothing is. */
static const char *fault(const json_t *waiver) {
    static const char *const known[] = {"kernel", "case",    "check", "requirement",
                                        "reason", "expires", "link"};
    const char *key;
    json_t *value;
    if (!json_is_object(waiver)) {
        return "is not an object";
    }
    json_object_foreach((json_t *)(uintptr_t)waiver, key, value) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && strcmp(key, known[i]) != 0) {
            i++;
        }
        if (i == sizeof known / sizeof *known || !json_is_string(value)) {
            return "has a member that is none of kernel, case, check, requirement, reason, link, "
                   "expires, or is no text";
        }
    }
    const char *requirement = text_of(waiver, "requirement"), *date = text_of(waiver, "expires");
    if (text_of(waiver, "reason") == NULL ||
        !(text_of(waiver, "case") || text_of(waiver, "check") || requirement)) {
        return "needs a reason and a case, check or requirement";
    }
    if (requirement != NULL && attest_requirement_index(requirement) < 0) {
        return "names a requirement that does not exist";
    }
    return date != NULL && !is_date(date) ? "has an \"expires\" that is no YYYY-MM-DD" : NULL;
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
        const char *what = index < ATTEST_MOST_WAIVERS ? fault(waiver) : "is one too many";
        if (what != NULL) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "waivers: entry %zu %s", index + 1, what);
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static attest_waiver *note(const json_t *waiver, time_t now, attest_report *report) {
    static const char *const scopes[] = {"kernel", "case", "check", "requirement"};
    attest_waiver *noted = &report->waivers[report->waiver_count++];
    size_t used = 0;
    *noted = (attest_waiver){.expired = expired(waiver, now)};
    for (int i = 0; i < 4; i++) {
        const char *value = text_of(waiver, scopes[i]);
        if (value != NULL && used < sizeof noted->scope) {
            char part[64];
            attest_text_copy(part, sizeof part, value);
            used += (size_t)snprintf(noted->scope + used, sizeof noted->scope - used, "%s%s %s",
                                     used > 0 ? ", " : "", scopes[i], part);
        }
    }
    attest_text_copy(noted->reason, sizeof noted->reason, text_of(waiver, "reason"));
    attest_text_copy(noted->link, sizeof noted->link, text_of(waiver, "link"));
    attest_text_copy(noted->expires, sizeof noted->expires, text_of(waiver, "expires"));
    return noted;
}

void attest_waive(const json_t *waivers, time_t now, attest_report *report) {
    size_t index;
    const json_t *waiver;
    report->waiver_count = 0;
    json_array_foreach(waivers, index, waiver) {
        attest_waiver *noted = note(waiver, now, report);
        for (size_t i = 0; !noted->expired && i < report->count; i++) {
            attest_entry *entry = &report->entries[i];
            if (attest_verdict_is_bad(entry->result.verdict) &&
                matches(waiver, report->kernel.name, entry)) {
                char link[64];
                attest_text_copy(link, sizeof link, noted->link);
                snprintf(entry->waiver, sizeof entry->waiver, "%s%s%s", noted->reason,
                         link[0] ? " " : "", link);
                entry->result.verdict = ATTEST_WAIVED;
                noted->cases++;
            }
        }
    }
}
