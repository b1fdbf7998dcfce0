/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input: each broken field gets the right answer and a message that names it, and nothing is
 * written: ERR-01, ERR-02 (unknown), ERR-03 (shapes, types), ERR-04 (overflow), ERR-05 (overlap),
 * ERR-06 (option values); SEM-01, SEM-03, MASK-07 and MASK-11 are what is checked against. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "reference/kernel/forward.h"
#include "reference/problem/normal.h"

enum { B = 2, HQ = 4, HKV = 2, SQ = 3, SK = 5, D = 4, DV = 2 };

typedef struct fixture {
    float q[B * HQ * SQ * D], k[B * HKV * SK * D], v[B * HKV * SK * DV];
    float o[B * HQ * SQ * DV + 1], lse[B * HQ * SQ], mask[SQ * SK], sinks[HQ], slopes[HQ];
    int64_t lengths[B], offsets[B];
    attest_problem p;
} fixture;

static attest_tensor tensor(void *data, attest_dtype dtype, uint32_t rank, int64_t a, int64_t b,
                            int64_t c, int64_t d) {
    const int64_t shape[] = {a, b, c, d};
    attest_tensor result = {.data = data, .dtype = dtype, .rank = rank};
    int64_t step = 1;
    for (uint32_t axis = rank; axis-- > 0;) {
        result.shape[axis] = shape[axis];
        result.stride[axis] = step;
        step *= shape[axis];
    }
    return result;
}

/* Every option that can go together, all valid. */
static void valid(fixture *f) {
    memset(f, 0, sizeof *f);
    f->lengths[0] = SK;
    f->lengths[1] = 2;
    f->p = (attest_problem){
        .struct_bytes = sizeof f->p,
        .features = ATTEST_ALL_FEATURES & ~(ATTEST_MASK_BOOL | ATTEST_WINDOW_SIZE),
        .q = tensor(f->q, ATTEST_F32, 4, B, HQ, SQ, D),
        .k = tensor(f->k, ATTEST_F32, 4, B, HKV, SK, D),
        .v = tensor(f->v, ATTEST_F32, 4, B, HKV, SK, DV),
        .o = tensor(f->o, ATTEST_F32, 4, B, HQ, SQ, DV),
        .lse = tensor(f->lse, ATTEST_F32, 3, B, HQ, SQ, 0),
        .mask = tensor(f->mask, ATTEST_F32, 2, SQ, SK, 0, 0),
        .sinks = tensor(f->sinks, ATTEST_F32, 1, HQ, 0, 0, 0),
        .slopes = tensor(f->slopes, ATTEST_F32, 1, HQ, 0, 0, 0),
        .key_lengths = tensor(f->lengths, ATTEST_I64, 1, B, 0, 0, 0),
        .offsets = tensor(f->offsets, ATTEST_I64, 1, B, 0, 0, 0),
        .scale = 0.5,
        .softcap = 3,
        .window_left = 1,
        .window_right = ATTEST_UNBOUNDED,
        .threads = 1,
    };
}

typedef void breakage(fixture *f);

