/* SPDX-License-Identifier: Apache-2.0 */
/* First fit pod by pod, and gang by gang. */
#include "sim/scheduler.h"

#include "model/labels.h"
#include "sim/call.h"
#include "sim/condition.h"
#include "sim/meta.h"
#include "sim/room.h"

typedef struct gv_sim_scheduler {
    char *name;
    grove_sim_schedule_fn schedule;
    void *ctx;
} gv_sim_scheduler;

/* ---- who serves whom ---- */

static bool listed(const char *names, gv_str name) {
    gv_str rest = gv_str_c(names);
    while (rest.n > 0) {
        const char *comma = memchr(rest.p, ',', rest.n);
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        if (gv_str_eq(gv_str_trim((gv_str){rest.p, n}), name)) {
            return true;
        }
        rest = comma ? (gv_str){comma + 1, rest.n - n - 1} : (gv_str){"", 0};
    }
    return false;
}

static gv_sim_scheduler *registered(const grove_sim *sim, gv_str name) {
    for (size_t i = 0; i < sim->schedulers.n; i++) {
        if (gv_str_is(name, sim->schedulers.v[i]->name)) {
            return sim->schedulers.v[i];
        }
    }
    return NULL;
}

static gv_str scheduler_of(const gv_sim_object *pod) {
    return gv_node_get_str(grove_node_get(gv_sim_root(pod), "spec"), "schedulerName");
}

static bool waits(const gv_sim_object *pod) {
    const grove_node *spec = grove_node_get(gv_sim_root(pod), "spec");
    return !pod->dying && gv_node_get_str(spec, "nodeName").n == 0 &&
           grove_node_size(grove_node_get(spec, "schedulingGates")) == 0;
}

/* Whose nodes somebody else finds. */
static bool is_anothers(const grove_sim *sim, const gv_sim_object *pod) {
    const grove_node *labels = grove_node_at_path(gv_sim_root(pod), "/metadata/labels");
    return (sim->options.flags & GROVE_SIM_LONE_PODS) && grove_node_get(labels, GV_LABEL_GANG);
}

