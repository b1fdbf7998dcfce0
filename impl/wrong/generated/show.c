/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show - whether a generated kernel is wrong on given problems, without the program `attest` and
 * apart from it: nobody may count a kernel as missed, or as killed, before it is known to be wrong.
 *
 *   show BASE.so KERNEL.so < PROBLEMS
 *
 * A problem is one line of trial.h. Lines before it, separated by "|", are called first, each as
 * often as its field `times` says: a history. For each problem one word is printed, up to the first
 * that shows the kernel to be wrong:
 *   value   an output or LSE lies outside the oracle's interval
 *   repeat  the same call gives other bits the second time
 *   stray   memory was written that belongs to no output element
 *   fault   a signal
 *   slow    the problem took too long
 *   same    the bits of the base kernel
 *   near    other bits, but none of the above
 * Rows that differ from the base kernel's (which is the same code without a defect) are judged, up
 * to MOST_ROWS of them; a defect leaves the others alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reference/problem/convert.h"
#include "reference/oracle/model.h"
#include "reference/oracle/oracle.h"
#include "impl/wrong/mutants/trial.h"

enum { MOST_ROWS = 48, SECONDS = 30, LINE_BYTES = 4096 };

typedef enum word { SAME, NEAR, VALUE, REPEAT, STRAY, TROUBLE } word;
static const char *const words[] = {"same", "near", "value", "repeat", "stray"};

static const attest_kernel *open_kernel(const char *path) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const attest_kernel *(*entry)(uint32_t) = NULL;
    if (object) {
        *(void **)&entry = dlsym(object, "attest_kernel_v1");
    }
    if (!entry) {
        fprintf(stderr, "%s: %s\n", path, dlerror());
        _exit(TROUBLE);
    }
    return entry(ATTEST_ABI_VERSION);
}

static double *call(const attest_kernel *kernel, trial *t, size_t *n) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    trial_dirty(t, 0xff); /* NaN in every type */
    if (kernel->forward(&t->p, message) != ATTEST_OK) {
        fprintf(stderr, "%s: %s\n", t->line, message);
        _exit(TROUBLE);
    }
    return trial_results(&t->p, n);
}

static void build(trial *t, const char *line, int at_start, const attest_kernel *kernel) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    if (!trial_build(t, line, at_start, why) ||
        !trial_workspace(t, kernel->workspace_bytes(&t->p))) {
        fprintf(stderr, "%s: %s\n", line, why);
        _exit(TROUBLE);
    }
}

static int row_outside(const attn_normal *n, int64_t row, const double *got) {
    const int64_t dv = n->value_size, rows = n->batch * n->q_heads * n->queries;
    attn_enclosure *o = calloc((size_t)dv + 1, sizeof *o), lse;
    char message[ATTEST_MESSAGE_BYTES];
    int outside = 0;
    if (o && attn_oracle_row(n, attn_model_find("f32-strict"), row / n->queries / n->q_heads,
                             row / n->queries % n->q_heads, row % n->queries, o, &lse,
                             message) == ATTEST_OK) {
        for (int64_t c = 0; c < dv; c++) {
            outside |= attn_judge(&o[c], got[row * dv + c], NULL) == ATTN_OUTSIDE;
        }
        if (n->features & ATTEST_LSE) {
            outside |= attn_judge(&lse, got[rows * dv + row], NULL) == ATTN_OUTSIDE;
        }
    }
    free(o);
    return outside;
}

static int row_differs(const attn_normal *n, int64_t row, const double *a, const double *b) {
    const int64_t dv = n->value_size, rows = n->batch * n->q_heads * n->queries;
    int differs = (n->features & ATTEST_LSE) && !trial_same(a[rows * dv + row], b[rows * dv + row]);
    for (int64_t c = 0; c < dv && !differs; c++) {
        differs = !trial_same(a[row * dv + c], b[row * dv + c]);
    }
    return differs;
}

