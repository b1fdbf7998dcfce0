/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/problem/convert.h"

#include <string.h>

typedef struct narrow_format {
    int fraction_bits, exponent_bits;
} narrow_format;

static const narrow_format half_format = {10, 5};
static const narrow_format brain_format = {7, 8};

static double bits_to_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t double_to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double widen(uint16_t word, narrow_format format) {
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    uint64_t sign = (uint64_t)(word >> 15) << 63;
    int exponent = (word >> format.fraction_bits) & ((1 << format.exponent_bits) - 1);
    uint64_t fraction = (uint64_t)word & ((UINT64_C(1) << format.fraction_bits) - 1);
    if (exponent == (1 << format.exponent_bits) - 1) {
        return bits_to_double(sign | UINT64_C(0x7ff) << 52 |
                              fraction << (52 - format.fraction_bits));
    }
    if (exponent == 0) { /* fraction * 2^(1 - bias - fraction_bits): both factors are exact */
        uint64_t power = (uint64_t)(1023 + 1 - bias - format.fraction_bits) << 52;
        double magnitude = (double)fraction * bits_to_double(power);
        return bits_to_double(sign | double_to_bits(magnitude));
    }
    uint64_t wide_exponent = (uint64_t)(exponent - bias + 1023);
    return bits_to_double(sign | wide_exponent << 52 | fraction << (52 - format.fraction_bits));
}

static uint16_t narrow(double value, narrow_format format) {
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    int lowest = 1 - bias;
    uint64_t bits = double_to_bits(value);
    uint32_t sign = (uint32_t)(bits >> 63) << 15;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    uint32_t infinity = (uint32_t)((1 << format.exponent_bits) - 1) << format.fraction_bits;

    if (exponent == 1024 && fraction != 0) {
        return (uint16_t)(sign | infinity | 1u << (format.fraction_bits - 1));
    }
    if (exponent > bias) {
        return (uint16_t)(sign | infinity);
    }
    int shift = 52 - format.fraction_bits + (exponent < lowest ? lowest - exponent : 0);
    if (shift > 53) { /* below half of the smallest denormal */
        return (uint16_t)sign;
    }
    uint64_t significand = UINT64_C(1) << 52 | fraction;
    uint64_t kept = significand >> shift;
    uint64_t rest = significand & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* The implicit bit, and a carry out of the fraction, add one to the exponent field. */
    uint32_t field =
        exponent < lowest ? 0 : (uint32_t)(exponent + bias - 1) << format.fraction_bits;
    return (uint16_t)(sign | (field + (uint32_t)kept));
}

double attn_load(attest_dtype dtype, const void *address) {
    uint16_t word;
    float single;
    double wide;
    switch (dtype) {
    case ATTEST_F16:
        memcpy(&word, address, sizeof word);
        return widen(word, half_format);
    case ATTEST_BF16:
        memcpy(&word, address, sizeof word);
        return widen(word, brain_format);
    case ATTEST_F32:
        memcpy(&single, address, sizeof single);
        return (double)single;
    default:
        memcpy(&wide, address, sizeof wide);
        return wide;
    }
}

void attn_store(attest_dtype dtype, void *address, double value) {
    uint16_t word;
    float single;
    switch (dtype) {
    case ATTEST_F16:
        word = narrow(value, half_format);
        memcpy(address, &word, sizeof word);
        break;
    case ATTEST_BF16:
        word = narrow(value, brain_format);
        memcpy(address, &word, sizeof word);
        break;
    case ATTEST_F32:
        single = (float)value;
        memcpy(address, &single, sizeof single);
        break;
    default:
        memcpy(address, &value, sizeof value);
        break;
    }
}

double attn_round_to(attest_dtype dtype, double value) {
    unsigned char cell[sizeof(double)];
    attn_store(dtype, cell, value);
    return attn_load(dtype, cell);
}
