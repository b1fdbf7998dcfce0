/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules - the acceptance rules in use elsewhere, on the kernels given: what would they have found?
 *
 *   rules RULE KERNEL.so...     one line a kernel: path, "accepts" or "rejects", where, seconds
 *
 * allclose-2, allclose-4  |x - y| <= t + t|y| with t = 1e-2 or 1e-4, in binary32, five seeds at one
 *                   comfortable shape, plain and causal (KernelBench, src/eval.py)
 * twice-baseline    max |x - ref| <= 2 max |plain - ref| + 1e-5, where `plain` is the textbook
 *                   formula with every intermediate stored in the type of the inputs, on
 *                   FlashAttention's pairs of lengths up to 512 (tests/test_flash_attn.py)
 * nmse              sum (x - ref)^2 / sum ref^2 <= 5e-4 on the lengths, head counts and options of
 *                   ggml's FLASH_ATTN_EXT cases (tests/test-backend-ops.cpp)
 * onnx              |x - y| <= 1e-7 + 1e-3 |y| on the vectors of the operator, in ATTEST_ONNX_DIR
 *
 * Memory is as those tests have it: ordinary, writable, output zeroed. No fences, no poison.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "impl/wrong/mutants/trial.h"
#include "reference/kernel/forward.h"
#include "reference/problem/convert.h"
#include "reference/problem/normal.h"
#include "vectors/onnx/onnx.h"

enum { MOST_KERNELS = 1024, MOST_OUTPUTS = 1 << 20, SECONDS = 60, SLACK = 4096 };

typedef struct entrant {
    const char *path;
    const char *rejected_at; /* a line or a folder; NULL while accepted */
    double seconds;
} entrant;

typedef struct contest {
    entrant kernels[MOST_KERNELS];
    int count;
    double *shared; /* the child's results */
} contest;

/* 1 if the values pass. */
typedef int (*judge)(const double *got, const double *reference, const double *plain, size_t n);

static int close_by(const double *got, const double *want, size_t n, double a, double r) {
    for (size_t at = 0; at < n; at++) {
        int both_nan = isnan(got[at]) && isnan(want[at]);
        if (!both_nan && !(fabs(got[at] - want[at]) <= a + r * fabs(want[at]))) {
            return 0;
        }
    }
    return 1;
}

static int allclose_2(const double *got, const double *want, const double *plain, size_t n) {
    (void)plain;
    return close_by(got, want, n, 1e-2, 1e-2);
}

static int allclose_4(const double *got, const double *want, const double *plain, size_t n) {
    (void)plain;
    return close_by(got, want, n, 1e-4, 1e-4);
}

static int upstream(const double *got, const double *want, const double *plain, size_t n) {
    (void)plain;
    return close_by(got, want, n, 1e-7, 1e-3);
}

static double farthest(const double *x, const double *y, size_t n) {
    double most = 0;
    for (size_t at = 0; at < n; at++) {
        double distance = fabs(x[at] - y[at]);
        most = distance > most || isnan(distance) ? distance : most;
    }
    return most;
}

static int twice_baseline(const double *got, const double *want, const double *plain, size_t n) {
    return farthest(got, want, n) <= 2 * farthest(plain, want, n) + 1e-5;
}

static int nmse(const double *got, const double *want, const double *plain, size_t n) {
    double error = 0, size = 0;
    (void)plain;
    for (size_t at = 0; at < n; at++) {
        error += (got[at] - want[at]) * (got[at] - want[at]);
        size += want[at] * want[at];
    }
    return error <= 5e-4 * size;
}

/* Moves an operand to ordinary memory. */
static void soften(attest_tensor *x, const trial_buffer *from) {
    unsigned char *memory = calloc(1, from->bytes + 2 * SLACK);
    if (x->dtype && memory && from->bytes) {
        memcpy(memory + SLACK, from->data, from->bytes);
        x->data = memory + SLACK;
    }
}

static int run_child(const char *path, attest_problem *p, double *shared) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const attest_kernel *(*entry)(uint32_t) = NULL;
    char message[ATTEST_MESSAGE_BYTES];
    size_t n = 0;
    if (object) {
        *(void **)&entry = dlsym(object, "attest_kernel_v1");
    }
    if (!entry) {
        return 2;
    }
    const attest_kernel *kernel = entry(ATTEST_ABI_VERSION);
    alarm(SECONDS);
    p->threads = 2;
    p->workspace_bytes = kernel->workspace_bytes ? kernel->workspace_bytes(p) : 0;
    p->workspace = aligned_alloc(64, (p->workspace_bytes + SLACK) / 64 * 64 + 64);
    if (!p->workspace || kernel->forward(p, message) != ATTEST_OK) {
        return 1;
    }
    double *results = trial_results(p, &n);
    if (!results || n > MOST_OUTPUTS) {
        return 2;
    }
    memcpy(shared, results, n * sizeof *results);
    return 0;
}

