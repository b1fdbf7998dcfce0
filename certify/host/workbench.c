/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/host/workbench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/data.h"

/* A kernel's word that it cannot is held against it: the plan asked only for what it declares. */
static void refusal(attest_workbench *bench, const char *where, attest_result *result) {
    static const char *const names[] = {"OK", "UNSUPPORTED", "INVALID", "NO_MEMORY", "INTERNAL"};
    const attest_status status = bench->outcome.status;
    const char *name = status >= 0 && status <= 4 ? names[status] : "?";
    if (status == ATTEST_NO_MEMORY) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "%s ran out of memory (--memory): %.900s",
                          where, bench->outcome.text);
        return;
    }
    attest_result_bad(result, ATTEST_FAIL, "CAP-02", 0,
                      "%s answered ATTEST_%s to a problem inside the declared capabilities: %.900s",
                      where, name, bench->outcome.text);
}

static int ending(attest_workbench *bench, attest_result *result) {
    const attest_outcome *outcome = &bench->outcome;
    const char *log = bench->session.process.log_text;
    switch (outcome->ending) {
    case ATTEST_ENDING_RETURNED:
        return 1;
    case ATTEST_ENDING_CRASHED:
    case ATTEST_ENDING_STOPPED:
        attest_result_bad(result, ATTEST_CRASH, outcome->requirement,
                          outcome->requirement ? CLASS_OUT_OF_BOUNDS : 0, "%.500s%s%.400s",
                          outcome->text, log[0] ? "; it printed: " : "", log);
        break;
    case ATTEST_ENDING_TIMED_OUT:
        attest_result_bad(result, ATTEST_TIMEOUT, NULL, 0, "%s", outcome->text);
        break;
    case ATTEST_ENDING_INTERRUPTED:
        result->verdict = ATTEST_NOT_RUN;
        break;
    default:
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "%.500s%s%.400s", outcome->text,
                          log[0] ? "; it printed: " : "", log);
        break;
    }
    return 0;
}

static void note(const attest_workbench *bench, const attest_event *event,
                 const attest_stage *stage) {
    if (bench->tape != NULL && !bench->tape->playing) {
        bench->tape->record(bench->tape, bench->number, event, stage);
    }
}

static int playing(const attest_workbench *bench) {
    return bench->tape != NULL && bench->tape->playing;
}

int attest_workbench_start(attest_workbench *bench, attest_outcome *outcome) {
    attest_event event = {.kind = ATTEST_EVENT_START};
    if (playing(bench)) {
        bench->tape->play(bench->tape, bench->number, &event, NULL);
        *outcome = event.outcome;
        return outcome->ending == ATTEST_ENDING_RETURNED;
    }
    const int started = attest_session_start(&bench->session, outcome);
    if (!started) {
        event.outcome = *outcome;
        note(bench, &event, NULL);
    }
    return started;
}

int attest_workbench_settled(attest_workbench *bench) {
    attest_event event = {.kind = ATTEST_EVENT_SETTLED};
    if (playing(bench)) {
        bench->tape->play(bench->tape, bench->number, &event, NULL);
    } else {
        event.seen.unsettled = !attest_stage_settled(&bench->stage);
        note(bench, &event, NULL);
    }
    return !event.seen.unsettled;
}

