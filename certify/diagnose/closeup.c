/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/diagnose/closeup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/diagnose/numpy_program.h"
#include "certify/diagnose/reproducer.h"
#include "certify/plan/cost.h"
#include "certify/plan/data.h"
#include "reference/oracle/oracle.h"

enum { MOST_CLOSEUPS = 8, MOST_PROGRAM_ELEMENTS = 4096 };
#define MOST_WORK (INT64_C(1) << 22) /* multiplications of the oracle on one case */
#define MOST_NANOSECONDS 1e9         /* to read a mask back, by the plan's estimate */

static int cut(int64_t length) {
    return (int)(length < ATTEST_MAP_SIDE ? length : ATTEST_MAP_SIDE);
}

static int64_t elements(const attest_problem *p) {
    int64_t sum = 0;
    const attest_tensor *const tensors[] = {&p->q, &p->k, &p->v, &p->mask};
    for (int i = 0; i < 4; i++) {
        int64_t count = tensors[i]->dtype ? 1 : 0;
        for (uint32_t axis = 0; axis < tensors[i]->rank; axis++) {
            count *= tensors[i]->shape[axis];
        }
        sum += count;
    }
    return sum;
}

/* The maps to draw: the heads with the worst elements are not known before, so the first heads of
 * the first and the second batch entry, and the one where the case says it is wrong. */
static void choose_heads(const attn_normal *n, const attest_result *r, attest_exhibit *e) {
    const int64_t heads = n->batch * n->q_heads;
    const int64_t wrong = r->place[0] * n->q_heads + r->place[1];
    for (int64_t number = -1; number < heads && e->map_count < ATTEST_MOST_MAPS; number++) {
        const int64_t head = number < 0 ? wrong : number;
        if (head < 0 || head >= heads || (number >= 0 && head == wrong)) {
            continue;
        }
        attest_map *m = &e->maps[e->map_count];
        *m = (attest_map){.entry = head / n->q_heads,
                          .head = head % n->q_heads,
                          .rows = cut(n->queries),
                          .keys = cut(n->keys),
                          .columns = cut(n->value_size)};
        m->mask = malloc((size_t)(m->rows * m->keys) + 1);
        m->ratio = malloc(((size_t)(m->rows * m->columns) + 1) * sizeof *m->ratio);
        if (m->mask == NULL || m->ratio == NULL) {
            free(m->mask);
            free(m->ratio);
            *m = (attest_map){0};
            return;
        }
        for (int at = 0; at < m->rows * m->columns; at++) {
            m->ratio[at] = -1;
        }
        e->map_count++;
    }
}

static void draw_mask(const attn_normal *n, attest_map *m) {
    unsigned char *visible = calloc((size_t)n->keys + 1, 1);
    for (int64_t i = 0; visible != NULL && i < m->rows; i++) {
        attn_visible_keys(n, m->entry, m->head, i, visible);
        for (int64_t j = 0; j < m->keys; j++) {
            m->mask[i * m->keys + j] = visible[j] ? ATTEST_CELL_SEEN : ATTEST_CELL_HIDDEN;
        }
    }
    m->rows = visible == NULL ? 0 : m->rows;
    free(visible);
}

static void draw_ratios(const attest_workbench *bench, attest_map *m) {
    const attn_normal *n = &bench->normal;
    const int64_t work = m->rows * n->keys * (n->head_size + n->value_size);
    attn_enclosure *o = malloc(((size_t)n->value_size + 1) * sizeof *o), lse;
    char why[ATTEST_MESSAGE_BYTES];
    for (int64_t i = 0; o != NULL && work <= MOST_WORK && i < m->rows; i++) {
        if (attn_oracle_row(n, attest_workbench_model(bench), m->entry, m->head, i, o, &lse, why) !=
            ATTEST_OK) {
            break;
        }
        for (int64_t c = 0; c < m->columns; c++) {
            double ratio = 0;
            const double actual = attest_get(&bench->stage.problem.o, m->entry, m->head, i, c);
            const int verdict = attn_judge(&o[c], actual, &ratio);
            m->ratio[i * m->columns + c] = verdict == ATTN_NO_VERDICT ? -1.0F
                                           : verdict == ATTN_OUTSIDE && !(ratio > 1 && ratio < 1e30)
                                               ? (float)INFINITY
                                               : (float)ratio;
        }
    }
    free(o);
}

