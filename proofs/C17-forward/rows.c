/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shell on one shape, everything that its tensors hold arbitrary: for every (b, h, i) the row
 * that attn_row is given is the row that spec/attention.md defines (query, visible set, keys,
 * values and bias of the visible set, scale, softcap, sink); what attn_row answers is what o and
 * lse hold afterwards; nothing else is written. The normal form is constant here: entry.c shows
 * that attn_forward hands on this one, and that what is assumed of offsets, lengths and windows
 * holds.
 *
 * shell.c is included with attn_row replaced by an observer, which notes the row and answers
 * arbitrary words: what is shown does not depend on what attn_row computes. The observer also
 * checks the contract under which row.c is proved (readable, apart). Calls are numbered; the t-th
 * call is the witness for the t-th row in the shell's order. attn_sees_band, too, is any function:
 * C9 says which.
 */
#include <math.h>
#include <stdlib.h>

#include "reference/problem/mask.h"
#include "reference/problem/normal.h"
#include "proofs/harness/proof.h"
#include "reference/kernel/row.h"

enum {
    B = BATCH,
    HQ = Q_HEADS,
    HKV = KV_HEADS,
    SQ = QUERIES,
    SK = KEYS,
    D = HEAD_SIZE,
    DV = VALUE_SIZE,
    ROWS = BATCH * Q_HEADS * QUERIES
};

typedef ATTN_NAME(attn_row_problem) row_problem;

attn_real nondet_scalar(void);
double nondet_double(void);

/* Words are equal, also where they are the same NaN. */
static _Bool same_words(attn_real x, attn_real y) { return __CPROVER_equal(x, y); }

/* ---- the observer -------------------------------------------------------------------------- */
typedef struct seen_row {
    attn_real q[D], k[SK][D], v[SK][DV], bias[SK], scale, softcap, sink;
    _Bool visible[SK], has_bias, has_softcap, has_sink, sizes;
    attn_real out[DV], lse;
} seen_row;

static seen_row seen[ROWS];
static int calls;
static _Bool readable = 1, separate = 1;

#define READ(p, count) __CPROVER_r_ok(p, (count) * sizeof *(p))
#define WRITE(p, count) __CPROVER_w_ok(p, (count) * sizeof *(p))
#define OTHER(p, q) (!__CPROVER_same_object(p, q))

static void observe(attn_real *out, attn_real *lse, attn_real *s, attn_real *e, attn_real *w,
                    const row_problem *p) {
    attn_real *results[] = {out, lse, s, e, w};
    __CPROVER_assert(calls < ROWS, "C17 one call a row");
    seen_row *row = &seen[calls++];
    row->sizes = p->n == SK && p->d == D && p->dv == DV;
    readable = readable && READ(p->q, D) && READ(p->visible, SK) && WRITE(out, DV) &&
               WRITE(lse, 1) && WRITE(s, SK) && WRITE(e, SK) && WRITE(w, SK);
    for (int c = 0; c < D; c++) {
        row->q[c] = p->q[c];
    }
    row->has_bias = p->bias != NULL;
    for (int j = 0; j < SK; j++) {
        row->visible[j] = p->visible[j] != 0;
        if (p->visible[j]) {
            readable = readable && READ(p->k + j, 1) && READ(p->k[j], D) && READ(p->v + j, 1) &&
                       READ(p->v[j], DV) && (!p->bias || READ(p->bias + j, 1));
            for (int c = 0; c < D; c++) {
                row->k[j][c] = p->k[j][c];
            }
            for (int c = 0; c < DV; c++) {
                row->v[j][c] = p->v[j][c];
            }
            if (p->bias) {
                row->bias[j] = p->bias[j];
            }
        }
    }
    for (int r = 0; r < 5; r++) {
        separate = separate && OTHER(results[r], p) && OTHER(results[r], p->q) &&
                   OTHER(results[r], p->k) && OTHER(results[r], p->v) &&
                   OTHER(results[r], p->visible) && (!p->bias || OTHER(results[r], p->bias));
        for (int j = 0; j < SK; j++) {
            separate = separate && (!p->visible[j] ||
                                    (OTHER(results[r], p->k[j]) && OTHER(results[r], p->v[j])));
        }
        for (int t = 0; t < r; t++) {
            separate = separate && OTHER(results[r], results[t]);
        }
    }
    row->scale = p->score.scale;
    row->softcap = p->score.softcap;
    row->has_softcap = p->score.has_softcap != 0;
    row->sink = p->sink;
    row->has_sink = p->has_sink != 0;
    for (int c = 0; c < DV; c++) {
        row->out[c] = out[c] = nondet_scalar();
    }
    row->lse = *lse = nondet_scalar();
    for (int j = 0; j < SK; j++) {
        s[j] = nondet_scalar();
        e[j] = nondet_scalar();
        w[j] = nondet_scalar();
    }
}

