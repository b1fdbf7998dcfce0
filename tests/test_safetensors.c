/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader takes what the writer wrote, and refuses what is not a safetensors file: hostile
 * headers each for its reason, and 10,000 damaged files without a byte read outside. tests/run runs
 * this as it is; tests/test_damage.sh again under the address sanitizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "reference/problem/normal.h"
#include "vectors/read/bounds.h"
#include "vectors/read/safetensors.h"

#define DAMAGED_FILES 10000

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A file with this header and this many bytes of data. The header's length may be a lie. */
static unsigned char *file_of(const char *header, size_t header_bytes, uint64_t claimed,
                              size_t data_bytes, size_t *bytes) {
    *bytes = ATTEST_LENGTH_BYTES + header_bytes + data_bytes;
    unsigned char *file = calloc(*bytes, 1);
    assert_non_null(file);
    for (unsigned i = 0; i < ATTEST_LENGTH_BYTES; i++) {
        file[i] = (unsigned char)(claimed >> (8 * i));
    }
    memcpy(file + ATTEST_LENGTH_BYTES, header, header_bytes);
    return file;
}

static void expect_refusal(const char *header, size_t header_bytes, uint64_t claimed,
                           size_t data_bytes, const char *reason) {
    attest_safetensors set;
    char message[ATTEST_MESSAGE_BYTES] = "";
    size_t bytes;
    unsigned char *file = file_of(header, header_bytes, claimed, data_bytes, &bytes);
    if (attest_safetensors_parse(&set, file, bytes, message) == 0) {
        fail_msg("accepted: %.80s", header);
    }
    if (!strstr(message, reason)) {
        fail_msg("refused for \"%s\", not for \"%s\": %.80s", message, reason, header);
    }
    assert_null(set.data);
    assert_null(set.tensors);
    free(file);
}

static const struct {
    const char *header;
    size_t data_bytes;
    const char *reason;
} hostile[] = {
    {"", 0, "does not start with {"},
    {" {}", 0, "does not start with {"},
    {"[]", 0, "does not start with {"},
    {"{", 0, "header, byte"},
    {"{}", 1, "belong to none"},
    {"{} x", 0, "end of file expected"},
    {"{\"a\":1}", 0, "a: not an object"},
    {"{\"a\":{}}", 0, "a: not an object"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 0, "a: not an object"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":0}}", 4,
     "not an object"},
    {"{\"a\":{\"dtype\":\"F8\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype is none"},
    {"{\"a\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype is none"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", 4, "shape is not a list"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "shape is not a list"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
     "shape is not a list"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,4]}}", 4, "up to four"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967297],\"data_offsets\":[0,4]}}", 4, "too large"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387905],\"data_offsets\":[0,4]}}", 4,
     "too large"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2147483648,2147483648,0],\"data_offsets\":[0,0]}}", 0,
     "too large"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]}}", 4,
     "header, byte"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "not a pair"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4, "not a pair"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4, "not a pair"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 4, "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,9223372036854775807]}}", 4,
     "outside the file"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[9223372036854775804,0]}}", 4,
     "outside the file"},
    {"{\"b\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]}}",
     5, "not aligned"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
     4, "overlap"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
     12, "overlap"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}",
     12, "belong to none"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
     4, "duplicate"},
    {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "duplicate"},
    {"{\"\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "printable"},
    {"{\"\xc3\xa9\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "printable"},
    {"{\"\xff\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "header, byte"},
    {"{\"\xc0\xaf\":1}", 0, "header, byte"},
    {"{\"a\\u0000b\":1}", 0, "header, byte"},
    {"{\"__metadata__\":{\"x\":1}}", 0, "__metadata__"},
    {"{\"__metadata__\":[]}", 0, "__metadata__"},
};

static void test_hostile_headers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        size_t length = strlen(hostile[i].header);
        expect_refusal(hostile[i].header, length, length, hostile[i].data_bytes, hostile[i].reason);
    }
}

static void test_header_lengths(void **state) {
    (void)state;
    static const uint64_t lies[] = {3,
                                    9,
                                    UINT64_C(1) << 24,
                                    (UINT64_C(1) << 24) + 1,
                                    UINT64_MAX,
                                    UINT64_MAX - 7,
                                    UINT64_C(1) << 63,
                                    INT64_MAX};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        expect_refusal("{}", 2, lies[i], 0, "header length");
    }
    attest_safetensors set;
    char message[ATTEST_MESSAGE_BYTES];
    unsigned char short_file[7] = {0};
    for (size_t count = 0; count < sizeof short_file; count++) {
        assert_int_equal(attest_safetensors_parse(&set, short_file, count, message), -1);
    }
    assert_int_equal(attest_safetensors_load(&set, "no/such/file", message), -1);
    assert_non_null(strstr(message, "no/such/file"));
}

/* A parser that recurses must not run out of stack. */
static void test_depth(void **state) {
    (void)state;
    enum { DEPTH = 1 << 20 };
    char *header = malloc(DEPTH + 5);
    assert_non_null(header);
    memcpy(header, "{\"a\":", 5);
    memset(header + 5, '[', DEPTH);
    expect_refusal(header, DEPTH + 5, DEPTH + 5, 0, "depth");
    free(header);
}

