/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any places in a call, pages of PAGE bytes: where attest_wire_places_fit accepts, each present
 * operand lies inside its mapping and each mapping inside its slot, on whole pages.
 */
#include "proofs/harness/proof.h"
#include "certify/worker/wire.h"

attest_wire_call nondet_call(void);

int main(void) {
    static attest_wire_call call;
    call = nondet_call();
    if (attest_wire_places_fit(&call, PAGE)) {
        for (int slot = 0; slot < ATTEST_SLOTS; slot++) {
            const attest_place *p = &call.place[slot];
            if (p->present) {
                const uint64_t end = p->map_offset + p->map_bytes;
                PROVE(p->map_offset % PAGE == 0 && end % PAGE == 0, "C14 pages are mapped whole");
                PROVE(p->map_offset <= end && end <= ATTEST_SLOT_BYTES,
                      "C14 a mapping is inside its slot");
                PROVE(p->map_offset <= p->data_offset && p->data_offset <= end &&
                          p->data_bytes <= end - p->data_offset,
                      "C14 an operand is inside its mapping");
                REACHED(slot == ATTEST_SLOTS - 1 && p->data_bytes > PAGE, "a call");
            }
        }
    }
}
