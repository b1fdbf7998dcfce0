/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "reference/problem/convert.h"
#include "reference/problem/normal.h"
#include "vectors/read/manifest.h"
#include "vectors/read/within.h"

static double at(const attest_tensor *tensor, int64_t index) {
    return attn_load(tensor->dtype,
                     (const char *)tensor->data + index * attn_dtype_bytes(tensor->dtype));
}

static int judge(const char *name, const attest_tensor *high, const attest_tensor *low,
                 const attest_tensor *radius, const attest_tensor *actual, char *message) {
    int64_t count = 1;
    for (uint32_t axis = 0; axis < high->rank; axis++) {
        count *= high->shape[axis];
    }
    for (int64_t k = 0; k < count; k++) {
        if (!attest_within(at(high, k), at(low, k), at(radius, k), at(actual, k))) {
            snprintf(message, ATTEST_MESSAGE_BYTES, "%s[%lld] is %a, expected %a%+a within %a",
                     name, (long long)k, at(actual, k), at(high, k), at(low, k), at(radius, k));
            return 1;
        }
    }
    return 0;
}

int attest_vector_judge(const attest_vector *v, const char *model, const attest_tensor *o,
                        const attest_tensor *lse, char message[ATTEST_MESSAGE_BYTES]) {
    for (int m = 0; m < v->models; m++) {
        if (strcmp(v->model[m], model) == 0) {
            return judge("o", v->o_high, v->o_low, v->o_radius[m], o, message) ||
                   (lse && judge("lse", v->lse_high, v->lse_low, v->lse_radius[m], lse, message));
        }
    }
    snprintf(message, ATTEST_MESSAGE_BYTES, "%s/%s has no radius for the model %.60s", v->group,
             v->name, model);
    return -1;
}
