/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe - looks at one kernel on given problems, without the program `attest` and apart from it:
 * the mutants must be wrong where their table says so before anybody counts who finds them.
 *
 *   probe [-o WORDS] KERNEL.so LINE...   one output line each: what it broke, or "agrees"
 *   probe [-o WORDS] KERNEL.so - < LINES
 *
 * -o runs the named checks alone, comma-separated. The words: descriptor (not well formed, or not
 * the same twice), value (outside the oracle's interval), lse (likewise), hull (no mean of visible
 * values), dirty (depends on what outputs or workspace held, or left something unwritten), gaps
 * (wrote between elements), hidden (a key that a row does not see changes it), rows (another row's
 * q does), repeat, history, threads, batch, chunk, together (concurrent calls), environment, refuse
 * (unknown fields), supports, unseen (touched a key that nobody sees), late (wrote after it
 * returned), status, fault (signal), hang.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl/wrong/mutants/checks.h"

static const struct {
    const char *name;
    probe_check run;
} checks[] = {
    {"descriptor", probe_descriptor},
    {"value", probe_value},
    {"lse", probe_lse},
    {"dirty", probe_dirty},
    {"hull", probe_hull},
    {"gaps", probe_gaps},
    {"hidden", probe_hidden},
    {"rows", probe_rows},
    {"repeat", probe_repeat},
    {"history", probe_history},
    {"threads", probe_threads},
    {"batch", probe_batch},
    {"chunk", probe_chunk},
    {"together", probe_together},
    {"environment", probe_environment},
    {"refuse", probe_refuse},
    {"supports", probe_supports},
    {"unseen", probe_unseen},
    {"late", probe_late},
};
enum { CHECKS = sizeof checks / sizeof checks[0], SECONDS = 10 };
enum { AGREES, BROKEN, REFUSED, NOT_RUN }; /* how a child ends */

/* Runs in a child: 0, 1, or a status that is not OK. */
static int child(const char *path, int number, const char *line) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const attest_kernel *(*entry)(uint32_t) = NULL;
    if (object) {
        *(void **)&entry = dlsym(object, "attest_kernel_v1");
    }
    if (!entry) {
        fprintf(stderr, "%s: %s\n", path, dlerror());
        return NOT_RUN;
    }
    alarm(SECONDS);
    probe p = {.kernel = entry(ATTEST_ABI_VERSION), .line = line, .entry = entry};
    char why[ATTEST_MESSAGE_BYTES] = "";
    int broken = 0;
    for (int at_start = 0; at_start < 2 && !broken && !p.refused; at_start++) {
        trial t;
        if (!trial_build(&t, line, at_start, why) ||
            !trial_workspace(&t, p.kernel->workspace_bytes(&t.p))) {
            fprintf(stderr, "%s: %s\n", line, why);
            return NOT_RUN;
        }
        trial_dirty(&t, 0xff); /* NaN in every type */
        broken = checks[number].run(&p, &t);
        trial_free(&t);
    }
    return p.refused ? REFUSED : broken ? BROKEN : AGREES;
}

static int named(const char *words, const char *name) {
    size_t length = strlen(name);
    for (const char *at = words; at && (at = strstr(at, name)); at += length) {
        if ((at == words || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) {
            return 1;
        }
    }
    return words == NULL;
}

static int probe_line(const char *path, const char *line, const char *words) {
    int found = 0;
    for (int number = 0; number < CHECKS; number++) {
        if (!named(words, checks[number].name)) {
            continue;
        }
        pid_t pid = fork();
        if (pid == 0) {
            _exit(child(path, number, line));
        }
        int status = 0;
        if (pid < 0 || waitpid(pid, &status, 0) < 0) {
            perror("probe");
            exit(2);
        }
        const char *word = NULL;
        if (WIFSIGNALED(status)) {
            word = WTERMSIG(status) == SIGALRM ? "hang" : "fault";
        } else if (WEXITSTATUS(status) == NOT_RUN) {
            exit(2);
        } else if (WEXITSTATUS(status) != AGREES) {
            word = WEXITSTATUS(status) == REFUSED ? "status" : checks[number].name;
        }
        if (word) {
            printf("%s%s", found++ ? " " : "", word);
        }
        if (word && (strcmp(word, "hang") == 0 || strcmp(word, "status") == 0)) {
            break;
        }
    }
    puts(found ? "" : "agrees");
    fflush(stdout);
    return found;
}

int main(int argc, char **argv) {
    const char *words = NULL;
    if (argc > 2 && strcmp(argv[1], "-o") == 0) {
        words = argv[2];
        argv += 2;
        argc -= 2;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: probe [-o WORDS] KERNEL.so LINE... | -\n");
        return 2;
    }
    char line[512];
    int found = 0;
    if (strcmp(argv[2], "-") == 0) {
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\n")] = '\0';
            found += probe_line(argv[1], line, words) > 0;
        }
        return found > 0;
    }
    for (int at = 2; at < argc; at++) {
        found += probe_line(argv[1], argv[at], words) > 0;
    }
    return found > 0;
}
