/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/plan/preset.h"

#include <math.h>
#include <stddef.h>

#include "certify/plan/cost.h"
#include "certify/plan/oracle_kind.h"

typedef struct model {
    const char *name;
    int64_t q_heads, kv_heads, head_size, value_size, window;
    uint64_t features;
    double softcap;
} model;

static const model models[] = {
    {"gpt-2", 12, 12, 64, 64, 0, ATTEST_CAUSAL, 0},
    {"llama-2-7b", 32, 32, 128, 128, 0, ATTEST_CAUSAL, 0},
    {"llama-3-8b", 32, 8, 128, 128, 0, ATTEST_CAUSAL, 0},
    {"qwen2-7b", 28, 4, 128, 128, 0, ATTEST_CAUSAL, 0},
    {"phi-3-mini", 32, 32, 96, 96, 0, ATTEST_CAUSAL, 0},
    {"falcon-7b", 71, 1, 64, 64, 0, ATTEST_CAUSAL, 0},
    {"bloom-7b", 32, 32, 128, 128, 0, ATTEST_CAUSAL | ATTEST_ALIBI, 0},
    {"gemma-2-9b", 16, 8, 256, 256, 48, ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_SOFTCAP, 50},
    {"mistral-7b", 32, 8, 128, 128, 48, ATTEST_CAUSAL | ATTEST_WINDOW, 0},
    {"gpt-oss-20b", 64, 8, 64, 64, 24, ATTEST_CAUSAL | ATTEST_WINDOW | ATTEST_SINKS, 0},
    {"deepseek-v2-lite", 16, 16, 192, 128, 0, ATTEST_CAUSAL, 0},
    {"bert-base", 12, 12, 64, 64, 0, ATTEST_KEY_LENGTHS, 0},
    {"vit-base", 12, 12, 64, 64, 0, 0, 0},
    {"t5-base", 12, 12, 64, 64, 0, ATTEST_MASK_ADD, 0},
};
enum { PREFILL, DECODE, CHUNK, USES, MODELS = sizeof models / sizeof *models };

const char *attest_preset_name(int64_t number) {
    return number > 0 && number <= MODELS * USES ? models[(number - 1) / USES].name : NULL;
}

/* Lengths such that a case costs at most `most`; a window keeps its share of them. */
static void plan_one(attest_plan *plan, int number, double most) {
    const model *m = &models[number / USES];
    const int use = number % USES;
    attest_case c = attest_case_default(plan->check->name);
    const attest_dtype half = plan->kernel->dtypes >> ATTEST_BF16 & 1 ? ATTEST_BF16 : ATTEST_F16;
    c.q_type = c.kv_type = c.o_type =
        plan->kernel->dtypes >> half & 1 && number % 2 ? half : attest_plan_type(plan);
    c.q_heads = m->q_heads;
    c.kv_heads = m->kv_heads;
    c.head_size = m->head_size;
    c.value_size = m->value_size;
    c.features = m->features & plan->kernel->features;
    c.softcap = c.features & ATTEST_SOFTCAP ? m->softcap : 0;
    c.qk = c.v = ATTEST_RECIPE_BELL;
    c.threads = 4;
    for (c.keys = 4096; c.keys > 16; c.keys = c.keys * 7 / 8) {
        c.queries = use == DECODE ? 1 : use == CHUNK ? (c.keys + 7) / 8 : c.keys;
        if (attest_case_cost(&c) <= most) {
            break;
        }
    }
    if (c.features & ATTEST_WINDOW) {
        c.window_left = c.keys * m->window / 128;
        c.window_right = 0;
    }
    if (c.features & ATTEST_KEY_LENGTHS) {
        c.lengths = ATTEST_LIST_RAGGED;
    }
    if (c.features & ATTEST_MASK_ADD) {
        c.mask_type = c.q_type == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
        c.mask_rank = 4;
        c.mask_full = 14;
        c.mask = ATTEST_MASK_ALL_VISIBLE;
    }
    attest_plan_scale(plan, &c, 1 / sqrt((double)c.head_size));
    c.parameter[0] = ATTEST_ORACLE_PRESET;
    c.parameter[1] = number + 1;
    attest_plan_add(plan, &c);
}

void attest_preset_plan(attest_plan *plan, double most) {
    for (int number = 0; number < MODELS * USES; number++) {
        plan_one(plan, number, most);
    }
}
