/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "rollout": from an old template to a new one, one set replica at a time, in it one pod of each
 * standalone clique and one replica of each scaling group at a time.
 *
 * What was chosen is first written into status and only acted on once it stands there, so that neither a
 * lost write nor a restart can take down a second one. The template of a replica is left alone until its
 * turn, so that a pod lost meanwhile comes back in the version of its neighbours.
 */
#include "plan/rollout.h"

#include "plan/pairs.h"

/* ---- whose turn it is ---- */

static bool running(const gv_progress *p) {
    return p->set && !p->ended;
}

/* The set's choice is known to stand in the cluster: nothing is rewritten for an update that nobody else
 * knows of, for if the user goes back meanwhile, what was made of it would never be rolled back. */
static bool choice_stands(const gv_work *w) {
    return !w->progress.started_now && (w->pcs->u.head.flags & GV_HEAD_EXPECTED) == 0;
}

bool gv_is_turn(const gv_work *w, uint32_t replica) {
    return w->manual || !running(&w->progress) ||
           (w->progress.current_index == w->want->replicas[replica].index && choice_stands(w));
}

bool gv_clique_needs_turn(const gv_work *w, const gv_work_clique *c) {
    return c->memo != NULL && !gv_str_eq(c->memo->hash_label, c->want->expected_hash) &&
           !gv_is_turn(w, c->want->replica);
}

bool gv_clique_is_next(const gv_work *w, const gv_work_clique *c) {
    return c->want->group == GV_STANDALONE && gv_clique_needs_turn(w, c) &&
           w->progress.current_index == w->want->replicas[c->want->replica].index;
}

static gv_progress start(const gv_work *w, gv_str clique_hash) {
    return (gv_progress){.set = true,
                         .started_now = true,
                         .ended = w->manual,
                         .ended_now = w->manual,
                         .set_hash = w->set_hash,
                         .clique_hash = clique_hash,
                         .current_index = -1};
}

static void finish(gv_progress *p) {
    p->ended = p->ended_now = true;
    p->current_pod = (gv_str){"", 0};
    p->current_index = -1;
    p->completed = NULL;
    p->complete_current = false;
}

/* ---- the set: a new hash begins an update ---- */

static void begin_set(gv_work *w) {
    w->progress = w->memo->progress;
    if (w->memo->status_set_hash.n > 0 && !gv_str_eq(w->memo->status_set_hash, w->set_hash)) {
        w->progress = start(w, (gv_str){"", 0});
    }
}

/* ---- cliques ---- */

static bool stale_progress(const gv_work *w, const gv_work_clique *c) {
    const gv_progress *p = &c->memo->progress;
    return p->set ? !gv_str_eq(p->set_hash, w->set_hash)
                  : !gv_str_eq(c->memo->status_set_hash, w->set_hash);
}

static bool starts(const gv_work *w, const gv_work_clique *c) {
    if (!stale_progress(w, c)) {
        return false;
    }
    if (w->manual) {
        return true;
    }
    if (c->want->group != GV_STANDALONE) {
        return false; /* its group decides */
    }
    return !running(&w->progress) ||
           w->progress.current_index == w->want->replicas[c->want->replica].index;
}

static void count_updated(gv_work_clique *c) {
    gv_str target = c->progress.set ? c->progress.clique_hash : c->memo->hash_label;
    c->updated = 0;
    for (uint32_t i = 0; i < c->n_pods; i++) {
        c->updated += gv_str_eq(gv_str_c(c->pods[i]->hash), target) ? 1 : 0;
    }
}

/* status.current*: move only when every pod is of the target. */
static void settle_hashes(const gv_work *w, gv_work_clique *c) {
    gv_str expected = c->want->expected_hash;
    bool born_right = gv_str_eq(c->memo->hash_label, expected);
    c->hash = c->memo->status_hash;
    c->set_hash = c->memo->status_set_hash;
    if (running(&c->progress) || c->updated != (int64_t)c->n_pods) {
        return;
    }
    /* A member keeps the progress of an earlier OnDelete update; its own template decides. */
    bool member = c->want->group != GV_STANDALONE && !w->manual;
    if (!c->progress.set || (member && gv_str_eq(c->progress.clique_hash, expected))) {
        if (born_right) {
            c->hash = expected;
            c->set_hash = w->set_hash;
        }
        return;
    }
    c->hash = c->progress.clique_hash;
    c->set_hash = c->progress.set_hash;
}

