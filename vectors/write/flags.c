/* SPDX-License-Identifier: Apache-2.0 */
/* flags.c - why a consumer may want to treat a vector apart; all but the first two are derived. */
#include <math.h>
#include <stdlib.h>

#include "reference/problem/convert.h"
#include "vectors/write/emit.h"

static const struct {
    const char *name, *reason, *description;
} flags[] = {
    {"documentation", "EDGE_CASE", "shows a rule; there is no output that could be wrong"},
    {"invalid", "MISSING_STEP", "not a valid problem: must be refused, and nothing written"},
    {"empty-axis", "EDGE_CASE", "an axis has length 0"},
    {"empty-row", "EDGE_CASE", "a row sees no key: the profile says what it gives"},
    {"inputs-not-finite", "KNOWN_BUG", "infinities or NaN in q, k, v, sinks or slopes"},
    {"output-not-finite", "EDGE_CASE", "an infinity or a NaN is due in o"},
    {"mixed-types", "BASIC", "q, k and v, and o are not all of one type"},
    {"no-verdict", "EDGE_CASE", "its model bounds nothing useful for some elements"},
};

json_t *attest_flag_table(void) {
    json_t *table = json_object();
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        json_object_set_new(table, flags[k].name,
                            json_pack("{s:s, s:s}", "reason", flags[k].reason, "description",
                                      flags[k].description));
    }
    return table;
}

static int finite(const attest_tensor *tensor) {
    int64_t count = tensor->dtype ? 1 : 0, size = attn_dtype_bytes(tensor->dtype);
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        count *= tensor->shape[axis];
    }
    for (int64_t k = 0; k < count; k++) {
        if (!isfinite(attn_load(tensor->dtype, (const char *)tensor->data + k * size))) {
            return 0;
        }
    }
    return 1;
}

static int not_finite(const attest_expectation *e) {
    for (size_t k = 0; k < e->o_count; k++) {
        if (e->o[k].kind == ATTEST_EXPECT_NAN || e->o[k].kind == ATTEST_EXPECT_INFINITY ||
            e->o[k].kind == ATTEST_EXPECT_NONFINITE) {
            return 1;
        }
    }
    return 0;
}

static int has_empty_row(const attn_normal *n) {
    unsigned char *visible = calloc((size_t)n->keys + 1, 1);
    int found = 0;
    for (int64_t at = 0; visible && at < n->batch * n->q_heads * n->queries; at++) {
        found |= attn_visible_keys(n, at / n->queries / n->q_heads, at / n->queries % n->q_heads,
                                   at % n->queries, visible) == 0;
    }
    free(visible);
    return found;
}

void attest_derive_flags(const attn_normal *n, const attest_expectation *e, json_t *list) {
    const attest_problem *p = n->problem;
    int tainted = !finite(&p->q) || !finite(&p->k) || !finite(&p->v) || !finite(&p->sinks) ||
                  !finite(&p->slopes);
    int open = 0;
    for (size_t k = 0; k < e->o_count; k++) {
        open |= isnan(e->o_radius[e->judge][k]) && e->o[k].kind == ATTEST_EXPECT_NUMBER;
    }
    const struct {
        int on;
        const char *name;
    } found[] = {
        {n->batch * n->q_heads * n->queries * n->keys * n->value_size == 0, "empty-axis"},
        {has_empty_row(n), "empty-row"},
        {tainted, "inputs-not-finite"},
        {not_finite(e), "output-not-finite"},
        {p->q.dtype != p->k.dtype || p->q.dtype != p->o.dtype, "mixed-types"},
        {open, "no-verdict"},
    };
    for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
        if (found[k].on) {
            json_array_append_new(list, json_string(found[k].name));
        }
    }
}
