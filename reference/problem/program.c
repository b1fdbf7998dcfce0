/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/problem/program.h"

#include <inttypes.h>
#include <string.h>

#include "reference/problem/normal.h"
#include "reference/problem/operand.h"

enum { MOST_SHOWN = 16 };

static const char *c_type(attest_dtype dtype) {
    switch (dtype) {
    case ATTEST_F32:
        return "float";
    case ATTEST_F64:
        return "double";
    case ATTEST_I64:
        return "int64_t";
    case ATTEST_BOOL:
        return "uint8_t";
    default:
        return "uint16_t";
    }
}

/* The element at a position, as a C constant; NULL if it is all zero bits. */
static const char *constant(const attest_tensor *t, int64_t position, char text[64]) {
    unsigned char cell[8] = {0}, zero[8] = {0};
    const size_t bytes = (size_t)attn_dtype_bytes(t->dtype);
    uint16_t half;
    int64_t whole;
    memcpy(cell, (const char *)t->data + position * (int64_t)bytes, bytes);
    if (memcmp(cell, zero, sizeof cell) == 0) {
        return NULL;
    }
    if (t->dtype == ATTEST_F32 || t->dtype == ATTEST_F64) {
        float single;
        double wide;
        memcpy(&single, cell, sizeof single);
        memcpy(&wide, cell, sizeof wide);
        const double value = t->dtype == ATTEST_F32 ? (double)single : wide;
        if (value != value || value - value != 0) {
            snprintf(text, 64, "%s", value != value ? "NAN" : value > 0 ? "INFINITY" : "-INFINITY");
        } else {
            snprintf(text, 64, "%a", value);
        }
    } else if (t->dtype == ATTEST_I64) {
        memcpy(&whole, cell, sizeof whole);
        snprintf(text, 64, "%" PRId64, whole);
    } else if (t->dtype == ATTEST_BOOL) {
        snprintf(text, 64, "%d", cell[0]);
    } else {
        memcpy(&half, cell, sizeof half);
        snprintf(text, 64, "0x%04x", half);
    }
    return text;
}

/* Elements from the first to the last; the problem is one that a kernel was given. */
static int64_t extent(const attest_tensor *t) {
    int64_t last = 0;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        if (t->shape[axis] == 0) {
            return 0;
        }
        last += (t->shape[axis] - 1) * t->stride[axis];
    }
    return last + 1;
}

static void declare(FILE *out, const attest_tensor *t, const char *name) {
    fprintf(out, "static %s %s[%" PRId64 "];\n", c_type(t->dtype), name, extent(t) ? extent(t) : 1);
}

/* Only what is not zero: a shrunk case has little else. */
static void assign(FILE *out, const attest_tensor *t, const char *name) {
    char text[64];
    int on_line = 0;
    for (int64_t position = 0; position < extent(t); position++) {
        const char *value = constant(t, position, text);
        if (value != NULL) {
            fprintf(out, "%s%s[%" PRId64 "] = %s;", on_line % 4 ? " " : "\n    ", name, position,
                    value);
            on_line++;
        }
    }
}

static void describe(FILE *out, const attest_tensor *t, const char *name) {
    fprintf(out, "    p.%s = (attest_tensor){%s, {", name, name);
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        fprintf(out, "%s%" PRId64, axis ? ", " : "", t->shape[axis]);
    }
    fprintf(out, "}, {");
    for (uint32_t axis = 0; axis < ATTEST_MAX_RANK; axis++) {
        fprintf(out, "%s%" PRId64, axis ? ", " : "", t->stride[axis]);
    }
    fprintf(out, "}, %u, %u};\n", t->dtype, t->rank);
}

static void head(FILE *out, const char *comment) {
    fprintf(out, "/* %s\n * cc -Ispec this.c -ldl && ./a.out ./libkernel.so */\n", comment);
    fprintf(out, "#include <dlfcn.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                 "#include \"attest.h\"\n\n");
}

static void show(FILE *out, const attest_tensor *t, const char *name, int64_t position,
                 const attest_program_value *value) {
    const int narrow = t->dtype == ATTEST_F16 || t->dtype == ATTEST_BF16;
    fprintf(out, "    printf(\"%s[%" PRId64 "] is %s", name, position, narrow ? "0x%04x" : "%a");
    if (value != NULL) {
        fprintf(out, ", should be %a (radius %a)", value->expected, value->radius);
    }
    fprintf(out, "\\n\", %s%s[%" PRId64 "]);\n", narrow ? "" : "(double)", name, position);
}

static void tail(FILE *out, const attest_problem *p, const attest_program_value *value) {
    fprintf(out, "    uint64_t bytes = kernel->workspace_bytes ? kernel->workspace_bytes(&p) : 0;\n"
                 "    p.workspace = bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;\n"
                 "    p.workspace_bytes = bytes;\n"
                 "    char message[ATTEST_MESSAGE_BYTES] = \"\";\n"
                 "    printf(\"status %%d %%s\\n\", kernel->forward(&p, message), message);\n");
    if (value != NULL) {
        const attest_tensor *t = value->in_lse ? &p->lse : &p->o;
        int64_t position = 0;
        for (uint32_t axis = 0; axis < t->rank; axis++) {
            position += value->place[axis] * t->stride[axis];
        }
        show(out, t, value->in_lse ? "lse" : "o", position, value);
    }
    for (int64_t n = 0; value == NULL && n < extent(&p->o) && n < MOST_SHOWN; n++) {
        show(out, &p->o, "o", n, NULL);
    }
    fprintf(out, "    return 0;\n}\n");
}

void attest_program(FILE *out, const attest_problem *p, const char *comment,
                    const attest_program_value *value) {
    head(out, comment);
    for (int n = 0; n < ATTN_OPERANDS; n++) {
        if (attn_operand(p, n)->dtype) {
            declare(out, attn_operand(p, n), attn_operand_name(n));
        }
    }
    fprintf(out, "\nint main(int argc, char **argv) {\n"
                 "    void *object = dlopen(argc > 1 ? argv[1] : \"./libkernel.so\", RTLD_NOW);\n"
                 "    const attest_kernel *(*get)(uint32_t) = NULL;\n"
                 "    if (object) *(void **)&get = dlsym(object, \"attest_kernel_v1\");\n"
                 "    const attest_kernel *kernel = get ? get(ATTEST_ABI_VERSION) : NULL;\n"
                 "    if (!kernel) {\n"
                 "        const char *why = object ? \"no kernel of this ABI\" : dlerror();\n"
                 "        fprintf(stderr, \"%%s\\n\", why);\n"
                 "        return 2;\n"
                 "    }\n");
    for (int n = 0; n < ATTN_INPUTS; n++) {
        if (attn_operand(p, n)->dtype) {
            assign(out, attn_operand(p, n), attn_operand_name(n));
        }
    }
    fprintf(out,
            "\n    attest_problem p = {.struct_bytes = sizeof p, .features = 0x%" PRIx64
            ", .scale = %a, .softcap = %a,\n        .window_left = %" PRId64
            ", .window_right = %" PRId64 ", .window_size = %" PRId64 ", .threads = %d};\n",
            p->features, p->scale, p->softcap, p->window_left, p->window_right, p->window_size,
            p->threads);
    for (int n = 0; n < ATTN_OPERANDS; n++) {
        if (attn_operand(p, n)->dtype) {
            describe(out, attn_operand(p, n), attn_operand_name(n));
        }
    }
    tail(out, p, value);
}