/* Pods that wait for a scheduler of that list, in order of creation. */
static grove_status waiting_pods(grove_sim *sim, const char *names, gv_sim_objects *out) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&sim->tables[GV_KIND_POD].objects, &i));) {
        gv_sim_object *pod = e->value;
        gv_str name = scheduler_of(pod);
        if (waits(pod) && listed(names, name) && !registered(sim, name) && !is_anothers(sim, pod) &&
            !gv_vec_push(sim->env, out, pod)) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

/* ---- one pod ---- */

static gv_room *best_room(gv_rooms *rooms, const gv_sim_object *pod, const gv_sim_needs *needs) {
    gv_room *best = NULL;
    int64_t best_preference = -1;
    for (size_t i = 0; i < rooms->all.n; i++) {
        gv_room *r = &rooms->all.v[i];
        if (!gv_room_has(r, needs) || !gv_room_allows(r->node, pod)) {
            continue;
        }
        int64_t p = gv_room_preference(r->node, pod);
        if (p > best_preference) {
            best = r;
            best_preference = p;
        }
    }
    return best;
}

static grove_status bind_pod(grove_sim *sim, gv_sim_object *pod, const gv_sim_object *node) {
    grove_op op = {.size = sizeof op, .verb = GROVE_VERB_BIND};
    grove_sim_result res = {.size = sizeof res};
    op.ns = gv_node_get_str(grove_node_get(gv_sim_root(pod), "metadata"), "namespace").p;
    op.name = pod->name.p;
    op.target = node->name.p;
    grove_doc *keep = grove_doc_ref(pod->doc); /* the namespace's text is in there */
    grove_status st = gv_sim_run(sim, &op, &res);
    grove_doc_unref(res.doc);
    grove_doc_unref(keep);
    return st;
}

static grove_status say_unschedulable(grove_sim *sim, gv_sim_object *pod, const char *why) {
    const gv_sim_new_condition set[] = {{"PodScheduled", "False", "Unschedulable", why}};
    return gv_sim_set_conditions(sim, pod, set, 1);
}

static grove_status place_pod(grove_sim *sim, gv_rooms *rooms, gv_sim_object *pod) {
    const gv_sim_needs *needs = gv_sim_needs_of(sim, pod);
    if (!needs) {
        return GROVE_E_NOMEM;
    }
    gv_room *room = best_room(rooms, pod, needs);
    if (!room) {
        char why[96];
        (void)gv_fmt(why, sizeof why, "0/%u nodes are available", (unsigned)rooms->all.n);
        return say_unschedulable(sim, pod, why);
    }
    gv_room_take(room, needs, 1);
    return bind_pod(sim, pod, room->node);
}

static grove_status pod_by_pod(grove_sim *sim, const gv_sim_objects *pods) {
    gv_rooms rooms;
    grove_status st = gv_rooms_make(sim, &rooms);
    if (st < 0) {
        return st;
    }
    for (size_t i = 0; i < pods->n && st == GROVE_OK; i++) {
        st = place_pod(sim, &rooms, pods->v[i]);
    }
    gv_rooms_fini(sim, &rooms);
    return st;
}

/* ---- whole gangs ---- */

typedef struct gang_plan {
    gv_sim_objects pods; /* unbound ones that got a place */
    GV_VEC(gv_room *) rooms;
    int64_t short_of; /* groups that do not reach their minimum */
} gang_plan;

static gv_sim_object *referenced(const grove_sim *sim, const gv_sim_object *gang,
                                 const grove_node *reference) {
    gv_str ns = gv_node_get_str(reference, "namespace");
    return gv_sim_find(sim, GV_KIND_POD, ns.n > 0 ? ns : gang->ns,
                       gv_node_get_str(reference, "name"));
}

static grove_status plan_group(grove_sim *sim, gv_rooms *rooms, const gv_sim_object *gang,
                               const grove_node *group, gang_plan *plan) {
    int64_t have = 0;
    GV_EACH(r, grove_node_get(group, "podReferences")) {
        gv_sim_object *pod = referenced(sim, gang, r);
        if (!pod || pod->dying) {
            continue;
        }
        if (!waits(pod)) {
            have += gv_sim_condition_true(gv_sim_root(pod), "PodScheduled") ? 1 : 0;
            continue;
        }
        const gv_sim_needs *needs = gv_sim_needs_of(sim, pod);
        gv_room *room = needs ? best_room(rooms, pod, needs) : NULL;
        if (!needs) {
            return GROVE_E_NOMEM;
        }
        if (!room) {
            continue;
        }
        if (!gv_vec_push(sim->env, &plan->pods, pod) ||
            !gv_vec_push(sim->env, &plan->rooms, room)) {
            return GROVE_E_NOMEM;
        }
        gv_room_take(room, needs, 1);
        have++;
    }
    plan->short_of += have < gv_node_get_int(group, "minReplicas", 0) ? 1 : 0;
    return GROVE_OK;
}

static grove_status carry_out(grove_sim *sim, gang_plan *plan) {
    grove_status st = GROVE_OK;
    for (size_t i = 0; i < plan->pods.n && st == GROVE_OK; i++) {
        if (plan->short_of > 0) {
            gv_room_take(plan->rooms.v[i], plan->pods.v[i]->needs, -1);
            st = say_unschedulable(sim, plan->pods.v[i], "the gang does not fit as a whole");
        } else {
            st = bind_pod(sim, plan->pods.v[i], plan->rooms.v[i]->node);
        }
    }
    return st;
}

static grove_status place_gang(grove_sim *sim, gv_rooms *rooms, const gv_sim_object *gang) {
    gang_plan plan = {0};
    grove_status st = GROVE_OK;
    const grove_node *spec = grove_node_get(gv_sim_root(gang), "spec");
    GV_EACH(group, grove_node_get(spec, "podgroups")) {
        if (st == GROVE_OK) {
            st = plan_group(sim, rooms, gang, group, &plan);
        }
    }
    if (st == GROVE_OK) {
        st = carry_out(sim, &plan);
    }
    gv_vec_fini(sim->env, &plan.pods);
    gv_vec_fini(sim->env, &plan.rooms);
    return st;
}

/* Whether one of the waiting pods is a member of the gang. */
static bool concerns(const grove_sim *sim, const gv_sim_object *gang, const gv_sim_objects *pods) {
    const grove_node *spec = grove_node_get(gv_sim_root(gang), "spec");
    GV_EACH(group, grove_node_get(spec, "podgroups")) {
        GV_EACH(r, grove_node_get(group, "podReferences")) {
            const gv_sim_object *pod = referenced(sim, gang, r);
            for (size_t i = 0; pod && i < pods->n; i++) {
                if (pods->v[i] == pod) {
                    return true;
                }
            }
        }
    }
    return false;
}

static grove_status gang_by_gang(grove_sim *sim, const gv_sim_objects *pods) {
    gv_rooms rooms;
    grove_status st = gv_rooms_make(sim, &rooms);
    if (st < 0) {
        return st;
    }
    gv_map_entry *e;
    for (uint32_t i = 0;
         st == GROVE_OK && (e = gv_map_next(&sim->tables[GV_KIND_PODGANG].objects, &i));) {
        const gv_sim_object *gang = e->value;
        if (!gang->dying && concerns(sim, gang, pods)) {
            st = place_gang(sim, &rooms, gang);
        }
    }
    gv_rooms_fini(sim, &rooms);
    return st;
}

/* ---- all of them ---- */

typedef grove_status (*place_fn)(grove_sim *sim, const gv_sim_objects *pods);

static grove_status serve(grove_sim *sim, const char *names, place_fn place) {
    gv_sim_objects pods = {0};
    grove_status st = waiting_pods(sim, names, &pods);
    if (st == GROVE_OK && pods.n > 0) {
        st = place(sim, &pods);
    }
    gv_vec_fini(sim->env, &pods);
    return st;
}

grove_status gv_sim_schedule(grove_sim *sim) {
    grove_status st = GROVE_OK;
    if (!(sim->options.flags & GROVE_SIM_NO_SCHEDULER)) {
        st = serve(sim, sim->scheduler_names, pod_by_pod);
        if (st == GROVE_OK) {
            st = serve(sim, sim->gang_scheduler_names, gang_by_gang);
        }
    }
    for (size_t i = 0; i < sim->schedulers.n && st == GROVE_OK; i++) {
        gv_sim_scheduler *s = sim->schedulers.v[i];
        st = s->schedule(s->ctx, sim, sim->now);
    }
    return st;
}

static void scheduler_free(grove_sim *sim, gv_sim_scheduler *s) {
    if (s->name) {
        gv_free(sim->env, s->name, strlen(s->name) + 1);
    }
    gv_free(sim->env, s, sizeof *s);
}

void gv_sim_schedulers_fini(grove_sim *sim) {
    for (size_t i = 0; i < sim->schedulers.n; i++) {
        scheduler_free(sim, sim->schedulers.v[i]);
    }
    gv_vec_fini(sim->env, &sim->schedulers);
}

grove_status grove_sim_set_scheduler(grove_sim *sim, const char *scheduler_name,
                                     grove_sim_schedule_fn schedule, void *ctx, grove_error *err) {
    gv_sim_scheduler *had = registered(sim, gv_str_c(scheduler_name));
    if (had) {
        had->schedule = schedule;
        had->ctx = ctx;
        return GROVE_OK;
    }
    gv_sim_scheduler *s = gv_zalloc(sim->env, sizeof *s);
    size_t n = strlen(scheduler_name) + 1;
    if (s) {
        s->name = gv_alloc(sim->env, n);
    }
    if (!s || !s->name || !gv_vec_push(sim->env, &sim->schedulers, s)) {
        if (s) {
            if (s->name) {
                gv_free(sim->env, s->name, n);
            }
            gv_free(sim->env, s, sizeof *s);
        }
        return gv_error_nomem(err);
    }
    memcpy(s->name, scheduler_name, n);
    s->schedule = schedule;
    s->ctx = ctx;
    sim->schedule = true;
    return GROVE_OK;
}
