/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log, by a table of logarithms and a Taylor polynomial.
 *
 *   x = 2^e * m with sqrt(1/2) <= m < sqrt(2),  i = 64 m to the nearest integer
 *   c = 64/i to the nearest multiple of 1/128,  r = m * c - 1,  |r| < 2^-6.3
 *   log(x) = e ln2 - log(c) + log(1 + r)
 *
 * e*LN2_HI - log(c) is exact and so is r, as a sum of two numbers; near x = 1 it is c = 1 and
 * r = m - 1. Error relative to log(x): the lower sum has magnitude r^2/2, so its roundings are
 * below 2^-60 |r|; the truncated term r^10/10 is below 2^-66. Together below 2^-58.
 */
#include "reference/arithmetic/elementary.h"
#include "reference/arithmetic/elementary_dd.h"

#include <math.h> /* INFINITY and NAN alone */

enum { FIRST_INDEX = 45, LAST_INDEX = 91 };

/*
 * Row i - 45: c; -log(c) to the nearest multiple of 2^-42; the rest of -log(c) to nearest.
 */
static const double log_table[LAST_INDEX - FIRST_INDEX + 1][3] = {
    {0x1.6cp+0, -0x1.686c81e9b1p-2, -0x1.2bb110af84054p-44},
    {0x1.64p+0, -0x1.51aad872ep-2, 0x1.f4bd8db0a7cc1p-44},
    {0x1.5cp+0, -0x1.3a64c55694p-2, -0x1.7a71cbcd735dp-44},
    {0x1.56p+0, -0x1.2895a13de8p-2, -0x1.a8d7ad24c13fp-44},
    {0x1.4ep+0, -0x1.1058bf9ae5p-2, 0x1.4ab9d817d52cdp-44},
    {0x1.48p+0, -0x1.fb9186d5e4p-3, 0x1.d572aab993c87p-47},
    {0x1.42p+0, -0x1.d5c216b4fcp-3, 0x1.1ba91bbca681bp-45},
    {0x1.3cp+0, -0x1.af3c94e80cp-3, 0x1.a4e633fcd9066p-52},
    {0x1.36p+0, -0x1.87fa06520cp-3, -0x1.22120401202fcp-44},
    {0x1.3p+0, -0x1.5ff3070a7ap-3, 0x1.8586f183bebf2p-44},
    {0x1.2ap+0, -0x1.371fc201e8p-3, -0x1.ee8779b2d8abcp-44},
    {0x1.24p+0, -0x1.0d77e7cd08p-3, -0x1.cb2cd2ee2f482p-44},
    {0x1.2p+0, -0x1.e27076e2bp-4, 0x1.a342c2af0003cp-45},
    {0x1.1ap+0, -0x1.8c345d6318p-4, -0x1.b20f5acb42a66p-44},
    {0x1.16p+0, -0x1.51b073f06p-4, -0x1.83f69278e686ap-44},
    {0x1.12p+0, -0x1.16536eea38p-4, 0x1.47c5e768fa309p-46},
    {0x1.0cp+0, -0x1.77458f633p-5, 0x1.181dce586af09p-44},
    {0x1.08p+0, -0x1.f829b0e78p-6, -0x1.980267c7e09e4p-45},
    {0x1.04p+0, -0x1.fc0a8b0fcp-7, -0x1.f1e7cf6d3a69cp-50},
    {0x1p+0, 0.0, 0.0},
    {0x1.f8p-1, 0x1.020565893p-6, 0x1.611d27c8e8417p-44},
    {0x1.fp-1, 0x1.0415d89e78p-5, -0x1.dddc7f461c516p-44},
    {0x1.e8p-1, 0x1.894aa149f8p-5, 0x1.9a19a8be97661p-44},
    {0x1.ep-1, 0x1.08598b59e4p-4, -0x1.7e5dd7009902cp-46},
    {0x1.dcp-1, 0x1.2aa04a447p-4, 0x1.7a48ba8b1cb41p-44},
    {0x1.d4p-1, 0x1.700d30aeacp-4, 0x1.c1e8da99ded32p-49},
    {0x1.ccp-1, 0x1.b6ac88dad4p-4, 0x1.b1bdff50225c7p-44},
    {0x1.c8p-1, 0x1.da72763844p-4, 0x1.a89401fa71733p-46},
    {0x1.cp-1, 0x1.1178e8227ep-3, 0x1.1ef78ce2d07f2p-45},
    {0x1.bcp-1, 0x1.23d712a49cp-3, 0x1.00d238fd3df5cp-46},
    {0x1.b4p-1, 0x1.4913d8333cp-3, -0x1.53e43558124c4p-44},
    {0x1.bp-1, 0x1.5bf406b544p-3, -0x1.27023eb68981cp-46},
    {0x1.a8p-1, 0x1.823c16551ap-3, 0x1.e0ddb9a631e83p-46},
    {0x1.a4p-1, 0x1.95a5adcf7p-3, 0x1.7f22858a0ff6fp-47},
    {0x1.ap-1, 0x1.a93ed3c8aep-3, -0x1.8724350562169p-45},
    {0x1.98p-1, 0x1.d1037f2656p-3, -0x1.84a7e75b6f6e4p-47},
    {0x1.94p-1, 0x1.e530effe72p-3, -0x1.fdbdbb13f7c18p-44},
    {0x1.9p-1, 0x1.f991c6cb3cp-3, -0x1.90d04cd7cc834p-44},
    {0x1.8cp-1, 0x1.07138604d6p-2, -0x1.e76324e912b17p-44},
    {0x1.88p-1, 0x1.1178e8227ep-2, 0x1.1ef78ce2d07f2p-44},
    {0x1.8p-1, 0x1.269621134ep-2, -0x1.1b61f10522625p-44},
    {0x1.7cp-1, 0x1.314f1e1d36p-2, -0x1.8e27ad3213cb8p-45},
    {0x1.78p-1, 0x1.3c25277333p-2, 0x1.83b54b606bd5cp-46},
    {0x1.74p-1, 0x1.4718dc271cp-2, 0x1.06c18fb4c14c5p-44},
    {0x1.7p-1, 0x1.522ae0738ap-2, 0x1.ebe708164c759p-45},
    {0x1.6cp-1, 0x1.5d5bddf596p-2, -0x1.a0b2a08a465dcp-47},
    {0x1.68p-1, 0x1.68ac83e9c7p-2, -0x1.7af966c548a3p-44},
};

