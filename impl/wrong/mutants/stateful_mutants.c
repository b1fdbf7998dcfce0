/* SPDX-License-Identifier: Apache-2.0 */
/* stateful - right rows, wrong calls: what is kept between calls, left behind, or promised. */
#include <fenv.h>
#include <immintrin.h>

#include "impl/wrong/mutants/base.h"
#include "impl/wrong/mutants/kept.h"

#define FAMILY "stateful"
enum {
    CORRECT,
    /* kept from call to call */
    MASK_KEPT,
    SCALE_KEPT,
    PLAN_KEPT,
    LENGTHS_KEPT,
    RESULT_KEPT_BY_ADDRESS,
    RESULT_KEPT_BY_SAMPLE,
    WRONG_AFTER_10_CALLS,
    WRONG_EVERY_97TH_CALL,
    FIRST_CALL_ZEROS,
    OTHER_VARIANT_FROM_8TH_CALL,
    /* workspace */
    WORKSPACE_TAKEN_FOR_ZERO,
    WORKSPACE_KEEPS_PLAN,
    WORKSPACE_OF_ZEROS_IS_READY,
    WORKSPACE_SHORT_BY_VALUE_ROW,
    WORKSPACE_SHORT_FOR_HALF,
    /* floating-point environment */
    ROUNDING_LEFT_UPWARD,
    FLUSHING_LEFT_ON,
    FLUSHING_LEFT_ON_FOR_DENORMALS,
    FLUSHING_INSIDE,
    /* the interface */
    UNKNOWN_FLAG_ACCEPTED,
    RESERVED_FIELD_ACCEPTED,
    LATER_FIELDS_ACCEPTED,
    WRITES_BEFORE_REFUSING,
    REFUSES_WITHOUT_MESSAGE,
    REFUSES_LONG_QUERIES,
    REFUSES_NO_KEYS,
    SUPPORTS_LEARNS,
    SUPPORTS_DISAGREES,
    DESCRIPTOR_UNKNOWN_MODEL,
    DESCRIPTOR_UNKNOWN_FEATURE,
    DESCRIPTOR_WITHOUT_NAME,
    DESCRIPTOR_CHANGES
};

static uint64_t key_of(const attn_normal *n) {
    uint64_t key = shape_key(n);
    if (MUTANT == RESULT_KEPT_BY_SAMPLE && output_count(n) > 0 && n->keys > 0) {
        uint32_t bits;
        float sample = get(&n->problem->q, 0) + get(&n->problem->k, 0);
        memcpy(&bits, &sample, sizeof bits);
        key = add_to_key(key, bits);
    }
    return key;
}

enum { PLAN_BYTES = 64 }; /* in front of the row's arrays */

static uint64_t scratch_bytes(const attn_normal *n) {
    uint64_t bytes = row_bytes(n);
    if (MUTANT == WORKSPACE_SHORT_BY_VALUE_ROW && n->keys > 0) {
        bytes -= (uint64_t)n->value_size * sizeof(float);
    }
    if (MUTANT == WORKSPACE_SHORT_FOR_HALF && n->problem->k.dtype == ATTEST_F16) {
        bytes -= (uint64_t)(n->keys * n->value_size) * 2; /* sized for 2-byte values */
    }
    return bytes > NOWHERE - PLAN_BYTES ? NOWHERE : bytes + PLAN_BYTES;
}

/* Calls in a row of one shape and with the same options: a kernel that tries variants counts. */
static _Thread_local int64_t calls_alike;

static void count_alike(const attn_normal *n) {
    static _Thread_local uint64_t last;
    uint64_t key = add_to_key(shape_key(n), n->features);
    calls_alike = key == last ? calls_alike + 1 : 1;
    last = key;
}

static void swap(float *a, float *b, int64_t count) {
    for (int64_t c = 0; c < count; c++) {
        float kept = a[c];
        a[c] = b[c];
        b[c] = kept;
    }
}

/* The other variant goes through the keys from the last to the first. */
static void turn_round(row *r) {
    const attn_normal *n = r->n;
    for (int64_t j = 0, to = n->keys - 1; j < to; j++, to--) {
        unsigned char visible = r->visible[j];
        r->visible[j] = r->visible[to];
        r->visible[to] = visible;
        swap(r->bias + j, r->bias + to, 1);
        swap(r->k + j * n->head_size, r->k + to * n->head_size, n->head_size);
        swap(r->v + j * n->value_size, r->v + to * n->value_size, n->value_size);
    }
}

