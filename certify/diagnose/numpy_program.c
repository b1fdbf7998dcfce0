/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/numpy_program.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "certify/plan/data.h"
#include "reference/problem/operand.h"

/* bfloat16 is no type of NumPy: its numbers are ones of float32. */
static const char *type_name(attest_dtype type) {
    switch (type) {
    case ATTEST_F64:
        return "float64";
    case ATTEST_F16:
        return "float16";
    case ATTEST_I64:
        return "int64";
    case ATTEST_BOOL:
        return "bool";
    default:
        return "float32";
    }
}

static int64_t extent(const attest_tensor *t, int axis) {
    return axis < (int)t->rank ? t->shape[axis] : 1;
}

static void element(FILE *out, const attest_tensor *t, const int64_t at[4], int64_t number) {
    if (t->dtype == ATTEST_I64 || t->dtype == ATTEST_BOOL) {
        int64_t whole = 0;
        memcpy(&whole, attest_at(t, at[0], at[1], at[2], at[3]), t->dtype == ATTEST_I64 ? 8 : 1);
        if (whole != 0) {
            fprintf(out, "%" PRId64 ": %" PRId64 ", ", number, whole);
        }
        return;
    }
    const double value = attest_get(t, at[0], at[1], at[2], at[3]);
    if (isnan(value)) {
        fprintf(out, "%" PRId64 ": \"nan\", ", number);
    } else if (value != 0 || signbit(value)) {
        fprintf(out, "%" PRId64 ": \"%a\", ", number, value);
    }
}

/* Only what is not zero: position in row-major order, value. */
static void tensor(FILE *out, const attest_tensor *t, const char *name) {
    int64_t number = 0;
    fprintf(out, "%s = array((", name);
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        fprintf(out, "%" PRId64 ", ", t->shape[axis]);
    }
    fprintf(out, "), np.%s, {", type_name(t->dtype));
    for (int64_t a = 0; a < extent(t, 0); a++) {
        for (int64_t b = 0; b < extent(t, 1); b++) {
            for (int64_t c = 0; c < extent(t, 2); c++) {
                for (int64_t d = 0; d < extent(t, 3); d++) {
                    element(out, t, (const int64_t[]){a, b, c, d}, number++);
                }
            }
        }
    }
    fprintf(out, "})\n");
}

static void options(FILE *out, const attest_problem *p) {
    const uint64_t f = p->features;
    fprintf(out, "options = {%s", f & ATTEST_CAUSAL ? "\"causal\": True, " : "");
    if (f & ATTEST_SCALE) {
        fprintf(out, "\"scale\": float.fromhex(\"%a\"), ", p->scale);
    }
    if (f & ATTEST_SOFTCAP) {
        fprintf(out, "\"softcap\": float.fromhex(\"%a\"), ", p->softcap);
    }
    if (f & ATTEST_WINDOW) {
        fprintf(out, "\"window\": (%" PRId64 ", %" PRId64 "), ", p->window_left, p->window_right);
    }
    if (f & ATTEST_WINDOW_SIZE) {
        fprintf(out, "\"window_size\": %" PRId64 ", ", p->window_size);
    }
    for (int operand = ATTN_MASK; operand < ATTN_INPUTS; operand++) {
        if (attn_operand(p, operand)->dtype) {
            const char *name = attn_operand_name(operand);
            fprintf(out, "\"%s\": %s, ", name, name);
        }
    }
    fprintf(out, "%s}\n", p->lse.dtype ? "\"lse\": True" : "");
}

void attest_numpy_program(FILE *out, const attest_workbench *bench, const attest_entry *entry) {
    const attest_problem *p = &bench->stage.problem;
    const attest_result *r = &entry->result;
    fprintf(out,
            "# Case %s of the check \"%s\". Put your function in place of the import.\n"
            "import numpy as np\n"
            "from attention import attention\n\n\n"
            "def array(shape, dtype, values):\n"
            "    a = np.zeros(shape, dtype)\n"
            "    for at, value in values.items():\n"
            "        a.flat[at] = float.fromhex(value) if isinstance(value, str) else value\n"
            "    return a\n\n\n",
            entry->id, entry->check);
    for (int operand = 0; operand < ATTN_INPUTS; operand++) {
        if (attn_operand(p, operand)->dtype) {
            tensor(out, attn_operand(p, operand), attn_operand_name(operand));
        }
    }
    options(out, p);
    fprintf(out, "o = attention(q, k, v, **options)\n");
    if (p->lse.dtype) {
        fprintf(out, "o, lse = o\n");
    }
    if (r->has_value) {
        fprintf(out, "print(float(%s[%" PRId64 ", %" PRId64 ", %" PRId64, r->in_lse ? "lse" : "o",
                r->place[0], r->place[1], r->place[2]);
        if (!r->in_lse) {
            fprintf(out, ", %" PRId64, r->place[3]);
        }
        fprintf(out, "]), \"should be %.17g, at most %.3g off\")\n", r->expected, r->radius);
    } else {
        fprintf(out, "print(o)\n");
    }
}
