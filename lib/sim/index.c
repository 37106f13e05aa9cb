/* SPDX-License-Identifier: Apache-2.0 */
/* Objects by owner uid, and pods by gang. */
#include "sim/index.h"

#include "model/labels.h"
#include "sim/meta.h"

const gv_sim_objects *gv_sim_index_get(const gv_map *index, gv_str key) {
    return gv_map_get(index, key);
}

static size_t position(const gv_sim_objects *list, const gv_sim_object *o) {
    size_t i = 0;
    while (i < list->n && list->v[i] != o) {
        i++;
    }
    return i;
}

static void drop(grove_sim *sim, gv_map *index, gv_str key, const gv_sim_object *o) {
    gv_sim_objects *list = gv_map_get(index, key);
    size_t i = list ? position(list, o) : 0;
    if (!list || i == list->n) {
        return;
    }
    memmove(list->v + i, list->v + i + 1, (list->n - i - 1) * sizeof *list->v);
    if (--list->n == 0) {
        (void)gv_map_remove(index, key);
        gv_vec_fini(sim->env, list);
        gv_free(sim->env, list, sizeof *list);
    }
}

static bool add(grove_sim *sim, gv_map *index, gv_str key, gv_sim_object *o) {
    gv_sim_objects *list = gv_map_get(index, key);
    if (list) {
        return position(list, o) < list->n || gv_vec_push(sim->env, list, o);
    }
    list = gv_zalloc(sim->env, sizeof *list);
    if (!list || !gv_vec_push(sim->env, list, o) || !gv_map_put(index, key, list)) {
        if (list) {
            gv_vec_fini(sim->env, list);
        }
        gv_free(sim->env, list, sizeof *list);
        return false;
    }
    return true;
}

static bool owned_by(const gv_sim_meta *meta, gv_str uid) {
    const grove_node *list = meta ? meta->owners : NULL;
    for (const grove_node *r = grove_node_first(list); r; r = grove_node_next(list, r)) {
        if (gv_str_eq(gv_node_get_str(r, "uid"), uid)) {
            return true;
        }
    }
    return false;
}

gv_str gv_sim_gang_key(char *buf, const gv_sim_meta *meta) {
    gv_str gang = gv_node_get_str(meta->labels, GV_LABEL_GANG);
    return gang.n > 0 ? gv_sim_key(buf, meta->ns, gang) : (gv_str){"", 0};
}

static gv_str gang_of(const gv_sim_object *o, const gv_sim_meta *meta, char *buf) {
    return o->kind == GV_KIND_POD && meta ? gv_sim_gang_key(buf, meta) : (gv_str){"", 0};
}

bool gv_sim_index_object(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta,
                         const gv_sim_meta *other) {
    const grove_node *list = meta->owners;
    for (const grove_node *r = grove_node_first(list); r; r = grove_node_next(list, r)) {
        gv_str uid = gv_node_get_str(r, "uid");
        if (!owned_by(other, uid) && !add(sim, &sim->dependents, uid, o)) {
            return false;
        }
    }
    char a[GV_SIM_KEY_MAX], b[GV_SIM_KEY_MAX];
    gv_str gang = gang_of(o, meta, a);
    return gang.n == 0 || gv_str_eq(gang, gang_of(o, other, b)) || add(sim, &sim->gangs, gang, o);
}

void gv_sim_unindex_object(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta,
                           const gv_sim_meta *other) {
    const grove_node *list = meta->owners;
    for (const grove_node *r = grove_node_first(list); r; r = grove_node_next(list, r)) {
        gv_str uid = gv_node_get_str(r, "uid");
        if (!owned_by(other, uid)) {
            drop(sim, &sim->dependents, uid, o);
        }
    }
    char a[GV_SIM_KEY_MAX], b[GV_SIM_KEY_MAX];
    gv_str gang = gang_of(o, meta, a);
    if (gang.n > 0 && !gv_str_eq(gang, gang_of(o, other, b))) {
        drop(sim, &sim->gangs, gang, o);
    }
}

void gv_sim_index_fini(grove_sim *sim, gv_map *index) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(index, &i));) {
        gv_sim_objects *list = e->value;
        gv_vec_fini(sim->env, list);
        gv_free(sim->env, list, sizeof *list);
    }
    gv_map_fini(index);
}
