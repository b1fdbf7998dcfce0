/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best engine this processor can run. All of them give the same bits, so the choice is a
 * matter of speed alone; ATTEST_SIMD in the environment may ask for a lesser one.
 */
#include <stdlib.h>
#include <string.h>

#include "impl/frame/drive.h"
#include "impl/micro/cpu.h"

typedef ATTN_NAME(attn_engine) engine_t;

extern const ATTN_NAME(attn_micro) ATTN_NAME(attn_micro_twin);
const engine_t *ATTN_NAME(attn_engine_flash)(void);

static const engine_t portable = {.micro = &ATTN_NAME(attn_micro_twin)};

#if ATTN_BITS == 32
#define VECTOR_ENGINE(isa) &attn_engine_##isa##_f32
#define DECLARE(isa) extern const attn_engine_f32 attn_engine_##isa##_f32;
#else /* the twin, compiled for the instruction set: lanes of rows vectorise by themselves */
#define VECTOR_ENGINE(isa) &engine_##isa
#define DECLARE(isa)                                                                               \
    extern const attn_micro_f64 attn_micro_##isa##_f64;                                            \
    static const attn_engine_f64 engine_##isa = {.micro = &attn_micro_##isa##_f64};
#endif

#if defined(__x86_64__)
DECLARE(avx512)
DECLARE(avx2)

static const engine_t *vector_engine(const char *limit) {
    int any = !limit || strcmp(limit, "avx512") == 0;
    if (any && attn_cpu_has_avx512()) {
        return VECTOR_ENGINE(avx512);
    }
    if ((any || strcmp(limit, "avx2") == 0) && attn_cpu_has_avx2()) {
        return VECTOR_ENGINE(avx2);
    }
    return NULL;
}
#elif defined(__aarch64__)
DECLARE(neon)

static const engine_t *vector_engine(const char *limit) {
    return limit && strcmp(limit, "neon") != 0 ? NULL : VECTOR_ENGINE(neon);
}
#else
static const engine_t *vector_engine(const char *limit) {
    (void)limit;
    return NULL;
}
#endif

const engine_t *ATTN_NAME(attn_engine_flash)(void) {
    const engine_t *best = vector_engine(getenv("ATTEST_SIMD"));
    return best ? best : &portable;
}
