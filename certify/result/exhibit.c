/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/result/exhibit.h"

#include <stdlib.h>

void attest_exhibit_free(attest_exhibit *exhibit) {
    for (int i = 0; exhibit != NULL && i < exhibit->map_count; i++) {
        free(exhibit->maps[i].mask);
        free(exhibit->maps[i].ratio);
    }
    if (exhibit != NULL) {
        free(exhibit->c_program);
        free(exhibit->numpy_program);
    }
    free(exhibit);
}
