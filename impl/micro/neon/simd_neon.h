/* SPDX-License-Identifier: Apache-2.0 */
/* The vector layer of micro_vector.c for AArch64 (Advanced SIMD). */
#ifndef ATTN_SIMD_NEON_H
#define ATTN_SIMD_NEON_H

#include <arm_neon.h>

#include "impl/micro/fastexp.h"
#include "impl/micro/simd.h"
#include "spec/attest.h"

typedef float32x4_t vec;
enum { LANES = 4 };
enum { SCORE_KEYS = 3, SCORE_VECS = 4 }; /* 24 of 32 registers hold sums of two parts */
enum { MIX_ROWS = 6, MIX_VECS = 4, WIDE_VECS = 8 };

static SIMD vec v_load(const float *p) { return vld1q_f32(p); }
static SIMD void v_store(float *p, vec x) { vst1q_f32(p, x); }
/* x, loaded once and not with every use. */
static SIMD vec v_keep(vec x) {
    __asm__("" : "+w"(x));
    return x;
}
/* The address; on x86, where that was measured to help, not before x is known. */
static SIMD uintptr_t v_after(vec x, uintptr_t address) {
    (void)x;
    return address;
}
static SIMD vec v_set(float x) { return vdupq_n_f32(x); }
static SIMD vec v_add(vec x, vec y) { return vaddq_f32(x, y); }
static SIMD vec v_sub(vec x, vec y) { return vsubq_f32(x, y); }
static SIMD vec v_mul(vec x, vec y) { return vmulq_f32(x, y); }
static SIMD vec v_fma(vec x, vec y, vec z) { return vfmaq_f32(z, x, y); }
/* x > y ? x : y, lane by lane: a NaN in x is passed over, one in y is kept. */
static SIMD vec v_max(vec x, vec y) { return vbslq_f32(vcgtq_f32(x, y), x, y); }

static SIMD vec v_load_else(const float *p, size_t n, float x) {
    float lane[LANES] = {x, x, x, x};
    for (size_t l = 0; l < n; l++) {
        lane[l] = p[l];
    }
    return v_load(lane);
}
static SIMD vec v_load_some(const float *p, size_t n) { return v_load_else(p, n, 0.0f); }
static SIMD void v_store_some(float *p, vec x, size_t n) {
    float lane[LANES];
    v_store(lane, x);
    for (size_t l = 0; l < n; l++) {
        p[l] = lane[l];
    }
}

/* 0 where x is -inf, else x. */
static SIMD vec v_shift_of(vec x) {
    return vbslq_f32(vceqq_f32(x, v_set(-INFINITY)), v_set(0.0f), x);
}

/* x where the byte is not 0, else -inf. */
static SIMD vec v_hide(vec x, const unsigned char *visible) {
    const uint32_t words[LANES] = {visible[0], visible[1], visible[2], visible[3]};
    uint32x4_t shown = vtstq_u32(vld1q_u32(words), vdupq_n_u32(0xff));
    return vbslq_f32(shown, x, v_set(-INFINITY));
}

/* p * 2^n with one rounding, 0 where x < FASTEXP_LOW; `shifted` is n + FASTEXP_MAGIC. */
static SIMD vec v_scale(vec p, vec n, vec shifted, vec x) {
    (void)n;
    uint32x4_t bits = vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23);
    vec lifted = v_mul(p, vreinterpretq_f32_u32(vaddq_u32(bits, vdupq_n_u32(FASTEXP_BIAS))));
    lifted = vbslq_f32(vcltq_f32(x, v_set(FASTEXP_LOW)), v_set(0.0f), lifted);
    return v_mul(lifted, v_set(FASTEXP_DROP));
}

/* Rows become columns: 4 x 4, by pairs, then across the halves. */
static SIMD void v_transpose(vec x[LANES]) {
    float32x4x2_t low = vtrnq_f32(x[0], x[1]), high = vtrnq_f32(x[2], x[3]);
    x[0] = vcombine_f32(vget_low_f32(low.val[0]), vget_low_f32(high.val[0]));
    x[1] = vcombine_f32(vget_low_f32(low.val[1]), vget_low_f32(high.val[1]));
    x[2] = vcombine_f32(vget_high_f32(low.val[0]), vget_high_f32(high.val[0]));
    x[3] = vcombine_f32(vget_high_f32(low.val[1]), vget_high_f32(high.val[1]));
}

static SIMD vec v_from_half(const uint16_t *p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
static SIMD vec v_from_brain(const uint16_t *p) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vld1_u16(p)), 16));
}

/* Quads: as in simd_avx512.h, with one in a vector. */
static SIMD vec v_add_quads(vec x) { return x; }
static SIMD vec v_repeat_quad(vec x) { return x; }
static SIMD vec v_max_quads(vec x) { return x; }

/* Octs: eight lanes, here of two vectors. */
typedef struct oct {
    vec low, high;
} oct;
enum { OCT_SUMS = 8, OCT_COLUMNS = 2 };
static SIMD oct o_load(const float *p) { return (oct){v_load(p), v_load(p + 4)}; }
static SIMD void o_store(float *p, oct x) {
    v_store(p, x.low);
    v_store(p + 4, x.high);
}
static SIMD oct o_set(float x) { return (oct){v_set(x), v_set(x)}; }
static SIMD oct o_mul(oct x, oct y) { return (oct){v_mul(x.low, y.low), v_mul(x.high, y.high)}; }
static SIMD oct o_fma(oct x, oct y, oct z) {
    return (oct){v_fma(x.low, y.low, z.low), v_fma(x.high, y.high, z.high)};
}
static SIMD uintptr_t o_after(oct x, uintptr_t number) { return v_after(x.low, number); }
static SIMD oct o_from_half(const uint16_t *p) { return (oct){v_from_half(p), v_from_half(p + 4)}; }
static SIMD oct o_from_brain(const uint16_t *p) {
    return (oct){v_from_brain(p), v_from_brain(p + 4)};
}
static SIMD vec v_sum_parts(const oct x[4]) {
    vec y[4], z[2];
    UNROLLED for (int n = 0; n < 4; n++) { y[n] = v_add(x[n].low, x[n].high); }
    UNROLLED for (int n = 0; n < 2; n++) {
        vec even = y[2 * n], odd = y[2 * n + 1];
        z[n] = v_add(vcombine_f32(vget_low_f32(even), vget_low_f32(odd)),
                     vcombine_f32(vget_high_f32(even), vget_high_f32(odd)));
    }
    return vpaddq_f32(z[0], z[1]);
}
static SIMD oct o_sum_parts(const oct x[8]) { return (oct){v_sum_parts(x), v_sum_parts(x + 4)}; }

#endif
