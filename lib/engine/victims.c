/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The books on gangs that make room for others: who was told to go and has not gone yet, and whose eviction
 * the cluster refused, so that its set replica is left alone for a while. What has begun stands in the
 * PodGang's condition, for whoever comes after this engine.
 */
#include "engine/gangs.h"
#include "model/labels.h"
#include "model/view.h"
#include "value/doc.h"

#define SPARED_FIRST_NS (INT64_C(10) * 1000 * 1000 * 1000)
#define SPARED_DOUBLINGS 6u

static gv_str ns_of(const gv_object *o) {
    return gv_str_c(o->u.head.ns);
}

static gv_str name_of(const gv_object *o) {
    return gv_str_c(o->u.head.name);
}

gv_str gv_victims_base(const grove_engine *e, const gv_object *gang) {
    const gv_object *pod = gv_store_of_gang(e->store, ns_of(gang), name_of(gang))->first;
    return pod && pod->u.pod.base_gang[0] ? gv_str_c(pod->u.pod.base_gang) : name_of(gang);
}

/* ---- who is to go ---- */

static bool is_left(const grove_engine *e, const gv_object *gang) {
    const gv_list *pods = gv_store_of_gang(e->store, ns_of(gang), name_of(gang));
    for (const gv_object *o = pods->first; o; o = gv_list_next(o, GV_LIST_GANG)) {
        if (gv_pod_is_bound(&o->u.pod) && gv_pod_is_active(&o->u.pod)) {
            return true;
        }
    }
    return false;
}

static bool is_told(const gv_object *gang) {
    const grove_node *conditions = gv_node_path(gv_object_node(gang), "status.conditions");
    const grove_node *c = gv_condition_find(conditions, GV_COND_GANG_DISRUPTION);
    return gv_str_is(gv_node_get_str(c, "status"), "True") &&
           gv_str_is(gv_node_get_str(c, "reason"), GV_REASON_PREEMPTED);
}

static bool is_condemned(const grove_engine *e, const gv_object *gang) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->condemned, &i));) {
        const gv_condemned *c = entry->value;
        if (!c->what.pod && gv_str_eq(c->ns, ns_of(gang)) &&
            gv_str_is(name_of(gang), c->what.gang)) {
            return true;
        }
    }
    return false;
}

bool gv_victims_going(const grove_engine *e, const gv_object *gang) {
    return gang && (is_told(gang) || is_condemned(e, gang)) && !gv_victims_spared(e, gang) &&
           is_left(e, gang);
}

bool gv_victims_pod_going(grove_engine *e, const gv_pod *pod) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->condemned, &i));) {
        const gv_condemned *c = entry->value;
        if (c->what.pod && strcmp(c->what.uid, pod->head.uid) == 0) {
            return true;
        }
    }
    return false;
}

static void pardon(grove_engine *e, gv_str key) {
    gv_condemned *c = gv_map_remove(&e->condemned, key);
    if (c) {
        gv_arena_fini(&c->arena);
        gv_free(e->env, c, sizeof *c);
    }
}

static gv_str key_of(grove_engine *e, const gv_object *gang, const gv_pod *pod) {
    gv_str key = gv_engine_key(&e->op_text, ns_of(gang), name_of(gang));
    if (!key.p || !pod) {
        return key;
    }
    return gv_buf_fmt(&e->op_text, "/%s", pod->head.name) < 0 ? (gv_str){NULL, 0}
                                                              : gv_buf_view(&e->op_text);
}

static bool fill(gv_arena *arena, grove_disruption *d, gv_str *ns, gv_str *set,
                 const gv_object *gang, gv_str name, const char *text) {
    gv_str part_of = gv_str_c(gang->u.head.part_of);
    *d = (grove_disruption){.size = (uint32_t)sizeof *d,
                            .gang = gv_arena_dup(arena, name),
                            .text = gv_arena_dup(arena, gv_str_c(text))};
    *ns = (gv_str){gv_arena_dup(arena, ns_of(gang)), ns_of(gang).n};
    *set = (gv_str){gv_arena_dup(arena, part_of), part_of.n};
    return d->gang && d->text && ns->p && set->p;
}

grove_status gv_victims_condemn(grove_engine *e, const gv_object *gang, const gv_pod *pod,
                                const char *text) {
    gv_str key = key_of(e, gang, pod);
    if (!key.p || gv_map_has(&e->condemned, key)) {
        return key.p ? GROVE_OK : GROVE_E_NOMEM;
    }
    gv_condemned *c = gv_zalloc(e->env, sizeof *c);
    if (!c) {
        return GROVE_E_NOMEM;
    }
    gv_arena_init(&c->arena, e->env);
    bool ok = fill(&c->arena, &c->what, &c->ns, &c->set, gang, name_of(gang), text);
    if (ok && pod) {
        c->what.pod = gv_arena_dup(&c->arena, gv_str_c(pod->head.name));
        c->what.uid = gv_arena_dup(&c->arena, gv_str_c(pod->head.uid));
        ok = c->what.pod && c->what.uid;
    }
    if (!ok || !gv_map_put(&e->condemned, key, c)) {
        gv_arena_fini(&c->arena);
        gv_free(e->env, c, sizeof *c);
        return GROVE_E_NOMEM;
    }
    return grove_store_mark(e->store, c->ns.p, c->set.p);
}

static bool is_gone(const grove_engine *e, const gv_condemned *c) {
    const gv_object *gang = gv_store_get(e->store, GV_KIND_PODGANG, c->ns, gv_str_c(c->what.gang));
    if (!gang || gv_victims_spared(e, gang)) {
        return true;
    }
    if (!c->what.pod) {
        return !is_left(e, gang);
    }
    const gv_object *pod = gv_store_get(e->store, GV_KIND_POD, c->ns, gv_str_c(c->what.pod));
    return !pod || strcmp(pod->u.pod.head.uid, c->what.uid) != 0 || !gv_pod_is_active(&pod->u.pod);
}

