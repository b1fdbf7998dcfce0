/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defect.h - the block of data in a generated kernel that says what is wrong with it: one effect,
 * and a trigger of up to four conditions that must all hold. defects.py finds it in the shared
 * object by its magic and writes it; as compiled the kernel has no effect.
 */
#ifndef ATTN_WRONG_DEFECT_H
#define ATTN_WRONG_DEFECT_H

#include <stdint.h>

#define EFFECT(name, ...) EFFECT_##name,
#define SUBJECT(name, ...)
typedef enum effect {
#include "impl/wrong/generated/defects.def"
    EFFECTS
} effect;
#undef EFFECT
#undef SUBJECT

#define EFFECT(name, ...)
#define SUBJECT(name, level, ...) SUBJECT_##name,
typedef enum subject {
#include "impl/wrong/generated/defects.def"
    SUBJECTS
} subject;
#undef SUBJECT

typedef enum level { CALL, ROW, KEY } level;
#define SUBJECT(name, level, ...) level,
static const level subject_levels[SUBJECTS] = {
#include "impl/wrong/generated/defects.def"
};
#undef EFFECT
#undef SUBJECT

/* value >= low, value <= high, and value mod modulus == residue where the modulus is not 0. */
typedef struct condition {
    uint64_t subject;
    int64_t low, high, modulus, residue;
} condition;

enum { MOST_CONDITIONS = 4 };
#define DEFECT_MAGIC "attest: a defect"

typedef struct defect {
    char magic[16];
    uint64_t effect;
    int64_t tile; /* of effects that speak of tiles */
    uint64_t conditions;
    condition condition[MOST_CONDITIONS];
} defect;

#endif