static void test_too_many_tensors(void **state) {
    (void)state;
    size_t room = (ATTEST_TENSOR_LIMIT + 1) * 16 + 2, used = 0;
    char *header = malloc(room);
    assert_non_null(header);
    for (unsigned i = 0; i <= ATTEST_TENSOR_LIMIT; i++) {
        used += (size_t)snprintf(header + used, room - used, "%c\"%u\":0", i ? ',' : '{', i);
    }
    header[used++] = '}';
    expect_refusal(header, used, used, 0, "more than");
    free(header);
}

static double wide[3] = {1, 2, 3};
static float narrow[4] = {1, 2, 3, 4};
static int64_t lengths[2] = {5, 6};
static unsigned char flags[3] = {0, 1, 1};
static const attest_named_tensor samples[] = {
    {"group/high", {wide, {3}, {1}, ATTEST_F64, 1}},
    {"group/lengths", {lengths, {2}, {1}, ATTEST_I64, 1}},
    {"group/q", {narrow, {1, 2, 2, 1}, {4, 2, 1, 1}, ATTEST_F32, 4}},
    {"group/none", {narrow, {0, 2}, {2, 1}, ATTEST_F32, 2}},
    {"group/scalar", {narrow, {0}, {0}, ATTEST_F32, 0}},
    {"group/half", {narrow, {2}, {1}, ATTEST_F16, 1}},
    {"group/brain", {narrow, {2}, {1}, ATTEST_BF16, 1}},
    {"group/mask", {flags, {3}, {1}, ATTEST_BOOL, 1}},
};
#define SAMPLES (sizeof samples / sizeof *samples)

static unsigned char *sample_file(size_t *bytes) {
    unsigned char *file = attest_safetensors_write(samples, SAMPLES, bytes);
    assert_non_null(file);
    return file;
}

static uint64_t bytes_of(const attest_tensor *tensor) {
    uint64_t bytes = 0;
    assert_true(attest_shape_bytes((uint64_t)attn_dtype_bytes(tensor->dtype), tensor->shape,
                                   tensor->rank, &bytes));
    return bytes;
}

static void test_round_trip(void **state) {
    (void)state;
    attest_safetensors set;
    char message[ATTEST_MESSAGE_BYTES] = "";
    size_t bytes;
    unsigned char *file = sample_file(&bytes);
    assert_int_equal(attest_safetensors_parse(&set, file, bytes, message), 0);
    free(file);
    assert_int_equal(set.count, SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        const attest_tensor *want = &samples[i].tensor;
        const attest_tensor *got = attest_safetensors_find(&set, samples[i].name);
        assert_non_null(got);
        assert_int_equal(got->dtype, want->dtype);
        assert_int_equal(got->rank, want->rank);
        assert_memory_equal(got->shape, want->shape, sizeof got->shape);
        assert_memory_equal(got->stride, want->stride, sizeof got->stride);
        assert_memory_equal(got->data, want->data, bytes_of(want));
    }
    assert_null(attest_safetensors_find(&set, "group/nothing"));
    attest_safetensors_free(&set);
    const attest_named_tensor strided = {"x", {narrow, {2}, {2}, ATTEST_F32, 1}};
    assert_null(attest_safetensors_write(&strided, 1, &bytes));
}

/* One damaged copy of a file, in an allocation of exactly its size. */
static unsigned char *damage(const unsigned char *file, size_t bytes, uint64_t *state,
                             size_t *left) {
    uint64_t how = next_random(state) % 4;
    *left = how == 0 ? next_random(state) % bytes : bytes;
    unsigned char *copy = malloc(*left ? *left : 1);
    assert_non_null(copy);
    memcpy(copy, file, *left);
    for (uint64_t n = how == 0 ? 0 : 1 + next_random(state) % 4; n > 0; n--) {
        size_t header_end = ATTEST_LENGTH_BYTES + (size_t)attest_header_length(file);
        size_t at = next_random(state) % (how == 3 ? bytes : header_end);
        if (how == 2 && at >= ATTEST_LENGTH_BYTES) { /* keeps most of them valid JSON */
            copy[at] = (unsigned char)"0123456789,:[]{}\"-e "[next_random(state) % 20];
        } else {
            copy[at] ^= (unsigned char)(1u << next_random(state) % 8);
        }
    }
    return copy;
}

/* A damaged file is refused with a reason, or what it now says is inside it. */
static void test_damaged_files(void **state) {
    (void)state;
    size_t bytes, left;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    int refused = 0, accepted = 0;
    unsigned char *file = sample_file(&bytes);
    for (int i = 0; i < DAMAGED_FILES; i++) {
        attest_safetensors set;
        char message[ATTEST_MESSAGE_BYTES] = "";
        unsigned char *copy = damage(file, bytes, &seed, &left);
        if (attest_safetensors_parse(&set, copy, left, message) != 0) {
            assert_true(message[0] != '\0' && memchr(message, '\0', sizeof message));
            refused++;
        } else {
            unsigned sum = 0;
            assert_int_equal(left, bytes);
            for (size_t t = 0; t < set.count; t++) {
                const unsigned char *data = set.tensors[t].tensor.data;
                for (uint64_t b = 0; b < bytes_of(&set.tensors[t].tensor); b++) {
                    sum += data[b];
                }
            }
            assert_true(sum < UINT32_MAX);
            accepted++;
        }
        attest_safetensors_free(&set);
        free(copy);
    }
    free(file);
    print_message("# %d damaged files: %d refused, %d still well-formed\n", DAMAGED_FILES, refused,
                  accepted);
    assert_true(refused > DAMAGED_FILES / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_headers), cmocka_unit_test(test_header_lengths),
        cmocka_unit_test(test_depth),           cmocka_unit_test(test_too_many_tensors),
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
