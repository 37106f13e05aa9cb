/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which gangs are placed when: a gang is looked at when one of its pods or its PodGang changed, and all
 * that wait are looked at again when capacity changed. Order of service: priority, then those that lack
 * their minimum, then age, then name.
 */
#include "engine/queues.h"
#include "engine/view_queues.h"

#include "base/sort.h"
#include "model/labels.h"
#include "value/doc.h"

grove_status gv_engine_check_gang(grove_engine *e, gv_str ns, gv_str gang) {
    gv_str key = gv_engine_key(&e->op_text, ns, gang);
    return key.p && gv_map_put(&e->gangs_to_check, key, e) ? GROVE_OK : GROVE_E_NOMEM;
}

grove_status gv_engine_check_followers(grove_engine *e, const gv_pod *pod) {
    bool any = false;
    for (size_t i = 0; i < e->config->schedulers.n; i++) {
        any = any || e->config->schedulers.v[i].gang_scheduling;
    }
    if (!any || pod->base_gang[0] || !gv_pod_is_bound(pod)) {
        return GROVE_OK;
    }
    gv_str ns = gv_str_c(pod->head.ns);
    const gv_list *list = gv_store_of_set(e->store, ns, gv_str_c(pod->head.part_of));
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        if (o->u.head.kind == GV_KIND_PODGANG &&
            gv_engine_check_gang(e, ns, gv_str_c(o->u.head.name)) < 0) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

void gv_engine_gangs_fini(grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        gv_gangs_drop(e, (gv_str){entry->key, entry->key_len});
    }
    gv_map_fini(&e->decided);
    gv_map_fini(&e->gangs_to_check);
    gv_map_fini(&e->held);
    gv_vec_fini(e->env, &e->placements);
}

/* ---- is the gang ours to place ---- */

static gv_str scheduler_of(const grove_engine *e, const grove_node *podgang) {
    gv_str name = gv_node_get_str(gv_node_path(podgang, "metadata.labels"), GV_LABEL_SCHEDULER);
    return name.n ? name : gv_str_c(e->config->default_scheduler);
}

const gv_scheduler_profile *gv_gangs_profile(const grove_engine *e, const grove_node *podgang) {
    return gv_config_scheduler(e->config, scheduler_of(e, podgang));
}

/* A stock scheduler that is to place gangs whole: we find the places, release the pods towards them, and
 * it binds. */
bool gv_gangs_released(const grove_engine *e, const grove_node *podgang) {
    const gv_scheduler_profile *p = gv_gangs_profile(e, podgang);
    return p && p->gang_scheduling;
}

bool gv_gangs_ours(const grove_engine *e, const grove_node *podgang) {
    return gv_gangs_released(e, podgang) ||
           (e->bind_schedulers && gv_str_in_list(e->bind_schedulers, scheduler_of(e, podgang)));
}

static int by_service(const void *a, const void *b, void *ctx) {
    const gv_candidate *x = a, *y = b;
    (void)ctx;
    if (x->priority != y->priority) {
        return x->priority > y->priority ? -1 : 1;
    }
    if (x->has_its_least != y->has_its_least) {
        return y->has_its_least ? -1 : 1;
    }
    if (x->created != y->created) {
        return x->created < y->created ? -1 : 1;
    }
    return gv_str_cmp(x->key, y->key);
}

int64_t gv_gangs_priority(const grove_engine *e, const grove_node *podgang) {
    gv_str name = gv_node_str(gv_node_path(podgang, "spec.priorityClassName"));
    return name.n ? gv_node_get_int(gv_config_priority_class(e->config, name), "value", 0) : 0;
}

static grove_status reopen(grove_engine *e, gv_str key) {
    if (!gv_map_put(&e->gangs_to_check, key, e) || !gv_map_put(&e->favoured, key, e)) {
        return GROVE_E_NOMEM;
    }
    gv_gangs_take_back(e, key);
    return GROVE_OK;
}

/* More room is for gangs without a place, and for pods that a placed gang could do without. */
static bool wants_room(const gv_decided *d) {
    return d->placement.verdict != GROVE_VERDICT_PLACED || d->unplaced > 0;
}

