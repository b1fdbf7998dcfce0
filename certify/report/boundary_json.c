/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/report/boundary_json.h"

#include <string.h>

json_t *attest_boundaries_json(const attest_boundaries *all) {
    json_t *list = json_array();
    for (int i = 0; i < all->count; i++) {
        const attest_boundary *b = &all->found[i];
        json_array_append_new(list,
                              json_pack("{s:s,s:I,s:I}", "axis", attest_axis_table[b->axis], "at",
                                        (json_int_t)b->at, "period", (json_int_t)b->period));
    }
    return list;
}

void attest_boundaries_load(const json_t *list, attest_boundaries *all) {
    size_t index;
    const json_t *one;
    json_array_foreach(list, index, one) {
        const char *name = json_string_value(json_object_get(one, "axis"));
        for (int axis = 0; name != NULL && axis < ATTEST_AXES; axis++) {
            if (strcmp(name, attest_axis_table[axis]) == 0) {
                attest_boundary_add(all, (attest_axis)axis,
                                    (int64_t)json_integer_value(json_object_get(one, "at")),
                                    (int64_t)json_integer_value(json_object_get(one, "period")));
            }
        }
    }
}
