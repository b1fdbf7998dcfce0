/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fuzz/core/examine.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/core/poison.h"
#include "fuzz/core/profiles.h"
#include "reference/oracle/oracle.h"
#include "reference/problem/convert.h"

int attest_fuzz_fail(attest_fuzz_finding *finding, const char *id, const char *format, ...) {
    if (finding->id == NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(finding->text, sizeof finding->text, format, arguments);
        va_end(arguments);
        finding->id = id;
    }
    return 1;
}

static int64_t number_from(const char *variable, int64_t otherwise) {
    const char *text = getenv(variable);
    int64_t value = text ? strtoll(text, NULL, 10) : 0;
    return value > 0 ? value : otherwise;
}

int attest_fuzz_open(attest_fuzz_subject *subject, const attest_kernel *kernel,
                     attest_fuzz_finding *finding) {
    *finding = (attest_fuzz_finding){0};
    if (kernel == NULL || kernel->struct_bytes < sizeof *kernel ||
        kernel->abi_version != ATTEST_ABI_VERSION || kernel->forward == NULL) {
        return !attest_fuzz_fail(finding, "CAP-01", "no descriptor of version 1 with forward");
    }
    const attn_model *model = attn_model_find(kernel->model);
    const attn_profile *profile = attest_fuzz_profile(kernel->profile);
    if (model == NULL || profile == NULL) {
        return !attest_fuzz_fail(finding, "CAP-01", "model or profile is not known");
    }
    *subject = (attest_fuzz_subject){
        .scope = {.kernel = kernel,
                  .profile = *profile,
                  .most_work = number_from("ATTEST_FUZZ_WORK", 4000),
                  .most_keys = number_from("ATTEST_FUZZ_KEYS", 1100)},
        .model = attn_model_claimed(model, kernel->exp_ulps, kernel->max_abs_score),
    };
    subject->wide_model = subject->model;
    char message[ATTEST_MESSAGE_BYTES] = "";
    if (kernel->init && kernel->init(message) != ATTEST_OK) {
        return !attest_fuzz_fail(finding, "CAP-02", "init: %.200s", message);
    }
    return 1;
}

/* Arithmetic as DET-08 wants to find it again. */
static int environment_is_plain(void) {
    volatile float small = FLT_MIN;
    volatile double tiny = DBL_MIN;
    return fegetround() == FE_TONEAREST && small / 2 != 0 && tiny / 2 != 0;
}

static attest_problem metadata_of(const attest_problem *problem) {
    attest_problem bare = *problem;
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        attn_operand_of(&bare, which)->data = NULL;
    }
    bare.workspace = NULL;
    bare.workspace_bytes = 0;
    return bare;
}

int attest_fuzz_call(const attest_fuzz_run *run, const attest_problem *problem,
                     attest_status wanted, unsigned char dirt) {
    const attest_kernel *kernel = run->subject->scope.kernel;
    attest_problem bare = metadata_of(problem), given = *problem;
    char message[ATTEST_MESSAGE_BYTES] = "", again[ATTEST_MESSAGE_BYTES] = "";
    if (kernel->supports) {
        attest_status first = kernel->supports(&bare, message);
        if (first != kernel->supports(&bare, again)) {
            return attest_fuzz_fail(run->finding, "CAP-03", "supports gave two answers");
        }
        if (first != wanted) {
            return attest_fuzz_fail(run->finding, wanted == ATTEST_OK ? "CAP-02" : "ERR-02",
                                    "supports answered %d, not %d: %.200s", (int)first, (int)wanted,
                                    message);
        }
    }
    void *workspace = NULL;
    given.workspace_bytes = kernel->workspace_bytes ? kernel->workspace_bytes(&bare) : 0;
    if (given.workspace_bytes > 0) {
        if (given.workspace_bytes > UINT64_C(1) << 30 ||
            posix_memalign(&workspace, 64, (size_t)given.workspace_bytes) != 0) {
            return 0; /* no room is nobody's fault */
        }
        memset(workspace, dirt, (size_t)given.workspace_bytes);
    }
    given.workspace = workspace;
    message[0] = '\0';
    const attest_problem kept = given;
    attest_status status = run->subject->forward
                               ? run->subject->forward(&given, &run->made->profile, message)
                               : kernel->forward(&given, message);
    free(workspace);
    if (!environment_is_plain()) {
        return attest_fuzz_fail(run->finding, "DET-08", "the floating-point environment changed");
    }
    if (memcmp(&kept, &given, sizeof kept) != 0) {
        return attest_fuzz_fail(run->finding, "MEM-03", "the problem itself was written to");
    }
    if (status != wanted && status != ATTEST_NO_MEMORY) {
        message[ATTEST_MESSAGE_BYTES - 1] = '\0';
        return attest_fuzz_fail(run->finding, wanted == ATTEST_OK ? "CAP-02" : "ERR-02",
                                "forward answered %d, not %d: %.200s", (int)status, (int)wanted,
                                message);
    }
    return 0;
}

