/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of the typed arrays of vec.h. */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

bool gv_vec_grow_(grove_env *env, void *v, size_t *cap, size_t n, size_t elem) {
    size_t want = *cap + *cap / 2;
    want = want < 8 ? 8 : want;
    want = want < n ? n : want;
    if (want > SIZE_MAX / 2 / elem) {
        return false;
    }
    void *array; /* read and written as bytes: its real type is a pointer to the elements */
    memcpy(&array, v, sizeof array);
    array = gv_realloc(env, array, *cap * elem, want * elem);
    if (!array) {
        return false;
    }
    memcpy(v, &array, sizeof array);
    *cap = want;
    return true;
}