grove_status gv_gangs_mark_waiting(grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        if (wants_room(d) &&
            !gv_map_put(&e->gangs_to_check, (gv_str){entry->key, entry->key_len}, e)) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

gv_object *gv_gangs_find(const grove_engine *e, gv_str key) {
    const char *slash = memchr(key.p, '/', key.n);
    gv_str ns = {key.p, (size_t)(slash - key.p)};
    gv_str name = {slash + 1, key.n - ns.n - 1};
    return gv_store_get(e->store, GV_KIND_PODGANG, ns, name);
}

uint32_t gv_gangs_queue(const grove_engine *e, const gv_object *gang) {
    return gv_view_queue_of(&e->view, e->store, gv_str_c(gang->u.head.ns),
                            gv_str_c(gang->u.head.part_of))
        .id;
}

/* Fills `list` with the gangs to look at, in order of service. */
static grove_status collect(grove_engine *e, gv_arena *arena, gv_candidate ***out,
                            uint32_t *out_n) {
    uint32_t n = 0;
    gv_candidate **list = gv_arena_array(arena, gv_candidate *,
                                         gv_map_size(&e->gangs_to_check) + 1);
    gv_map_entry *entry;
    for (uint32_t i = 0; list && (entry = gv_map_next(&e->gangs_to_check, &i));) {
        gv_str key = {entry->key, entry->key_len};
        const gv_object *object = gv_gangs_find(e, key);
        if (!object || gv_object_is_terminating(object) ||
            !gv_gangs_ours(e, gv_object_node(object))) {
            gv_gangs_wants_nothing(e, key);
            gv_gangs_drop(e, key);
            gv_map_remove(&e->gangs_to_check, key);
            continue;
        }
        gv_candidate *c = gv_arena_new(arena, gv_candidate);
        if (!c || !(c->key.p = gv_arena_dup(arena, key))) {
            return GROVE_E_NOMEM;
        }
        c->key.n = key.n;
        c->podgang = gv_object_node(object);
        c->priority = gv_gangs_priority(e, c->podgang);
        c->created = object->u.head.created;
        const gv_decided *d = gv_map_get(&e->decided, key);
        c->has_its_least = (d && d->placement.verdict == GROVE_VERDICT_PLACED) ||
                           gv_gangs_is_scheduled(e, gv_str_c(object->u.head.ns),
                                                 gv_str_c(object->u.head.name));
        list[n++] = c;
    }
    gv_sort((const void **)(void *)list, n, by_service, NULL);
    *out = list;
    *out_n = n;
    return list ? GROVE_OK : GROVE_E_NOMEM;
}

/* The first from `i` on that has its minimum or another priority. */
static uint32_t end_of_starters(gv_candidate *const *list, uint32_t i, uint32_t n) {
    uint32_t end = i;
    while (end < n && !list[end]->has_its_least && list[end]->priority == list[i]->priority) {
        end++;
    }
    return end;
}

grove_status gv_gangs_reopen_below(grove_engine *e, int64_t priority) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        if (d->reserved && d->priority < priority &&
            reopen(e, (gv_str){entry->key, entry->key_len}) < 0) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

static bool any_reserved(const grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        if (((const gv_decided *)entry->value)->reserved) {
            return true;
        }
    }
    return false;
}

/* The most important of those to look at that a gang has to let choose first; `queue`: of its queue. */
static int64_t most_important(const grove_engine *e, uint32_t queue) {
    gv_map_entry *entry;
    int64_t most = INT64_MIN;
    for (uint32_t i = 0; (entry = gv_map_next(&e->gangs_to_check, &i));) {
        const gv_object *gang = gv_gangs_find(e, (gv_str){entry->key, entry->key_len});
        int64_t priority = gang ? gv_gangs_priority(e, gv_object_node(gang)) : INT64_MIN;
        bool rival = gang && (!e->view.queued || gv_gangs_queue(e, gang) == queue);
        most = rival && priority > most ? priority : most;
    }
    return most;
}

/*
 * Whoever is more important chooses first: places held for less important gangs are chosen anew after it. Between
 * queues it is not importance that counts, and their order has been kept when the places were chosen.
 */