int attest_fuzz_same(attest_dtype dtype, const void *a, const void *b) {
    return memcmp(a, b, (size_t)attn_dtype_bytes(dtype)) == 0 ||
           (isnan(attn_load(dtype, a)) && isnan(attn_load(dtype, b)));
}

/* Fills the outputs with a pattern that is no NaN, so that what is not written shows. */
static void dirty(attest_fuzz_problem *made, unsigned char dirt) {
    for (int which = ATTN_O; which <= ATTN_LSE; which++) {
        if (made->block[which].memory) {
            memset(made->block[which].memory, dirt, made->block[which].bytes);
        }
    }
}

/* MEM-02: nothing but elements was written. */
static int gaps_kept(const attest_fuzz_run *run, unsigned char dirt) {
    for (int which = ATTN_O; which <= ATTN_LSE; which++) {
        const attest_tensor *t = attn_operand(&run->made->problem, which);
        const attest_fuzz_block *block = &run->made->block[which];
        size_t element = (size_t)attn_dtype_bytes(t->dtype);
        if (block->memory == NULL) {
            continue;
        }
        unsigned char *owned = calloc(block->bytes, 1);
        for (int64_t n = 0; owned && n < attest_fuzz_count(t); n++) {
            unsigned char *at = attest_fuzz_address(t, n);
            memset(owned + (at - block->memory), 1, element);
        }
        for (size_t n = 0; owned && n < block->bytes; n++) {
            if (!owned[n] && block->memory[n] != dirt) {
                free(owned);
                return !attest_fuzz_fail(run->finding, "MEM-02", "%s: byte %zu is in a gap",
                                         attn_operand_name(which), n);
            }
        }
        free(owned);
    }
    return 1;
}

static int judge(const attest_fuzz_run *run, int which, const attn_enclosure *enclosures,
                 const attn_model *model) {
    const attest_tensor *t = attn_operand(&run->made->problem, which);
    for (int64_t n = 0; n < attest_fuzz_count(t); n++) {
        const attn_enclosure *e = &enclosures[n];
        double actual = attn_load(t->dtype, attest_fuzz_address(t, n)), ratio = 0;
        int verdict = attn_judge(e, actual, &ratio);
        attest_fuzz_observe_ratio(ratio);
        if (verdict != ATTN_OUTSIDE) {
            continue;
        }
        int64_t size = which == ATTN_O ? run->normal.value_size : 1, row = n / size;
        return attest_fuzz_fail(
            run->finding, which == ATTN_O ? "NUM-01" : "NUM-05",
            "%s[b=%lld h=%lld i=%lld c=%lld] is %a (%.9g), expected kind %d, %a (%.9g) within "
            "%.3g: %.3g times the radius of %s",
            attn_operand_name(which), (long long)(row / run->normal.queries / run->normal.q_heads),
            (long long)(row / run->normal.queries % run->normal.q_heads),
            (long long)(row % run->normal.queries), (long long)(n % size), actual, actual,
            (int)e->kind, e->high, e->high, e->radius, ratio, model->name);
    }
    return 0;
}

static int against_oracle(const attest_fuzz_run *run) {
    const attest_problem *p = &run->made->problem;
    int wide = p->q.dtype == ATTEST_F64 || p->k.dtype == ATTEST_F64 || p->o.dtype == ATTEST_F64;
    const attn_model *model = wide ? &run->subject->wide_model : &run->subject->model;
    size_t o_count = (size_t)attest_fuzz_count(&p->o), rows = (size_t)attest_fuzz_count(&p->lse);
    attn_enclosure *o = calloc(o_count + 1, sizeof *o);
    attn_enclosure *lse = p->lse.dtype ? calloc(rows + 1, sizeof *lse) : NULL;
    char message[ATTEST_MESSAGE_BYTES];
    int broken = 0;
    if (o && (lse || !p->lse.dtype) &&
        attn_oracle(&run->normal, model, 1, o, lse, message) == ATTEST_OK) {
        broken = judge(run, ATTN_O, o, model) || (lse && judge(run, ATTN_LSE, lse, model));
    }
    free(o);
    free(lse);
    return broken;
}

typedef struct copies {
    unsigned char *block[ATTN_OPERANDS];
} copies;

