/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The portable micro-kernels. Compiled as they stand they serve `tiled` and the proofs; compiled
 * with ATTN_FUSED (and a name, ATTN_MICRO) they are the twins that vector code must equal bit for
 * bit: multiply and add in one rounding, and the exp of fastexp.h in binary32.
 */
#include "impl/frame/frame.h"

#ifdef ATTN_FUSED
#define ACCUMULATE(x, y, sum) FMA(x, y, sum)
#else
#define ACCUMULATE(x, y, sum) ADD(sum, MUL(x, y))
#define ATTN_MICRO attn_micro_portable
#endif

#if defined(ATTN_FUSED) && ATTN_BITS == 32
#include "impl/micro/fastexp.h"
#define WEIGHT(x) attn_fast_expf(x)
#else
#define WEIGHT(x) EXP(x)
#endif

#define ROWS ATTN_TILE_ROWS

#ifndef ATTN_FUSED
void ATTN_NAME(attn_load_real)(attn_real *to, const void *from, int64_t position, int64_t stride,
                               size_t n) {
    const attn_real *array = (const attn_real *)from + position;
    if (stride == 1) { /* the common case, as a loop that vectorises */
        for (size_t c = 0; c < n; c++) {
            to[c] = array[c];
        }
        return;
    }
    for (size_t c = 0; c < n; c++) {
        to[c] = array[(int64_t)c * stride];
    }
}
#endif

static void turn(attn_real *q, const attn_real *from, const int64_t *at, size_t rows, size_t d) {
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < d; c++) {
            q[c * ROWS + r] = r < rows ? from[at[r] + (int64_t)c] : ZERO;
        }
    }
}

/* One key. Rows are many: the inner loops run along them. */
static void score_rows(attn_real *lane, const attn_real *q, const attn_real *key, size_t rows,
                       size_t d) {
    attn_real part[ATTN_PARTS][ROWS];
    for (size_t p = 0; p < ATTN_PARTS; p++) {
        for (size_t r = 0; r < rows; r++) {
            part[p][r] = ZERO;
        }
        for (size_t c = p; c < d; c += ATTN_PARTS) {
            for (size_t r = 0; r < rows; r++) {
                part[p][r] = ACCUMULATE(q[c * ROWS + r], key[c], part[p][r]);
            }
        }
    }
    for (size_t half = ATTN_PARTS / 2; half > 0; half /= 2) {
        for (size_t p = 0; p < half; p++) {
            for (size_t r = 0; r < rows; r++) {
                part[p][r] = ADD(part[p][r], part[p + half][r]);
            }
        }
    }
    for (size_t r = 0; r < rows; r++) {
        lane[r] = part[0][r];
    }
}

/* Leaves other values in `part`. */
static attn_real sum_of_parts(attn_real *part) {
    for (size_t half = ATTN_PARTS / 2; half > 0; half /= 2) {
        for (size_t p = 0; p < half; p++) {
            part[p] = ADD(part[p], part[p + half]);
        }
    }
    return part[0];
}

/* One key and one of few rows: the inner loops run along the parts. */
static attn_real score_few(const attn_real *q, const attn_real *key, size_t few, size_t d) {
    attn_real part[ATTN_PARTS];
    for (size_t p = 0; p < ATTN_PARTS; p++) {
        part[p] = ZERO;
    }
    for (size_t c = 0; c < d; c += ATTN_PARTS, q += few * ATTN_PARTS) {
        for (size_t p = 0; p < ATTN_PARTS && c + p < d; p++) {
            part[p] = ACCUMULATE(q[p], key[c + p], part[p]);
        }
    }
    return sum_of_parts(part);
}

static void scores(attn_real *s, const attn_real *q, const attn_real *k, int64_t k_stride,
                   size_t rows, size_t keys, size_t d, attn_real scale) {
    const size_t lanes = attn_lanes(rows), few = attn_few(rows);
    for (size_t j = 0; j < keys; j++) {
        const attn_real *key = k + (int64_t)j * k_stride;
        attn_real *lane = s + j * lanes;
        for (size_t r = 0; few && r < rows; r++) {
            lane[r] = score_few(q + r * ATTN_PARTS, key, few, d);
        }
        if (!few) {
            score_rows(lane, q, key, rows, d);
        }
        for (size_t r = 0; r < rows; r++) {
            lane[r] = MUL(scale, lane[r]);
        }
    }
}

