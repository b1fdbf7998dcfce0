/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/evidence.h"

#include <string.h>

#include "certify/diagnose/variants.h"

const char *const attest_attribute_names[ATTEST_ATTRIBUTES] = {
    [ATTEST_WITH_CAUSAL] = "the causal mask",
    [ATTEST_WITH_OFFSETS] = "offsets",
    [ATTEST_WITH_WINDOW] = "a window",
    [ATTEST_WITH_BAND] = "a causal mask or a window",
    [ATTEST_WITH_LENGTHS] = "key lengths",
    [ATTEST_WITH_BOOL_MASK] = "a boolean mask",
    [ATTEST_WITH_ADDED_MASK] = "an additive mask",
    [ATTEST_WITH_MASK] = "a mask",
    [ATTEST_WITH_REPEATED_MASK] = "a mask that repeats along an axis",
    [ATTEST_WITH_OTHER_MASK_TYPE] = "a mask of another type than q",
    [ATTEST_WITH_BIAS] = "a bias",
    [ATTEST_WITH_SCALE] = "a scale",
    [ATTEST_WITH_SOFTCAP] = "a softcap",
    [ATTEST_WITH_SINKS] = "sinks",
    [ATTEST_WITH_ALIBI] = "ALiBi",
    [ATTEST_WITH_LSE] = "the LSE",
    [ATTEST_WITH_F16] = "binary16",
    [ATTEST_WITH_BF16] = "bfloat16",
    [ATTEST_WITH_NARROW_TYPE] = "a 16-bit type",
    [ATTEST_WITH_STRIDES] = "strides",
    [ATTEST_WITH_REPEATED_KEYS] = "K and V repeated by stride 0",
    [ATTEST_WITH_SPREAD_ROWS] = "rows whose elements lie two apart",
    [ATTEST_WITH_HUGE_STRIDES] = "huge strides",
    [ATTEST_WITH_GROUPS] = "groups of heads",
    [ATTEST_WITH_HEADS] = "several heads",
    [ATTEST_WITH_ENTRIES] = "several batch entries",
    [ATTEST_WITH_OTHER_VALUE_SIZE] = "a value size unlike the head size",
    [ATTEST_WITH_ONE_QUERY] = "one query",
    [ATTEST_WITH_QUERIES] = "several queries",
    [ATTEST_WITH_MANY_QUERIES] = "more than 8 queries",
    [ATTEST_WITH_MANY_KEYS] = "more than 256 keys",
    [ATTEST_WITH_THREADS] = "several threads",
    [ATTEST_WITH_EMPTY_AXIS] = "an empty axis",
};

void attest_attributes_of(const attest_case *c, int has[ATTEST_ATTRIBUTES]) {
    const uint64_t f = c->features;
    const int mask = (f & (ATTEST_MASK_BOOL | ATTEST_MASK_ADD)) != 0;
    has[ATTEST_WITH_CAUSAL] = (f & ATTEST_CAUSAL) != 0;
    has[ATTEST_WITH_OFFSETS] = (f & ATTEST_OFFSETS) != 0;
    has[ATTEST_WITH_WINDOW] = (f & (ATTEST_WINDOW | ATTEST_WINDOW_SIZE)) != 0;
    has[ATTEST_WITH_BAND] = has[ATTEST_WITH_CAUSAL] || has[ATTEST_WITH_WINDOW];
    has[ATTEST_WITH_LENGTHS] = (f & ATTEST_KEY_LENGTHS) != 0;
    has[ATTEST_WITH_BOOL_MASK] = (f & ATTEST_MASK_BOOL) != 0;
    has[ATTEST_WITH_ADDED_MASK] = (f & ATTEST_MASK_ADD) != 0;
    has[ATTEST_WITH_MASK] = mask;
    has[ATTEST_WITH_REPEATED_MASK] = mask && c->mask_full != 15;
    has[ATTEST_WITH_OTHER_MASK_TYPE] = (f & ATTEST_MASK_ADD) && c->mask_type != c->q_type;
    has[ATTEST_WITH_BIAS] = (f & (ATTEST_MASK_ADD | ATTEST_ALIBI)) != 0;
    has[ATTEST_WITH_SCALE] = (f & ATTEST_SCALE) != 0;
    has[ATTEST_WITH_SOFTCAP] = (f & ATTEST_SOFTCAP) != 0;
    has[ATTEST_WITH_SINKS] = (f & ATTEST_SINKS) != 0;
    has[ATTEST_WITH_ALIBI] = (f & ATTEST_ALIBI) != 0;
    has[ATTEST_WITH_LSE] = (f & ATTEST_LSE) != 0;
    has[ATTEST_WITH_F16] =
        c->q_type == ATTEST_F16 || c->kv_type == ATTEST_F16 || c->o_type == ATTEST_F16;
    has[ATTEST_WITH_BF16] =
        c->q_type == ATTEST_BF16 || c->kv_type == ATTEST_BF16 || c->o_type == ATTEST_BF16;
    has[ATTEST_WITH_NARROW_TYPE] = has[ATTEST_WITH_F16] || has[ATTEST_WITH_BF16];
    has[ATTEST_WITH_STRIDES] = c->layout != ATTEST_LAYOUT_DENSE;
    has[ATTEST_WITH_REPEATED_KEYS] = c->layout == ATTEST_LAYOUT_BROADCAST;
    has[ATTEST_WITH_SPREAD_ROWS] = c->layout == ATTEST_LAYOUT_SPREAD;
    has[ATTEST_WITH_HUGE_STRIDES] = c->layout == ATTEST_LAYOUT_HUGE;
    has[ATTEST_WITH_GROUPS] = c->q_heads != c->kv_heads;
    has[ATTEST_WITH_HEADS] = c->q_heads > 1;
    has[ATTEST_WITH_ENTRIES] = c->batch > 1;
    has[ATTEST_WITH_OTHER_VALUE_SIZE] = c->value_size != c->head_size;
    has[ATTEST_WITH_ONE_QUERY] = c->queries == 1;
    has[ATTEST_WITH_QUERIES] = c->queries > 1;
    has[ATTEST_WITH_MANY_QUERIES] = c->queries > 8;
    has[ATTEST_WITH_MANY_KEYS] = c->keys > 256;
    has[ATTEST_WITH_THREADS] = c->threads > 1;
    has[ATTEST_WITH_EMPTY_AXIS] =
        c->batch == 0 || c->q_heads == 0 || c->queries == 0 || c->keys == 0 || c->value_size == 0;
}