static int take_copies(copies *c, const attest_fuzz_problem *made) {
    int fine = 1;
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        const attest_fuzz_block *block = &made->block[which];
        c->block[which] = block->memory ? malloc(block->bytes) : NULL;
        if (c->block[which]) {
            memcpy(c->block[which], block->memory, block->bytes);
        }
        fine &= c->block[which] || !block->memory;
    }
    return fine;
}

static int inputs_kept(const attest_fuzz_run *run, const copies *c) {
    for (int which = 0; which < ATTN_INPUTS; which++) {
        const attest_fuzz_block *block = &run->made->block[which];
        if (block->memory && memcmp(c->block[which], block->memory, block->bytes) != 0) {
            return !attest_fuzz_fail(run->finding, "MEM-03", "%s was written to",
                                     attn_operand_name(which));
        }
    }
    return 1;
}

/* DET-01, DET-02, MEM-06: again, after other calls, on other dirt. */
static int repeats(const attest_fuzz_run *run, const copies *first) {
    dirty(run->made, 0x3c);
    if (attest_fuzz_call(run, &run->made->problem, ATTEST_OK, 0xff)) {
        return 0;
    }
    for (int which = ATTN_O; which <= ATTN_LSE; which++) {
        const attest_tensor *t = attn_operand(&run->made->problem, which);
        for (int64_t n = 0; n < attest_fuzz_count(t); n++) {
            const unsigned char *now = attest_fuzz_address(t, n);
            const unsigned char *memory = run->made->block[which].memory;
            const unsigned char *then = first->block[which] + (now - memory);
            if (!attest_fuzz_same(t->dtype, now, then)) {
                return !attest_fuzz_fail(run->finding, "DET-01", "%s, element %lld: %a, then %a",
                                         attn_operand_name(which), (long long)n,
                                         attn_load(t->dtype, then), attn_load(t->dtype, now));
            }
        }
    }
    return 1;
}

/* ERR-02: something from the future is refused, and nothing is written. */
static int refuses_unknown(const attest_fuzz_run *run, unsigned char choice) {
    attest_problem odd = run->made->problem;
    if (choice & 1) {
        odd.features |= UINT64_C(1) << (12 + choice % 52);
    } else {
        odd.reserved[choice % 15] = 1;
    }
    copies before;
    int broken =
        !take_copies(&before, run->made) || attest_fuzz_call(run, &odd, ATTEST_UNSUPPORTED, 0x5a);
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        const attest_fuzz_block *block = &run->made->block[which];
        if (!broken && block->memory &&
            memcmp(before.block[which], block->memory, block->bytes) != 0) {
            broken = attest_fuzz_fail(run->finding, "ERR-01", "%s was written to on a refusal",
                                      attn_operand_name(which));
        }
        free(before.block[which]);
    }
    return !broken;
}

static void look(const attest_fuzz_run *run) {
    copies kept = {0};
    attest_fuzz_problem *made = run->made;
    dirty(made, 0xa5);
    attest_fuzz_poison_unseen(&run->normal);
    int stop = attest_fuzz_call(run, &made->problem, ATTEST_OK, 0x5a);
    attest_fuzz_unpoison(&made->problem);
    stop = stop || !gaps_kept(run, 0xa5) || against_oracle(run) || !take_copies(&kept, made) ||
           attest_fuzz_relations(run);
    if (!stop && made->field[FUZZ_EXTRA] % 8 == 7) {
        stop = !refuses_unknown(run, made->field[FUZZ_EXTRA] >> 3);
    }
    stop = stop || !repeats(run, &kept) || !inputs_kept(run, &kept);
    for (int which = 0; which < ATTN_OPERANDS; which++) {
        free(kept.block[which]);
    }
}

int attest_fuzz_examine(const attest_fuzz_subject *subject, const unsigned char *bytes, size_t size,
                        attest_fuzz_finding *finding) {
    attest_fuzz_problem made;
    attest_fuzz_run run = {.subject = subject, .made = &made, .finding = finding};
    char message[ATTEST_MESSAGE_BYTES] = "";
    *finding = (attest_fuzz_finding){0};
    if (attest_fuzz_decode(&made, &subject->scope, bytes, size)) {
        attest_fuzz_observe_problem(&made);
        if (attn_normalise(&run.normal, &made.problem, &made.profile, 0, message) != ATTEST_OK) {
            attest_fuzz_fail(finding, "decode", "the problem is not valid: %.200s", message);
        } else {
            look(&run);
        }
    }
    attest_fuzz_release(&made);
    return finding->id != NULL;
}
