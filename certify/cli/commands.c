/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "certify/diagnose/causes.h"
#include "certify/diagnose/suspect.h"
#include "certify/result/text.h"
#include "certify/result/waiver.h"
#include "certify/run/discover.h"

int attest_trouble(const char *why) {
    char clean[4 * ATTEST_MESSAGE_BYTES];
    attest_text_copy(clean, sizeof clean, why); /* it may quote a file */
    fprintf(stderr, "attest: %s\n", clean);
    return ATTEST_EXIT_TROUBLE;
}

/* Asked of the system, which knows every reason why not. What exists is not opened: the reader of a
 * pipe would see its writer leave. */
static int writable(const char *path) {
    struct stat found;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        close(file);
        return unlink(path) == 0;
    }
    if (errno != EEXIST) {
        return 0;
    }
    if (stat(path, &found) != 0) {
        return errno == ENOENT; /* a link to what is not there yet */
    }
    return !S_ISDIR(found.st_mode) && access(path, W_OK) == 0;
}

/* The folder of a path, as the system knows it, and the name in it. 0 if there is none. */
static int folder_of(const char *path, struct stat *folder, const char **name) {
    char text[ATTEST_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    snprintf(text, sizeof text, "%.*s", slash != NULL ? (int)(*name - path) : 1,
             slash != NULL ? path : ".");
    return stat(text, folder) == 0;
}

static int same_file(const char *a, const char *b) {
    struct stat first, second;
    const char *one, *other;
    if (a == NULL || b == NULL) {
        return 0;
    }
    if (stat(a, &first) != 0 || stat(b, &second) != 0) { /* at least one is still to be made */
        return folder_of(a, &first, &one) && folder_of(b, &second, &other) &&
               first.st_dev == second.st_dev && first.st_ino == second.st_ino &&
               strcmp(one, other) == 0;
    }
    return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static const char *view_path(const attest_settings *s, int view) {
    const char *const paths[ATTEST_VIEWS] = {
        [ATTEST_VIEW_JSON] = s->json,         [ATTEST_VIEW_JUNIT] = s->junit,
        [ATTEST_VIEW_HTML] = s->html,         [ATTEST_VIEW_SARIF] = s->sarif,
        [ATTEST_VIEW_MARKDOWN] = s->markdown, [ATTEST_VIEW_BADGE] = s->badge,
    };
    return paths[view];
}

int attest_files_ready(attest_settings *s, char why[ATTEST_MESSAGE_BYTES]) {
    enum { FILES = ATTEST_VIEWS + 3, READ = 3 };
    const char *const read[READ] = {s->waiver_file, s->sign, s->profile_name};
    const char *files[FILES][2] = {[ATTEST_VIEWS] = {"--output", s->output},
                                   {"--bundle", s->bundle},
                                   {"--statement", s->statement}};
    for (int view = 0; view < ATTEST_VIEWS; view++) {
        files[view][0] = attest_view_options[view];
        files[view][1] = view_path(s, view);
    }
    for (int i = 0; i < FILES; i++) {
        const char *option = files[i][0], *path = files[i][1];
        if (path != NULL && !writable(path)) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "%s: %.160s cannot be written", option, path);
            return 0;
        }
        for (int k = 0; k < i; k++) {
            if (same_file(files[k][1], path)) {
                snprintf(why, ATTEST_MESSAGE_BYTES, "%s and %s name one file, %.160s", files[k][0],
                         option, path);
                return 0;
            }
        }
        for (int word = 0; word < s->word_count + READ; word++) {
            if (same_file(path, word < READ ? read[word] : s->words[word - READ])) {
                snprintf(why, ATTEST_MESSAGE_BYTES, "%s: %.160s would be overwritten", option,
                         path);
                return 0;
            }
        }
    }
    s->waivers = s->waiver_file != NULL ? attest_waivers_load(s->waiver_file, why) : NULL;
    return s->waiver_file == NULL || s->waivers != NULL;
}