/* attn_add_alibi, too, is any function in the shell; main says which one the real one is. */
attn_real __CPROVER_uninterpreted_alibi(attn_real bias, attn_real slope, int64_t distance);

#define attn_row_f64 observe
#define attn_add_alibi_f64 __CPROVER_uninterpreted_alibi
#include PROOF_SOURCE
#undef attn_row_f64
#undef attn_add_alibi_f64

/* C9 proves what attn_sees_band is; here it is an arbitrary function of its arguments. */
int __CPROVER_uninterpreted_band(int causal, int64_t offset, int64_t left, int64_t right,
                                 int64_t length, int64_t i, int64_t j);

int attn_sees_band(const attn_band *band, int64_t i, int64_t j) {
    return __CPROVER_uninterpreted_band(band->causal != 0, band->offset, band->left, band->right,
                                        band->length, i, j);
}

/* ---- the problem ---------------------------------------------------------------------------- */
/*
 * Layouts: 0 heads inside, V with gaps, batch inside in the outputs; 1 last strides of 2 and more
 * in Q and K, one V for all batch entries, outputs with gaps.
 */
#define GAP (LAYOUT + 1)
#if LAYOUT == 0
#define Q_STRIDES {SQ * HQ * D, D, HQ * D, 1}
#define K_STRIDES {SK * HKV * D, D, HKV * D, 1}
#define V_STRIDES {HKV * SK * (DV + 1), SK * (DV + 1), DV + 1, 1}
#define O_STRIDES {DV, B * DV, HQ * B * DV, 1}
#define LSE_STRIDES {1, B, HQ * B}
#else
#define Q_STRIDES {HQ * SQ * D * 2, SQ * D * 2, D * 2, 2}
#define K_STRIDES {2, SK * D * B * 2, D * B * 2, B * 2}
#define V_STRIDES {0, SK * DV, DV, 1}
#define O_STRIDES {HQ * SQ * (2 * DV + 1), SQ * (2 * DV + 1), 2 * DV + 1, 2}
#define LSE_STRIDES {HQ * SQ * 2, SQ * 2, 2}
#endif
enum {
    Q_WORDS = B * HQ * SQ * D * GAP,
    K_WORDS = B * HKV * SK * D * GAP,
    V_WORDS = B * HKV * SK * (DV + 1),
    O_WORDS = B * HQ * SQ * (LAYOUT ? 2 * DV + 1 : DV),
    LSE_WORDS = ROWS * GAP
};
static attn_real q[Q_WORDS], k[K_WORDS], v[V_WORDS], o[O_WORDS], lse[LSE_WORDS];
static attn_real q0[Q_WORDS], k0[K_WORDS], v0[V_WORDS], o0[O_WORDS], lse0[LSE_WORDS];
static attn_real sinks[HQ], sinks0[HQ], slopes[B * HQ], slopes0[B * HQ];
enum { MASK_WORDS = B * HQ * SQ * SK };
static unsigned char shows[MASK_WORDS], shows0[MASK_WORDS];
static attn_real adds[MASK_WORDS], adds0[MASK_WORDS];
static int64_t lengths[B], lengths0[B], offsets[B], offsets0[B];

static void any_words(attn_real *to, attn_real *copy, int count) {
    for (int at = 0; at < count; at++) {
        to[at] = copy[at] = nondet_scalar();
    }
}

static _Bool kept_words(const attn_real *now, const attn_real *before, int count) {
    _Bool kept = 1;
    for (int at = 0; at < count; at++) {
        kept = kept && same_words(now[at], before[at]);
    }
    return kept;
}

static _Bool has(uint64_t feature) { return (FEATURES & feature) != 0; }

