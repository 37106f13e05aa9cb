/* SPDX-License-Identifier: Apache-2.0 */
/* Topology constraints: from the domains a set names to the node label keys a scheduler reads. */
#include "plan/body.h"

void gv_write_topology(grove_builder *b, const gv_template *t, const gv_topology *constraint) {
    gv_str required = gv_template_level_key(t, constraint->required);
    gv_str preferred = gv_template_level_key(t, constraint->preferred);
    if (required.n == 0 && preferred.n == 0) {
        return;
    }
    grove_builder_open_object(b, "topologyConstraint");
    grove_builder_open_object(b, "packConstraint");
    if (required.n) {
        gv_write_str(b, "required", required);
    }
    if (preferred.n) {
        gv_write_str(b, "preferred", preferred);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}
