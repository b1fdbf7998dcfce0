/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A datagram of any length and content, in an allocation that holds as much of it as was received
 * (recv with MSG_TRUNC tells the length of what it cut off, too). What attest_wire_accept accepts has one of the five kinds, texts that end and are printable, and
 * numbers inside the ranges that wire.h names.
 */
#include <stdlib.h>
#include <string.h>

#include "proof.h"
#include "wire.h"

static _Bool printable(const char *text, size_t size) {
    const size_t at = nondet_size() % size;
    return text[size - 1] == '\0' && (text[at] == '\0' || (text[at] >= ' ' && text[at] <= '~'));
}

int main(void) {
    static attest_wire message;
    const char *why = NULL;
    const size_t size = nondet_size();
    void *bytes = malloc(size < sizeof message ? size : sizeof message);
    __CPROVER_assume(bytes);
    const int accepted = attest_wire_accept(&message, bytes, size, &why);
    PROVE(why != NULL, "C14 a refusal has a reason");
    if (accepted) {
        PROVE(size == sizeof message && message.kind >= ATTEST_WIRE_READY &&
                  message.kind <= ATTEST_WIRE_DONE,
              "C14 an accepted message has a kind");
        PROVE(printable(message.text, sizeof message.text), "C14 text is printable");
        if (message.kind == ATTEST_WIRE_LOADED) {
            PROVE(printable(message.u.info.name, ATTEST_NAME_BYTES), "C14 name is printable");
        }
        if (message.kind == ATTEST_WIRE_CALL) {
            PROVE(message.u.call.callers <= 16, "C14 callers are bounded");
        }
        REACHED(message.kind == ATTEST_WIRE_LOADED && message.u.info.name[0], "a descriptor");
        REACHED(message.kind == ATTEST_WIRE_DONE, "an answer");
    }
    free(bytes);
}