static void add_case(attest_evidence *e, const attest_entry *entry, int bad) {
    int has[ATTEST_ATTRIBUTES] = {0};
    char why[ATTEST_MESSAGE_BYTES];
    attest_case c;
    if (!attest_case_parse(&c, entry->line, why)) {
        return;
    }
    attest_attributes_of(&c, has);
    e->bad += bad;
    e->good += !bad;
    for (int a = 0; a < ATTEST_ATTRIBUTES; a++) {
        e->bad_with[a] += bad && has[a];
        e->good_with[a] += !bad && has[a];
    }
    for (int k = 0; k < ATTEST_MOST_CHECKS && attest_check_at(k) != NULL; k++) {
        const int here = strcmp(attest_check_at(k)->name, entry->check) == 0;
        e->bad_of[k] += bad && here;
        e->good_of[k] += !bad && here;
    }
}

static void add_clues(attest_evidence *e, const attest_result *r) {
    e->clued += r->clued;
    for (int clue = 0; r->clued && clue < ATTEST_CLUES; clue++) {
        e->some[clue] += (int)(r->some >> clue & 1);
        e->every[clue] += (int)(r->every >> clue & 1);
    }
    e->examined += r->examined;
    for (int k = 0; r->examined && k < attest_known_count(); k++) {
        e->known[k] += (int)(r->defects[k / 64] >> k % 64 & 1);
    }
    e->alone_same += r->alone == ATTEST_ALONE_SAME;
    e->alone_other += r->alone == ATTEST_ALONE_OTHER;
}

static int is_key_sweep(const attest_entry *entry, attest_case *c) {
    char why[ATTEST_MESSAGE_BYTES];
    return strcmp(entry->check, "sizes") == 0 && attest_case_parse(c, entry->line, why) &&
           c->parameter[0] == 0;
}

static void take_sweep(attest_evidence *e, const attest_report *report) {
    attest_case c;
    for (size_t i = 0; i < report->count; i++) {
        const attest_entry *entry = &report->entries[i];
        if (attest_verdict_is_bad(entry->result.verdict) && is_key_sweep(entry, &c) &&
            (e->shortest == 0 || c.keys < e->shortest)) {
            e->shortest = c.keys;
        }
    }
    for (size_t i = 0; e->shortest > 0 && i < report->count; i++) {
        const attest_entry *entry = &report->entries[i];
        if (is_key_sweep(entry, &c) && c.keys > e->shortest) {
            e->longer_bad += attest_verdict_is_bad(entry->result.verdict);
            e->longer_good += entry->result.verdict == ATTEST_PASS;
        }
    }
}

void attest_evidence_take(attest_evidence *e, const attest_report *report) {
    *e = (attest_evidence){0};
    take_sweep(e, report);
    for (size_t i = 0; i < report->count; i++) {
        const attest_result *r = &report->entries[i].result;
        const int bad = attest_verdict_is_bad(r->verdict);
        if (bad || r->verdict == ATTEST_PASS) {
            add_case(e, &report->entries[i], bad);
        }
        if (bad) {
            add_clues(e, r);
        }
    }
}

int attest_evidence_broke(const attest_report *report, const char *id, const char *check) {
    const int index = attest_requirement_index(id);
    int count = 0;
    for (size_t i = 0; i < report->count; i++) {
        const attest_entry *entry = &report->entries[i];
        count += attest_verdict_is_bad(entry->result.verdict) && entry->result.broken == index &&
                 (check == NULL || strcmp(check, entry->check) == 0);
    }
    return count;
}
