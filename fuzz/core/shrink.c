/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/examine.h"
#include "reference/problem/program.h"

typedef struct search {
    const attest_fuzz_subject *subject;
    unsigned char best[FUZZ_MOST_BYTES];
    size_t size;
    attest_fuzz_finding finding;
} search;

/* Takes the candidate if the same requirement is broken by it. */
static int take(search *s, const unsigned char *bytes, size_t size) {
    attest_fuzz_finding found;
    if ((size == s->size && memcmp(bytes, s->best, size) == 0) ||
        !attest_fuzz_examine(s->subject, bytes, size, &found) ||
        strcmp(found.id, s->finding.id) != 0) {
        return 0;
    }
    memmove(s->best, bytes, size);
    s->size = size;
    s->finding = found;
    return 1;
}

static int shorter(search *s) {
    unsigned char copy[FUZZ_MOST_BYTES];
    int progress = 0;
    for (size_t at = FUZZ_FIELDS; at + FUZZ_PATCH_BYTES <= s->size;) {
        memcpy(copy, s->best, s->size);
        memmove(copy + at, copy + at + FUZZ_PATCH_BYTES, s->size - at - FUZZ_PATCH_BYTES);
        int taken = take(s, copy, s->size - FUZZ_PATCH_BYTES);
        progress |= taken;
        at += taken ? 0 : FUZZ_PATCH_BYTES;
    }
    while (s->size > 0 && take(s, s->best, s->size - 1)) {
        progress = 1;
    }
    return progress;
}

static int plainer(search *s) {
    unsigned char copy[FUZZ_MOST_BYTES];
    int progress = 0;
    for (size_t at = 0; at < s->size; at++) {
        const unsigned char old = s->best[at];
        const unsigned char tries[] = {0, 1, (unsigned char)(old / 2), (unsigned char)(old - 1)};
        for (size_t k = 0; old > 0 && k < sizeof tries && tries[k] < s->best[at]; k++) {
            memcpy(copy, s->best, s->size);
            copy[at] = tries[k];
            progress |= take(s, copy, s->size);
        }
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(copy, s->best, s->size);
            copy[at] &= (unsigned char)~(1u << bit);
            progress |= take(s, copy, s->size);
        }
    }
    return progress;
}

size_t attest_fuzz_shrink(const attest_fuzz_subject *subject, unsigned char *bytes, size_t size,
                          attest_fuzz_finding *finding) {
    search s = {.subject = subject, .finding = *finding};
    s.size = size < FUZZ_MOST_BYTES ? size : FUZZ_MOST_BYTES;
    memcpy(s.best, bytes, s.size);
    for (int round = 0; round < 20 && (shorter(&s) | plainer(&s)); round++) {
    }
    memcpy(bytes, s.best, s.size);
    *finding = s.finding;
    return s.size;
}

static void print_tensor(const attest_problem *problem, int which) {
    static const char *const types[] = {"-", "f32", "f64", "f16", "bf16", "bool", "i64"};
    attest_problem copy = *problem;
    const attest_tensor *t = attn_operand(&copy, which);
    if (t->dtype == 0) {
        return;
    }
    fprintf(stderr, "  %-12s %-5s [", attn_operand_name(which), types[t->dtype]);
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        fprintf(stderr, "%s%" PRId64, axis ? "," : "", t->shape[axis]);
    }
    fprintf(stderr, "] strides [");
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        fprintf(stderr, "%s%" PRId64, axis ? "," : "", t->stride[axis]);
    }
    fprintf(stderr, "]");
    for (int64_t b = 0; t->dtype == ATTEST_I64 && b < attest_fuzz_count(t); b++) {
        fprintf(stderr, " %" PRId64, *(const int64_t *)attest_fuzz_address(t, b));
    }
    fprintf(stderr, "\n");
}

static void print_problem(const attest_problem *p) {
    static const char *const names[] = {"causal",  "offsets", "window",   "window_size",
                                        "lengths", "bool",    "additive", "scale",
                                        "softcap", "sinks",   "alibi",    "lse"};
    fprintf(stderr, "  options     ");
    for (int bit = 0; bit < 12; bit++) {
        if (p->features >> bit & 1) {
            fprintf(stderr, " %s", names[bit]);
        }
    }
    fprintf(stderr, "\n");
    if (p->features & ATTEST_SCALE) {
        fprintf(stderr, "  scale        %a\n", p->scale);
    }
    if (p->features & ATTEST_SOFTCAP) {
        fprintf(stderr, "  softcap      %a\n", p->softcap);
    }
    if (p->features & ATTEST_WINDOW) {
        fprintf(stderr, "  window       %" PRId64 " %" PRId64 "\n", p->window_left,
                p->window_right);
    }
    if (p->features & ATTEST_WINDOW_SIZE) {
        fprintf(stderr, "  window_size  %" PRId64 "\n", p->window_size);
    }
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        print_tensor(p, which);
    }
}

int attest_fuzz_write(const attest_fuzz_subject *subject, const unsigned char *bytes, size_t size,
                      const char *comment) {
    const char *path = getenv("ATTEST_FUZZ_OUTPUT");
    attest_fuzz_problem made;
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out != NULL && attest_fuzz_decode(&made, &subject->scope, bytes, size)) {
        attest_program(out, &made.problem, comment, NULL);
        attest_fuzz_release(&made);
    }
    return out != NULL && fclose(out) == 0;
}

void attest_fuzz_report(const attest_fuzz_subject *subject, const unsigned char *bytes, size_t size,
                        const attest_fuzz_finding *finding) {
    attest_fuzz_problem made;
    fprintf(stderr, "MISMATCH %s: %s\n", finding->id, finding->text);
    if (attest_fuzz_decode(&made, &subject->scope, bytes, size)) {
        print_problem(&made.problem);
    }
    attest_fuzz_release(&made);
    fprintf(stderr, "  show it again: echo ");
    for (size_t n = 0; n < size; n++) {
        fprintf(stderr, "%02x", bytes[n]);
    }
    fprintf(stderr, " | xxd -r -p > case && %s case\n", subject->scope.kernel->name);
    char comment[sizeof finding->text + 16];
    snprintf(comment, sizeof comment, "%s: %s", finding->id, finding->text);
    if (!attest_fuzz_write(subject, bytes, size, comment)) {
        fprintf(stderr, "  as a C program: the same with ATTEST_FUZZ_OUTPUT=shown.c\n");
    }
}