int attest_deliver(attest_report *report, const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES];
    attest_suspect(report);
    attest_causes_find(report);
    const attest_certificate c = attest_certificate_of(report);
    const attest_style style = attest_style_of_terminal();
    attest_report_text(stdout, report, &c, &style);
    fflush(stdout);
    for (int view = 0; view < ATTEST_VIEWS; view++) {
        const char *path = view_path(s, view);
        if (path != NULL && !attest_view_write((attest_view_kind)view, path, report, &c, why)) {
            return attest_trouble(why);
        }
    }
    if (c.certified && s->require_full && c.restricted[0] != '\0') {
        printf("--require full: a restricted certificate does not count\n");
        return ATTEST_EXIT_NOT_CERTIFIED;
    }
    return c.certified ? ATTEST_EXIT_CERTIFIED : ATTEST_EXIT_NOT_CERTIFIED;
}

static attest_plan plan_beside(const attest_settings *s, const attest_setup *setup,
                               attest_level level, const attest_boundaries *boundaries) {
    return (attest_plan){.level = level,
                         .seed = s->seed,
                         .kernel = &setup->kernel,
                         .profile = setup->profile,
                         .boundaries = boundaries};
}

/* Of a budget, what looking for boundaries may take. */
#define DISCOVERY_SHARE 0.15

/* Boundaries are looked for each time: a case of a kernel has its id in every command. */
static attest_plan plan_for(const attest_settings *s, const attest_setup *setup, attest_level level,
                            attest_boundaries *boundaries) {
    const double share =
        s->budget_seconds > 0 ? attest_clock() + DISCOVERY_SHARE * s->budget_seconds : 0;
    const double limit = attest_run_until(s);
    attest_discover(setup, level, share == 0 || (limit > 0 && limit < share) ? limit : share,
                    s->first_failure, boundaries);
    return plan_beside(s, setup, level, boundaries);
}

int attest_command_certify(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    attest_setup setup;
    attest_report report = {0};
    attest_recorder *recorder = NULL;
    printf("attest %s certify %s, level %s, seed %llu\n", ATTEST_SUITE_VERSION, s->words[0],
           attest_level_name(s->level), (unsigned long long)s->seed);
    fflush(stdout);
    int opened = attest_setup_open(&setup, s, s->words[0], &report, why);
    int code = ATTEST_EXIT_TROUBLE;
    if (opened < 0) {
        code = attest_deliver(&report, s);
    } else if (opened == 0) {
        attest_trouble(why);
    } else {
        const double loaded = attest_clock();
        attest_plan plan = plan_for(s, &setup, s->level, &report.boundaries);
        report.spent.load = loaded - s->began;
        report.spent.discovery = attest_clock() - loaded;
        if (!attest_plan_make(&plan, NULL)) {
            attest_trouble("not enough memory");
        } else if (!attest_evidence_begin(&setup, s, &recorder, why) ||
                   !attest_run(&setup, s, &plan, &report, why)) {
            attest_trouble(why);
        } else {
            const double limit = attest_run_until(s);
            if (limit == 0 || attest_clock() < limit) {
                attest_fingerprint(&setup, s, &report);
            }
            code = attest_deliver(&report, s);
            if (!attest_evidence_end(&setup, s, recorder, &report, why)) {
                code = attest_trouble(why);
            }
            recorder = NULL;
        }
        if (recorder != NULL) {
            attest_recorder_close(recorder, json_object(), 0, NULL);
        }
        attest_plan_free(&plan);
    }
    attest_setup_close(&setup);
    attest_report_free(&report);
    return code;
}