/* A question to the kernel, or to the tape. Outputs are collected where there are any. */
static void ask(attest_workbench *bench, uint32_t kind, unsigned callers) {
    attest_event event = {.kind = kind, .callers = callers};
    const int supports = kind == ATTEST_CALL_SUPPORTS;
    int slot = 0;
    if (!supports) {
        event.seen.inputs_hash = attest_stage_inputs_hash(&bench->stage);
    }
    if (playing(bench)) {
        bench->tape->play(bench->tape, bench->number, &event, &bench->stage);
    } else {
        attest_session_call(&bench->session, (enum attest_call_kind)kind, callers, &bench->stage,
                            &event.outcome);
    }
    if (!supports && event.outcome.ending == ATTEST_ENDING_RETURNED) {
        if (!attest_stage_collect(&bench->stage)) {
            event.outcome.ending = ATTEST_ENDING_TROUBLE;
            attest_tell(&event.outcome, "attest: not enough memory");
        } else if (!playing(bench)) {
            attest_observation *seen = &event.seen;
            seen->inputs_changed = attest_stage_inputs_hash(&bench->stage) != seen->inputs_hash;
            seen->stray = attest_stage_stray(&bench->stage, &slot, &seen->stray_distance) ? 1 : 0;
            seen->stray_slot = seen->stray ? slot : 0;
            seen->stray_distance = seen->stray ? seen->stray_distance : 0;
            seen->unsettled = !attest_stage_settled(&bench->stage);
        }
    }
    note(bench, &event, supports ? NULL : &bench->stage);
    bench->outcome = event.outcome;
    bench->seen = event.seen;
}

int attest_workbench_stage(attest_workbench *bench, const attest_case *c, attest_result *result) {
    char why[ATTEST_MESSAGE_BYTES];
    if (!attest_workbench_start(bench, &bench->outcome)) {
        return ending(bench, result);
    }
    if (!attest_stage_build(&bench->stage, &bench->session.arena, c, bench->session.info.alignment,
                            bench->fence, why)) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: %s", why);
        return 0;
    }
    return 1;
}

int attest_workbench_build(attest_workbench *bench, const attest_case *c, attest_result *result) {
    char why[ATTEST_MESSAGE_BYTES] = "";
    if (!attest_workbench_stage(bench, c, result)) {
        return 0;
    }
    attest_problem *p = &bench->stage.problem;
    const attest_place *place = bench->stage.place;
    for (int slot = ATTEST_SLOT_O; slot <= ATTEST_SLOT_LSE; slot++) {
        attest_slot_tensor(p, slot)->data =
            place[slot].present
                ? attest_arena_at(&bench->session.arena, slot, place[slot].data_offset)
                : NULL;
    }
    attest_status status = attn_normalise(&bench->normal, p, &bench->profile, 0, why);
    p->o.data = NULL;
    p->lse.data = NULL;
    if (status != ATTEST_OK) {
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: the case is not valid: %s", why);
        return 0;
    }
    ask(bench, ATTEST_CALL_SUPPORTS, 0);
    if (!ending(bench, result)) {
        return 0;
    }
    if (bench->outcome.faults & ATTEST_FAULT_SUPPORTS_VARIES) {
        attest_result_bad(result, ATTEST_FAIL, "CAP-03", 0,
                          "supports() gave two answers to one question");
        return 0;
    }
    if (bench->outcome.status == ATTEST_UNSUPPORTED && bench->session.conditional) {
        result->verdict = ATTEST_VERDICT_UNSUPPORTED;
        snprintf(result->what, sizeof result->what, "supports() declined: %.900s",
                 bench->outcome.text);
        return 0;
    }
    if (bench->outcome.status != ATTEST_OK) {
        refusal(bench, "supports()", result);
        return 0;
    }
    if (bench->outcome.workspace_bytes > bench->session.options->memory_bytes ||
        !attest_stage_workspace(&bench->stage, bench->outcome.workspace_bytes, bench->fence)) {
        attest_result_bad(result, ATTEST_FAIL, "MEM-05", 0, "it asks for %llu bytes of workspace",
                          (unsigned long long)bench->outcome.workspace_bytes);
        return 0;
    }
    return 1;
}

int attest_workbench_call(attest_workbench *bench, enum attest_call_kind kind, unsigned callers,
                          attest_pattern pattern, attest_result *result) {
    const attn_normal *n = &bench->normal;
    bench->work += (callers > 0 ? callers : 1) * n->batch * n->q_heads * n->queries * n->keys *
                   (n->head_size + n->value_size);
    attest_stage_dirty(&bench->stage, pattern);
    ask(bench, kind, callers);
    if (!ending(bench, result)) {
        return 0;
    }
    bench->normal.problem = &bench->stage.problem;
    return 1;
}