/* ln2 to the nearest multiple of 2^-42 (42 bits, so its product with e, 11 bits, is exact), and
 * the rest to nearest. */
static const double LN2_HI = 0x1.62e42fefa38p-1;
static const double LN2_LO = 0x1.ef35793c7673p-45;

/* log(x) = hi + lo for finite x > 0, relative error below 2^-58. */
static attn_dd log_dd(double x) {
    int e = 0;
    if (x < 0x1p-1022) { /* subnormal */
        x *= 0x1p+54;
        e = -54;
    }
    uint64_t u = attn_bits_of(x);
    e += (int)(u >> 52) - 1023;
    double m = attn_of_bits((u & 0xfffffffffffffu) | (uint64_t)1023 << 52);
    if (m >= 0x1.6a09e667f3bcdp+0) { /* sqrt(2) to nearest */
        m *= 0.5;
        e += 1;
    }
    const double *row = log_table[(int)(m * 64 + 0.5) - FIRST_INDEX];
    double c = row[0];
    double head = attn_of_bits(attn_bits_of(m) & ~(uint64_t)0x7ffffff); /* 26 bits */
    attn_dd r = attn_fast_two_sum(head * c - 1, (m - head) * c);
    double z = r.hi;
    double p = -1.0 / 4 + z * (1.0 / 5 + z * (-1.0 / 6 + z * (1.0 / 7 + z * (-1.0 / 8 + z / 9))));
    p = -1.0 / 2 + z * (1.0 / 3 + z * p);
    attn_dd s = attn_fast_two_sum(e * LN2_HI + row[1], z);
    double low = z * z * p + (r.lo + (e * LN2_LO + row[2]));
    return attn_fast_two_sum(s.hi, s.lo + low);
}

float attn_logf(float x) {
    if (x != x || x == INFINITY)
        return x;
    if (x == 0)
        return -INFINITY;
    if (x < 0)
        return NAN;
    return attn_dd_to_f32(log_dd(x), 1.0);
}

double attn_log(double x) {
    if (x != x || x == (double)INFINITY)
        return x;
    if (x == 0)
        return -INFINITY;
    if (x < 0)
        return NAN;
    return log_dd(x).hi;
}