/* Without a branch: a mask may be as random as it likes. */
static void show(unsigned char *visible, const unsigned char *mask, const int64_t *at,
                 int64_t first, int64_t stride, size_t rows, size_t keys) {
    for (size_t r = 0; r < rows; r++) {
        for (size_t j = 0; j < keys; j++) {
            unsigned char shown = mask[at[r] + (first + (int64_t)j) * stride] != 0;
            visible[j * ROWS + r] &= shown;
        }
    }
}

static void hide(attn_real *s, const unsigned char *visible, size_t rows, size_t keys) {
    const size_t lanes = attn_lanes(rows);
    for (size_t j = 0; j < keys; j++) {
        for (size_t r = 0; r < rows; r++) {
            s[j * lanes + r] = SELECT(visible[j * ROWS + r], s[j * lanes + r], NEG_INF);
        }
    }
}

/* While a row has seen no finite score its maximum is -inf; 0 stands in for it: no inf - inf. */
static void softmax(attn_real *s, attn_real *max, attn_real *sum, attn_real *factor, size_t rows,
                    size_t keys) {
    const size_t lanes = attn_lanes(rows);
    for (size_t r = 0; r < rows; r++) {
        attn_real top = max[r];
        for (size_t j = 0; j < keys; j++) {
            top = MAX(s[j * lanes + r], top);
        }
        attn_real shift = SELECT(ISNINF(top), ZERO, top);
        factor[r] = WEIGHT(SUB(max[r], shift));
        attn_real part[ATTN_PARTS];
        for (size_t p = 0; p < ATTN_PARTS; p++) {
            part[p] = ZERO;
        }
        for (size_t j = 0; j < keys; j++) {
            attn_real weight = WEIGHT(SUB(s[j * lanes + r], shift));
            s[j * lanes + r] = weight;
            part[j % ATTN_PARTS] = ADD(part[j % ATTN_PARTS], weight);
        }
        max[r] = top;
        sum[r] = ADD(MUL(sum[r], factor[r]), sum_of_parts(part));
    }
}

static void mix(attn_real *o, const attn_real *s, const attn_real *factor, const attn_real *v,
                int64_t v_stride, size_t rows, size_t keys, size_t dv) {
    const size_t lanes = attn_lanes(rows);
    for (size_t r = 0; r < rows; r++) {
        attn_real *out = o + r * dv;
        for (size_t c = 0; c < dv; c++) {
            out[c] = MUL(factor[r], out[c]);
        }
        for (size_t j = 0; j < keys; j++) {
            for (size_t c = 0; c < dv; c++) {
                out[c] =
                    ACCUMULATE(s[j * lanes + r], v[(int64_t)j * v_stride + (int64_t)c], out[c]);
            }
        }
    }
}

static void mix_some(attn_real *o, const attn_real *s, const attn_real *factor, const attn_real *v,
                     int64_t v_stride, const unsigned char *visible, size_t rows, size_t keys,
                     size_t dv) {
    const size_t lanes = attn_lanes(rows);
    for (size_t r = 0; r < rows; r++) {
        attn_real *out = o + r * dv;
        for (size_t c = 0; c < dv; c++) {
            out[c] = MUL(factor[r], out[c]);
        }
        for (size_t j = 0; j < keys; j++) {
            for (size_t c = 0; visible[j * ROWS + r] && c < dv; c++) {
                out[c] =
                    ACCUMULATE(s[j * lanes + r], v[(int64_t)j * v_stride + (int64_t)c], out[c]);
            }
        }
    }
}

static int finite(const attn_real *v, int64_t v_stride, size_t keys, size_t dv) {
    int all = 1;
    for (size_t j = 0; j < keys; j++) {
        for (size_t c = 0; c < dv; c++) {
            all &= ISFINITE(v[(int64_t)j * v_stride + (int64_t)c]);
        }
    }
    return all;
}

#define NAMED(name) ATTN_NAME(name) /* with the macro ATTN_MICRO replaced first */
#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)
extern const ATTN_NAME(attn_micro) NAMED(ATTN_MICRO);
const ATTN_NAME(attn_micro) NAMED(ATTN_MICRO) = {
    TEXT_OF(ATTN_MICRO), turn, scores, show, hide, softmax, mix, mix_some, finite, 0, NULL, NULL};