static void one_row(row *r) {
    float counter = r->out[0]; /* dirty: nobody has written it yet */
    look(r);
    gather(r);
    if (MUTANT == OTHER_VARIANT_FROM_8TH_CALL && calls_alike >= 8) {
        turn_round(r);
    }
    attend(r);
    if (MUTANT == WORKSPACE_TAKEN_FOR_ZERO && r->n->value_size > 0 && r->b + r->h + r->i == 0) {
        r->out[0] += counter;
    }
    deliver(r);
}

/* What calls leave behind for later ones. */
static struct {
    int64_t calls, first_size, first_keys, lengths[64];
    uint64_t planned;
    attest_tensor mask; /* rank 0 until a call had one */
    unsigned char mask_bytes[KEPT_FLOATS];
} memory;

static void recall_mask(attn_normal *n, attest_problem *p) {
    int64_t pairs = n->queries * n->keys;
    if (has(n, ATTEST_MASK_BOOL) && pairs <= KEPT_FLOATS) {
        for (int64_t at = 0; at < pairs; at++) {
            int64_t from = mask_at(&p->mask, 0, 0, at / n->keys, at % n->keys);
            memory.mask_bytes[at] = ((const unsigned char *)p->mask.data)[from];
        }
        memory.mask = (attest_tensor){.data = memory.mask_bytes,
                                      .shape = {n->queries, n->keys},
                                      .stride = {n->keys, 1},
                                      .dtype = ATTEST_BOOL,
                                      .rank = 2};
    } else if (!has(n, ATTEST_MASK_ADD) && memory.mask.rank == 2 &&
               memory.mask.shape[0] == n->queries && memory.mask.shape[1] == n->keys) {
        p->mask = memory.mask;
        n->features |= ATTEST_MASK_BOOL;
    }
}

/* Changes the problem by what is remembered of earlier ones. */
static void recall(attn_normal *n, attest_problem *p, int64_t call) {
    if (call == 0) {
        memory.first_size = n->head_size;
        memory.first_keys = n->keys;
    }
    if (MUTANT == SCALE_KEPT && !has(n, ATTEST_SCALE)) {
        n->scale = 1 / sqrt((double)memory.first_size);
    }
    if (MUTANT == PLAN_KEPT && n->keys > memory.first_keys) {
        n->keys = memory.first_keys;
    }
    for (int64_t b = 0; MUTANT == LENGTHS_KEPT && has(n, ATTEST_KEY_LENGTHS) && b < n->batch; b++) {
        int64_t now = attn_key_length(n, b), *old = &memory.lengths[b % 64];
        *old = *old > now || *old == 0 ? now : *old; /* does not grow again */
    }
    if (MUTANT == LENGTHS_KEPT && has(n, ATTEST_KEY_LENGTHS) && n->batch <= 64) {
        p->key_lengths.data = memory.lengths;
        p->key_lengths.stride[0] = 1;
    }
    if (MUTANT == MASK_KEPT) {
        recall_mask(n, p);
    }
    float *plan = p->workspace;
    if (MUTANT == WORKSPACE_KEEPS_PLAN) { /* trusts that nobody has used the workspace since */
        plan[0] = memory.planned == key_of(n) ? plan[0] : (float)n->scale;
        memory.planned = key_of(n);
        n->scale = (double)plan[0];
    }
    if (MUTANT == WORKSPACE_OF_ZEROS_IS_READY) { /* a first word of 0: the scale is in the second */
        n->scale = plan[0] == 0 ? (double)plan[1] : n->scale;
    }
    count_alike(n);
}

static void run(const attn_normal *given) {
    attn_normal n = *given;
    attest_problem p = *given->problem;
    n.problem = &p;
    int64_t call = MUTANT == CORRECT ? 0 : memory.calls++;
    if (MUTANT != CORRECT) {
        recall(&n, &p, call);
    }
    int keeps = MUTANT == RESULT_KEPT_BY_ADDRESS || MUTANT == RESULT_KEPT_BY_SAMPLE;
    static kept_result kept;
    keeps = keeps && can_keep(&n);
    if (keeps && kept.count > 0 && kept.key == key_of(&n)) {
        give_again(&kept, &n);
        return;
    }
    for_each_row(&n, (char *)p.workspace + PLAN_BYTES, one_row);
    if (keeps) {
        keep(&kept, &n, key_of(&n));
    }
    if (output_count(&n) > 0 && ((MUTANT == WRONG_AFTER_10_CALLS && call >= 10) ||
                                 (MUTANT == WRONG_EVERY_97TH_CALL && call % 97 == 96) ||
                                 (MUTANT == FIRST_CALL_ZEROS && call == 0))) {
        put(&p.o, 0, 0);
    }
}