static void small_struct(fixture *f) { f->p.struct_bytes = sizeof f->p - 1; }
static void huge_struct(fixture *f) { f->p.struct_bytes = UINT64_MAX; }
static void unknown_feature(fixture *f) { f->p.features |= UINT64_C(1) << 20; }
static void reserved_word(fixture *f) { f->p.reserved[3] = 1; }
static void reserved_half(fixture *f) { f->p.reserved32 = 1; }
static void no_threads(fixture *f) { f->p.threads = 0; }
static void bad_dtype(fixture *f) { f->p.q.dtype = 99; }
static void integer_query(fixture *f) { f->p.q.dtype = ATTEST_I64; }
static void mixed_kv(fixture *f) { f->p.v.dtype = ATTEST_F16; }
static void null_data(fixture *f) { f->p.k.data = NULL; }
static void misaligned(fixture *f) { f->p.k.data = (char *)f->k + 2; }
static void bad_rank(fixture *f) { f->p.q.rank = 5; }
static void low_rank(fixture *f) {
    f->p.q.rank = 3;
    f->p.q.shape[3] = f->p.q.stride[3] = 0;
}
static void shape_beyond_rank(fixture *f) { f->p.sinks.shape[2] = 1; }
static void negative_shape(fixture *f) { f->p.k.shape[2] = -1; }
static void huge_axis(fixture *f) { f->p.k.shape[2] = INT64_MAX; }
static void overflowing_extent(fixture *f) { f->p.k.stride[0] = INT64_MAX / 2; }
static void overflowing_count(fixture *f) {
    for (int axis = 0; axis < 4; axis++) {
        f->p.q.shape[axis] = ATTN_MAX_AXIS;
        f->p.q.stride[axis] = 0;
    }
}
static void negative_stride(fixture *f) { f->p.v.stride[2] = -2; }
static void overlapping_output(fixture *f) { f->p.o.stride[2] = 1; }
static void broadcast_output(fixture *f) { f->p.o.stride[0] = 0; }
static void output_on_input(fixture *f) { f->p.o.data = f->q; }
static void lse_on_output(fixture *f) { f->p.lse.data = f->o; }
static void odd_heads(fixture *f) { f->p.k.shape[1] = f->p.v.shape[1] = 3; }
static void no_kv_heads(fixture *f) { f->p.k.shape[1] = f->p.v.shape[1] = 0; }
static void head_size_differs(fixture *f) { f->p.k.shape[3] = D - 1; }
static void no_head_size(fixture *f) { f->p.q.shape[3] = f->p.k.shape[3] = 0; }
static void values_differ(fixture *f) { f->p.v.shape[2] = SK - 1; }
static void output_differs(fixture *f) { f->p.o.shape[3] = DV - 1; }
static void both_masks(fixture *f) { f->p.features |= ATTEST_MASK_BOOL; }
static void mask_type(fixture *f) { f->p.mask.dtype = ATTEST_F16; }
static void mask_shape(fixture *f) { f->p.mask.shape[1] = SK - 1; }
static void mask_not_asked_for(fixture *f) { f->p.features &= ~ATTEST_MASK_ADD; }
static void lse_not_asked_for(fixture *f) { f->p.features &= ~ATTEST_LSE; }
static void sinks_shape(fixture *f) { f->p.sinks.shape[0] = HKV; }
static void slopes_rank(fixture *f) { f->p.slopes = tensor(f->slopes, ATTEST_F32, 2, 1, HQ, 0, 0); }
static void lse_type(fixture *f) { f->p.lse.dtype = ATTEST_F16; }
static void length_too_long(fixture *f) { f->lengths[1] = SK + 1; }
static void length_negative(fixture *f) { f->lengths[0] = -1; }
static void offset_huge(fixture *f) { f->offsets[1] = INT64_MIN; }
static void lengths_type(fixture *f) { f->p.key_lengths.dtype = ATTEST_F64; }
static void scale_nan(fixture *f) { f->p.scale = (double)NAN; }
static void softcap_zero(fixture *f) { f->p.softcap = 0; }
static void softcap_negative(fixture *f) { f->p.softcap = -1; }
static void softcap_infinite(fixture *f) { f->p.softcap = (double)INFINITY; }
static void window_negative(fixture *f) { f->p.window_left = -2; }
static void two_windows(fixture *f) { f->p.features |= ATTEST_WINDOW_SIZE; }
static void window_size_zero(fixture *f) {
    f->p.features = (f->p.features & ~ATTEST_WINDOW) | ATTEST_WINDOW_SIZE;
}

