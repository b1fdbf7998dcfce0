/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attn_forward on any features, options, lengths, offsets and profile, tensors of one shape: where
 * it accepts, the shell of the right width is called once, with the normal form that
 * spec/attention.md defines and with what rows.c assumes; where it refuses, no shell is called. The
 * two shells are observers. So what rows.c shows of the shell holds of attn_forward.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "reference/problem/normal.h"
#include "proofs/harness/proof.h"

double nondet_double(void);
uint64_t nondet_features(void);

enum { B = 2, HQ = 4, HKV = 2, SQ = 3, SK = 5, D = 4, DV = 2 };

static attn_normal normal;
static int wide_calls, narrow_calls;

static attest_status observe_wide(const attn_normal *given) {
    normal = *given;
    wide_calls++;
    return ATTEST_OK;
}

static attest_status observe_narrow(const attn_normal *given) {
    normal = *given;
    narrow_calls++;
    return ATTEST_OK;
}

#define attn_shell_f64 observe_wide
#define attn_shell_f32 observe_narrow
#include PROOF_SOURCE

/* A message is written inside its size; what it says is not looked at. */
int vsnprintf(char *text, size_t size, const char *format, va_list arguments) {
    (void)format;
    (void)arguments;
    if (size > 0) {
        text[0] = (char)nondet_byte();
    }
    return nondet_int();
}

int snprintf(char *text, size_t size, const char *format, ...) {
    (void)format;
    if (size > 0) {
        text[0] = (char)nondet_byte();
    }
    return nondet_int();
}

int __builtin_isfinite(double x) { return x - x == 0; }
double sqrt(double x) { return x == D ? 2 : nondet_double(); } /* D is 4 */

static double q[B * HQ * SQ * D], k[B * HKV * SK * D], v[B * HKV * SK * DV], o[B * HQ * SQ * DV],
    lse[B * HQ * SQ], adds[SK], sinks[HQ], slopes[HQ];
static unsigned char shows[SK];
static int64_t lengths[B], offsets[B];

static attest_tensor tensor(void *data, attest_dtype dtype, uint32_t rank, int64_t a, int64_t b,
                            int64_t c, int64_t d) {
    attest_tensor t = {.data = data, .dtype = dtype, .rank = rank, .shape = {a, b, c, d}};
    int64_t step = 1;
    for (int axis = (int)rank - 1; axis >= 0; axis--) {
        t.stride[axis] = step;
        step *= t.shape[axis];
    }
    return t;
}