/* The mask's axes: MASK_SHAPE of {1, 2, 4, 8} says which of [B, Hq, Sq, Sk] it has in full. */
static const int64_t full[4] = {B, HQ, SQ, SK};
static int64_t mask_axis(int axis) { return MASK_SHAPE >> axis & 1 ? full[axis] : 1; }

static int64_t mask_place(int64_t b, int64_t h, int64_t i, int64_t j) {
    const int64_t at[4] = {b, h, i, j};
    int64_t place = 0;
    for (int axis = 4 - MASK_RANK; axis < 4; axis++) {
        place = place * mask_axis(axis) + (mask_axis(axis) == 1 ? 0 : at[axis]);
    }
    return place;
}

static attest_tensor mask_tensor(void) {
    attest_tensor t = {.data = has(ATTEST_MASK_BOOL) ? (void *)shows : (void *)adds,
                       .dtype = has(ATTEST_MASK_BOOL) ? ATTEST_BOOL : ATTEST_F64,
                       .rank = MASK_RANK};
    int64_t step = 1;
    for (int axis = MASK_RANK - 1; axis >= 0; axis--) {
        t.shape[axis] = mask_axis(4 - MASK_RANK + axis);
        t.stride[axis] = step;
        step *= t.shape[axis];
    }
    return t;
}

static attest_tensor vector(void *data, attest_dtype dtype, int64_t count) {
    return (attest_tensor){data, {count}, {1}, dtype, 1};
}

static attest_problem problem;
static double scale;
static int64_t left, right;