static const struct {
    breakage *broken;
    attest_status status;
    const char *names; /* must occur in the message */
} breakages[] = {
    {small_struct, ATTEST_INVALID, "struct_bytes"},
    {huge_struct, ATTEST_INVALID, "struct_bytes"},
    {unknown_feature, ATTEST_UNSUPPORTED, "features"},
    {reserved_word, ATTEST_UNSUPPORTED, "reserved"},
    {reserved_half, ATTEST_UNSUPPORTED, "reserved"},
    {no_threads, ATTEST_INVALID, "threads"},
    {bad_dtype, ATTEST_INVALID, "q.dtype"},
    {integer_query, ATTEST_INVALID, "q"},
    {mixed_kv, ATTEST_INVALID, "v.dtype"},
    {null_data, ATTEST_INVALID, "k.data"},
    {misaligned, ATTEST_INVALID, "k.data"},
    {bad_rank, ATTEST_INVALID, "q.rank"},
    {low_rank, ATTEST_INVALID, "rank"},
    {shape_beyond_rank, ATTEST_INVALID, "sinks"},
    {negative_shape, ATTEST_INVALID, "k.shape[2]"},
    {huge_axis, ATTEST_INVALID, "k.shape[2]"},
    {overflowing_extent, ATTEST_INVALID, "k: shape times stride"},
    {overflowing_count, ATTEST_INVALID, "q: shape times stride"},
    {negative_stride, ATTEST_INVALID, "v.stride[2]"},
    {overlapping_output, ATTEST_INVALID, "o.stride[2]"},
    {broadcast_output, ATTEST_INVALID, "o.stride[0]"},
    {output_on_input, ATTEST_INVALID, "o.data: overlaps q"},
    {lse_on_output, ATTEST_INVALID, "overlaps"},
    {odd_heads, ATTEST_INVALID, "k.shape[1]"},
    {no_kv_heads, ATTEST_INVALID, "k.shape[1]"},
    {head_size_differs, ATTEST_INVALID, "k.shape[3]"},
    {no_head_size, ATTEST_INVALID, "q.shape[3]"},
    {values_differ, ATTEST_INVALID, "v.shape[2]"},
    {output_differs, ATTEST_INVALID, "o.shape[3]"},
    {both_masks, ATTEST_INVALID, "ATTEST_MASK_BOOL"},
    {mask_type, ATTEST_INVALID, "mask.dtype"},
    {mask_shape, ATTEST_INVALID, "mask.shape[1]"},
    {mask_not_asked_for, ATTEST_INVALID, "mask"},
    {lse_not_asked_for, ATTEST_INVALID, "lse"},
    {sinks_shape, ATTEST_INVALID, "sinks.shape[0]"},
    {slopes_rank, ATTEST_INVALID, "slopes.shape[0]"},
    {lse_type, ATTEST_INVALID, "lse.dtype"},
    {length_too_long, ATTEST_INVALID, "key_lengths[1]"},
    {length_negative, ATTEST_INVALID, "key_lengths[0]"},
    {offset_huge, ATTEST_INVALID, "offsets[1]"},
    {lengths_type, ATTEST_INVALID, "key_lengths.dtype"},
    {scale_nan, ATTEST_INVALID, "scale"},
    {softcap_zero, ATTEST_INVALID, "softcap"},
    {softcap_negative, ATTEST_INVALID, "softcap"},
    {softcap_infinite, ATTEST_INVALID, "softcap"},
    {window_negative, ATTEST_INVALID, "window_left"},
    {two_windows, ATTEST_INVALID, "ATTEST_WINDOW_SIZE"},
    {window_size_zero, ATTEST_INVALID, "window_size"},
};

static void test_each_breakage_is_named(void **state) {
    (void)state;
    for (size_t index = 0; index < sizeof breakages / sizeof *breakages; index++) {
        fixture f;
        char message[ATTEST_MESSAGE_BYTES] = "";
        valid(&f);
        memset(f.o, 0xa5, sizeof f.o);
        memset(f.lse, 0xa5, sizeof f.lse);
        fixture before = f;
        breakages[index].broken(&f);
        attest_status status = attn_forward(&f.p, &attn_profile_attest, message);
        if (status != breakages[index].status || !strstr(message, breakages[index].names)) {
            fail_msg("breakage %zu (%s): status %d, \"%s\"", index, breakages[index].names, status,
                     message);
        }
        assert_memory_equal(f.o, before.o, sizeof f.o);
        assert_memory_equal(f.lse, before.lse, sizeof f.lse);
    }
}

static void test_valid_is_accepted(void **state) {
    (void)state;
    fixture f;
    char message[ATTEST_MESSAGE_BYTES] = "";
    attn_normal normal;
    valid(&f);
    assert_int_equal(attn_forward(&f.p, &attn_profile_attest, message), ATTEST_OK);
    f.p.q.data = f.p.k.data = f.p.key_lengths.data = NULL; /* metadata is enough to normalise */
    assert_int_equal(attn_normalise(&normal, &f.p, &attn_profile_attest, 1, message), ATTEST_OK);
}

