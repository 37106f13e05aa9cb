/* SPDX-License-Identifier: Apache-2.0 */
/* Equal keys within one object while a document is being made. */
#ifndef GV_VALUE_KEYS_H
#define GV_VALUE_KEYS_H

#include "base/vec.h"
#include "value/node.h"

typedef struct gv_keys {
    grove_env *env; /* borrowed */
    const char
        *text; /* nodes refer to text by offset from here; NULL: by distance back, as in node.h */
    GV_VEC(const void *) sorted;
} gv_keys;

void gv_keys_fini(gv_keys *k);
/* Key of a node under these rules. */
gv_str gv_keys_of(const gv_keys *k, const grove_node *member);
/*
 * Ends an object whose ->a and ->b are set: finds equal keys and writes the index of a large object behind
 * its members, where the caller keeps gv_index_nodes(object->b) nodes free. Of equal keys the last one
 * stays, or, if `strict`, nothing is changed and *out_second is the first member whose key came before
 * (else NULL). Corrects ->a and ->b. GROVE_OK or GROVE_E_NOMEM.
 */
grove_status gv_keys_close(gv_keys *k, grove_node *object, bool strict,
                           const grove_node **out_second);

#endif
