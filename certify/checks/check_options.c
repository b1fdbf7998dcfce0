/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * K8: an option that is asked for must matter. Each option, alone and beside each other one: if the
 * bits are the same with and without it, while the right answer with it is elsewhere, it was
 * silently ignored. Parameter 0 is the option's bit.
 */
#include "certify/host/workbench.h"
#include "certify/judge/judge.h"
#include "certify/plan/plan.h"

static const struct {
    uint64_t feature;
    const char *id, *name;
    int bug_class;
} options[] = {
    {ATTEST_CAUSAL, "MASK-01", "the causal mask", CLASS_OPTION_IGNORED},
    {ATTEST_OFFSETS, "MASK-01", "the offsets", CLASS_CAUSAL_DIAGONAL},
    {ATTEST_WINDOW, "MASK-02", "the window", CLASS_OPTION_IGNORED},
    {ATTEST_WINDOW_SIZE, "MASK-10", "the window size", CLASS_OPTION_IGNORED},
    {ATTEST_KEY_LENGTHS, "MASK-03", "the key lengths", CLASS_OPTION_IGNORED},
    {ATTEST_MASK_BOOL, "MASK-05", "the boolean mask", CLASS_OPTION_IGNORED},
    {ATTEST_MASK_ADD, "MASK-06", "the additive mask", CLASS_OPTION_IGNORED},
    {ATTEST_SCALE, "SEM-04", "the scale", CLASS_HEAD_SIZE},
    {ATTEST_SOFTCAP, "SEM-05", "the softcap", CLASS_SOFTCAP},
    {ATTEST_SINKS, "SEM-09", "the sinks", CLASS_SINKS},
    {ATTEST_ALIBI, "SEM-08", "ALiBi", CLASS_ALIBI},
};
enum { OPTIONS = sizeof options / sizeof *options };

static void set(attest_case *c, uint64_t feature) {
    c->features |= feature;
    switch (feature) {
    case ATTEST_OFFSETS: /* without causal there is nothing to shift */
        c->features |= ATTEST_CAUSAL;
        c->offsets = ATTEST_LIST_ONE;
        break;
    case ATTEST_WINDOW:
        c->window_left = 2;
        c->window_right = 1;
        break;
    case ATTEST_WINDOW_SIZE:
        c->window_size = 2;
        break;
    case ATTEST_KEY_LENGTHS:
        c->lengths = ATTEST_LIST_RAGGED;
        break;
    case ATTEST_MASK_BOOL:
    case ATTEST_MASK_ADD:
        c->mask = ATTEST_MASK_RANDOM;
        c->mask_rank = 2;
        c->mask_full = 12;
        c->mask_type = feature == ATTEST_MASK_BOOL ? ATTEST_BOOL
                       : c->q_type == ATTEST_F64   ? ATTEST_F64
                                                   : ATTEST_F32;
        break;
    case ATTEST_SCALE:
        c->scale = 0.75;
        break;
    case ATTEST_SOFTCAP:
        c->softcap = 0.5;
        break;
    default:
        break;
    }
}

static int excludes(uint64_t a, uint64_t b) {
    const uint64_t both = a | b;
    return both == (ATTEST_MASK_BOOL | ATTEST_MASK_ADD) ||
           both == (ATTEST_WINDOW | ATTEST_WINDOW_SIZE) || a == b;
}

static void plan(attest_plan *plan) {
    const int pairs = attest_plan_by_level(plan, 0, 1, 1, 1);
    for (int a = 0; a < OPTIONS; a++) {
        for (int b = -1; b < (pairs ? OPTIONS : 0); b++) {
            attest_case c = attest_plan_case(plan);
            c.batch = 2;
            c.queries = 6;
            c.keys = 11;
            c.head_size = c.value_size = 8;
            if (plan->profile.default_scale == ATTN_SCALE_REQUIRED) {
                set(&c, ATTEST_SCALE);
            }
            if (b >= 0 && excludes(options[a].feature, options[b].feature)) {
                continue;
            }
            if (b >= 0) {
                set(&c, options[b].feature);
            }
            set(&c, options[a].feature);
            c.parameter[0] = a;
            attest_plan_add(plan, &c);
        }
    }
}

static void run(attest_workbench *bench, const attest_case *c, attest_result *result) {
    const int a = c->parameter[0] >= 0 && c->parameter[0] < OPTIONS ? (int)c->parameter[0] : 0;
    attest_case without = *c;
    without.features &= ~options[a].feature;
    attest_ids_add(&result->ids, options[a].id);
    if (!attest_kernel_covers(&bench->session.info, &bench->profile, &without)) {
        attest_result_mistrust(result, "the kernel does nothing without this option");
        return;
    }
    if (!attest_workbench_build(bench, &without, result) ||
        !attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        return;
    }
    attest_kept kept = attest_keep(bench);
    if (attest_workbench_build(bench, c, result) &&
        attest_workbench_forward(bench, ATTEST_PATTERN_NAN, result)) {
        attest_result same = {.verdict = ATTEST_PASS};
        const int ignored = attest_compare(bench, &kept, NULL, options[a].id, 0, "", &same);
        attest_judge(bench, 0, result);
        if (result->verdict == ATTEST_FAIL && ignored) {
            result->verdict = ATTEST_PASS; /* a better sentence for the same failure */
            attest_result_bad(result, ATTEST_FAIL, options[a].id, options[a].bug_class,
                              "%s changes nothing: the bits are those without it", options[a].name);
        } else if (ignored) {
            attest_result_mistrust(result, "the option makes no difference on these data");
        }
    }
    attest_kept_free(&kept);
}

const attest_check attest_check_options = {
    .name = "options",
    .sentence = "An option that is asked for changes the result as it must.",
    .requirements = "SEM-04 SEM-05 SEM-08 SEM-09 MASK-01 MASK-02 MASK-03 MASK-05 MASK-06 MASK-10",
    .classes = {CLASS_CAUSAL_DIAGONAL, CLASS_OPTION_IGNORED, CLASS_SOFTCAP, CLASS_HEAD_SIZE,
                CLASS_SINKS, CLASS_ALIBI},
    .catalogue = "K8",
    .structural = 0,
    .plan = plan,
    .run = run,
};