static void any_problem(void) {
    any_words(q, q0, Q_WORDS);
    any_words(k, k0, K_WORDS);
    any_words(v, v0, V_WORDS);
    any_words(o, o0, O_WORDS);
    any_words(lse, lse0, LSE_WORDS);
    any_words(sinks, sinks0, HQ);
    any_words(slopes, slopes0, B * HQ);
    any_words(adds, adds0, MASK_WORDS);
    for (int at = 0; at < MASK_WORDS; at++) {
        shows[at] = shows0[at] = nondet_byte();
    }
    for (int b = 0; b < B; b++) {
        lengths[b] = lengths0[b] = nondet_long();
        offsets[b] = offsets0[b] = nondet_long();
        __CPROVER_assume(0 <= lengths[b] && lengths[b] <= SK);
        __CPROVER_assume(-ATTN_MAX_OFFSET <= offsets[b] && offsets[b] <= ATTN_MAX_OFFSET);
    }
    problem = (attest_problem){
        .struct_bytes = sizeof problem,
        .features = FEATURES,
        .threads = 1,
        .q = {q, {B, HQ, SQ, D}, Q_STRIDES, ATTEST_F64, 4},
        .k = {k, {B, HKV, SK, D}, K_STRIDES, ATTEST_F64, 4},
        .v = {v, {B, HKV, SK, DV}, V_STRIDES, ATTEST_F64, 4},
        .o = {o, {B, HQ, SQ, DV}, O_STRIDES, ATTEST_F64, 4},
        .softcap = nondet_double(),
    };
    if (has(ATTEST_LSE)) {
        problem.lse = (attest_tensor){lse, {B, HQ, SQ}, LSE_STRIDES, ATTEST_F64, 3};
    }
    if (has(ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) {
        problem.mask = mask_tensor();
    }
    if (has(ATTEST_SINKS)) {
        problem.sinks = vector(sinks, ATTEST_F64, HQ);
    }
    if (has(ATTEST_ALIBI)) {
        problem.slopes = SLOPES_RANK == 1
                             ? vector(slopes, ATTEST_F64, HQ)
                             : (attest_tensor){slopes, {B, HQ}, {HQ, 1}, ATTEST_F64, 2};
    }
    if (has(ATTEST_KEY_LENGTHS)) {
        problem.key_lengths = vector(lengths, ATTEST_I64, B);
    }
    if (has(ATTEST_OFFSETS)) {
        problem.offsets = vector(offsets, ATTEST_I64, B);
    }
}

/* ---- spec/attention.md ---------------------------------------------------------------------- */
static attn_real at4(const attn_real *data, const attest_tensor *t, int64_t b, int64_t h, int64_t s,
                     int64_t c) {
    return data[b * t->stride[0] + h * t->stride[1] + s * t->stride[2] + c * t->stride[3]];
}

/* MASK-03, MASK-09: the offset of a batch entry. */
static int64_t spec_length(int b) { return has(ATTEST_KEY_LENGTHS) ? lengths0[b] : SK; }

static int64_t spec_offset(int b) {
    if (has(ATTEST_OFFSETS)) {
        return offsets0[b];
    }
    if (CORNER == ATTN_CORNER_BOTTOM_RIGHT ||
        (CORNER == ATTN_CORNER_BOTTOM_RIGHT_LENGTHS && has(ATTEST_KEY_LENGTHS))) {
        return spec_length(b) - SQ;
    }
    return 0;
}

/* MASK-04: the band (MASK-01 to MASK-03), a boolean mask (MASK-05), an additive one (MASK-08). */
static _Bool spec_sees(int b, int h, int i, int j) {
    _Bool sees = __CPROVER_uninterpreted_band(has(ATTEST_CAUSAL), spec_offset(b), left, right,
                                              spec_length(b), i, j) != 0;
    if (has(ATTEST_MASK_BOOL)) {
        sees = sees && shows0[mask_place(b, h, i, j)];
    } else if (has(ATTEST_MASK_ADD)) {
        sees = sees && adds0[mask_place(b, h, i, j)] != (double)-INFINITY;
    }
    return sees;
}

/* MASK-06, SEM-08: mask minus slope times distance. */
static attn_real spec_bias(int b, int h, int i, int j) {
    attn_real bias = has(ATTEST_MASK_ADD) ? adds0[mask_place(b, h, i, j)] : ZERO;
    if (has(ATTEST_ALIBI)) {
        const int64_t away = i + spec_offset(b) - j; /* at most 2^62 + SQ + SK */
        const attn_real slope = slopes0[SLOPES_RANK == 1 ? h : b * HQ + h];
        bias = __CPROVER_uninterpreted_alibi(bias, slope, away < 0 ? -away : away);
    }
    return bias;
}

/* SEM-11. */
static int spec_kv_head(int h) { return GQA == ATTN_GQA_TILED ? h % HKV : h / (HQ / HKV); }

typedef struct findings {
    _Bool query, visible, keys, values, bias, options, out, lse;
} findings;

static void compare_row(findings *good, int b, int h, int i) {
    const seen_row *row = &seen[(b * HQ + h) * SQ + i];
    const int g = spec_kv_head(h);
    _Bool empty = 1;
    const _Bool has_bias = has(ATTEST_MASK_ADD | ATTEST_ALIBI);
    good->options = good->options && row->sizes && same_words(row->scale, scale) &&
                    row->has_softcap == has(ATTEST_SOFTCAP) && row->has_sink == has(ATTEST_SINKS) &&
                    (!has(ATTEST_SOFTCAP) || same_words(row->softcap, problem.softcap)) &&
                    (!has(ATTEST_SINKS) || same_words(row->sink, sinks0[h]));
    for (int c = 0; c < D; c++) {
        good->query = good->query && same_words(row->q[c], at4(q0, &problem.q, b, h, i, c));
    }
    good->bias = good->bias && (row->has_bias == has_bias);
    for (int j = 0; j < SK; j++) {
        const _Bool sees = spec_sees(b, h, i, j);
        empty = empty && !sees;
        good->visible = good->visible && row->visible[j] == sees;
        for (int c = 0; c < D; c++) {
            good->keys =
                good->keys && (!sees || same_words(row->k[j][c], at4(k0, &problem.k, b, g, j, c)));
        }
        for (int c = 0; c < DV; c++) {
            good->values = good->values &&
                           (!sees || same_words(row->v[j][c], at4(v0, &problem.v, b, g, j, c)));
        }
        good->bias =
            good->bias && (!sees || !has_bias || same_words(row->bias[j], spec_bias(b, h, i, j)));
    }
    /* SEM-12, SEM-10. */
    const _Bool special = empty && !has(ATTEST_SINKS);
    for (int c = 0; c < DV; c++) {
        attn_real word = row->out[c];
        if (special && EMPTY_ROW == ATTN_EMPTY_NAN) {
            word = SUB(NEG_INF, NEG_INF);
        } else if (special && EMPTY_ROW == ATTN_EMPTY_MEAN_OF_ALL) {
            word = ZERO;
            for (int j = 0; j < SK; j++) {
                word = ADD(word, MUL(DIV(ONE, FROM_INT(SK)), at4(v0, &problem.v, b, g, j, c)));
            }
        }
        good->out = good->out && same_words(at4(o, &problem.o, b, h, i, c), word);
    }
    if (has(ATTEST_LSE)) {
        attn_real word = special && LSE_EMPTY == ATTN_LSE_EMPTY_POS_INF ? NEG(NEG_INF) : row->lse;
        word = LSE_BASE == ATTN_LSE_BASE_2 ? MUL(word, (attn_real)0x1.71547652b82fep0) : word;
        const int64_t *step = problem.lse.stride;
        good->lse = good->lse && same_words(lse[b * step[0] + h * step[1] + i * step[2]], word);
    }
}

static _Bool o_element[O_WORDS], lse_element[LSE_WORDS];

int main(void) {
    any_problem();
    scale = nondet_double();
    left = nondet_long();
    right = nondet_long();
    __CPROVER_assume(left >= ATTEST_UNBOUNDED && right >= ATTEST_UNBOUNDED);
    const attn_normal normal = {
        .problem = &problem,
        .features = FEATURES,
        .batch = B,
        .q_heads = HQ,
        .kv_heads = HKV,
        .queries = SQ,
        .keys = SK,
        .head_size = D,
        .value_size = DV,
        .scale = scale,
        .left = left,
        .right = right,
        .profile = {.corner = CORNER,
                    .gqa_order = GQA,
                    .empty_row = EMPTY_ROW,
                    .lse_base = LSE_BASE,
                    .lse_empty = LSE_EMPTY},
    };
    const attest_status status = attn_shell_f64(&normal);
    const _Bool done = status == ATTEST_OK;
    findings good = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int b = 0; b < B; b++) {
        for (int h = 0; h < HQ; h++) {
            for (int i = 0; i < SQ; i++) {
                compare_row(&good, b, h, i);
                const int64_t *step = problem.o.stride;
                for (int c = 0; c < DV; c++) {
                    o_element[b * step[0] + h * step[1] + i * step[2] + c * step[3]] = 1;
                }
                const int64_t *skip = problem.lse.stride;
                lse_element[b * skip[0] + h * skip[1] + i * skip[2]] = has(ATTEST_LSE);
            }
        }
    }
    _Bool gaps = 1;
    for (int at = 0; at < O_WORDS; at++) {
        gaps = gaps && ((done && o_element[at]) || same_words(o[at], o0[at]));
    }
    for (int at = 0; at < LSE_WORDS; at++) {
        gaps = gaps && ((done && lse_element[at]) || same_words(lse[at], lse0[at]));
    }
    _Bool kept = kept_words(q, q0, Q_WORDS) && kept_words(k, k0, K_WORDS) &&
                 kept_words(v, v0, V_WORDS) && kept_words(sinks, sinks0, HQ) &&
                 kept_words(slopes, slopes0, B * HQ) && kept_words(adds, adds0, MASK_WORDS);
    for (int at = 0; at < MASK_WORDS; at++) {
        kept = kept && shows[at] == shows0[at];
    }
    for (int b = 0; b < B; b++) {
        kept = kept && lengths[b] == lengths0[b] && offsets[b] == offsets0[b];
    }
    PROVE(!done || calls == ROWS, "C17 one call a row");
    PROVE(!done || good.query, "C17 query of the row");
    PROVE(!done || good.visible, "C17 visible set");
    PROVE(!done || good.keys, "C17 keys of the visible set");
    PROVE(!done || good.values, "C17 values of the visible set");
    PROVE(!done || good.bias, "C17 bias of the visible set");
    PROVE(!done || good.options, "C17 scale, softcap and sink");
    PROVE(!done || good.out, "C17 outputs hold the row's answer");
    PROVE(!done || good.lse, "C17 LSE holds the row's answer");
    const attn_real x = nondet_scalar(), y = nondet_scalar();
    const int64_t away = nondet_long();
    PROVE(same_words(ATTN_NAME(attn_add_alibi)(x, y, away), SUB(x, MUL(y, FROM_INT(away)))),
          "C17 ALiBi is bias minus slope times distance");
    PROVE(kept, "C17 inputs kept");
    PROVE(gaps, "C17 nothing written but the outputs");
    PROVE(readable, "C17 what attn_row reads is readable");
    PROVE(separate, "C17 what attn_row writes is apart");
    REACHED(done && seen[0].visible[0] && !seen[ROWS - 1].visible[0], "end with rows that differ");
}