/* One problem, every kernel that is still accepted. */
static void compete(contest *c, attest_problem *p, const char *where, judge passes,
                    const double *want, const double *plain, size_t n) {
    for (int at = 0; at < c->count; at++) {
        entrant *k = &c->kernels[at];
        struct timespec start, end;
        int status = 0;
        if (k->rejected_at) {
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &start);
        pid_t pid = fork();
        if (pid == 0) {
            _exit(run_child(k->path, p, c->shared));
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0) {
            perror("rules");
            exit(2);
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        k->seconds += (double)(end.tv_sec - start.tv_sec);
        k->seconds += 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
            fprintf(stderr, "rules: %s cannot be run\n", k->path);
            exit(2);
        }
        if (status != 0 || !passes(c->shared, want, plain, n)) {
            k->rejected_at = strdup(where);
        }
    }
}

/* The textbook formula with every intermediate stored in the type of q. */
static void plain_forward(const attn_normal *n, double *out) {
    const attest_problem *p = n->problem;
    attest_dtype type = p->q.dtype;
    double *s = calloc((size_t)n->keys + 1, sizeof *s);
    unsigned char *visible = calloc((size_t)n->keys + 1, 1);
    for (int64_t row = 0; s && visible && row < n->batch * n->q_heads * n->queries; row++) {
        int64_t i = row % n->queries, h = row / n->queries % n->q_heads;
        int64_t b = row / n->queries / n->q_heads, g = attn_kv_head(n, h);
        double max = (double)-INFINITY, sum = 0;
        attn_visible_keys(n, b, h, i, visible);
        for (int64_t j = 0; j < n->keys; j++) {
            float product = 0;
            for (int64_t c = 0; visible[j] && c < n->head_size; c++) {
                const int64_t at_q[4] = {b, h, i, c}, at_k[4] = {b, g, j, c};
                double k = attn_load(p->k.dtype, attn_element(&p->k, at_k)) * n->scale;
                product += (float)attn_load(type, attn_element(&p->q, at_q)) *
                           (float)attn_round_to(type, k);
            }
            s[j] = attn_round_to(type, (double)product);
            if (n->features & ATTEST_SOFTCAP) {
                s[j] = attn_round_to(type, tanh(attn_round_to(type, s[j] / p->softcap)));
                s[j] = attn_round_to(type, s[j] * p->softcap);
            }
            if (n->features & ATTEST_ALIBI) {
                const int64_t at[4] = {h, 0, 0, 0};
                double slope = attn_load(p->slopes.dtype, attn_element(&p->slopes, at));
                double distance = (double)llabs(i + attn_offset(n, b) - j);
                s[j] = attn_round_to(type, s[j] - slope * distance);
            }
            max = visible[j] && s[j] > max ? s[j] : max;
        }
        for (int64_t j = 0; j < n->keys; j++) {
            s[j] = visible[j] ? exp(s[j] - max) : 0;
            sum += s[j];
        }
        for (int64_t c = 0; c < n->value_size; c++) {
            float total = 0;
            for (int64_t j = 0; j < n->keys; j++) {
                const int64_t at[4] = {b, g, j, c};
                double weight = visible[j] ? attn_round_to(type, s[j] / sum) : 0;
                total += visible[j]
                             ? (float)weight * (float)attn_load(p->v.dtype, attn_element(&p->v, at))
                             : 0;
            }
            out[row * n->value_size + c] = attn_round_to(type, (double)total);
        }
    }
    free(s);
    free(visible);
}

