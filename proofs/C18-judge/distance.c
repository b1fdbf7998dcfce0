/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on one element, in a format that is small enough for all its numbers: verdict.c and
 * the enclosure are compiled with that format in the place of double, and what is proved of them is
 * said in binary64, where sums of four such numbers and products with 1 + 4 u are exact.
 *
 * PROOF_FORMAT 143 is 8 bits with 3 of fraction, 152 with 2.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "proofs/harness/proof.h"

typedef double wide;

#if PROOF_FORMAT == 143
typedef __CPROVER_floatbv[8][3] narrow;
#define ULP 0x1p-4 /* u: half a unit in the last place of 1 */
#else
typedef __CPROVER_floatbv[8][2] narrow;
#define ULP 0x1p-3
#endif

narrow nondet_narrow(void);

#undef isfinite
#undef isnan
#define isfinite(x) ((x) - (x) == 0)
#define isnan(x) ((x) != (x))
#define fabs(x) ((x) < 0 ? -(x) : (x))
#define double narrow
#include PROOF_SOURCE
#undef double

static wide size(wide x) { return x < 0 ? -x : x; }

int main(void) {
    const attn_enclosure e = {
        .high = nondet_narrow(),
        .low = nondet_narrow(),
        .own_error = nondet_narrow(),
        .radius = nondet_narrow(),
        .kind = nondet_byte(),
    };
    const narrow given = nondet_narrow();
    narrow ratio = nondet_narrow();
    const int verdict = attn_judge(&e, given, nondet_bool() ? &ratio : NULL);
    const _Bool inside = verdict == ATTN_INSIDE, outside = verdict == ATTN_OUTSIDE;
    const _Bool number = isfinite(given), centred = isfinite(e.high) && isfinite(e.low);
    const wide actual = (wide)given, high = (wide)e.high, low = (wide)e.low;
    const wide reach = (wide)e.radius + (wide)e.own_error, distance = size(actual - high - low);
    const wide rounding = 4 * ULP * size(low);

    PROVE(e.kind != ATTN_FINITE || !inside ||
              (number && centred && distance <= (1 + 4 * ULP) * reach + rounding),
          "C18 what is inside is within radius and own error");
    PROVE(e.kind != ATTN_FINITE || !outside || !number || !centred || !isfinite(given - e.high) ||
              !(distance < (1 - 4 * ULP) * reach - rounding),
          "C18 what is outside is not well within");
    PROVE(e.kind != ATTN_FINITE || isfinite(e.radius + e.own_error) || (!inside && !outside),
          "C18 no verdict without a finite reach");
    PROVE(!(isfinite(e.radius + e.own_error) && e.kind == ATTN_FINITE) || inside || outside,
          "C18 a finite reach has a verdict");
    const _Bool nan = isnan(given), up = !number && given > 0, down = !number && given < 0;
    PROVE((e.kind != ATTN_NAN || (nan ? inside : outside)) &&
              (e.kind != ATTN_POS_INF || (up ? inside : outside)) &&
              (e.kind != ATTN_NEG_INF || (down ? inside : outside)) &&
              (e.kind != ATTN_NONFINITE || (!number ? inside : outside)) &&
              (e.kind != ATTN_NAN_OR_POS_INF || (nan || up ? inside : outside)) &&
              (e.kind != ATTN_NAN_OR_NEG_INF || (nan || down ? inside : outside)) &&
              (e.kind != ATTN_ANY || inside) &&
              ((e.kind != ATTN_NO_RADIUS && e.kind != ATTN_OUT_OF_DOMAIN) || (!inside && !outside)),
          "C18 kinds that are no numbers");
    REACHED(e.kind == ATTN_FINITE && inside && e.radius > 0 && e.low != 0 && distance > 0,
            "inside");
    REACHED(e.kind == ATTN_FINITE && outside && number, "outside");
}
