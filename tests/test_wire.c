/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker sends is looked at field by field before anything else sees it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "certify/worker/wire.c"
#include "reference/problem/operand.h"

static attest_wire loaded(void) {
    attest_wire m = {.magic = ATTEST_WIRE_MAGIC, .kind = ATTEST_WIRE_LOADED};
    strcpy(m.u.info.name, "kernel");
    m.u.info.dtypes = 1u << ATTEST_F32;
    return m;
}

static int accepted(const attest_wire *m, size_t size) {
    attest_wire out;
    const char *why = NULL;
    int fine = attest_wire_accept(&out, m, size, &why);
    assert_non_null(why);
    return fine;
}

static void takes_a_right_message_only_whole(void **state) {
    (void)state;
    attest_wire m = loaded();
    assert_true(accepted(&m, sizeof m));
    for (size_t size = 0; size < sizeof m; size++) {
        assert_false(accepted(&m, size));
    }
    assert_false(accepted(&m, sizeof m + 1));
    m.magic ^= 1;
    assert_false(accepted(&m, sizeof m));
}

static void refuses_descriptors_out_of_range(void **state) {
    (void)state;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        attest_wire m = loaded();                                                                  \
        m.u.info.change;                                                                           \
        assert_false(accepted(&m, sizeof m));                                                      \
    } while (0)
    REFUSED(name[0] = '\0');
    REFUSED(features = UINT64_C(1) << 40);
    REFUSED(shapes = UINT64_C(1) << 5);
    REFUSED(dtypes = 0);
    REFUSED(dtypes = 1u << ATTEST_BOOL);
    REFUSED(max_head_size = -1);
    REFUSED(max_queries = INT64_MIN);
    REFUSED(max_keys = -2);
    REFUSED(max_abs_score = -1);
    REFUSED(max_abs_score = (double)NAN);
    REFUSED(exp_ulps = (double)INFINITY);
    REFUSED(finite_only = 2);
    REFUSED(reentrant = 7);
    REFUSED(isolation = 5);
    REFUSED(determinism = 64);
    REFUSED(alignment = 48);
    REFUSED(alignment = 8192);
#undef REFUSED
}

static void texts_end_and_are_printable(void **state) {
    (void)state;
    attest_wire m = loaded(), out;
    const char *why;
    memset(m.text, 0xff, sizeof m.text);
    memset(m.u.info.model, '\033', sizeof m.u.info.model);
    assert_true(attest_wire_accept(&out, &m, sizeof m, &why));
    assert_int_equal(strlen(out.text), sizeof out.text - 1);
    assert_int_equal(out.text[0], '?');
    assert_int_equal(out.u.info.model[ATTEST_NAME_BYTES - 1], '\0');
    assert_int_equal(out.u.info.model[0], '?');
}

static void any_bytes_are_survived(void **state) {
    (void)state;
    uint64_t x = 88172645463325252u;
    unsigned char bytes[sizeof(attest_wire)];
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            bytes[i] = (unsigned char)x;
        }
        const uint32_t magic = ATTEST_WIRE_MAGIC, kind = (uint32_t)(round % 8);
        memcpy(bytes, &magic, sizeof magic);
        memcpy(bytes + sizeof magic, &kind, sizeof kind);
        attest_wire out;
        const char *why;
        if (attest_wire_accept(&out, bytes, sizeof bytes, &why)) {
            assert_true(strlen(out.text) < sizeof out.text);
            if (out.kind == ATTEST_WIRE_DONE) {
                assert_in_range(out.u.done.status, ATTEST_OK, ATTEST_INTERNAL);
            }
        }
    }
}

static void places_stay_inside_their_slots(void **state) {
    (void)state;
    attest_wire_call call = {.kind = ATTEST_CALL_FORWARD};
    attest_place *p = &call.place[ATTEST_SLOT_V];
    const attest_place good = {.map_offset = 4096,
                               .map_bytes = 8192,
                               .data_offset = 5000,
                               .data_bytes = 7288,
                               .present = 1};
    *p = good;
    assert_true(attest_wire_places_fit(&call, 4096));
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        *p = good;                                                                                 \
        p->change;                                                                                 \
        assert_false(attest_wire_places_fit(&call, 4096));                                         \
    } while (0)
    REFUSED(data_bytes = 7289);
    REFUSED(data_offset = 4095);
    REFUSED(data_offset = UINT64_MAX);
    REFUSED(data_bytes = UINT64_MAX);
    REFUSED(map_offset = 4097);
    REFUSED(map_bytes = 100);
    REFUSED(map_bytes = UINT64_MAX - 4095);
    REFUSED(map_offset = ATTEST_SLOT_BYTES);
    REFUSED(map_bytes = ATTEST_SLOT_BYTES);
#undef REFUSED
    *p = good;
    p->map_bytes = 0;
    p->present = 0;
    assert_true(attest_wire_places_fit(&call, 4096));
}

/* Two lists, since messages are proved without the rest of the tree: they must say the same. */
static void slots_are_the_operands_in_order(void **state) {
    (void)state;
    attest_problem p;
    assert_int_equal(ATTEST_SLOT_WORKSPACE, ATTN_OPERANDS);
    assert_int_equal(ATTEST_INPUT_SLOTS, ATTN_INPUTS);
    for (int n = 0; n < ATTN_OPERANDS; n++) {
        assert_string_equal(attest_slot_name(n), attn_operand_name(n));
        assert_ptr_equal(attest_slot_tensor(&p, n), attn_operand(&p, n));
    }
}

int main(void) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(takes_a_right_message_only_whole),
        cmocka_unit_test(refuses_descriptors_out_of_range),
        cmocka_unit_test(texts_end_and_are_printable),
        cmocka_unit_test(any_bytes_are_survived),
        cmocka_unit_test(places_stay_inside_their_slots),
        cmocka_unit_test(slots_are_the_operands_in_order),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