static void test_null_arguments(void **state) {
    (void)state;
    fixture f;
    char message[ATTEST_MESSAGE_BYTES] = "";
    valid(&f);
    assert_int_equal(attn_forward(&f.p, NULL, message), ATTEST_INVALID);
    assert_non_null(strstr(message, "profile"));
    assert_int_equal(attn_forward(&f.p, NULL, NULL), ATTEST_INVALID);
    assert_int_equal(attn_forward(NULL, &attn_profile_attest, NULL), ATTEST_INVALID);
    assert_int_equal(attn_forward(NULL, &attn_profile_attest, message), ATTEST_INVALID);
    assert_non_null(strstr(message, "problem"));
}

/* A later version's struct: zero beyond what we know is accepted, anything else is not. */
static void test_longer_struct(void **state) {
    (void)state;
    fixture f;
    struct {
        attest_problem known;
        uint64_t later[2];
    } longer = {0};
    char message[ATTEST_MESSAGE_BYTES] = "";
    valid(&f);
    longer.known = f.p;
    longer.known.struct_bytes = sizeof longer;
    assert_int_equal(attn_forward(&longer.known, &attn_profile_attest, message), ATTEST_OK);
    longer.later[1] = 1;
    assert_int_equal(attn_forward(&longer.known, &attn_profile_attest, message),
                     ATTEST_UNSUPPORTED);
}

/* What the profile, not the problem, forbids. */
static void test_profile_refusals(void **state) {
    (void)state;
    fixture f;
    char message[ATTEST_MESSAGE_BYTES] = "";
    attn_profile profile = attn_profile_attest;
    valid(&f);
    profile.mask_with_causal = ATTN_MASK_CAUSAL_ERROR;
    assert_int_equal(attn_forward(&f.p, &profile, message), ATTEST_INVALID);
    assert_non_null(strstr(message, "mask"));
    profile = attn_profile_attest;
    profile.default_scale = ATTN_SCALE_REQUIRED;
    f.p.features &= ~ATTEST_SCALE;
    assert_int_equal(attn_forward(&f.p, &profile, message), ATTEST_INVALID);
    assert_non_null(strstr(message, "scale"));
    profile = attn_profile_attest;
    profile.window_form = ATTN_WINDOW_NOT_DEFINED;
    f.p.features = (f.p.features & ~ATTEST_WINDOW) | ATTEST_WINDOW_SIZE;
    f.p.window_size = 2;
    assert_int_equal(attn_forward(&f.p, &profile, message), ATTEST_INVALID);
    assert_non_null(strstr(message, "window_size"));
}

/* SPV-07: axes of length 0 are problems like any other. */
static void test_empty_axes(void **state) {
    (void)state;
    for (int axis = 0; axis < 5; axis++) {
        fixture f;
        char message[ATTEST_MESSAGE_BYTES] = "";
        valid(&f);
        f.p.features = ATTEST_LSE;
        f.p.mask = f.p.sinks = f.p.slopes = f.p.key_lengths = f.p.offsets = (attest_tensor){0};
        if (axis == 0) { /* no batch entry */
            f.p.q.shape[0] = f.p.k.shape[0] = f.p.v.shape[0] = f.p.o.shape[0] = 0;
            f.p.lse.shape[0] = 0;
        } else if (axis == 1) { /* no head */
            f.p.q.shape[1] = f.p.k.shape[1] = f.p.v.shape[1] = f.p.o.shape[1] = 0;
            f.p.lse.shape[1] = 0;
        } else if (axis == 2) { /* no query */
            f.p.q.shape[2] = f.p.o.shape[2] = f.p.lse.shape[2] = 0;
        } else if (axis == 3) { /* no key: every row is empty */
            f.p.k.shape[2] = f.p.v.shape[2] = 0;
        } else { /* no value */
            f.p.v.shape[3] = f.p.o.shape[3] = 0;
        }
        if (attn_forward(&f.p, &attn_profile_attest, message) != ATTEST_OK) {
            fail_msg("axis %d: %s", axis, message);
        }
        if (axis == 3) {
            assert_true(f.o[0] == 0.0f && f.lse[0] == -INFINITY);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_is_accepted), cmocka_unit_test(test_each_breakage_is_named),
        cmocka_unit_test(test_null_arguments),    cmocka_unit_test(test_longer_struct),
        cmocka_unit_test(test_profile_refusals),  cmocka_unit_test(test_empty_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
