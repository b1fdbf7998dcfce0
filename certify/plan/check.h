/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h - what a check is. Each lives in one file of certify/checks/ and is one line of
 * checks.def. A check plans cases (plan.h: only such as the kernel declares it can do) and runs
 * each one on a workbench (workbench.h): stage the case, call the kernel, judge what came out, fill
 * the result.
 *
 * Rules a check keeps:
 *   - it draws nothing at run time: a case's line alone decides what happens;
 *   - it fills `result->ids` with the requirements this very case speaks for, and no others;
 *   - it never passes what it could not have failed: attest_result_mistrust() is for that.
 */
#ifndef ATTEST_CHECK_H
#define ATTEST_CHECK_H

#include <stdint.h>

#include "certify/plan/bug_class.h"
#include "certify/plan/case.h"
#include "certify/plan/requirement.h"
#include "spec/attest.h"

typedef enum attest_verdict {
    ATTEST_PASS,
    ATTEST_FAIL,
    ATTEST_VERDICT_UNSUPPORTED, /* outside what the kernel declares: never held against it */
    ATTEST_ERROR,               /* the kernel, or attest, could not go on */
    ATTEST_CRASH,
    ATTEST_TIMEOUT,
    ATTEST_WAIVED,
    ATTEST_MISTRUSTED,    /* ran, but could not have failed: says nothing */
    ATTEST_OUT_OF_DOMAIN, /* ran, but the model promises nothing there */
    ATTEST_NOT_RUN,
    ATTEST_NOT_APPLICABLE, /* cannot be asked of a kernel behind this transport */
    ATTEST_VERDICTS
} attest_verdict;

const char *attest_verdict_name(attest_verdict verdict);
/* FAIL, ERROR, CRASH and TIMEOUT. */
int attest_verdict_is_bad(attest_verdict verdict);

/* What the wrong elements of a case have in common: bits of `some` and `every` in a result. */
typedef enum attest_clue {
    ATTEST_CLUE_LSE,       /* not of o */
    ATTEST_CLUE_EMPTY_ROW, /* its row sees nothing */
    ATTEST_CLUE_FULL_ROW,  /* its row sees every key */
    ATTEST_CLUE_LATER_ENTRY,
    ATTEST_CLUE_LATER_HEAD,
    ATTEST_CLUE_LATER_ROW,
    ATTEST_CLUE_UNWRITTEN, /* holds what it held before the call */
    ATTEST_CLUE_LOST,      /* not a number, or infinite, where a finite number is right */
    ATTEST_CLUE_SWALLOWED, /* finite where NaN or an infinity is right */
    ATTEST_CLUE_SLIGHT,    /* right to six bits */
    ATTEST_CLUE_ZERO,
    ATTEST_CLUES
} attest_clue;

extern const char *const attest_clue_names[ATTEST_CLUES];

/* A case that failed, once more in a worker that has done nothing else. */
typedef enum attest_alone {
    ATTEST_ALONE_NOT_TRIED,
    ATTEST_ALONE_SAME,
    ATTEST_ALONE_OTHER
} attest_alone;

/* What a second look at a failed case found to give its outputs. Nothing decided: all empty. */
typedef struct attest_explanation {
    attest_ids ids;   /* requirements that are broken, if it is so */
    uint64_t classes; /* bug classes that do this, as bits */
    int bug_class;    /* the likeliest of them */
    char text[160];   /* "the causal mask is not applied, for keys from 64 on" */
} attest_explanation;

typedef struct attest_result {
    attest_verdict verdict;
    attest_ids ids;        /* requirements the case speaks for */
    int broken;            /* index of the requirement it breaks, or -1 */
    attest_ids untestable; /* those it would speak for, were it not for the transport */
    attest_explanation explanation;
    int bug_class;  /* the most likely one, by the case alone; or CLASS_NONE */
    char label[32]; /* a finer name, such as "V-leak"; or empty */
    attest_alone alone;
    int clued;            /* some element is outside: the next two are valid */
    uint32_t some, every; /* clues about the elements outside, as bits */
    int examined;         /* it was looked for known errors */
    uint64_t defects[2];  /* those that give these outputs: bits by variants.h */
    char what[1024];      /* one sentence: what is wrong */
    int has_value;        /* the next fields are valid */
    int in_lse;           /* place is [b,h,i] of lse, else [b,h,i,c] of o */
    int64_t place[4];
    double expected, actual, radius;
    int64_t outside;  /* elements beyond their radius */
    double worst;     /* largest error/radius seen */
    double keys_seen; /* share of visible keys whose loss would show; < 0: not measured */
    char *picture;    /* text of several lines, or NULL; owned by the result */
    double seconds;
    int64_t work; /* multiplications a plain kernel and a plain oracle need: what the case costs */
} attest_result;

void attest_result_free(attest_result *result);

/* The first bad verdict of a case stands; later ones are dropped. `id` may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void attest_result_bad(attest_result *result, attest_verdict verdict, const char *id, int bug_class,
                       const char *format, ...);
void attest_result_mistrust(attest_result *result, const char *why);
void attest_result_not_applicable(attest_result *result, const char *why);

struct attest_workbench;
struct attest_plan;

enum { ATTEST_MOST_OF_A_CHECK = 16 };

typedef struct attest_check {
    const char *name;
    const char *sentence;                /* for a kernel author, without jargon */
    const char *requirements;            /* every id any of its cases may speak for */
    int classes[ATTEST_MOST_OF_A_CHECK]; /* bug classes it can name, then CLASS_NONE */
    const char *catalogue;               /* "K4": the entry of the check catalogue it implements */
    int structural;                      /* 1: without tolerance; these run before numeric ones */
    void (*plan)(struct attest_plan *plan);
    void (*run)(struct attest_workbench *bench, const attest_case *c, attest_result *result);
} attest_check;

/* All checks, in the order they run; NULL past the last. */
const attest_check *attest_check_at(int index);
const attest_check *attest_check_find(const char *name);

#endif
