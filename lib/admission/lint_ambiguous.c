/* SPDX-License-Identifier: Apache-2.0 */
/* Clique names that end with one another: Grove's operator takes the wrong template for the longer one. */
#include "admission/lint.h"

void gv_lint_ambiguous(gv_lint *l) {
    uint32_t i = 0;
    GV_EACH(clique, l->cliques) {
        gv_path entry = gv_path_index(&l->cliques_path, i++);
        gv_path here = gv_path_key(&entry, "name", 4);
        const grove_node *at = grove_node_get(clique, "name");
        gv_str name = gv_node_str(at);
        /* the first of the list whose name ends it is found, itself at the latest */
        GV_EACH(other, l->cliques) {
            gv_str end = gv_node_get_str(other, "name");
            if (other == clique) {
                break;
            }
            if (end.n > 0 && gv_str_ends(name, end)) {
                GV_LINT(l, GV_CODE_LINT_SUFFIX, &here, at,
                        "ends with %.*s, which stands before it: Grove's operator makes its pods "
                        "from that clique",
                        (int)end.n, end.p);
                break;
            }
        }
    }
}