static void judge_converged(const gv_work *w, gv_work_clique *c) {
    c->converged = w->set_hash.n > 0 && gv_str_eq(c->memo->hash_label, c->want->expected_hash) &&
                   gv_str_eq(c->hash, c->want->expected_hash) &&
                   gv_str_eq(c->set_hash, w->set_hash) && c->ready >= c->want->min_available &&
                   c->updated >= c->want->min_available;
}

static void begin_cliques(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        gv_work_clique *c = &w->cliques[i];
        if (c->memo == NULL) {
            continue;
        }
        c->progress = c->memo->progress;
        if (!c->dying && starts(w, c)) {
            c->progress = start(w, c->want->expected_hash);
        }
    }
}

/* With pairs, those of the core unit go together: pairs.c. */
static bool rolls_alone(const gv_work *w, const gv_work_clique *c) {
    const gv_want_replica *r = &w->want->replicas[c->want->replica];
    uint32_t place = (uint32_t)(c - w->cliques) - r->first_clique;
    return !w->manual && (!w->by_pairs || place < r->n_outside);
}

static grove_status roll_cliques(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        gv_work_clique *c = &w->cliques[i];
        if (c->memo == NULL) {
            continue;
        }
        if (!c->dying && rolls_alone(w, c) && running(&c->progress)) {
            grove_status status = gv_roll_pods(w, c);
            if (status < 0) {
                return status;
            }
        }
        count_updated(c);
        settle_hashes(w, c);
        judge_converged(w, c);
    }
    return GROVE_OK;
}

/* ---- groups ---- */

static bool has_old_member(const gv_work *w, const gv_work_group *g) {
    for (int64_t r = 0; r < g->want->replicas; r++) {
        for (uint32_t k = 0; k < g->want->n_members; k++) {
            const gv_work_clique *c = &w->cliques[gv_want_member(g->want, r, k)];
            if (c->memo != NULL && !c->dying &&
                !gv_str_eq(c->memo->hash_label, c->want->expected_hash)) {
                return true;
            }
        }
    }
    return false;
}

/* Also anew, where somebody with an older template took it for ended. */
static bool group_starts(const gv_work *w, const gv_work_group *g) {
    const gv_progress *p = &g->memo->progress;
    bool begun = p->set && gv_str_eq(p->set_hash, w->set_hash);
    if (w->manual) {
        return !begun;
    }
    return running(&w->progress) &&
           w->progress.current_index == w->want->replicas[g->want->replica].index &&
           (!begun || (p->ended && has_old_member(w, g)));
}

/* currentPodCliqueSetGenerationHash: every wanted member lives and stands at the set's hash. */
static void settle_group(const gv_work *w, gv_work_group *g) {
    g->set_hash = g->memo->status_set_hash;
    bool all = !running(&g->progress);
    g->members_updated = 0;
    for (int64_t r = 0; r < g->want->replicas; r++) {
        for (uint32_t k = 0; k < g->want->n_members; k++) {
            const gv_work_clique *c = &w->cliques[gv_want_member(g->want, r, k)];
            bool lives = c->memo != NULL && !c->dying;
            g->members_updated += lives && c->converged ? 1 : 0;
            all = all && lives && gv_str_eq(c->memo->hash_label, c->want->expected_hash) &&
                  gv_str_eq(c->hash, c->want->expected_hash) && gv_str_eq(c->set_hash, w->set_hash);
        }
    }
    if (all) {
        g->set_hash = w->set_hash;
    }
}

/* The answer to a status write can tell more of the group than our watch tells of the set: of an update to a
 * template that we do not know yet. By the one we know nothing is rolled then. It may as well be an update
 * that was taken back, which ends where nothing is left of it. */
static grove_status follow(gv_work *w, gv_work_group *g) {
    if (running(&w->progress) || gv_str_eq(g->progress.set_hash, w->set_hash)) {
        return gv_roll_members(w, g);
    }
    if (!has_old_member(w, g)) {
        gv_progress_finish(&g->progress);
    }
    return GROVE_OK;
}

static void begin_groups(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_groups; i++) {
        gv_work_group *g = &w->groups[i];
        if (g->memo == NULL) {
            continue;
        }
        g->progress = g->memo->progress;
        if (!g->dying && group_starts(w, g)) {
            g->progress = start(w, (gv_str){"", 0});
        }
    }
}