static int forward(attest_workbench *bench, enum attest_call_kind kind, unsigned callers,
                   attest_pattern pattern, attest_result *result) {
    if (!attest_workbench_call(bench, kind, callers, pattern, result)) {
        return 0;
    }
    if (bench->outcome.status != ATTEST_OK) {
        refusal(bench, "forward()", result);
        return 0;
    }
    if (bench->seen.inputs_changed) {
        attest_result_bad(result, ATTEST_FAIL, "MEM-03", CLASS_INPUT_WRITTEN,
                          "an input changed during the call");
    } else if (bench->outcome.faults & ATTEST_FAULT_WROTE_METADATA) {
        attest_result_bad(result, ATTEST_FAIL, "MEM-03", CLASS_INPUT_WRITTEN,
                          "the call changed its problem struct");
    } else if (bench->seen.stray) {
        attest_result_bad(result, ATTEST_FAIL, "MEM-02", CLASS_OUT_OF_BOUNDS,
                          "byte %lld of %s was written, which belongs to no output element",
                          (long long)bench->seen.stray_distance,
                          attest_slot_name(bench->seen.stray_slot));
    } else if (bench->outcome.faults & ATTEST_FAULT_ENVIRONMENT) {
        attest_result_bad(result, ATTEST_FAIL, "DET-08", CLASS_FAST_MATH,
                          "rounding mode, FTZ or DAZ is not what it was before the call");
    } else if (bench->outcome.faults & ATTEST_FAULT_TOGETHER) {
        attest_result_bad(result, ATTEST_FAIL, "DET-10", CLASS_RACE,
                          "calls from several threads at once gave different bits");
    } else if (bench->seen.unsettled) {
        attest_result_bad(result, ATTEST_FAIL, "MEM-05", CLASS_RACE,
                          "an output changed after the call had returned");
    }
    return !attest_verdict_is_bad(result->verdict);
}

int attest_workbench_forward(attest_workbench *bench, attest_pattern pattern,
                             attest_result *result) {
    return forward(bench, ATTEST_CALL_FORWARD, 0, pattern, result);
}

int attest_workbench_forward_together(attest_workbench *bench, unsigned callers,
                                      attest_result *result) {
    return forward(bench, ATTEST_CALL_TOGETHER, callers, ATTEST_PATTERN_NAN, result);
}

int attest_workbench_guarded(const attest_workbench *bench) {
    return bench->session.target->kind == ATTEST_TARGET_OBJECT;
}

const attn_model *attest_workbench_model(const attest_workbench *bench) {
    const attest_problem *p = &bench->stage.problem;
    int wide = p->q.dtype == ATTEST_F64 || p->k.dtype == ATTEST_F64 || p->o.dtype == ATTEST_F64;
    return wide ? &bench->wide_model : &bench->model;
}

static uint64_t bits_of(double value) {
    uint64_t bits = UINT64_C(0x7ff8000000000000);
    if (!isnan(value)) {
        memcpy(&bits, &value, sizeof bits);
    }
    return bits;
}

/* Widening to binary64 is exact and one to one, so its bits stand for the element's. */
attest_kept attest_keep(const attest_workbench *bench) {
    const attest_problem *p = &bench->stage.problem;
    const int64_t *n = p->o.shape;
    attest_kept kept = {.lse_count = p->lse.dtype ? n[0] * n[1] * n[2] : 0,
                        .o_count = n[0] * n[1] * n[2] * n[3]};
    kept.o = malloc(((size_t)kept.o_count + 1) * sizeof *kept.o);
    kept.lse = malloc(((size_t)kept.lse_count + 1) * sizeof *kept.lse);
    if (kept.o == NULL || kept.lse == NULL) {
        attest_kept_free(&kept);
        return kept;
    }
    int64_t at = 0, row = 0;
    for (int64_t b = 0; b < n[0]; b++) {
        for (int64_t h = 0; h < n[1]; h++) {
            for (int64_t i = 0; i < n[2]; i++, row++) {
                for (int64_t c = 0; c < n[3]; c++) {
                    kept.o[at++] = bits_of(attest_get(&p->o, b, h, i, c));
                }
                if (kept.lse_count > 0) {
                    kept.lse[row] = bits_of(attest_get(&p->lse, b, h, i, 0));
                }
            }
        }
    }
    return kept;
}