int main(void) {
    static attest_problem p;
    static char message[ATTEST_MESSAGE_BYTES];
    const uint64_t f = nondet_features();
    /* A is the type of lse, sinks and slopes: F64 where q is (SEM-02). */
    const attest_dtype a = Q_TYPE == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    p.struct_bytes = sizeof p;
    p.features = f;
    p.threads = 1;
    p.q = tensor(q, Q_TYPE, 4, B, HQ, SQ, D);
    p.k = tensor(k, K_TYPE, 4, B, HKV, SK, D);
    p.v = tensor(v, K_TYPE, 4, B, HKV, SK, DV);
    p.o = tensor(o, O_TYPE, 4, B, HQ, SQ, DV);
    if (f & ATTEST_LSE) {
        p.lse = tensor(lse, a, 3, B, HQ, SQ, 0);
    }
    if (f & ATTEST_MASK_BOOL) {
        p.mask = tensor(shows, ATTEST_BOOL, 1, SK, 0, 0, 0);
    } else if (f & ATTEST_MASK_ADD) {
        p.mask = tensor(adds, a, 1, SK, 0, 0, 0);
    }
    if (f & ATTEST_SINKS) {
        p.sinks = tensor(sinks, a, 1, HQ, 0, 0, 0);
    }
    if (f & ATTEST_ALIBI) {
        p.slopes = tensor(slopes, a, 1, HQ, 0, 0, 0);
    }
    if (f & ATTEST_KEY_LENGTHS) {
        p.key_lengths = tensor(lengths, ATTEST_I64, 1, B, 0, 0, 0);
    }
    if (f & ATTEST_OFFSETS) {
        p.offsets = tensor(offsets, ATTEST_I64, 1, B, 0, 0, 0);
    }
    for (int b = 0; b < B; b++) {
        lengths[b] = nondet_long();
        offsets[b] = nondet_long();
    }
    p.scale = nondet_double();
    p.softcap = nondet_double();
    p.window_left = nondet_long();
    p.window_right = nondet_long();
    p.window_size = nondet_long();
    const attn_profile profile = {
        .corner = nondet_byte() % 3,
        .window_form = nondet_byte() % 4,
        .default_scale = nondet_byte() % 3,
        .gqa_order = nondet_byte() % 2,
        .lse_base = nondet_byte() % 2,
        .lse_empty = nondet_byte() % 3,
        .empty_row = nondet_byte() % 4,
        .mask_with_causal = nondet_byte() % 4,
    };
    const attest_status status = attn_forward(&p, &profile, message);
    const _Bool accepted = status == ATTEST_OK;

    /* MASK-02, MASK-10: the window. */
    int64_t left = -1, right = -1;
    if (f & ATTEST_WINDOW) {
        left = p.window_left;
        right = p.window_right;
    } else if (f & ATTEST_WINDOW_SIZE) {
        left = profile.window_form == ATTN_WINDOW_W_KEYS ? p.window_size - 1 : p.window_size;
        right = profile.window_form == ATTN_WINDOW_BOTH_W ? p.window_size : -1;
    }
    /* MASK-11: a mask with causal. */
    const uint64_t masks = ATTEST_MASK_BOOL | ATTEST_MASK_ADD;
    const _Bool both = (f & ATTEST_CAUSAL) && (f & masks);
    const _Bool no_mask = both && profile.mask_with_causal == ATTN_MASK_IGNORED;
    const _Bool no_causal = both && profile.mask_with_causal == ATTN_CAUSAL_IGNORED;
    const uint64_t features = (no_mask ? f & ~masks : f) & ~(no_causal ? ATTEST_CAUSAL : 0);
    /* SEM-13: the scale. */
    const double scale = f & ATTEST_SCALE                              ? p.scale
                         : profile.default_scale == ATTN_SCALE_RSQRT_D ? 0.5
                                                                       : 1.0;
    _Bool in_range = normal.left >= -1 && normal.right >= -1;
    for (int b = 0; b < B; b++) {
        in_range = in_range && (!(f & ATTEST_KEY_LENGTHS) || (0 <= lengths[b] && lengths[b] <= SK));
        in_range = in_range && (!(f & ATTEST_OFFSETS) ||
                                (offsets[b] >= -ATTN_MAX_OFFSET && offsets[b] <= ATTN_MAX_OFFSET));
    }
    const _Bool wide = Q_TYPE == ATTEST_F64 || K_TYPE == ATTEST_F64 || O_TYPE == ATTEST_F64;
    PROVE(wide_calls == (accepted && wide) && narrow_calls == (accepted && !wide),
          "C17 one shell, of the right width");
    PROVE(!accepted || (normal.problem == &p && normal.batch == B && normal.q_heads == HQ &&
                        normal.kv_heads == HKV && normal.queries == SQ && normal.keys == SK &&
                        normal.head_size == D && normal.value_size == DV),
          "C17 sizes of the normal form");
    PROVE(!accepted || (normal.features == features && normal.left == left &&
                        normal.right == right && __CPROVER_equal(normal.scale, scale)),
          "C17 options of the normal form");
    PROVE(!accepted || (normal.profile.corner == profile.corner &&
                        normal.profile.gqa_order == profile.gqa_order &&
                        normal.profile.lse_base == profile.lse_base &&
                        normal.profile.lse_empty == profile.lse_empty &&
                        normal.profile.empty_row == profile.empty_row),
          "C17 profile of the normal form");
    PROVE(!accepted || in_range, "C17 lengths, offsets and windows in range");
    REACHED(accepted && both && (f & ATTEST_WINDOW_SIZE) && offsets[1] < 0, "a problem");
    REACHED(status == ATTEST_UNSUPPORTED, "an unsupported problem");
    REACHED(status == ATTEST_INVALID && lengths[1] > SK, "a length that is too large");
}
