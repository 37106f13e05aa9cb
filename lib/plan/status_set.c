/* SPDX-License-Identifier: Apache-2.0 */
/* Status of the PodCliqueSet. */
#include "model/config.h"
#include "plan/pairs.h"
#include "plan/status.h"

/* ---- progress ---- */

static void write_running(gv_work *w, gv_delta *d, const grove_node *live, const gv_progress *p) {
    const grove_node *list = grove_node_get(live, "currentlyUpdating");
    if (p->current_index < 0) {
        gv_delta_away(d, live, "currentlyUpdating");
        return;
    }
    gv_opt_int stands = gv_get_int(grove_node_at(list, 0), "replicaIndex");
    if (stands.set && stands.value == p->current_index && grove_node_size(list) == 1) {
        return;
    }
    gv_delta_touch(d);
    grove_builder_open_array(d->b, "currentlyUpdating");
    grove_builder_open_object(d->b, NULL);
    grove_builder_int64(d->b, "replicaIndex", p->current_index);
    grove_builder_stringn(d->b, "updateStartedAt", w->now_text.p, w->now_text.n);
    grove_builder_close(d->b);
    grove_builder_close(d->b);
}

static void write_progress(gv_work *w, gv_delta *d) {
    const grove_node *live = grove_node_get(w->memo->status, "updateProgress");
    int64_t cliques = 0, done_cliques = 0, done_groups = 0;
    if (!w->progress.set) {
        return;
    }
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        const gv_work_clique *c = &w->cliques[i];
        if (c->want->group == GV_STANDALONE) {
            cliques++;
            done_cliques += c->memo != NULL && !c->dying && c->converged ? 1 : 0;
        }
    }
    for (uint32_t i = 0; i < w->want->n_groups; i++) {
        const gv_work_group *g = &w->groups[i];
        done_groups += g->memo != NULL && !g->dying && gv_str_eq(g->set_hash, w->set_hash) ? 1 : 0;
    }
    gv_delta_enter(d, "updateProgress");
    gv_status_progress(w, d, live, &w->progress);
    gv_delta_count(d, live, "updatedPodCliquesCount", done_cliques);
    gv_delta_int(d, live, "totalPodCliquesCount", cliques);
    gv_delta_count(d, live, "updatedPodCliqueScalingGroupsCount", done_groups);
    gv_delta_int(d, live, "totalPodCliqueScalingGroupsCount", (int64_t)w->want->n_groups);
    write_running(w, d, live, &w->progress);
    gv_delta_leave(d);
}

/* ---- topology ---- */

typedef struct topology_use {
    bool any;     /* a constraint object somewhere */
    bool domain;  /* some domain is referred to */
    bool missing; /* some of them is no level of the binding */
    gv_str first_missing;
} topology_use;

static void use_domain(const gv_topology_binding *binding, gv_str domain, topology_use *u) {
    if (domain.n == 0) {
        return;
    }
    u->domain = true;
    if (binding != NULL && gv_binding_level(binding, domain) < 0 && !u->missing) {
        u->missing = true;
        u->first_missing = domain;
    }
}

static void use(const gv_topology_binding *binding, const gv_topology *t, topology_use *u) {
    u->any = u->any || t->set;
    use_domain(binding, t->required, u);
    use_domain(binding, t->preferred, u);
    use_domain(binding, t->spread.domain, u);
}

static gv_condition topology_condition(gv_work *w) {
    const grove_config *config = gv_template_config(w->t);
    gv_str name = gv_pcs_topology_name(w->view);
    const gv_topology_binding *binding = name.n > 0 ? gv_config_binding(config, name) : NULL;
    topology_use u = {0};
    use(binding, &w->view->topology, &u);
    for (uint32_t i = 0; i < w->view->n_groups; i++) {
        use(binding, &w->view->groups[i].topology, &u);
    }
    for (uint32_t i = 0; i < w->view->n_cliques; i++) {
        use(binding, &w->view->cliques[i].topology, &u);
    }
    gv_condition c = {.type = GV_COND_TOPOLOGY_UNAVAILABLE, .generation = true};
    if (!config->topology_enabled) {
        c.absent = !u.domain;
        c.status = GV_UNSURE;
        c.reason = GV_REASON_TOPOLOGY_DISABLED;
        c.message = GV_STR("topology-aware scheduling is switched off");
    } else if (!u.any) {
        c.reason = GV_REASON_LEVELS_AVAILABLE;
        c.message = GV_STR("no topology constraint is set");
    } else if (name.n == 0) {
        c.status = GV_UNSURE;
        c.reason = GV_REASON_TOPOLOGY_NAME_MISSING;
        c.message = GV_STR("constraints are set, but none names its topology");
    } else if (binding == NULL) {
        c.status = GV_UNSURE;
        c.reason = GV_REASON_TOPOLOGY_NOT_FOUND;
        c.message = gv_text(w, "ClusterTopologyBinding %.*s does not exist", ARG_STR(name));
    } else if (u.missing) {
        c.status = GV_TRUE;
        c.reason = GV_REASON_LEVELS_UNAVAILABLE;
        c.message = gv_text(w, "domain %.*s is no level of ClusterTopologyBinding %.*s",
                            ARG_STR(u.first_missing), ARG_STR(name));
    } else {
        c.reason = GV_REASON_LEVELS_AVAILABLE;
        c.message = GV_STR("every domain is a level of the topology");
    }
    return c;
}

/* ---- a coherent update ---- */

