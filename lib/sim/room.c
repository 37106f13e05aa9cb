/* SPDX-License-Identifier: Apache-2.0 */
/* Adding up requests and what they leave free. */
#include "sim/room.h"

#include <grove/quantity.h>

#include "sim/meta.h"

/* ---- amounts ---- */

static gv_amount *amount_of(const gv_amounts *list, gv_str name) {
    for (size_t i = 0; i < list->n; i++) {
        if (gv_str_eq(list->v[i].name, name)) {
            return &list->v[i];
        }
    }
    return NULL;
}

static int64_t read_amount(gv_str name, const grove_node *value) {
    grove_quantity q;
    int64_t n = 0;
    gv_str text = gv_node_str(value);
    if (grove_quantity_parse(text.p, text.n, &q, NULL) < 0) {
        return 0;
    }
    grove_status st = gv_str_is(name, "cpu") ? grove_quantity_milli(&q, &n)
                                             : grove_quantity_units(&q, &n);
    return st < 0 ? INT64_MAX / 4 : n;
}

/* to += times * amount, or to = max(to, amount). */
static bool put(grove_env *env, gv_amounts *to, gv_str name, int64_t n, bool maximum) {
    gv_amount *a = amount_of(to, name);
    if (a) {
        a->n = maximum ? (a->n > n ? a->n : n) : a->n + n;
        return true;
    }
    gv_amount fresh = {name, n};
    return gv_vec_push(env, to, fresh);
}

static bool put_requests(grove_env *env, gv_amounts *to, const grove_node *container,
                         bool maximum) {
    const grove_node *requests = grove_node_get(grove_node_get(container, "resources"), "requests");
    GV_EACH(r, requests) {
        gv_str name = gv_node_key(r);
        if (!put(env, to, name, read_amount(name, r), maximum)) {
            return false;
        }
    }
    return true;
}

/* The larger of what runs for good and what one init container needs on its own. */
static bool sum_needs(grove_sim *sim, const grove_node *spec, gv_amounts *out) {
    static const gv_str pods = {"pods", 4};
    grove_env *env = sim->env;
    bool ok = put(env, out, pods, 1, false);
    GV_EACH(c, grove_node_get(spec, "containers")) {
        ok = ok && put_requests(env, out, c, false);
    }
    GV_EACH(c, grove_node_get(spec, "initContainers")) {
        bool sidecar = gv_str_is(gv_node_get_str(c, "restartPolicy"), "Always");
        ok = ok && (!sidecar || put_requests(env, out, c, false));
    }
    GV_EACH(c, grove_node_get(spec, "initContainers")) {
        bool sidecar = gv_str_is(gv_node_get_str(c, "restartPolicy"), "Always");
        ok = ok && (sidecar || put_requests(env, out, c, true));
    }
    GV_EACH(r, grove_node_get(spec, "overhead")) {
        gv_str name = gv_node_key(r);
        ok = ok && put(env, out, name, read_amount(name, r), false);
    }
    return ok;
}

const gv_sim_needs *gv_sim_needs_of(grove_sim *sim, gv_sim_object *pod) {
    if (pod->needs) {
        return pod->needs;
    }
    gv_sim_needs *n = gv_zalloc(sim->env, sizeof *n);
    grove_doc *spec = gv_sim_section_doc(pod, "spec");
    if (!n) {
        return NULL;
    }
    n->doc = grove_doc_ref(spec);
    pod->needs = n;
    if (!sum_needs(sim, grove_doc_root(spec), &n->all)) {
        gv_sim_needs_forget(sim, pod);
        return NULL;
    }
    return n;
}

void gv_sim_needs_forget(grove_sim *sim, gv_sim_object *o) {
    if (o->needs) {
        gv_vec_fini(sim->env, &o->needs->all);
        grove_doc_unref(o->needs->doc);
        gv_free(sim->env, o->needs, sizeof *o->needs);
        o->needs = NULL;
    }
}

/* ---- rooms ---- */

bool gv_room_has(const gv_room *room, const gv_sim_needs *needs) {
    for (size_t i = 0; i < needs->all.n; i++) {
        const gv_amount *want = &needs->all.v[i];
        const gv_amount *have = amount_of(&room->free, want->name);
        /* a node that does not speak of pods takes as many as come */
        bool silent = !have && gv_str_is(want->name, "pods");
        if (want->n > 0 && !silent && (!have || have->n < want->n)) {
            return false;
        }
    }
    return true;
}

void gv_room_take(gv_room *room, const gv_sim_needs *needs, int64_t sign) {
    for (size_t i = 0; i < needs->all.n; i++) {
        gv_amount *have = amount_of(&room->free, needs->all.v[i].name);
        if (have) {
            have->n -= sign * needs->all.v[i].n;
        }
    }
}

void gv_rooms_fini(grove_sim *sim, gv_rooms *rooms) {
    for (size_t i = 0; i < rooms->all.n; i++) {
        gv_vec_fini(sim->env, &rooms->all.v[i].free);
    }
    gv_vec_fini(sim->env, &rooms->all);
    gv_map_fini(&rooms->by_name);
}

static grove_status add_room(grove_sim *sim, gv_rooms *rooms, const gv_sim_object *node) {
    gv_room room = {node, {0}};
    const grove_node *status = grove_node_get(gv_sim_root(node), "status");
    GV_EACH(a, grove_node_get(status, "allocatable")) {
        gv_amount amount = {gv_node_key(a), read_amount(gv_node_key(a), a)};
        if (!gv_vec_push(sim->env, &room.free, amount)) {
            gv_vec_fini(sim->env, &room.free);
            return GROVE_E_NOMEM;
        }
    }
    if (!gv_vec_push(sim->env, &rooms->all, room)) {
        gv_vec_fini(sim->env, &room.free);
        return GROVE_E_NOMEM;
    }
    uintptr_t at = rooms->all.n;
    return gv_map_put(&rooms->by_name, node->name, (void *)at) ? GROVE_OK : GROVE_E_NOMEM;
}

static bool over(const gv_sim_object *pod) {
    gv_str phase = gv_node_get_str(grove_node_get(gv_sim_root(pod), "status"), "phase");
    return gv_str_is(phase, "Succeeded") || gv_str_is(phase, "Failed");
}

static grove_status take_pods(grove_sim *sim, gv_rooms *rooms) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&sim->tables[GV_KIND_POD].objects, &i));) {
        gv_sim_object *pod = e->value;
        gv_str node = gv_node_get_str(grove_node_get(gv_sim_root(pod), "spec"), "nodeName");
        uintptr_t at = (uintptr_t)gv_map_get(&rooms->by_name, node);
        if (at == 0 || over(pod)) {
            continue;
        }
        const gv_sim_needs *needs = gv_sim_needs_of(sim, pod);
        if (!needs) {
            return GROVE_E_NOMEM;
        }
        gv_room_take(&rooms->all.v[at - 1], needs, 1);
    }
    return GROVE_OK;
}

grove_status gv_rooms_make(grove_sim *sim, gv_rooms *out_rooms) {
    gv_rooms rooms = {0};
    gv_map_entry *e;
    grove_status st = GROVE_OK;
    gv_map_init(&rooms.by_name, sim->env);
    for (uint32_t i = 0;
         st == GROVE_OK && (e = gv_map_next(&sim->tables[GV_KIND_NODE].objects, &i));) {
        st = add_room(sim, &rooms, e->value);
    }
    if (st == GROVE_OK) {
        st = take_pods(sim, &rooms);
    }
    if (st < 0) {
        gv_rooms_fini(sim, &rooms);
        return st;
    }
    *out_rooms = rooms;
    return GROVE_OK;
}
