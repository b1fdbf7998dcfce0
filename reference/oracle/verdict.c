/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on one element, from an enclosure and what the kernel gave. Proved: claim C18. */
#include <math.h>

#include "reference/oracle/oracle.h"

static int judge_distance(const attn_enclosure *e, double actual, double *ratio) {
    const double reach = e->radius + e->own_error;
    if (!isfinite(reach)) {
        return ATTN_NO_VERDICT; /* else every number would be inside */
    }
    *ratio = (double)INFINITY;
    if (!isfinite(actual)) {
        return ATTN_OUTSIDE;
    }
    const double distance = fabs((actual - e->high) - e->low);
    *ratio = distance == 0 ? 0 : distance / reach;
    return distance <= reach ? ATTN_INSIDE : ATTN_OUTSIDE;
}

int attn_judge(const attn_enclosure *e, double actual, double *ratio) {
    double ignored;
    int verdict = ATTN_NO_VERDICT;
    ratio = ratio ? ratio : &ignored;
    *ratio = 0;
    switch ((attn_kind)e->kind) {
    case ATTN_FINITE:
        return judge_distance(e, actual, ratio);
    case ATTN_NAN:
        verdict = isnan(actual) ? ATTN_INSIDE : ATTN_OUTSIDE;
        break;
    case ATTN_POS_INF:
        verdict = actual == (double)INFINITY ? ATTN_INSIDE : ATTN_OUTSIDE;
        break;
    case ATTN_NEG_INF:
        verdict = actual == (double)-INFINITY ? ATTN_INSIDE : ATTN_OUTSIDE;
        break;
    case ATTN_NONFINITE:
        verdict = !isfinite(actual) ? ATTN_INSIDE : ATTN_OUTSIDE;
        break;
    case ATTN_NAN_OR_POS_INF:
        verdict = isnan(actual) || actual == (double)INFINITY ? ATTN_INSIDE : ATTN_OUTSIDE;
        break;
    case ATTN_NAN_OR_NEG_INF:
        verdict = isnan(actual) || actual == (double)-INFINITY ? ATTN_INSIDE : ATTN_OUTSIDE;
        break;
    case ATTN_ANY:
        verdict = ATTN_INSIDE;
        break;
    case ATTN_NO_RADIUS:
    case ATTN_OUT_OF_DOMAIN:
        break;
    }
    if (verdict == ATTN_OUTSIDE) {
        *ratio = (double)INFINITY;
    }
    return verdict;
}