static gv_condition stalled_condition(gv_work *w) {
    const gv_work_pairs *p = &w->pairs;
    gv_condition c = {.type = GV_COND_UPDATE_STALLED, .absent = true, .reason = ""};
    if (p->active) {
        c.absent = false;
        c.status = p->stalled ? GV_TRUE : GV_FALSE;
        c.reason = p->roll.paused                 ? "Paused"
                   : p->stalled                   ? "ProgressDeadlineExceeded"
                   : p->answer == GV_ROLL_BLOCKED ? "Blocked"
                                                  : "Progressing";
        c.message = gv_pairs_text(w);
    }
    return c;
}

/* ---- a set that cannot be read ---- */

grove_status gv_status_unreadable(gv_work *w, gv_str why) {
    if (!gv_fault_add(w, GV_KIND_PODCLIQUESET, w->set, "ERR_INVALID_SET", GV_TIME_NONE, why)) {
        return gv_work_nomem(w);
    }
    gv_fault_event(w, "InvalidSet", NULL);
    uint64_t sig = gv_sig_faults(w, gv_sig_text(3, w->set)) | 1u;
    /* Shortcut: nothing that the status is made of has changed. */
    if (w->memo->status_sig == sig) {
        return GROVE_OK;
    }
    gv_delta d;
    gv_status_begin(w, &d);
    gv_delta_errors(w, &d, w->memo->status, GV_KIND_PODCLIQUESET, w->set);
    size_t before = w->acts.n;
    grove_status status = gv_status_end(w, &d, w->pcs, w->memo, sig);
    return status == GROVE_OK && w->acts.n > before
               ? gv_delta_tell_errors(w, w->memo->status, w->pcs)
               : status;
}

/* ---- the whole ---- */

static uint64_t signature(const gv_work *w, int64_t available, int64_t updated) {
    uint64_t sig = gv_sig_int(w->memory->template_id, w->pcs->u.head.generation);
    sig = gv_sig_int(sig, available);
    sig = gv_sig_int(sig, updated);
    sig = gv_sig_text(sig, w->set_hash);
    sig = gv_sig_progress(sig, &w->progress);
    for (uint32_t i = 0; w->progress.set && i < w->want->n_cliques; i++) {
        sig = gv_sig_int(sig, w->cliques[i].converged ? 1 : 0);
    }
    for (uint32_t i = 0; w->progress.set && i < w->want->n_groups; i++) {
        sig = gv_sig_text(sig, w->groups[i].set_hash);
    }
    return gv_sig_faults(w, sig) | 1u;
}

/* ---- suspended ---- */

static gv_condition suspended_condition(const gv_work *w) {
    return (gv_condition){
        .type = GV_COND_SUSPENDED,
        .status = GV_TRUE,
        .absent = !w->suspended,
        .reason = GV_REASON_SUSPENDED,
        .message = GV_STR("spec.suspend: its pods stay gated, and no scheduler is "
                          "asked for a place")};
}

static grove_status tell_suspended(gv_work *w) {
    bool stood = gv_condition_find(w->memo->conditions, GV_COND_SUSPENDED) != NULL;
    if (stood == w->suspended) {
        return GROVE_OK;
    }
    return gv_act_event(w, w->pcs, false, w->suspended ? GV_REASON_SUSPENDED : "Resumed",
                        w->suspended
                            ? GV_STR("the set is suspended: its pods stay gated, or are made anew")
                            : GV_STR("the set is resumed"));
}

static grove_status tell(gv_work *w) {
    grove_status status = tell_suspended(w);
    return status == GROVE_OK ? gv_delta_tell_errors(w, w->memo->status, w->pcs) : status;
}

grove_status gv_status_set(gv_work *w) {
    for (size_t i = 0; i < w->acts.n; i++) {
        if (w->acts.v[i].kind == GV_KIND_PODCLIQUESET && w->acts.v[i].verb != GROVE_VERB_EVENT) {
            return GROVE_OK; /* one write per object and plan */
        }
    }
    int64_t available = 0, updated = 0;
    for (uint32_t i = 0; i < w->want->n_replicas; i++) {
        available += w->replicas[i].available ? 1 : 0;
        updated += w->replicas[i].updated ? 1 : 0;
    }
    gv_condition spread = gv_set_spread_condition(w);
    gv_condition stalled = stalled_condition(w);
    uint64_t sig = gv_sig_condition(signature(w, available, updated), &spread);
    sig = gv_sig_condition(sig, &stalled) | 1u;
    /* Shortcut: nothing that the status is made of has changed. */
    if (w->memo->status_sig == sig) {
        return GROVE_OK;
    }
    const grove_node *live = w->memo->status;
    gv_condition all[4] = {topology_condition(w), spread, stalled, suspended_condition(w)};
    gv_delta d;
    gv_status_begin(w, &d);
    gv_delta_int(&d, live, "observedGeneration", w->pcs->u.head.generation);
    gv_delta_errors(w, &d, live, GV_KIND_PODCLIQUESET, w->set);
    gv_delta_int(&d, live, "replicas", (int64_t)w->want->n_replicas);
    gv_delta_count(&d, live, "updatedReplicas", updated);
    gv_status_available(&d, live, "availableReplicas", available, (int64_t)w->want->n_replicas);
    gv_delta_text(&d, live, "hpaPodSelector",
                  gv_text(w, "%s=%s,%s=%.*s", GV_LABEL_MANAGED_BY, GV_MANAGER, GV_LABEL_PART_OF,
                          ARG_STR(w->set)));
    gv_delta_text(&d, live, "currentGenerationHash", w->set_hash);
    write_progress(w, &d);
    if (!gv_delta_conditions(w, &d, w->memo, w->pcs->u.head.generation, all, 4)) {
        return gv_work_nomem(w);
    }
    size_t before = w->acts.n;
    grove_status status = gv_status_end(w, &d, w->pcs, w->memo, sig);
    return status == GROVE_OK && w->acts.n > before ? tell(w) : status;
}