/* ---- who is left alone ---- */

static gv_spared *find_spared(const grove_engine *e, gv_str ns, gv_str base) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->spared, &i));) {
        gv_spared *s = entry->value;
        if (gv_str_eq(s->ns, ns) && gv_str_is(base, s->what.gang)) {
            return s;
        }
    }
    return NULL;
}

bool gv_victims_spared(const grove_engine *e, const gv_object *gang) {
    const gv_spared *s = gv_map_size(&e->spared) == 0
                             ? NULL
                             : find_spared(e, ns_of(gang), gv_victims_base(e, gang));
    return s && !s->over;
}

static gv_spared *spare(grove_engine *e, const gv_object *gang) {
    gv_str base = gv_victims_base(e, gang);
    gv_spared *s = find_spared(e, ns_of(gang), base);
    if (s) {
        return s;
    }
    s = gv_zalloc(e->env, sizeof *s);
    if (!s) {
        return NULL;
    }
    gv_arena_init(&s->arena, e->env);
    gv_str key = gv_engine_key(&e->op_text, ns_of(gang), base);
    if (!fill(&s->arena, &s->what, &s->ns, &s->set, gang, base, "its eviction was refused") ||
        !key.p || !gv_map_put(&e->spared, key, s)) {
        gv_arena_fini(&s->arena);
        gv_free(e->env, s, sizeof *s);
        return NULL;
    }
    s->what.flags = GROVE_DISRUPTION_WITHDRAWN;
    return s;
}

grove_status gv_engine_eviction_refused(grove_engine *e, gv_str ns, gv_str pod_name) {
    const gv_object *pod = gv_store_get(e->store, GV_KIND_POD, ns, pod_name);
    const gv_object *gang =
        pod ? gv_store_get(e->store, GV_KIND_PODGANG, ns, gv_str_c(pod->u.pod.gang)) : NULL;
    if (!gang) {
        return GROVE_OK;
    }
    gv_spared *s = spare(e, gang);
    if (!s) {
        return GROVE_E_NOMEM;
    }
    if (s->times == 0 || s->over) { /* several pods of one gang are refused in one breath */
        uint32_t doublings = s->times < SPARED_DOUBLINGS ? s->times : SPARED_DOUBLINGS;
        s->until = e->now + (SPARED_FIRST_NS << doublings);
        s->times++;
        s->over = false;
    }
    grove_status st = grove_store_mark(e->store, s->ns.p, s->set.p);
    /* What counted on the room of those that stay is decided anew. */
    return st < 0 ? st : gv_gangs_reopen_below(e, INT64_MAX);
}

int64_t gv_victims_spared_until(const grove_engine *e) {
    gv_map_entry *entry;
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; (entry = gv_map_next(&e->spared, &i));) {
        const gv_spared *s = entry->value;
        first = !s->over && s->until < first ? s->until : first;
    }
    return first;
}

/* ---- keeping the books ---- */

static void forget_spared(grove_engine *e, gv_str key) {
    gv_spared *s = gv_map_remove(&e->spared, key);
    gv_arena_fini(&s->arena);
    gv_free(e->env, s, sizeof *s);
}

grove_status gv_victims_review(grove_engine *e, int64_t now) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->spared, &i));) {
        gv_spared *s = entry->value;
        if (!gv_store_get(e->store, GV_KIND_PODGANG, s->ns, gv_str_c(s->what.gang))) {
            forget_spared(e, (gv_str){entry->key, entry->key_len});
        } else if (!s->over && now >= s->until) {
            if (gv_gangs_mark_waiting(e) < 0) {
                return GROVE_E_NOMEM;
            }
            s->over = true;
            gv_laws_outside(e); /* time has passed: what was withdrawn may be asked for again */
        }
    }
    for (uint32_t i = 0; (entry = gv_map_next(&e->condemned, &i));) {
        if (is_gone(e, entry->value)) {
            pardon(e, (gv_str){entry->key, entry->key_len});
        }
    }
    return GROVE_OK;
}

grove_status gv_engine_disruptions_of(grove_engine *e, gv_str ns, gv_str set,
                                      const grove_disruption *const **out, uint32_t *out_n) {
    gv_map_entry *entry;
    e->disruptions.n = 0;
    for (uint32_t i = 0; (entry = gv_map_next(&e->spared, &i));) {
        const gv_spared *s = entry->value;
        if (!s->over && gv_str_eq(s->ns, ns) && gv_str_eq(s->set, set) &&
            !gv_vec_push(e->env, &e->disruptions, &s->what)) {
            return GROVE_E_NOMEM;
        }
    }
    for (uint32_t i = 0; (entry = gv_map_next(&e->condemned, &i));) {
        const gv_condemned *c = entry->value;
        if (gv_str_eq(c->ns, ns) && gv_str_eq(c->set, set) && !is_gone(e, c) &&
            !gv_vec_push(e->env, &e->disruptions, &c->what)) {
            return GROVE_E_NOMEM;
        }
    }
    *out = e->disruptions.v;
    *out_n = (uint32_t)e->disruptions.n;
    return GROVE_OK;
}

void gv_engine_victims_fini(grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->spared, &i));) {
        forget_spared(e, (gv_str){entry->key, entry->key_len});
    }
    for (uint32_t i = 0; (entry = gv_map_next(&e->condemned, &i));) {
        pardon(e, (gv_str){entry->key, entry->key_len});
    }
    gv_map_fini(&e->favoured);
    gv_map_fini(&e->spared);
    gv_map_fini(&e->condemned);
    gv_vec_fini(e->env, &e->disruptions);
}
