/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What frame.c leaves out: values of another width than keys; with BENT softcap, an additive mask
 * whether adjacent or not, and slopes; with RANGES sinks, and the keys in two ranges, into one state
 * or into two that are merged, as drive.c has it where a call is split. Fewer bands than there.
 */
#include "impl/frame/frame.h"
#include "proofs/harness/proof.h"

#define ROWS ATTN_TILE_ROWS
#define TILE ATTN_TILE_KEYS

uint8_t provenance_visible[ROWS];
uint8_t provenance_seen, provenance_bias;
_Bool provenance_cap, provenance_sink;
int provenance_position[ROWS];

static attn_real queries[ROWS * D], keys_[MAX_KEYS * D], values[MAX_KEYS * DV];
static unsigned char mask[ROWS * MAX_KEYS * 2];
static attn_real bias[ROWS * MAX_KEYS * 2];
static attn_real max[2][ROWS], sum[2][ROWS], o[2][ROWS * DV];
static unsigned char seen[2][ROWS];
static attn_real s_q[(D + ATTN_PARTS - 1) * ROWS], s_k[TILE * D], s_v[TILE * DV];
static attn_real s_s[TILE * ROWS], s_bias[TILE * ROWS];
static attn_real s_line[TILE + D], s_factor[ROWS];
static unsigned char s_visible[TILE * ROWS];

static int64_t small(int64_t low, int64_t high) {
    const int64_t x = (int64_t)(nondet_byte() & 15) + low;
    __CPROVER_assume(x <= high);
    return x;
}

static _Bool in_band(const attn_band *b, int64_t i, int64_t j) {
    const int64_t place = i + b->offset;
    return j < b->length && !(b->causal && j > place) && !(b->left >= 0 && j < place - b->left) &&
           !(b->right >= 0 && j > place + b->right);
}

