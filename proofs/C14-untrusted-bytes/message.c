/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram of any length. One that is too short lies in an allocation of exactly its length; one
 * that is too long was cut (recv with MSG_TRUNC also counts what it cut off). Every number in it is
 * arbitrary, every text ends within TEXT characters: printable.c has the longer ones. What
 * attest_wire_accept accepts has one of the five kinds, printable texts, and numbers inside the
 * ranges that wire.h and attest.h name; of a call, places.c has the places.
 */
#include <float.h>
#include <stdlib.h>

#include "proofs/harness/proof.h"
#include "certify/worker/wire.h"

attest_wire nondet_wire(void);

/* The library's work byte by byte; these do the same to the one object that wire.c hands them. */
void *memcpy(void *to, const void *from, size_t size) {
    PROVE(size == sizeof(attest_wire) && __CPROVER_r_ok(from, size) && __CPROVER_w_ok(to, size),
          "C14 a whole message is copied");
    *(attest_wire *)to = *(const attest_wire *)from;
    return to;
}

void *memset(void *to, int byte, size_t size) { /* what follows a text's end is not looked at */
    PROVE(byte == 0 && (size == 0 || __CPROVER_w_ok(to, size)), "C14 a text is cleared in place");
    return to;
}

int __builtin_isfinite(double x) { return x - x == 0; }

static _Bool printable(const char *text) {
    _Bool ended = 0, good = 1;
    for (int i = 0; i <= TEXT; i++) {
        ended = ended || text[i] == '\0';
        good = good && (ended || (text[i] >= ' ' && text[i] <= '~'));
    }
    return ended && good;
}

static void check_descriptor(const attest_kernel_info *info) {
    PROVE(info->name[0] != '\0' && printable(info->name), "C14 name is printable, not empty");
    PROVE(printable(info->vendor), "C14 vendor is printable");
    PROVE(printable(info->version), "C14 version is printable");
    PROVE(printable(info->profile), "C14 profile is printable");
    PROVE(printable(info->model), "C14 model is printable");
    PROVE(info->features < 1u << 12, "C14 features are defined");
    PROVE(info->shapes < 1u << 5, "C14 shapes are defined");
    PROVE(info->dtypes > 0 && info->dtypes % 2 == 0 && info->dtypes < 32, "C14 types are defined");
    PROVE(info->max_head_size >= 0, "C14 head size is not negative");
    PROVE(info->max_queries >= 0, "C14 queries are not negative");
    PROVE(info->max_keys >= 0, "C14 keys are not negative");
    PROVE(info->max_abs_score >= 0 && info->max_abs_score <= DBL_MAX, "C14 score is finite");
    PROVE(info->exp_ulps >= 0 && info->exp_ulps <= DBL_MAX, "C14 ulps are finite");
    PROVE(info->finite_only <= 1, "C14 finite_only is a flag");
    PROVE(info->reentrant <= 1, "C14 reentrant is a flag");
    PROVE(info->isolation <= 4, "C14 isolation is a rung");
    PROVE(info->determinism < 64, "C14 determinism is defined");
    PROVE(info->alignment <= 4096 && (info->alignment == 0 || 4096 % info->alignment == 0),
          "C14 alignment is 0 or a power of two");
}

static void wrong_size(size_t size) {
    static attest_wire message;
    const char *why = NULL;
    void *bytes = malloc(size < sizeof message ? size : sizeof message);
    __CPROVER_assume(bytes);
    PROVE(!attest_wire_accept(&message, bytes, size, &why) && why != NULL,
          "C14 another size is refused");
    free(bytes);
}

static void right_size(void) {
    static attest_wire message, received;
    attest_kernel_info *info = &received.u.info;
    const char *why = NULL;
    received = nondet_wire();
    received.text[TEXT] = '\0';
    if (received.kind == ATTEST_WIRE_LOADED) {
        info->name[TEXT] = info->vendor[TEXT] = info->version[TEXT] = '\0';
        info->profile[TEXT] = info->model[TEXT] = '\0';
    }
    const int accepted = attest_wire_accept(&message, &received, sizeof received, &why);
    PROVE(why != NULL, "C14 a refusal has a reason");
    if (accepted) {
        PROVE(message.kind >= ATTEST_WIRE_READY && message.kind <= ATTEST_WIRE_DONE,
              "C14 an accepted message has a kind");
        PROVE(printable(message.text), "C14 text is printable");
        if (message.kind == ATTEST_WIRE_LOADED) {
            check_descriptor(&message.u.info);
        }
        if (message.kind == ATTEST_WIRE_CALL) {
            PROVE(message.u.call.kind >= 1 && message.u.call.kind <= 3, "C14 a call has a kind");
            PROVE(message.u.call.callers <= 16, "C14 callers are bounded");
        }
        if (message.kind == ATTEST_WIRE_DONE) {
            PROVE(message.u.done.status >= 0 && message.u.done.status <= 4,
                  "C14 status is defined");
            PROVE(message.u.done.faults < 16, "C14 faults are defined");
        }
        REACHED(message.kind == ATTEST_WIRE_LOADED && message.u.info.name[0], "a descriptor");
        REACHED(message.kind == ATTEST_WIRE_DONE, "an answer");
    }
}

int main(void) {
    const size_t size = nondet_size();
    if (size == sizeof(attest_wire)) {
        right_size();
    } else {
        wrong_size(size);
    }
}