void attest_kept_free(attest_kept *kept) {
    free(kept->o);
    free(kept->lse);
    *kept = (attest_kept){0};
}

static double value_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int attest_compare(const attest_workbench *bench, const attest_kept *kept,
                   const unsigned char *rows, const char *id, int bug_class, const char *what,
                   attest_result *result) {
    attest_kept now = attest_keep(bench);
    const int64_t *n = bench->stage.problem.o.shape;
    int64_t differing = 0, first = -1;
    int in_lse = 0;
    if (now.o == NULL || kept->o == NULL || now.o_count != kept->o_count ||
        now.lse_count != kept->lse_count) {
        attest_kept_free(&now);
        attest_result_bad(result, ATTEST_ERROR, NULL, 0, "attest: outputs cannot be compared");
        return 0;
    }
    for (int64_t row = 0; row < n[0] * n[1] * n[2]; row++) {
        if (rows != NULL && !rows[row]) {
            continue;
        }
        for (int64_t at = row * n[3]; at < (row + 1) * n[3]; at++) {
            if (now.o[at] != kept->o[at]) {
                first = differing++ == 0 ? at : first;
            }
        }
        if (now.lse_count > 0 && now.lse[row] != kept->lse[row] && differing++ == 0) {
            first = row;
            in_lse = 1;
        }
    }
    if (differing > 0) {
        int64_t place[4] = {0};
        int64_t rest = in_lse ? first * (n[3] > 0 ? n[3] : 1) : first;
        for (int axis = 3; axis >= 0; axis--) {
            int64_t extent = n[axis] > 0 ? n[axis] : 1;
            place[axis] = rest % extent;
            rest /= extent;
        }
        attest_result_bad(result, ATTEST_FAIL, id, bug_class, "%s (%lld elements differ)", what,
                          (long long)differing);
        memcpy(result->place, place, sizeof place);
        result->has_value = 1;
        result->in_lse = in_lse;
        result->expected = value_of(in_lse ? kept->lse[first] : kept->o[first]);
        result->actual = value_of(in_lse ? now.lse[first] : now.o[first]);
        result->outside = differing;
    }
    attest_kept_free(&now);
    return differing == 0;
}

void attest_workbench_examine(attest_workbench *bench, const unsigned char *used,
                              attest_result *result) {
    if (bench->examiner != NULL && result->verdict == ATTEST_FAIL) {
        bench->examiner(bench, used, result);
    }
}

/* Libraries that get no memory may return what they had before, which looks like a race. */
static void suspect_memory(const attest_workbench *bench, attest_result *result) {
    const uint64_t limit = bench->session.options->memory_bytes;
    const uint64_t data = attest_process_data_bytes(&bench->session.process);
    const size_t used = strlen(result->what);
    if (data > limit / 4 * 3) {
        snprintf(result->what + used, sizeof result->what - used,
                 "; it holds %llu of the %llu MiB that --memory allows: perhaps out of memory",
                 (unsigned long long)(data >> 20), (unsigned long long)(limit >> 20));
    }
}

void attest_run_case(attest_workbench *bench, const attest_check *check, const attest_case *c,
                     attest_result *result) {
    *result = (attest_result){.verdict = ATTEST_PASS, .broken = -1, .keys_seen = -1};
    const double start = attest_clock();
    bench->fence = ATTEST_FENCE_END;
    bench->work = 0;
    bench->session.process.log_used = 0;
    memset(bench->session.process.log_text, 0, sizeof bench->session.process.log_text);
    check->run(bench, c, result);
    if (attest_verdict_is_bad(result->verdict) && bench->session.alive) {
        suspect_memory(bench, result);
    }
    attest_stage_free(&bench->stage);
    result->seconds = attest_clock() - start;
    result->work = bench->work;
}