/* The operands, and what each row of the block has to see of n keys. */
static void fill(ATTN_NAME(attn_block) * block, int64_t n) {
    for (int j = 0; j < MAX_KEYS; j++) {
        const uint8_t finite = nondet_bool();
        for (int c = 0; c < D; c++) {
            keys_[j * D + c] = p_make(P_KEY, 0, (uint8_t)j, (uint8_t)c, 0, 0);
        }
        for (int c = 0; c < DV; c++) {
            values[j * DV + c] = p_make(P_VALUE, 0, (uint8_t)j, (uint8_t)c, finite, 0);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        block->index[r] = small(0, QUERIES - 1);
        block->q_at[r] = r * D;
        block->mask_at[r] = r * MAX_KEYS * 2;
        block->slope[r] = p_make(F_SLOPE, (uint8_t)r, 0, 0, 0, 0);
        block->sink[r] = p_make(P_PEAK, (uint8_t)r, 0, 0, F_SINK, 0);
        provenance_position[r] = (int)(block->index[r] + block->band.offset);
        for (int c = 0; c < D; c++) {
            queries[r * D + c] = p_make(P_QUERY, (uint8_t)r, 0, (uint8_t)c, 0, 0);
        }
        for (int j = 0; j < MAX_KEYS; j++) {
            const int64_t at = block->mask_at[r] + j * block->mask_stride;
            const _Bool hidden = nondet_bool();
            mask[at] = !hidden;
            bias[at] = hidden ? NEG_INF : p_make(F_BIAS, (uint8_t)r, (uint8_t)j, 0, F_MASK, 0);
            const _Bool shown = (size_t)r < block->rows && j < n &&
                                in_band(&block->band, block->index[r], j) &&
                                !((block->mask_bool || block->mask_add) && hidden);
            provenance_visible[r] |= (uint8_t)(shown << j);
            provenance_seen |= (uint8_t)(shown << j);
        }
    }
}

int main(void) {
    static ATTN_NAME(attn_block) block;
    const int64_t n = small(1, MAX_KEYS);
    const int64_t cut = RANGES ? small(0, n / TILE) * TILE : 0;
    const _Bool apart = RANGES && nondet_bool();
    block.rows = (size_t)small(1, ROWS);
    block.d = D;
    block.dv = DV;
    block.band.causal = nondet_bool();
    block.band.offset = small(-1, MAX_KEYS - 1);
    block.band.left = small(-1, 1);
    block.band.right = -1;
    block.band.length = small(0, n);
    block.scale = p_make(P_SCALE, 0, 0, 0, 0, 0);
    block.softcap = p_make(F_CAP, 0, 0, 0, 0, 0);
    block.has_softcap = provenance_cap = BENT && nondet_bool();
    block.has_slopes = BENT && nondet_bool();
    block.has_sinks = provenance_sink = RANGES && nondet_bool();
    block.q = queries;
    block.q_stride = 1;
    block.q_load = ATTN_NAME(attn_load_real);
    block.k.data = keys_;
    block.v.data = values;
    block.k.row_stride = D;
    block.v.row_stride = DV;
    block.k.column_stride = block.v.column_stride = 1;
    block.k.in_place = nondet_bool();
    block.v.in_place = nondet_bool();
    block.k.load = block.v.load = block.mask_load = ATTN_NAME(attn_load_real);
    block.mask_stride = BENT && nondet_bool() ? 2 : 1;
    block.mask_bool = nondet_bool() ? mask : NULL;
    block.mask_add = BENT && nondet_bool() ? bias : NULL;
    provenance_bias = (block.mask_add ? F_MASK : 0) | (block.has_slopes ? F_ALIBI : 0);
    fill(&block, n);
    const ATTN_NAME(attn_scratch) scratch = {
        .q = s_q,
        .k = s_k,
        .v = s_v,
        .s = s_s,
        .bias = s_bias,
        .line = s_line,
        .factor = s_factor,
        .visible = s_visible,
    };
    const ATTN_NAME(attn_state)
        first = {.max = max[0], .sum = sum[0], .o = o[0], .seen = seen[0]},
        second = {.max = max[1], .sum = sum[1], .o = o[1], .seen = seen[1]};
    const ATTN_NAME(attn_micro) *micro = &ATTN_NAME(attn_micro_portable);
    ATTN_NAME(attn_block_start)(&block, micro, &scratch);
    ATTN_NAME(attn_state_begin)(&first, &block, 1);
    ATTN_NAME(attn_state_begin)(&second, &block, 0);
    if (RANGES) {
        ATTN_NAME(attn_block_range)(&first, &block, micro, &scratch, 0, cut);
    }
    ATTN_NAME(attn_block_range)(apart ? &second : &first, &block, micro, &scratch, cut, n);
    if (apart) {
        ATTN_NAME(attn_state_merge)(&first, &second, &block, micro, &scratch);
    }
    ATTN_NAME(attn_block_finish)(&first, &block, 1);
    const uint8_t sink = provenance_sink ? F_SINK : 0;
    for (int r = 0; r < ROWS; r++) {
        const uint8_t all = provenance_visible[r];
        if ((size_t)r < block.rows) {
            const attn_real lse = max[0][r];
            PROVE(all    ? lse.kind == F_LSE && lse.set == (all | sink) && lse.row == r
                  : sink ? lse.kind == P_PEAK && lse.set == sink && lse.row == r
                         : lse.kind == P_NINF,
                  "C11 LSE holds every visible key and the sink");
            for (int c = 0; c < DV; c++) {
                const attn_real out = o[0][r * DV + c];
                PROVE(all ? out.kind == P_RESULT && out.set == all && out.row == r && out.dim == c
                          : out.kind == P_ZERO,
                      "C11 output holds every visible key");
            }
        }
    }
    REACHED(n == MAX_KEYS && block.rows == ROWS &&
                provenance_visible[ROWS - 1] == (1 << MAX_KEYS) - 2 && provenance_visible[0] == 1 &&
                (!BENT || (provenance_cap && provenance_bias == (F_MASK | F_ALIBI))) &&
                (!RANGES || (apart && cut == TILE && sink)),
            "end with every feature, and rows that see different keys");
}
