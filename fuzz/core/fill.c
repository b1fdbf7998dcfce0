/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "fuzz/core/decode.h"
#include "reference/oracle/model.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"

/* What a tensor holds. 0 must tell keys, heads, columns and roundings apart. */
enum fill {
    FILL_FINE,   /* 24 random bits in [-2, 2) */
    FILL_COARSE, /* multiples of 1/8 in [-2, 2] */
    FILL_ZERO,
    FILL_ONE,
    FILL_UNIT,    /* element c of row s is 1 where c = s mod size, else 0 */
    FILL_INDEX,   /* s + 1 */
    FILL_PEAKED,  /* multiples of 1/2 in [-8, 8] */
    FILL_LARGE,   /* coarse, times 64 */
    FILL_EDGE,    /* towards the largest number of the type */
    FILL_TINY,    /* denormal numbers of the type among them */
    FILL_CANCEL,  /* rows of opposite signs */
    FILL_SPECIAL, /* coarse, with some NaN and infinities */
    FILLS
};

static uint64_t mix(uint64_t z) { /* splitmix64 */
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t seed_of(const attest_fuzz_problem *r, int which) {
    return mix(r->field[FUZZ_SEED] | (uint64_t)r->field[FUZZ_SEED_HIGH] << 8 |
               (uint64_t)which << 16);
}

static double special(uint64_t bits) {
    static const double values[] = {NAN, INFINITY, -INFINITY, -0.0};
    return values[bits & 3];
}

static double value_of(enum fill kind, attest_dtype dtype, uint64_t bits, int64_t row, int64_t c,
                       int64_t size) {
    attn_format format = attn_format_of(dtype);
    double coarse = ((double)(bits & 31) - 16) / 8;
    switch (kind) {
    case FILL_FINE:
        return ((double)(bits & 0xffffff) - 0x1p23) / 0x1p22;
    case FILL_ZERO:
        return 0;
    case FILL_ONE:
        return 1;
    case FILL_UNIT:
        return row % size == c;
    case FILL_INDEX:
        return (double)(row + 1);
    case FILL_PEAKED:
        return ((double)(bits & 31) - 16) / 2;
    case FILL_LARGE:
        return coarse * 64;
    case FILL_EDGE:
        return coarse * ldexp(format.max, -1 - (int)(bits >> 8 & 15));
    case FILL_TINY:
        return coarse * ldexp(format.eta, 1 + (int)(bits >> 8 & 31));
    case FILL_CANCEL:
        return (row % 2 ? -1 : 1) * (1 + 0x1p-8 * coarse);
    case FILL_SPECIAL:
        return (bits >> 8 & 31) == 0 ? special(bits >> 13) : coarse;
    case FILL_COARSE:
    case FILLS:
        break;
    }
    return coarse;
}

static void fill_floats(attest_fuzz_problem *r, int which, unsigned char byte, double factor,
                        int finite_only) {
    const attest_tensor *t = attn_operand(&r->problem, which);
    enum fill kind = (enum fill)(byte % FILLS);
    int64_t size = t->rank ? t->shape[t->rank - 1] : 1, count = attest_fuzz_count(t);
    int64_t rows = t->rank > 1 ? t->shape[t->rank - 2] : 1;
    uint64_t seed = seed_of(r, which);
    kind = finite_only && kind == FILL_SPECIAL ? FILL_COARSE : kind;
    for (int64_t n = 0; n < count; n++) {
        double value =
            value_of(kind, t->dtype, mix(seed + (uint64_t)n), n / size % rows, n % size, size);
        attn_store(t->dtype, attest_fuzz_address(t, n), factor * value);
    }
}

/* Patterns of a mask; the low bits of FUZZ_MASK. */
static int hides(unsigned pattern, uint64_t bits, int64_t i, int64_t j, int64_t keys) {
    switch (pattern) {
    case 0:
        return (bits & 3) == 0;
    case 1:
        return (bits & 7) != 0;
    case 2:
        return j != i % (keys > 0 ? keys : 1);
    case 3:
        return j > i;
    case 4:
        return j < keys / 2;
    case 5:
        return 1;
    case 6:
        return 0;
    default:
        return j >= keys - keys / 3;
    }
}

/* Bits 3-4 of FUZZ_MASK: how a hidden key is marked, and what the others hold. */
static void fill_mask(attest_fuzz_problem *r) {
    const attest_tensor *t = &r->problem.mask;
    const unsigned char byte = r->field[FUZZ_MASK];
    const int64_t keys = t->rank ? t->shape[t->rank - 1] : 1;
    const int64_t rows = t->rank > 1 ? t->shape[t->rank - 2] : 1;
    const double hidden[] = {-INFINITY, -INFINITY, -1e4, -0x1.fffffep127};
    for (int64_t n = 0; n < attest_fuzz_count(t); n++) {
        uint64_t bits = mix(seed_of(r, ATTN_MASK) + (uint64_t)n);
        int hide = hides(byte & 7, bits, n / keys % rows, n % keys, keys);
        if (t->dtype == ATTEST_BOOL) {
            unsigned char truth = byte & 8 ? (unsigned char)(1 + (bits >> 8) % 255) : 1;
            *(unsigned char *)attest_fuzz_address(t, n) = hide ? 0 : truth;
            continue;
        }
        double value = byte & 32 ? 0 : ((double)(bits >> 8 & 31) - 16) / 4;
        attn_store(t->dtype, attest_fuzz_address(t, n), hide ? hidden[byte >> 3 & 3] : value);
    }
}

static int64_t list_value(unsigned char kind, uint64_t bits, int64_t b, int64_t low, int64_t full,
                          int64_t high) {
    switch (kind % 4) {
    case 0:
        return low + (int64_t)(bits % (uint64_t)(high - low + 1));
    case 1:
        return full;
    case 2:
        return b == 0 ? low + (high - low) / 4 : full;
    default:
        return 0;
    }
}

static void fill_lists(attest_fuzz_problem *r) {
    const attest_problem *p = &r->problem;
    const int64_t queries = p->q.shape[2], keys = p->k.shape[2];
    for (int64_t b = 0; b < attest_fuzz_count(&p->key_lengths); b++) {
        uint64_t bits = mix(seed_of(r, ATTN_KEY_LENGTHS) + (uint64_t)b);
        *(int64_t *)attest_fuzz_address(&p->key_lengths, b) =
            list_value(r->field[FUZZ_LENGTHS], bits, b, 0, keys, keys);
    }
    for (int64_t b = 0; b < attest_fuzz_count(&p->offsets); b++) {
        static const int64_t far[] = {0,
                                      0,
                                      0,
                                      INT64_C(1) << 32,
                                      -(INT64_C(1) << 32),
                                      INT64_C(1) << 40,
                                      ATTN_MAX_OFFSET / 2,
                                      -ATTN_MAX_OFFSET / 2};
        uint64_t bits = mix(seed_of(r, ATTN_OFFSETS) + (uint64_t)b);
        unsigned char kind = r->field[FUZZ_OFFSETS];
        *(int64_t *)attest_fuzz_address(&p->offsets, b) =
            list_value(kind, bits, b, -queries - 2, keys - queries, keys + 2) + far[kind >> 2 & 7];
    }
}

static double patch_value(unsigned char byte, attest_dtype dtype) {
    attn_format format = attn_format_of(dtype);
    const double values[] = {NAN,        INFINITY,        -INFINITY,  -0.0,
                             format.max, -format.max,     format.eta, 2 * format.eta,
                             -1e4,       -0x1.fffffep127, 88.5,       -88.5,
                             -104,       0x1p-126,        700,        1e30};
    return byte >= 0xf0 ? values[byte & 15] : (double)(signed char)(byte ^ 0x80) / 16;
}

/* One element of one input: a value for a float, a truth for a mask, a small number for a list. */
static void patch(attest_fuzz_problem *r, const unsigned char *bytes, int finite_only) {
    const attest_tensor *t = attn_operand(&r->problem, bytes[0] % ATTN_INPUTS);
    int64_t count = attest_fuzz_count(t);
    if (count == 0) {
        return;
    }
    void *at = attest_fuzz_address(t, (bytes[1] | bytes[2] << 8) % count);
    if (t->dtype == ATTEST_BOOL) {
        *(unsigned char *)at = bytes[3];
    } else if (t == &r->problem.key_lengths) {
        *(int64_t *)at = bytes[3] % (r->problem.k.shape[2] + 1);
    } else if (t == &r->problem.offsets) {
        *(int64_t *)at = (int64_t)bytes[3] - 128;
    } else {
        double value = patch_value(bytes[3], t->dtype);
        int hides_key = t == &r->problem.mask && value < 0;
        if (isfinite(value) || !finite_only || hides_key) {
            attn_store(t->dtype, at, value);
        }
    }
}

void attest_fuzz_fill(attest_fuzz_problem *r, const attest_fuzz_scope *scope,
                      const unsigned char *patches, size_t patch_bytes) {
    const unsigned char *field = r->field;
    const int finite_only = scope->kernel->finite_only != 0;
    fill_floats(r, ATTN_Q, field[FUZZ_FILL_Q], 1, finite_only);
    fill_floats(r, ATTN_K, field[FUZZ_FILL_K], 1, finite_only);
    fill_floats(r, ATTN_V, field[FUZZ_FILL_V], 1, finite_only);
    fill_floats(r, ATTN_SINKS, field[FUZZ_FILL_BIAS], 1, finite_only);
    fill_floats(r, ATTN_SLOPES, field[FUZZ_FILL_BIAS] >> 4, 0.125, finite_only);
    fill_mask(r);
    fill_lists(r);
    size_t most = FUZZ_MOST_PATCHES * FUZZ_PATCH_BYTES;
    patch_bytes = patch_bytes < most ? patch_bytes : most;
    for (size_t n = 0; n + FUZZ_PATCH_BYTES <= patch_bytes; n += FUZZ_PATCH_BYTES) {
        patch(r, patches + n, finite_only);
    }
}
