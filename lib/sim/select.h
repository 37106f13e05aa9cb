/* SPDX-License-Identifier: Apache-2.0 */
/* Label and field selectors of lists and watches. */
#ifndef GV_SIM_SELECT_H
#define GV_SIM_SELECT_H

#include "sim/state.h"
#include "value/scalar.h"

typedef struct gv_sim_filter {
    char *ns;            /* NULL: all */
    gv_selector *labels; /* NULL: all */
    char *fields;        /* "a=b,c!=d", checked; NULL: all */
} gv_sim_filter;

/*
 * GROVE_E_REFUSED with a message for a selector that cannot be read or a field that the kind does not
 * index.
 */
grove_status gv_sim_filter_make(grove_env *env, gv_kind kind, const char *ns, const char *labels,
                                const char *fields, gv_sim_filter *out_filter, grove_error *err);
void gv_sim_filter_fini(grove_env *env, gv_sim_filter *f);
bool gv_sim_filter_matches(const gv_sim_filter *f, const grove_node *object);

#endif