int attest_case_named(const char *word, const attest_settings *s, const attest_setup *setup,
                      attest_case *c, char why[ATTEST_MESSAGE_BYTES]) {
    if (strchr(word, '=') != NULL) {
        return attest_case_parse(c, word, why);
    }
    int found = 0;
    /* The level that was named first; the exhaustive one only then, since its plan takes a while */
    const attest_level levels[] = {s->level, ATTEST_SMOKE, ATTEST_QUICK, ATTEST_FULL};
    for (int turn = 0; turn < 8 && !found; turn++) { /* most cases need no look for boundaries */
        attest_boundaries boundaries = {.count = 0};
        const attest_level level = levels[turn % 4];
        attest_plan plan = turn < 4 ? plan_beside(s, setup, level, &boundaries)
                                    : plan_for(s, setup, level, &boundaries);
        attest_plan_make(&plan, NULL);
        for (size_t i = 0; i < plan.count && !found; i++) {
            if (strcmp(plan.cases[i].id, word) == 0) {
                *c = plan.cases[i].c;
                found = 1;
            }
        }
        attest_plan_free(&plan);
    }
    if (!found) {
        snprintf(why, ATTEST_MESSAGE_BYTES,
                 "no case of this kernel has the id %.20s (another --seed or --profile?)", word);
    }
    return found;
}

int attest_command_replay(const attest_settings *s) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    attest_setup setup;
    attest_report report = {0};
    attest_entry entry = {.result = {.verdict = ATTEST_NOT_RUN}};
    attest_case c;
    int code = ATTEST_EXIT_TROUBLE;
    int opened = attest_setup_open(&setup, s, s->words[1], &report, why);
    const attest_check *check = NULL;
    if (opened < 0) {
        attest_trouble(report.load_error);
    } else if (opened == 0 || !attest_case_named(s->words[0], s, &setup, &c, why)) {
        attest_trouble(why);
    } else if ((check = attest_check_find(c.check)) == NULL) {
        attest_trouble("the case's check does not exist");
    } else {
        attest_run_case(setup.first, check, &c, &entry.result);
        attest_case_id(&c, entry.id);
        memcpy(entry.check, c.check, sizeof entry.check);
        attest_case_print(&c, entry.line);
        if (strchr(s->words[0], '=') != NULL) {
            report.level[0] = '\0'; /* of no plan: no plan has its id */
        }
        const attest_style style = attest_style_of_terminal();
        attest_failure_text(stdout, &report, &entry, &style);
        code = attest_verdict_is_bad(entry.result.verdict) ? ATTEST_EXIT_NOT_CERTIFIED
                                                           : ATTEST_EXIT_CERTIFIED;
    }
    attest_result_free(&entry.result);
    attest_setup_close(&setup);
    return code;
}

static int list_cases(const attest_settings *s, const char *target) {
    char why[ATTEST_MESSAGE_BYTES] = "", line[ATTEST_LINE_BYTES];
    attest_setup setup;
    attest_report report = {0};
    int opened = attest_setup_open(&setup, s, target, &report, why);
    if (opened == 1) {
        attest_plan plan = plan_for(s, &setup, s->level, &report.boundaries);
        attest_plan_make(&plan, NULL);
        for (size_t i = 0; i < plan.count; i++) {
            attest_case_print(&plan.cases[i].c, line);
            printf("%s %s\n", plan.cases[i].id, line);
        }
        attest_plan_free(&plan);
    }
    attest_setup_close(&setup);
    return opened == 1 ? 0 : attest_trouble(opened < 0 ? report.load_error : why);
}

int attest_command_list(const attest_settings *s) {
    const char *what = s->word_count > 0 ? s->words[0] : "checks";
    if (strcmp(what, "cases") == 0 && s->word_count == 2) {
        return list_cases(s, s->words[1]);
    }
    if (strcmp(what, "checks") != 0) {
        return attest_trouble("list takes checks, or cases and a target");
    }
    const attest_check *check;
    for (int i = 0; (check = attest_check_at(i)) != NULL; i++) {
        printf("%-16s %-11s %-18s %s\n", check->name, check->structural ? "structural" : "numeric",
               check->catalogue, check->sentence);
    }
    return 0;
}