static char *print(const attest_workbench *bench, const attest_entry *entry,
                   void (*program)(FILE *, const attest_workbench *, const attest_entry *)) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    program(out, bench, entry);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void take_mask(attest_workbench *bench, const unsigned char *used, attest_result *result) {
    const attn_normal *n = &bench->normal;
    attest_exhibit *e = bench->examination;
    (void)result;
    for (int k = 0; used != NULL && k < e->map_count; k++) {
        attest_map *m = &e->maps[k];
        if (m->entry >= n->batch || m->head >= n->q_heads || m->rows > n->queries ||
            m->keys > n->keys) {
            continue;
        }
        const unsigned char *head = used + (m->entry * n->q_heads + m->head) * n->queries * n->keys;
        for (int64_t at = 0; at < (int64_t)m->rows * m->keys; at++) {
            const int in_use = head[at / m->keys * n->keys + at % m->keys];
            const int right = m->mask[at] == ATTEST_CELL_SEEN;
            m->mask[at] = in_use  ? (right ? ATTEST_CELL_SEEN : ATTEST_CELL_ADDED)
                          : right ? ATTEST_CELL_LOST
                                  : ATTEST_CELL_HIDDEN;
        }
    }
}

/* The same problem asked by mask-readback. Its examiner sees the mask only where it is wrong, so a
 * pass without one means that it is right. */
static void read_mask(attest_workbench *bench, attest_case c, attest_exhibit *e) {
    const attest_check *check = attest_check_find("mask-readback");
    attest_result result;
    if (check == NULL || c.layout == ATTEST_LAYOUT_HUGE || c.value_size == 0) {
        return;
    }
    snprintf(c.check, sizeof c.check, "%s", check->name);
    c.qk = ATTEST_RECIPE_SMALL;
    c.v = ATTEST_RECIPE_UNIT;
    c.base = 0;
    memset(c.parameter, 0, sizeof c.parameter);
    const int64_t calls = (c.keys + c.value_size - 1) / c.value_size; /* Dv columns at a time */
    if ((double)calls * attest_case_cost(&c) > MOST_NANOSECONDS) {
        return;
    }
    bench->examination = e;
    bench->examiner = take_mask;
    attest_run_case(bench, check, &c, &result);
    bench->examiner = NULL;
    bench->examination = NULL;
    e->mask_known =
        result.verdict == ATTEST_PASS || (result.verdict == ATTEST_FAIL && result.picture != NULL);
    attest_result_free(&result);
}

/* Leaves what the check staged last on the bench: with its outputs, unless a call did not return */
static int run_again(attest_workbench *bench, const attest_check *check, const attest_case *c,
                     attest_result *again) {
    *again = (attest_result){.verdict = ATTEST_PASS, .broken = -1, .keys_seen = -1};
    bench->fence = ATTEST_FENCE_END;
    bench->normal.problem = NULL;
    check->run(bench, c, again);
    return bench->stage.problem.q.dtype != 0 && bench->normal.problem == &bench->stage.problem &&
           bench->normal.queries == c->queries && bench->normal.keys == c->keys &&
           bench->normal.q_heads == c->q_heads && bench->normal.batch == c->batch;
}

static void close_up(attest_workbench *bench, attest_entry *entry) {
    char why[ATTEST_MESSAGE_BYTES];
    attest_case c;
    attest_result again;
    attest_exhibit *e = calloc(1, sizeof *e);
    const attest_check *check = attest_check_find(entry->check);
    if (e == NULL || check == NULL || entry->exhibit != NULL ||
        !attest_case_parse(&c, entry->line, why)) {
        free(e);
        return;
    }
    const int staged = run_again(bench, check, &c, &again);
    if (staged) {
        choose_heads(&bench->normal, &entry->result, e);
        for (int k = 0; k < e->map_count; k++) {
            draw_mask(&bench->normal, &e->maps[k]);
            if (bench->stage.problem.o.data != NULL &&
                bench->outcome.ending == ATTEST_ENDING_RETURNED) {
                draw_ratios(bench, &e->maps[k]);
            }
        }
    }
    if (bench->stage.problem.q.dtype != 0 &&
        elements(&bench->stage.problem) <= MOST_PROGRAM_ELEMENTS &&
        c.layout != ATTEST_LAYOUT_HUGE) {
        e->c_program = print(bench, entry, attest_reproducer);
        e->numpy_program = print(bench, entry, attest_numpy_program);
    }
    attest_result_free(&again);
    attest_stage_free(&bench->stage);
    if (staged) {
        read_mask(bench, c, e);
    }
    entry->exhibit = e;
}

void attest_closeups(attest_workbench *bench, const volatile sig_atomic_t *stop,
                     attest_report *report) {
    for (int i = 0; i < report->cause_count && i < MOST_CLOSEUPS && !(stop && *stop); i++) {
        close_up(bench, &report->entries[report->causes[i].smallest]);
    }
}