static grove_status let_important_choose(grove_engine *e) {
    gv_map_entry *entry;
    if (!any_reserved(e)) {
        return GROVE_OK;
    }
    if (!e->view.queued) {
        return gv_gangs_reopen_below(e, most_important(e, GROVE_QUEUE_NONE));
    }
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        if (d->reserved && d->priority < most_important(e, d->queue) &&
            reopen(e, (gv_str){entry->key, entry->key_len}) < 0) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

static grove_status check_held(grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->held, &i));) {
        if (!gv_map_put(&e->gangs_to_check, (gv_str){entry->key, entry->key_len}, e)) {
            return GROVE_E_NOMEM;
        }
    }
    gv_map_clear(&e->held);
    e->held_until = GROVE_NEVER;
    return GROVE_OK;
}

/* Gangs that have waited too long by now. */
static grove_status look_when_due(grove_engine *e, int64_t now) {
    gv_map_entry *entry;
    if (e->look_at > now) {
        return GROVE_OK;
    }
    e->look_at = GROVE_NEVER;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        gv_decided *d = entry->value;
        if (d->look_again > now) {
            e->look_at = d->look_again < e->look_at ? d->look_again : e->look_at;
        } else {
            if (!gv_map_put(&e->gangs_to_check, (gv_str){entry->key, entry->key_len}, e)) {
                return GROVE_E_NOMEM;
            }
            d->look_again = GROVE_NEVER;
            gv_laws_outside(e);
        }
    }
    return GROVE_OK;
}

int64_t gv_engine_gangs_deadline(const grove_engine *e) {
    int64_t first = gv_victims_spared_until(e), refused = gv_view_refusals_until(&e->view);
    first = refused < first ? refused : first;
    return first < e->look_at ? first : e->look_at;
}

grove_status gv_engine_place_gangs(grove_engine *e, int64_t now, grove_error *err) {
    grove_status looked = gv_victims_review(e, now);
    looked = looked < 0 ? looked : look_when_due(e, now);
    bool room = looked == GROVE_OK && gv_store_take_capacity_mark(e->store);
    if (looked == GROVE_OK && gv_view_end_refusals(&e->view, now)) {
        gv_laws_outside(e); /* time has passed */
        room = true;
    }
    if (room) {
        looked = gv_gangs_mark_waiting(e);
    }
    if (looked == GROVE_OK && (room || e->held_until <= now)) {
        looked = check_held(e);
    }
    if (looked < 0) {
        return gv_error_nomem(err);
    }
    if (gv_map_size(&e->gangs_to_check) == 0) {
        return GROVE_OK;
    }
    if (let_important_choose(e) < 0) {
        return gv_error_nomem(err);
    }
    gv_arena arena;
    gv_candidate **list = NULL;
    uint32_t n = 0;
    gv_arena_init(&arena, e->env);
    grove_status st = collect(e, &arena, &list, &n);
    if (st < 0) {
        gv_error_nomem(err);
    }
    uint32_t limit = n < e->gangs_a_step ? n : e->gangs_a_step;
    if (st == GROVE_OK && e->view.queued) {
        st = gv_queues_serve(e, &arena, list, n, limit, err);
        limit = 0;
    }
    for (uint32_t i = 0; st == GROVE_OK && i < limit;) {
        uint32_t end = end_of_starters(list, i, n), stop = end < limit ? end : limit;
        if (end > i) {
            st = gv_turn_starters(e, list + i, stop - i, end > limit, err);
            st = st < 0 ? st : gv_turn_make_room(e, list + i, stop - i, err);
        } else {
            st = gv_turn_take(e, list[i], 0, err);
            stop = i + 1;
        }
        for (; st == GROVE_OK && i < stop; i++) {
            gv_map_remove(&e->gangs_to_check, list[i]->key);
        }
    }
    gv_arena_fini(&arena);
    if (st == GROVE_OK && e->wants_less) {
        e->wants_less = false;
        st = gv_gangs_mark_waiting(e) < 0 ? gv_error_nomem(err) : GROVE_OK;
    }
    if (st == GROVE_OK && e->flags & GROVE_ENGINE_CHECK) {
        st = gv_view_verify(&e->view, e->store, err);
    }
    return st;
}