#define SUPPORTS own_supports
#define FORWARD own_forward
#define KERNEL_NAME (MUTANT == DESCRIPTOR_WITHOUT_NAME ? NULL : FAMILY "/" TEXT(MUTANT))
#define MODEL (MUTANT == DESCRIPTOR_UNKNOWN_MODEL ? "f32-quick" : "f32-strict")
#define FEATURES (ATTEST_ALL_FEATURES | (uint64_t)(MUTANT == DESCRIPTOR_UNKNOWN_FEATURE) << 40)
#define OWN_ENTRY
static attest_status own_supports(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]);
static attest_status own_forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]);
#include "impl/wrong/mutants/mutant_entry.h"

static attest_status own_supports(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    static int asked;
    if (MUTANT == SUPPORTS_LEARNS && asked++ > 20 && p->q.shape[2] > 1) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "q: one query at a time by now");
        return ATTEST_UNSUPPORTED;
    }
    if (MUTANT == SUPPORTS_DISAGREES && p->q.shape[3] == 1) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "q: head size 1 is not in this kernel");
        return ATTEST_UNSUPPORTED; /* forward() does it all the same */
    }
    return plain_supports(p, message);
}

/* A copy of the problem without what this mutant does not look at. */
static attest_problem cleaned(const attest_problem *given) {
    attest_problem p = *given;
    if (MUTANT == UNKNOWN_FLAG_ACCEPTED) {
        p.features &= ATTEST_ALL_FEATURES;
    }
    if (MUTANT == RESERVED_FIELD_ACCEPTED) {
        p.reserved32 = 0;
        memset(p.reserved, 0, sizeof p.reserved);
    }
    if (MUTANT == LATER_FIELDS_ACCEPTED) {
        p.struct_bytes = sizeof p;
    }
    return p;
}

static attest_status own_forward(const attest_problem *given, char message[ATTEST_MESSAGE_BYTES]) {
    unsigned int control = _mm_getcsr();
    int copied = MUTANT == UNKNOWN_FLAG_ACCEPTED || MUTANT == RESERVED_FIELD_ACCEPTED ||
                 MUTANT == LATER_FIELDS_ACCEPTED;
    attest_problem p = *given;
    if (copied) {
        p = cleaned(given);
    }
    const attest_problem *used = copied ? &p : given;
    if (MUTANT == WRITES_BEFORE_REFUSING && given->o.data && given->o.shape[3] > 0) {
        put(&given->o, 0, 0);
    }
    if ((MUTANT == REFUSES_LONG_QUERIES && given->q.shape[2] > 100) ||
        (MUTANT == REFUSES_NO_KEYS && given->k.shape[2] == 0)) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "q or k: not in this kernel");
        return ATTEST_UNSUPPORTED;
    }
    const int64_t *size = given->q.shape;
    int denormal = MUTANT == FLUSHING_LEFT_ON_FOR_DENORMALS && given->q.data &&
                   size[0] * size[1] * size[2] * size[3] > 0 &&
                   fpclassify(get(&given->q, 0)) == FP_SUBNORMAL;
    if (MUTANT == FLUSHING_LEFT_ON || MUTANT == FLUSHING_INSIDE || denormal) {
        _mm_setcsr(control | 0x8040); /* flush to zero, denormals are zero */
    }
    if (MUTANT == ROUNDING_LEFT_UPWARD) {
        fesetround(FE_UPWARD);
    }
    attest_status status = plain_forward(used, message);
    if (MUTANT == FLUSHING_INSIDE) {
        _mm_setcsr(control);
    }
    if (MUTANT == REFUSES_WITHOUT_MESSAGE && status != ATTEST_OK) {
        message[0] = '\0';
    }
    return status;
}

const attest_kernel *attest_kernel_v1(uint32_t host_abi_version) {
    static attest_kernel other;
    static int asked;
    if (MUTANT == DESCRIPTOR_CHANGES && asked++ > 0) { /* promises less the second time */
        other = kernel;
        other.features &= ~ATTEST_SINKS;
        return &other;
    }
    return host_abi_version == ATTEST_ABI_VERSION ? &kernel : NULL;
}