static grove_status roll_groups(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_groups; i++) {
        gv_work_group *g = &w->groups[i];
        if (g->memo == NULL) {
            continue;
        }
        bool alone = !w->manual && !w->by_pairs;
        if (!g->dying && alone && running(&g->progress) && !g->progress.started_now) {
            grove_status status = follow(w, g);
            if (status < 0) {
                return status;
            }
        }
        settle_group(w, g);
    }
    return GROVE_OK;
}

/* ---- the set: who is next ---- */

/* Part of an update by pairs that is not through: also where the template was taken back, so that what stands as
 * current is the template's again. The rolling update goes by hashes alone, as Grove's does (9.2). */
static bool is_in_pairs(const gv_work *w, const gv_progress *p) {
    return w->by_pairs && running(p);
}

static bool replica_done(const gv_work *w, uint32_t at) {
    const gv_want_replica *r = &w->want->replicas[at];
    for (uint32_t i = 0; i < r->n_standalone; i++) {
        const gv_work_clique *c = &w->cliques[r->first_clique + i];
        if (c->memo == NULL || c->dying || !c->converged || is_in_pairs(w, &c->progress)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < r->n_groups; i++) {
        const gv_work_group *g = &w->groups[r->first_group + i];
        if (g->memo == NULL || g->dying || !gv_str_eq(g->set_hash, w->set_hash) ||
            is_in_pairs(w, &g->progress)) {
            return false;
        }
    }
    return true;
}

static bool replica_runs_nothing(const gv_work *w, uint32_t at) {
    const gv_want_replica *r = &w->want->replicas[at];
    for (uint32_t i = 0; i < r->n_cliques; i++) {
        if (w->cliques[r->first_clique + i].scheduled > 0) {
            return false;
        }
    }
    return true;
}

/* Some breach of it stood when it was last looked at. */
static bool replica_breached(const gv_work *w, uint32_t at) {
    const gv_want_replica *r = &w->want->replicas[at];
    for (uint32_t i = 0; i < r->n_standalone; i++) {
        const gv_work_clique *c = &w->cliques[r->first_clique + i];
        if (c->memo != NULL && c->memo->breach.status == GV_TRUE && c->ever_scheduled) {
            return true;
        }
    }
    for (uint32_t i = 0; i < r->n_groups; i++) {
        const gv_memo *memo = w->groups[r->first_group + i].memo;
        if (memo != NULL && memo->breach.status == GV_TRUE && memo->ever.status == GV_TRUE) {
            return true;
        }
    }
    return false;
}

/* Lower is earlier: nothing scheduled, then breached, then the rest; within each by index. */
static int urgency(const gv_work *w, uint32_t at) {
    return replica_runs_nothing(w, at) ? 0 : replica_breached(w, at) ? 1 : 2;
}

static void choose_replica(gv_work *w) {
    if (!running(&w->progress) || w->manual) {
        return;
    }
    int best = 3;
    int64_t next = -1;
    for (uint32_t i = 0; i < w->want->n_replicas; i++) {
        int64_t index = w->want->replicas[i].index;
        if (replica_done(w, i)) {
            continue;
        }
        if (index == w->progress.current_index) {
            return; /* still at it */
        }
        int rank = urgency(w, i);
        if (rank < best) {
            best = rank;
            next = index;
        }
    }
    if (next < 0) {
        finish(&w->progress);
        return;
    }
    if (w->by_pairs && w->view->rolling.paused) {
        return; /* what is under way keeps its turn, nobody else gets one */
    }
    w->progress.current_index = next;
    w->progress.current_started = (gv_str){"", 0};
}

static grove_status yield_turn(gv_work *w) {
    int64_t index = -1;
    grove_status status = w->by_pairs ? gv_pairs_yield(w, &index) : GROVE_OK;
    if (index >= 0) {
        w->progress.current_index = index;
        w->progress.current_started = (gv_str){"", 0};
    }
    return status;
}

grove_status gv_step_rollout(gv_work *w) {
    begin_set(w);
    begin_cliques(w);
    begin_groups(w);
    grove_status status = w->by_pairs ? gv_roll_pairs(w) : GROVE_OK;
    if (status == GROVE_OK) {
        status = roll_cliques(w);
    }
    if (status == GROVE_OK) {
        status = roll_groups(w);
    }
    if (status == GROVE_OK) {
        choose_replica(w);
        status = yield_turn(w);
        gv_judge(w);
    }
    return status;
}

void gv_progress_finish(gv_progress *p) {
    finish(p);
}