/* Bytes of the outputs' pages that belong to no element must have kept their pattern. */
static int strayed(trial *t) {
    attest_tensor *const outputs[] = {&t->p.o, &t->p.lse};
    for (int index = 0; index < 2; index++) {
        const attest_tensor *x = outputs[index];
        const trial_buffer *buffer = &t->buffer[8 + index];
        int64_t count = x->dtype ? 1 : 0;
        for (uint32_t axis = 0; axis < x->rank; axis++) {
            count *= x->shape[axis];
        }
        for (int64_t number = 0; number < count; number++) {
            int64_t at[ATTEST_MAX_RANK] = {0}, rest = number;
            for (int axis = (int)x->rank - 1; axis >= 0; axis--) {
                at[axis] = rest % x->shape[axis];
                rest /= x->shape[axis];
            }
            memset((void *)(uintptr_t)attn_element(x, at), 0xff,
                   (size_t)attn_dtype_bytes(x->dtype));
        }
        enum { PAGE = 4096 };
        for (size_t at = PAGE; buffer->map && at + PAGE < buffer->map_bytes; at++) {
            if (buffer->map[at] != 0xff) {
                return 1;
            }
        }
    }
    return 0;
}

static word judge(const attest_kernel *base, const attest_kernel *kernel, trial *t) {
    char message[ATTEST_MESSAGE_BYTES];
    attn_normal n;
    size_t count = 0;
    double *right = call(base, t, &count), *got = call(kernel, t, &count);
    if (strayed(t)) {
        return STRAY;
    }
    double *again = call(kernel, t, &count);
    if (!right || !got || !again ||
        attn_normalise(&n, &t->p, &attn_profile_attest, 0, message) != ATTEST_OK) {
        fprintf(stderr, "%s: no memory\n", t->line);
        _exit(TROUBLE);
    }
    const int64_t rows = n.batch * n.q_heads * n.queries;
    int64_t differing = 0, judged = 0;
    for (int64_t row = 0; row < rows; row++) {
        differing += row_differs(&n, row, right, got);
    }
    const int64_t step = differing / MOST_ROWS + 1;
    for (int64_t row = 0, seen = 0; row < rows; row++) {
        if (row_differs(&n, row, right, got) && seen++ % step == 0 && judged++ < MOST_ROWS &&
            row_outside(&n, row, got)) {
            return VALUE;
        }
    }
    for (size_t at = 0; at < count; at++) {
        if (!trial_same(got[at], again[at])) {
            return REPEAT;
        }
    }
    return differing > 0 ? NEAR : SAME;
}

static word in_child(const char *const paths[2], char *problem, int at_start) {
    const attest_kernel *base = open_kernel(paths[0]), *kernel = open_kernel(paths[1]);
    char *rest = NULL, *line = strtok_r(problem, "|", &rest), *next;
    alarm(SECONDS);
    for (; (next = strtok_r(NULL, "|", &rest)) != NULL; line = next) {
        trial t;
        char times[64] = "1";
        size_t count = 0;
        build(&t, line, at_start, kernel);
        trial_field(line, "times", times);
        for (long i = strtol(times, NULL, 10); i > 0; i--) {
            free(call(kernel, &t, &count));
        }
        trial_free(&t);
    }
    trial t;
    build(&t, line, at_start, kernel);
    return judge(base, kernel, &t);
}

/* Tensors that end at a fence first, then such as begin at one. */
static const char *verdict(const char *const paths[2], const char *problem) {
    const char *found = words[SAME];
    for (int at_start = 0; at_start < 2; at_start++) {
        pid_t pid = fork();
        if (pid == 0) {
            char copy[LINE_BYTES];
            snprintf(copy, sizeof copy, "%s", problem);
            _exit((int)in_child(paths, copy, at_start));
        }
        int status = 0;
        if (pid < 0 || waitpid(pid, &status, 0) < 0) {
            perror("show");
            exit(2);
        }
        if (WIFSIGNALED(status)) {
            return WTERMSIG(status) == SIGALRM ? "slow" : "fault";
        }
        if (WEXITSTATUS(status) >= TROUBLE) {
            exit(2);
        }
        found = words[WEXITSTATUS(status)];
        if (WEXITSTATUS(status) > NEAR) {
            break;
        }
    }
    return found;
}

int main(int argc, char **argv) {
    char problem[LINE_BYTES];
    if (argc != 3) {
        fprintf(stderr, "usage: show BASE.so KERNEL.so < PROBLEMS\n");
        return 2;
    }
    while (fgets(problem, sizeof problem, stdin)) {
        problem[strcspn(problem, "\n")] = '\0';
        const char *found = verdict((const char *const[]){argv[1], argv[2]}, problem);
        puts(found);
        fflush(stdout);
        if (strcmp(found, "same") != 0 && strcmp(found, "near") != 0 &&
            strcmp(found, "slow") != 0) {
            break;
        }
    }
    return 0;
}