static void compete_on_line(contest *c, const char *line, judge passes) {
    static double plain[MOST_OUTPUTS];
    trial t;
    attn_normal normal;
    char message[ATTEST_MESSAGE_BYTES] = "";
    size_t n = 0;
    if (!trial_build(&t, line, 0, message)) {
        fprintf(stderr, "rules: %s: %s\n", line, message);
        exit(2);
    }
    for (int index = 0; index < ATTN_OPERANDS; index++) {
        soften(attn_operand_of(&t.p, index), &t.buffer[index]);
    }
    attest_problem wide = t.p; /* the reference stores binary32, so binary16 is not rounded twice */
    size_t outputs = (size_t)(t.p.o.shape[0] * t.p.o.shape[1] * t.p.o.shape[2] * t.p.o.shape[3]);
    wide.o.dtype = ATTEST_F32;
    wide.o.data = calloc(outputs + 1, sizeof(float));
    for (int axis = 3, step = 1; axis >= 0; step *= (int)wide.o.shape[axis--]) {
        wide.o.stride[axis] = step;
    }
    if (!wide.o.data || outputs > MOST_OUTPUTS ||
        attn_forward(&wide, &attn_profile_attest, message) != ATTEST_OK ||
        attn_normalise(&normal, &wide, &attn_profile_attest, 0, message) != ATTEST_OK) {
        fprintf(stderr, "rules: %s: %s\n", line, message);
        exit(2);
    }
    double *want = trial_results(&wide, &n);
    if (passes == twice_baseline) {
        plain_forward(&normal, plain);
    }
    compete(c, &t.p, line, passes, want, plain, n);
    free(want);
    free(wide.o.data);
    trial_free(&t);
}

static void compete_on_lines(contest *c, const char *const *lines, judge passes) {
    for (; *lines; lines++) {
        compete_on_line(c, *lines, passes);
    }
}

static const char *const comfortable[] = {
    "b=2 hq=2 sq=128 sk=128 d=32 lse=0 normal=1 seed=%d",
    "b=2 hq=2 sq=128 sk=128 d=32 lse=0 normal=1 causal=1 seed=%d", NULL};

static void allclose(contest *c, judge passes) {
    for (int seed = 1; seed <= 5; seed++) {
        for (const char *const *shape = comfortable; *shape; shape++) {
            char line[256];
            snprintf(line, sizeof line, *shape, seed);
            compete_on_line(c, line, passes);
        }
    }
}

/* FlashAttention's pairs of lengths with its causal, local, ALiBi, softcap and head settings. */
static const char *const flash_lines[] = {
    "type=f16 normal=1 lse=0 sq=113 sk=203 d=59 hq=2 hkv=2",
    "type=f16 normal=1 lse=0 sq=113 sk=203 d=64 hq=3 hkv=1 causal=1",
    "type=bf16 normal=1 lse=0 sq=128 sk=217 d=32 hq=3 hkv=1 causal=1",
    "type=f16 normal=1 lse=0 sq=128 sk=217 d=40 hq=2 hkv=2 window=40/25",
    "type=bf16 normal=1 lse=0 sq=113 sk=211 d=111 hq=2 hkv=1 window=70/0 causal=1",
    "type=f16 normal=1 lse=0 sq=113 sk=211 d=80 hq=2 causal=1 slopes=1",
    "type=f16 normal=1 lse=0 sq=108 sk=256 d=96 hq=1 softcap=50 causal=1",
    "type=bf16 normal=1 lse=0 sq=108 sk=256 d=128 hq=2 hkv=1 slopes=1",
    "type=f16 normal=1 lse=0 sq=256 sk=512 d=64 hq=1 causal=1",
    "type=bf16 normal=1 lse=0 sq=512 sk=256 d=64 hq=1 causal=1",
    "type=f16 normal=1 lse=0 sq=1 sk=239 d=64 hq=6 hkv=2 causal=1",
    NULL};

/* ggml: Q in binary32, K and V in binary16, additive mask, sinks, ALiBi, softcap. */
static const char *const ggml_lines[] = {
    "kv=f16 lse=0 sq=1 sk=512 d=64 hq=4 hkv=4 mask=add mshape=qk",
    "kv=f16 lse=0 sq=3 sk=512 d=80 hq=4 hkv=4 mask=add mshape=qk sinks=1",
    "kv=f16 lse=0 sq=32 sk=512 d=128 hq=4 hkv=2 mask=add mshape=qk",
    "kv=f16 lse=0 sq=35 sk=113 d=72 hq=4 hkv=1 mask=add mshape=qk softcap=10",
    "kv=f16 lse=0 sq=3 sk=1024 d=96 hq=4 hkv=4",
    "kv=bf16 lse=0 sq=1 sk=1024 d=256 hq=4 hkv=1 mask=add mshape=qk",
    "lse=0 sq=35 sk=113 d=40 hq=4 hkv=4 mask=add mshape=qk sinks=1",
    NULL};

