/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram of any length. One that is too short lies in an allocation of exactly its length; one
 * that is too long was cut (recv with MSG_TRUNC also counts what it cut off). Every number in it is
 * arbitrary, every text ends within TEXT characters: printable.c has the longer ones. What
 * attest_wire_accept accepts has one of the five kinds, printable texts, and numbers inside the
 * ranges that wire.h names.
 */
#include <stdlib.h>

#include "proof.h"
#include "wire.h"

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
            PROVE(printable(message.u.info.model), "C14 model is printable");
        }
        if (message.kind == ATTEST_WIRE_CALL) {
            PROVE(message.u.call.callers <= 16, "C14 callers are bounded");
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
