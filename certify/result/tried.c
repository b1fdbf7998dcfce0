/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/result/tried.h"

#include <string.h>

#include "certify/plan/oracle_kind.h"

const char *const attest_size_names[ATTEST_SIZES] = {
    [ATTEST_SIZE_BATCH] = "batch entries", [ATTEST_SIZE_HEADS] = "query heads",
    [ATTEST_SIZE_GROUP] = "heads a group", [ATTEST_SIZE_QUERIES] = "query rows",
    [ATTEST_SIZE_KEYS] = "keys",           [ATTEST_SIZE_HEAD] = "head size",
    [ATTEST_SIZE_VALUE] = "value size",
};

const char *const attest_layout_names[ATTEST_LAYOUTS] = {
    [ATTEST_LAYOUT_DENSE] = "dense",       [ATTEST_LAYOUT_TOKENS] = "tokens",
    [ATTEST_LAYOUT_PADDED] = "padded",     [ATTEST_LAYOUT_BROADCAST] = "broadcast",
    [ATTEST_LAYOUT_SPREAD] = "spread",     [ATTEST_LAYOUT_MIXED] = "mixed",
    [ATTEST_LAYOUT_HUGE] = "huge strides",
};

static void take(attest_tried *tried, const attest_case *c) {
    const int64_t sizes[ATTEST_SIZES] = {
        [ATTEST_SIZE_BATCH] = c->batch,
        [ATTEST_SIZE_HEADS] = c->q_heads,
        [ATTEST_SIZE_GROUP] = c->kv_heads > 0 ? c->q_heads / c->kv_heads : 0,
        [ATTEST_SIZE_QUERIES] = c->queries,
        [ATTEST_SIZE_KEYS] = c->keys,
        [ATTEST_SIZE_HEAD] = c->head_size,
        [ATTEST_SIZE_VALUE] = c->value_size,
    };
    for (int s = 0; s < ATTEST_SIZES; s++) {
        tried->largest[s] = sizes[s] > tried->largest[s] ? sizes[s] : tried->largest[s];
    }
    const int64_t work =
        c->batch * c->q_heads * c->queries * c->keys * (c->head_size + c->value_size);
    tried->work = work > tried->work ? work : tried->work;
    tried->threads |= UINT64_C(1) << (c->threads < 63 && c->threads >= 0 ? c->threads : 63);
    tried->types |= UINT64_C(1) << c->q_type | UINT64_C(1) << c->kv_type | UINT64_C(1) << c->o_type;
    tried->mixed |= c->q_type != c->kv_type || c->q_type != c->o_type;
    tried->layouts |= UINT32_C(1) << c->layout;
    for (int bit = 0; bit < 64; bit++) {
        tried->options[bit] += (int64_t)(c->features >> bit & 1);
    }
    if (strcmp(c->check, "oracle") == 0 && c->parameter[0] == ATTEST_ORACLE_PRESET &&
        c->parameter[1] >= 0 && c->parameter[1] < 64) {
        tried->presets |= UINT64_C(1) << c->parameter[1];
    }
}

attest_tried attest_tried_of(const attest_report *report) {
    attest_tried tried = {0};
    for (size_t i = 0; i < report->count; i++) {
        char why[ATTEST_MESSAGE_BYTES];
        attest_case c;
        if (report->entries[i].result.verdict == ATTEST_PASS &&
            attest_case_parse(&c, report->entries[i].line, why)) {
            take(&tried, &c);
        }
    }
    return tried;
}

int attest_mistrusted(const attest_report *report, attest_mistrust list[ATTEST_MOST_REASONS]) {
    int count = 0;
    for (size_t i = 0; i < report->count; i++) {
        const attest_result *r = &report->entries[i].result;
        int at = 0;
        if (r->verdict != ATTEST_MISTRUSTED) {
            continue;
        }
        while (at < count && strcmp(list[at].why, r->what) != 0) {
            at++;
        }
        if (at == count && count < ATTEST_MOST_REASONS) {
            list[count++] = (attest_mistrust){r->what, 0};
        }
        if (at < count) {
            list[at].cases++;
        }
        for (; at > 0 && at < count && list[at].cases > list[at - 1].cases; at--) {
            const attest_mistrust held = list[at];
            list[at] = list[at - 1];
            list[at - 1] = held;
        }
    }
    return count;
}