/* The vector as a problem whose defaults are all spelled out. */
static void compete_on_folder(contest *c, const char *path, const char *name) {
    static const attn_profile onnx = {.corner = ATTN_CORNER_BOTTOM_RIGHT_LENGTHS,
                                      .default_scale = ATTN_SCALE_RSQRT_D};
    static double want[MOST_OUTPUTS];
    attest_onnx_case loaded;
    attest_onnx_problem built;
    attn_normal n;
    char why[ATTEST_MESSAGE_BYTES] = "";
    int64_t offsets[TRIAL_MOST_BATCH];
    if (attest_onnx_load(&loaded, path, why) != 0 ||
        attest_onnx_to_problem(&built, &loaded, why) != 0 ||
        attn_normalise(&n, &built.problem, &onnx, 0, why) != ATTEST_OK ||
        n.batch > TRIAL_MOST_BATCH) {
        fprintf(stderr, "rules: %s: %s\n", path, why);
        exit(2);
    }
    for (int64_t b = 0; b < n.batch; b++) {
        offsets[b] = attn_offset(&n, b);
    }
    attest_problem p = built.problem;
    p.features |= ATTEST_OFFSETS;
    p.offsets = (attest_tensor){.data = offsets, .shape = {n.batch}, .stride = {1}, .rank = 1};
    p.offsets.dtype = ATTEST_I64;
    const attest_tensor *y = &loaded.output[ATTEST_ONNX_Y];
    size_t count = (size_t)(n.batch * n.q_heads * n.queries * n.value_size);
    for (size_t at = 0; at < count; at++) { /* in the problem's order, whatever the layout of Y */
        int64_t place[4], rest = (int64_t)at;
        for (int axis = 3; axis >= 0; axis--) {
            place[axis] = rest % p.o.shape[axis];
            rest /= p.o.shape[axis];
        }
        int64_t element = place[0] * p.o.stride[0] + place[1] * p.o.stride[1] +
                          place[2] * p.o.stride[2] + place[3] * p.o.stride[3];
        want[at] = attn_load(y->dtype, (char *)y->data + element * attn_dtype_bytes(y->dtype));
    }
    compete(c, &p, name, upstream, want, NULL, count);
    attest_onnx_problem_free(&built);
    attest_onnx_free(&loaded);
}

static void onnx_vectors(contest *c) {
    const char *root = getenv("ATTEST_ONNX_DIR");
    struct dirent **entries;
    int count = root ? scandir(root, &entries, NULL, alphasort) : -1;
    if (count < 0) {
        fprintf(stderr, "rules: ATTEST_ONNX_DIR names no folder\n");
        exit(2);
    }
    for (int at = 0; at < count; at++) {
        char path[4096];
        if (strncmp(entries[at]->d_name, "test_attention_", 15) == 0) {
            snprintf(path, sizeof path, "%s/%s", root, entries[at]->d_name);
            compete_on_folder(c, path, entries[at]->d_name);
        }
    }
}

int main(int argc, char **argv) {
    static contest c;
    c.shared = mmap(NULL, MOST_OUTPUTS * sizeof(double), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (argc < 3 || argc - 2 > MOST_KERNELS || c.shared == MAP_FAILED) {
        fprintf(stderr, "usage: rules allclose-2|allclose-4|twice-baseline|nmse|onnx KERNEL...\n");
        return 2;
    }
    for (c.count = 0; c.count < argc - 2; c.count++) {
        c.kernels[c.count].path = argv[c.count + 2];
    }
    if (strcmp(argv[1], "allclose-2") == 0) {
        allclose(&c, allclose_2);
    } else if (strcmp(argv[1], "allclose-4") == 0) {
        allclose(&c, allclose_4);
    } else if (strcmp(argv[1], "twice-baseline") == 0) {
        compete_on_lines(&c, flash_lines, twice_baseline);
    } else if (strcmp(argv[1], "nmse") == 0) {
        compete_on_lines(&c, ggml_lines, nmse);
    } else if (strcmp(argv[1], "onnx") == 0) {
        onnx_vectors(&c);
    } else {
        fprintf(stderr, "rules: no rule %s\n", argv[1]);
        return 2;
    }
    for (int at = 0; at < c.count; at++) {
        const entrant *k = &c.kernels[at];
        printf("%s\t%s\t%s\t%.3f\n", k->path, k->rejected_at ? "rejects" : "accepts",
               k->rejected_at ? k->rejected_at : "-", k->seconds);
    }
    return 0;
}
