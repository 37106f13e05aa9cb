/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "check": a plan that would break one of the promises is not returned. What is found here is a bug of
 * ours: it is dumped to the log and answered with GROVE_E_INTERNAL, never with a write.
 */
#include "base/hash.h"
#include "base/log.h"
#include "plan/pairs.h"
#include "plan/work.h"

typedef struct finding {
    const char *what;
    const gv_act *act;
} finding;

static bool writes_object(const gv_act *act) {
    return act->verb == GROVE_VERB_CREATE || act->verb == GROVE_VERB_PATCH ||
           act->verb == GROVE_VERB_DELETE || act->verb == GROVE_VERB_SCALE ||
           act->verb == GROVE_VERB_BIND || act->verb == GROVE_VERB_EVICT;
}

/* No object is written twice, and no name is made twice: a set over (kind, name). */
static grove_status check_names(gv_work *w, finding *out) {
    uint32_t n_slots = 16;
    while (n_slots < w->acts.n * 2) {
        n_slots *= 2;
    }
    uint32_t *slots = gv_arena_array(&w->arena, uint32_t, n_slots);
    if (slots == NULL) {
        return gv_work_nomem(w);
    }
    for (size_t i = 0; i < w->acts.n; i++) {
        const gv_act *act = &w->acts.v[i];
        if (!writes_object(act)) {
            continue;
        }
        uint64_t hash = gv_mix64(gv_fnv1a((uint64_t)act->kind + 1, act->name.p, act->name.n));
        uint32_t at = (uint32_t)hash & (n_slots - 1);
        for (; slots[at] != 0; at = (at + 1) & (n_slots - 1)) {
            const gv_act *other = &w->acts.v[slots[at] - 1];
            if (other->kind == act->kind && gv_str_eq(other->name, act->name)) {
                *out = (finding){"two writes to one object", act};
                return GROVE_OK;
            }
        }
        slots[at] = (uint32_t)i + 1;
    }
    return GROVE_OK;
}

static bool is_voluntary(const gv_act *act) {
    return strcmp(act->reason, "RollingUpdate") == 0 || strcmp(act->reason, "ScaledIn") == 0;
}

/* A clique that is rolled for itself although the rest goes by pairs. */
static bool is_outside(const gv_work *w, uint32_t at) {
    const gv_want_replica *r = &w->want->replicas[w->cliques[at].want->replica];
    return at < r->first_clique + r->n_outside;
}

/* What is taken down by choice leaves minAvailable; a rolling update takes one ready pod at a time. */
static void check_clique(const gv_work *w, uint32_t at, uint32_t removed, uint32_t rolled_ready,
                         finding *out, const gv_act *act) {
    const gv_work_clique *c = &w->cliques[at];
    int64_t left = (int64_t)c->n_pods - removed;
    bool alone = !w->by_pairs || is_outside(w, at);
    if (alone && rolled_ready > 1) {
        *out = (finding){"two ready pods of one clique rolled at a time", act};
    } else if (alone && rolled_ready > 0 && c->ready < c->want->min_available) {
        *out = (finding){"a ready pod rolled below minAvailable", act};
    } else if (strcmp(act->reason, "ScaledIn") == 0 && left < c->want->min_available) {
        *out = (finding){"scaled in below minAvailable", act};
    }
}

static grove_status check_pods(gv_work *w, finding *out) {
    uint32_t *removed = gv_arena_array(&w->arena, uint32_t, 2 * (size_t)w->want->n_cliques + 1);
    if (removed == NULL) {
        return gv_work_nomem(w);
    }
    uint32_t *rolled = removed + w->want->n_cliques;
    for (size_t i = 0; i < w->acts.n && out->what == NULL; i++) {
        const gv_act *act = &w->acts.v[i];
        if (act->pod == NULL || act->clique == GV_NOT_WANTED) {
            continue;
        }
        if (act->verb == GROVE_VERB_PATCH) {
            const gv_work_gang *g = &w->gangs[w->cliques[act->clique].want->gang];
            if (!g->complete && !g->released) {
                *out = (finding){"a gate opened before the gang is complete", act};
            }
        } else if (act->verb == GROVE_VERB_DELETE && gv_pod_is_active(act->pod)) {
            removed[act->clique]++;
            rolled[act->clique] += (act->pod->flags & GV_POD_READY) != 0 &&
                                           strcmp(act->reason, "RollingUpdate") == 0
                                       ? 1
                                       : 0;
            if (is_voluntary(act)) {
                check_clique(w, act->clique, removed[act->clique], rolled[act->clique], out, act);
            }
        }
    }
    return GROVE_OK;
}

static void check_preconditions(const gv_work *w, finding *out) {
    for (size_t i = 0; i < w->acts.n && out->what == NULL; i++) {
        const gv_act *act = &w->acts.v[i];
        bool needs_uid = act->verb == GROVE_VERB_DELETE || act->verb == GROVE_VERB_PATCH ||
                         act->verb == GROVE_VERB_BIND || act->verb == GROVE_VERB_EVICT;
        if (needs_uid && act->uid.n == 0) {
            *out = (finding){"a write to an existing object without its uid", act};
        } else if (act->name.n == 0) {
            *out = (finding){"a write without a name", act};
        } else if (act->verb == GROVE_VERB_CREATE && act->body == NULL) {
            *out = (finding){"a creation without a body", act};
        }
    }
}

static grove_status report(gv_work *w, const finding *f) {
    const char *const fields[] = {"namespace", w->ns.p,
                                  "set",       w->set.p,
                                  "verb",      grove_verb_name(f->act->verb),
                                  "kind",      gv_kind_get(f->act->kind)->name,
                                  "name",      f->act->name.n ? f->act->name.p : "",
                                  "reason",    f->act->reason,
                                  "action",    f->act->text.p,
                                  NULL};
    gv_log(w->env, GROVE_LOG_ERROR, "plan", "", f->what, fields);
    for (size_t i = 0; i < w->acts.n; i++) {
        const char *const line[] = {"action", w->acts.v[i].text.p, NULL};
        gv_log(w->env, GROVE_LOG_ERROR, "plan", "", "refused plan", line);
    }
    return gv_error(w->err, GROVE_E_INTERNAL, "plan of %.*s/%.*s refused: %s: %.*s", ARG_STR(w->ns),
                    ARG_STR(w->set), f->what, ARG_STR(f->act->text));
}

grove_status gv_step_check(gv_work *w) {
    if (w->acts.n == 0) {
        return GROVE_OK;
    }
    finding f = {NULL, NULL};
    check_preconditions(w, &f);
    grove_status status = f.what == NULL ? check_names(w, &f) : GROVE_OK;
    if (status == GROVE_OK && f.what == NULL && w->want != NULL && w->cliques != NULL) {
        status = check_pods(w, &f);
    }
    bool kept = true;
    if (status == GROVE_OK && f.what == NULL) {
        status = gv_pairs_kept(w, &kept);
    }
    if (status == GROVE_OK && !kept) {
        f = (finding){"fewer whole pairs, or less of a role, than the floor", &w->acts.v[0]};
    }
    if (status == GROVE_OK && f.what != NULL) {
        status = report(w, &f);
    }
    return status;
}
