/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/cli/commands.h"
#include "certify/diagnose/classes.h"
#include "certify/plan/requirement.h"

/* The name of a verdict, in capitals. 1 if it is one. */
static int explain_verdict(const char *name) {
    static const char *const meanings[ATTEST_VERDICTS] = {
        [ATTEST_PASS] = "what the check asks for held",
        [ATTEST_FAIL] = "it did not; the case can be replayed and shrunk",
        [ATTEST_VERDICT_UNSUPPORTED] = "outside what the kernel declares; not held against it",
        [ATTEST_ERROR] = "the kernel answered with an error, or attest could not go on",
        [ATTEST_CRASH] = "the kernel ended its process",
        [ATTEST_TIMEOUT] = "the call took longer than --call-time",
        [ATTEST_WAIVED] = "failed, and --waivers accepts it",
        [ATTEST_MISTRUSTED] = "passed, but a wrong kernel would have passed too: counts for nothing",
        [ATTEST_OUT_OF_DOMAIN] = "ran where the kernel's model promises nothing",
        [ATTEST_NOT_RUN] = "the run ended before it",
    };
    for (int v = 0; v < ATTEST_VERDICTS; v++) {
        if (strcmp(name, attest_verdict_name((attest_verdict)v)) == 0) {
            printf("%s: %s\n", name, meanings[v]);
            return 1;
        }
    }
    return 0;
}

static int explain_class(const char *text) {
    char *end = NULL, name[24];
    const long number = strtol(text, &end, 10);
    const char *title = end != text && *end == '\0' && number > 0 && number < 1000
                            ? attest_class_title((int)number)
                            : NULL;
    if (title == NULL) {
        return 0;
    }
    const int length = snprintf(name, sizeof name, "%ld", number); /* "007" is 7 in the lists */
    printf("class %s: %s\nchecks:", name, title);
    const attest_check *check;
    for (int i = 0; (check = attest_check_at(i)) != NULL; i++) {
        if (attest_has_word(check->classes, ' ', name, (size_t)length)) {
            printf(" %s", check->name);
        }
    }
    printf("\n");
    return 1;
}

int attest_command_explain(const attest_settings *s) {
    const attest_check *check = attest_check_find(s->words[0]);
    if (explain_verdict(s->words[0]) || explain_class(s->words[0])) {
        return 0;
    }
    if (check != NULL) {
        printf("%s: %s\nrequirements: %s\nbug classes: %s\ncatalogue: %s\n", check->name,
               check->sentence, check->requirements, check->classes, check->catalogue);
        return 0;
    }
    const attest_requirement *r = attest_requirement_at(attest_requirement_index(s->words[0]));
    if (r == NULL) {
        return attest_trouble("no requirement, check, verdict or bug class has this name");
    }
    printf("%s %s\n\n%s\n\nchecks:", r->id, r->title, r->text);
    for (int i = 0; (check = attest_check_at(i)) != NULL; i++) {
        if (strstr(check->requirements, r->id) != NULL) {
            printf(" %s", check->name);
        }
    }
    printf("\n");
    return 0;
}
