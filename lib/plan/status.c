/* SPDX-License-Identifier: Apache-2.0 */
/* Step "status": each level's status as it should be, written as the smallest merge patch, or not at all. */
#include "plan/status.h"

#include "base/hash.h"

/* Both are spread: small numbers, such as a template's and a set of flags, must not make up for each other. */
uint64_t gv_sig_int(uint64_t sig, int64_t v) {
    return gv_mix64(gv_mix64(sig) + (uint64_t)v) + 1;
}

uint64_t gv_sig_text(uint64_t sig, gv_str s) {
    return gv_fnv1a(gv_sig_int(sig, (int64_t)s.n), s.p, s.n);
}

uint64_t gv_sig_progress(uint64_t sig, const gv_progress *p) {
    sig = gv_sig_int(sig, (p->set ? 1 : 0) | (p->ended ? 2 : 0) | (p->started_now ? 4 : 0) |
                              (p->ended_now ? 8 : 0) | (p->complete_current ? 16 : 0));
    sig = gv_sig_int(sig, p->current_index);
    sig = gv_sig_text(sig, p->set_hash);
    sig = gv_sig_text(sig, p->clique_hash);
    return gv_sig_text(sig, p->current_pod);
}

uint64_t gv_sig_faults(const gv_work *w, uint64_t sig) {
    for (size_t i = 0; i < w->faults.n; i++) {
        sig = gv_sig_text(sig, w->faults.v[i].name);
        sig = gv_sig_text(sig, w->faults.v[i].text);
    }
    return gv_sig_int(sig, (int64_t)w->faults.n);
}

void gv_status_begin(gv_work *w, gv_delta *d) {
    gv_delta_begin(d, w->b);
    gv_delta_enter(d, "status");
}

grove_status gv_status_tell(gv_work *w, const gv_object *o, const gv_memo *memo, int64_t scheduled,
                            gv_str lost, bool below, gv_str below_text) {
    grove_status status = gv_delta_tell_errors(w, memo->status, o);
    if (status == GROVE_OK && gv_get_int(memo->status, "scheduledReplicas").value > 0 &&
        scheduled == 0) {
        status = gv_act_event(w, o, true, GV_EVENT_ALL_SCHEDULED_LOST, lost);
    }
    if (status == GROVE_OK && below &&
        gv_condition_find(memo->conditions, GV_COND_SCALE_BELOW_MIN) == NULL) {
        status = gv_act_event(w, o, true, "ScaleBelowMinAvailable", below_text);
    }
    return status;
}

/* That nothing has happened yet to a clique or group is news to nobody; schedulers read gangs. */
static bool is_first_word(gv_kind kind, const gv_memo *memo) {
    return kind != GV_KIND_PODGANG && kind != GV_KIND_PODCLIQUESET &&
           grove_node_first(memo->conditions) == NULL;
}

grove_status gv_status_end(gv_work *w, gv_delta *d, const gv_object *o, gv_memo *memo,
                           uint64_t sig) {
    if (!gv_delta_end(d)) {
        memo->status_sig = sig;
        return GROVE_OK;
    }
    const gv_head *h = &o->u.head;
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, h->kind, gv_str_c(h->name), GV_ORDER_STATUS,
                             "Status", "write status of %s %s", gv_kind_get(h->kind)->name,
                             h->name);
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->subresource = GROVE_SUBRESOURCE_STATUS;
    act->flags = d->urgent && !is_first_word(h->kind, memo) ? 0 : GROVE_ACTION_CAN_WAIT;
    act->patch_type = GROVE_PATCH_MERGE;
    act->uid = gv_str_c(h->uid);
    act->rv = gv_str_c(h->rv);
    return gv_act_finish_body(w, act);
}

void gv_status_available(gv_delta *d, const grove_node *live, const char *key, int64_t value,
                         int64_t all) {
    gv_opt_int stands = gv_get_int(live, key);
    if (value == all || value == 0 || !stands.set || stands.value >= all) {
        gv_delta_int(d, live, key, value);
    } else {
        gv_delta_count(d, live, key, value);
    }
}

void gv_status_progress(gv_work *w, gv_delta *d, const grove_node *live, const gv_progress *p) {
    gv_str none = {"", 0};
    gv_delta_text(d, live, "updateStartedAt", p->started_now ? w->now_text : p->started);
    gv_delta_text(d, live, "updateEndedAt",
                  !p->ended      ? none
                  : p->ended_now ? w->now_text
                                 : p->ended_at);
}

/* A status that comes with events goes out with them: held back, it would tell them again. */
static void keep_events_company(gv_work *w) {
    for (size_t i = 0; i + 1 < w->acts.n; i++) {
        if (w->acts.v[i + 1].verb == GROVE_VERB_EVENT) {
            w->acts.v[i].flags &= ~GROVE_ACTION_CAN_WAIT;
        }
    }
}

grove_status gv_step_status(gv_work *w) {
    grove_status status = gv_status_cliques(w);
    if (status == GROVE_OK) {
        status = gv_status_groups(w);
    }
    if (status == GROVE_OK) {
        status = gv_status_gangs(w);
    }
    if (status == GROVE_OK) {
        status = gv_status_set(w);
    }
    keep_events_company(w);
    return status;
}
