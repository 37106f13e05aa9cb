/* SPDX-License-Identifier: Apache-2.0 */
/* Reading which nodes the pods of a gang have or had. */
#include "model/places.h"

/* What stands before the first `mark`, which goes with it; without one, everything. */
static gv_str take(gv_str *rest, char mark) {
    const char *at = rest->n ? memchr(rest->p, mark, rest->n) : NULL;
    gv_str head = {rest->p, at ? (size_t)(at - rest->p) : rest->n};
    size_t gone = head.n + (at ? 1 : 0);
    *rest = (gv_str){rest->p + gone, rest->n - gone};
    return head;
}

gv_str gv_places_of(gv_str text, gv_str clique) {
    while (text.n > 0) {
        gv_str part = take(&text, ';');
        gv_str name = take(&part, ':');
        if (gv_str_eq(name, clique)) {
            return part;
        }
    }
    return GV_STR("");
}

static bool read_index(gv_str text, int64_t *out) {
    int64_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
        n = n * 10 + (text.p[i] - '0');
    }
    *out = n;
    return text.n > 0;
}

bool gv_places_next(gv_str *rest, int64_t *out_index, gv_str *out_node) {
    while (rest->n > 0) {
        gv_str entry = take(rest, ',');
        gv_str index = take(&entry, '=');
        if (entry.n > 0 && index.n <= 9 && read_index(index, out_index)) {
            *out_node = entry;
            return true;
        }
    }
    return false;
}
