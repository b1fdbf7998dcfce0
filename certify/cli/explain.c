/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/cli/commands.h"
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
        [ATTEST_MISTRUSTED] =
            "passed, but a wrong kernel would have passed too: counts for nothing",
        [ATTEST_OUT_OF_DOMAIN] = "ran where the kernel's model promises nothing",
        [ATTEST_NOT_RUN] = "the run ended before it",
        [ATTEST_NOT_APPLICABLE] =
            "cannot be asked of a kernel behind a program or Python; the certificate says so",
    };
    for (int v = 0; v < ATTEST_VERDICTS; v++) {
        if (strcmp(name, attest_verdict_name((attest_verdict)v)) == 0) {
            printf("%s: %s\n", name, meanings[v]);
            return 1;
        }
    }
    return 0;
}

static int names(const attest_check *check, int bug_class) {
    for (int i = 0; i < ATTEST_MOST_OF_A_CHECK && check->classes[i] != CLASS_NONE; i++) {
        if (check->classes[i] == bug_class) {
            return 1;
        }
    }
    return 0;
}

static int explain_class(const char *text) {
    char *end = NULL;
    const long number = strtol(text, &end, 10);
    const attest_bug_class *c = end != text && *end == '\0' && number < ATTEST_CLASSES
                                    ? attest_class_at((int)number)
                                    : NULL;
    if (c == NULL) {
        return 0;
    }
    printf("class %ld: %s\n\n%s\n\nseen in:\n", number, c->title, c->definition);
    for (const char *line = c->examples; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        printf("  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    printf("\nchecks:");
    const attest_check *check;
    for (int i = 0; (check = attest_check_at(i)) != NULL; i++) {
        if (names(check, (int)number)) {
            printf(" %s", check->name);
        }
    }
    printf("\n");
    return 1;
}

static void explain_check(const attest_check *check) {
    printf("%s: %s\nrequirements: %s\nbug classes:", check->name, check->sentence,
           check->requirements);
    for (int i = 0; i < ATTEST_MOST_OF_A_CHECK && check->classes[i] != CLASS_NONE; i++) {
        printf(" %d", check->classes[i]);
    }
    printf("\ncatalogue: %s\n", check->catalogue);
}

int attest_command_explain(const attest_settings *s) {
    const attest_check *check = attest_check_find(s->words[0]);
    if (explain_verdict(s->words[0]) || explain_class(s->words[0])) {
        return 0;
    }
    if (check != NULL) {
        explain_check(check);
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
