/* SPDX-License-Identifier: Apache-2.0 */
/* What the patch formats share. */
#include "value/patch.h"

#include "base/mem.h"

grove_status gv_patch_arguments(gv_source a, gv_source b, grove_doc **out_doc, grove_error *err) {
    if (!a.doc || !a.node || !b.doc || !b.node || !out_doc) {
        return gv_error(err, GROVE_E_INVALID,
                        "a document, a node or the place of the result is missing");
    }
    return GROVE_OK;
}
