/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must be refused is refused, and a refusal writes nothing. Each case is a valid problem with
 * one field made wrong; parameter 0 says which. */
#include <math.h>
#include <string.h>

#include "../bench.h"
#include "../plan.h"

typedef enum mistake {
    UNKNOWN_FEATURE,
    RESERVED_FIELD,
    RESERVED_LATER,
    WRONG_HEAD_SIZE,
    WRONG_OUTPUT_SHAPE,
    WRONG_TYPE,
    NEGATIVE_AXIS,
    HUGE_AXES,
    BAD_SCALE,
    BAD_SOFTCAP,
    BAD_WINDOW,
    LENGTH_BEYOND_KEYS,
    MISTAKES
} mistake;

typedef struct kind {
    const char *id, *field;
    uint64_t needs; /* features */
    int status;     /* what forward() must answer */
} kind;

static const kind kinds[MISTAKES] = {
    [UNKNOWN_FEATURE] = {"ERR-02", "features", 0, ATTEST_UNSUPPORTED},
    [RESERVED_FIELD] = {"ERR-02", "reserved32", 0, ATTEST_UNSUPPORTED},
    [RESERVED_LATER] = {"ERR-02", "reserved", 0, ATTEST_UNSUPPORTED},
    [WRONG_HEAD_SIZE] = {"ERR-03", "k", 0, ATTEST_INVALID},
    [WRONG_OUTPUT_SHAPE] = {"ERR-03", "o", 0, ATTEST_INVALID},
    [WRONG_TYPE] = {"ERR-03", "v", 0, ATTEST_INVALID},
    [NEGATIVE_AXIS] = {"ERR-03", "q", 0, ATTEST_INVALID},
    [HUGE_AXES] = {"ERR-04", "o", 0, ATTEST_INVALID},
    [BAD_SCALE] = {"ERR-06", "scale", ATTEST_SCALE, ATTEST_INVALID},
    [BAD_SOFTCAP] = {"ERR-06", "softcap", ATTEST_SOFTCAP, ATTEST_INVALID},
    [BAD_WINDOW] = {"ERR-06", "window", ATTEST_WINDOW, ATTEST_INVALID},
    [LENGTH_BEYOND_KEYS] = {"ERR-06", "key_lengths", ATTEST_KEY_LENGTHS, ATTEST_INVALID},
};

static void plan(attest_plan *plan) {
    for (int m = 0; m < MISTAKES; m++) {
        attest_case c = attest_case_default(plan->check->name);
        c.q_type = c.kv_type = c.o_type = attest_plan_type(plan);
        c.batch = 2;
        c.queries = 3;
        c.keys = 5;
        c.head_size = c.value_size = 4;
        c.features = kinds[m].needs;
        if (plan->profile.default_scale == ATTN_SCALE_REQUIRED) {
            c.features |= ATTEST_SCALE;
        }
        c.scale = c.features & ATTEST_SCALE ? 0.5 : 0;
        c.softcap = c.features & ATTEST_SOFTCAP ? 4 : 0;
        c.parameter[0] = m;
        attest_plan_add(plan, &c);
    }
}

static void spoil(attest_problem *p, mistake m) {
    switch (m) {
    case UNKNOWN_FEATURE:
        p->features |= UINT64_C(1) << 20;
        break;
    case RESERVED_FIELD:
        p->reserved32 = 1;
        break;
    case RESERVED_LATER:
        p->reserved[7] = 1;
        break;
    case WRONG_HEAD_SIZE:
        p->k.shape[3] -= 1;
        break;
    case WRONG_OUTPUT_SHAPE:
        p->o.shape[2] -= 1;
        break;
    case WRONG_TYPE:
        p->v.dtype = ATTEST_BOOL;
        break;
    case NEGATIVE_AXIS:
        p->q.shape[2] = p->o.shape[2] = -1;
        break;
    case HUGE_AXES: /* 2^40 rows, each 2^39 elements apart: the last one is beyond 64 bits */
        p->q.shape[2] = p->o.shape[2] = INT64_C(1) << 40;
        p->q.stride[2] = p->o.stride[2] = INT64_C(1) << 39;
        break;
    case BAD_SCALE:
        p->scale = (double)INFINITY;
        break;
    case BAD_SOFTCAP:
        p->softcap = -1;
        break;
    case BAD_WINDOW:
        p->window_left = -2;
        break;
    case LENGTH_BEYOND_KEYS:
        *(int64_t *)p->key_lengths.data = p->k.shape[2] + 1;
        break;
    default:
        break;
    }
}

static int anything_written(const attest_stage *stage) {
    for (int slot = ATTEST_SLOT_O; slot <= ATTEST_SLOT_LSE; slot++) {
        const attest_place *p = &stage->place[slot];
        const unsigned char *image = stage->image[slot - ATTEST_INPUT_SLOTS];
        unsigned char pattern[8192];
        if (!p->present || image == NULL || p->map_bytes > sizeof pattern) {
            continue;
        }
        attest_pattern_fill(pattern, p->map_bytes, stage->pattern);
        if (memcmp(pattern, image, (size_t)p->map_bytes) != 0) {
            return 1;
        }
    }
    return 0;
}

static void run(attest_bench *bench, const attest_case *c, attest_result *result) {
    const int m = c->parameter[0] >= 0 && c->parameter[0] < MISTAKES ? (int)c->parameter[0] : 0;
    attest_ids_add(&result->ids, "ERR-01");
    attest_ids_add(&result->ids, kinds[m].id);
    if (!attest_bench_build(bench, c, result)) {
        return;
    }
    spoil(&bench->stage.problem, (mistake)m);
    if (!attest_bench_call(bench, ATTEST_CALL_FORWARD, 0, ATTEST_PATTERN_NOISE, result)) {
        return;
    }
    const attest_status status = bench->outcome.status;
    if (status == ATTEST_OK) {
        attest_result_bad(result, ATTEST_FAIL, kinds[m].id, 38,
                          "a problem with a wrong field (%s) was answered ATTEST_OK",
                          kinds[m].field);
    } else if (status != kinds[m].status && status != ATTEST_UNSUPPORTED) {
        attest_result_bad(result, ATTEST_FAIL, kinds[m].id, 0,
                          "a wrong %s was answered with status %d, not %d", kinds[m].field,
                          (int)status, kinds[m].status);
    } else if (bench->outcome.text[0] == '\0') {
        attest_result_bad(result, ATTEST_FAIL, "ERR-01", 0,
                          "the refusal of a wrong %s has no message", kinds[m].field);
    } else if (anything_written(&bench->stage)) {
        attest_result_bad(result, ATTEST_FAIL, "ERR-01", 30,
                          "an output was written although the call was refused");
    }
}

const attest_check attest_check_errors = {
    .name = "errors",
    .sentence = "What is not valid or not known is refused, with a message and nothing written.",
    .requirements = "ERR-01 ERR-02 ERR-03 ERR-04 ERR-06",
    .classes = "38",
    .catalogue = "",
    .structural = 1,
    .plan = plan,
    .run = run,
};
