/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rolling a set replica by pairs (updateStrategy Coherent): what its roles have of each version is counted, and
 * coherent.h says what goes next. Roles are the standalone cliques of the core unit and the scaling groups that
 * had something of the old version when the replica's turn came; their progress stays open until all of them
 * are through, so that it is known who takes part.
 *
 * Nothing is chosen beforehand, as the other rolling update does: what may go follows from what is there,
 * deletions in flight included, so that neither a lost write nor a restart can take down more.
 */
#include "plan/pairs.h"

#include "plan/delta.h"
#include "plan/rollout.h"
#include "value/scalar.h"

#define DEFAULT_DEADLINE_NS (600 * GV_NS_PER_S)

/* ---- who takes part ---- */

static bool is_open(const gv_work *w, const gv_progress *p) {
    return p->set && !p->ended && gv_str_eq(p->set_hash, w->set_hash);
}

static bool is_under_way(const gv_work *w) {
    return w->progress.set && !w->progress.ended;
}

static bool is_old_pod(const gv_work_clique *c, const gv_pod *p) {
    return !gv_str_eq(gv_str_c(p->hash), c->want->expected_hash);
}

static bool is_ready(const gv_pod *p) {
    return (p->flags & GV_POD_READY) != 0;
}

/* So many serve at every moment, by the role's own bound. */
static int64_t least_serving(const gv_role_bound *b, int64_t replicas) {
    int64_t away = b->percent ? b->most.value * replicas / 100 : b->most.value;
    away = away < 1 ? 1 : away;
    return b->most.set && away < replicas ? replicas - away : 0;
}

static gv_roll_role count_clique(const gv_work *w, const gv_work_clique *c) {
    gv_roll_role r = {
        .whole = {c->want->replicas, c->want->replicas},
        .room = c->want->replicas,
        .least = least_serving(&w->view->cliques[c->want->clique].rolling, c->want->replicas),
    };
    for (uint32_t i = 0; i < c->n_pods; i++) {
        gv_version version = is_old_pod(c, c->pods[i]) ? GV_OLD : GV_NEW;
        r.exists[version]++;
        r.serves[version] += is_ready(c->pods[i]) ? 1 : 0;
    }
    return r;
}

static gv_roll_role count_group(gv_work *w, const gv_work_group *g) {
    gv_roll_role r = {
        .whole = {g->want->replicas, g->want->replicas},
        .room = g->want->replicas,
        .least = least_serving(&w->view->groups[g->want->config].rolling, g->want->replicas),
    };
    for (int64_t i = 0; i < g->want->replicas; i++) {
        gv_index_state s = gv_index_look(w, g, i);
        gv_version version = s.old ? GV_OLD : GV_NEW;
        r.exists[version] += s.absent ? 0 : 1;
        r.serves[version] += !s.absent && !s.broken && gv_index_works(w, g, i) ? 1 : 0;
    }
    return r;
}

static gv_work_clique *clique_of(const gv_work *w, uint32_t replica, uint32_t role) {
    return &w->cliques[w->want->replicas[replica].first_clique + role];
}

static gv_work_group *group_of(const gv_work *w, uint32_t replica, uint32_t role) {
    const gv_want_replica *r = &w->want->replicas[replica];
    return &w->groups[r->first_group + role - r->n_standalone];
}

static bool is_clique(const gv_work *w, uint32_t replica, uint32_t role) {
    return role < w->want->replicas[replica].n_standalone;
}

static gv_progress *progress_of(const gv_work *w, uint32_t replica, uint32_t role) {
    return is_clique(w, replica, role) ? &clique_of(w, replica, role)->progress
                                       : &group_of(w, replica, role)->progress;
}

static bool lives(const gv_work *w, uint32_t replica, uint32_t role) {
    if (is_clique(w, replica, role)) {
        const gv_work_clique *c = clique_of(w, replica, role);
        return c->memo != NULL && !c->dying;
    }
    const gv_work_group *g = group_of(w, replica, role);
    return g->memo != NULL && !g->dying;
}

static gv_roll_role count_role(gv_work *w, uint32_t replica, uint32_t role) {
    return is_clique(w, replica, role) ? count_clique(w, clique_of(w, replica, role))
                                       : count_group(w, group_of(w, replica, role));
}

static uint32_t role_count(const gv_work *w, uint32_t replica) {
    return w->want->replicas[replica].n_standalone + w->want->replicas[replica].n_groups;
}

/* Cliques outside the core unit serve whoever is there: they are rolled for themselves. */
static uint32_t first_role(const gv_work *w, uint32_t replica) {
    return w->want->replicas[replica].n_outside;
}

/* A role without anything old when its turn comes has no part in the update. */
static void close_unchanged(gv_work *w, uint32_t replica) {
    bool current = w->progress.current_index == w->want->replicas[replica].index && is_under_way(w);
    for (uint32_t i = first_role(w, replica); i < role_count(w, replica); i++) {
        gv_progress *p = progress_of(w, replica, i);
        if (lives(w, replica, i) && p->set && !p->ended && (p->started_now || !current) &&
            count_role(w, replica, i).exists[GV_OLD] == 0) {
            gv_progress_finish(p);
        }
    }
}

/* ---- how things stand ---- */

static bool find_current(const gv_work *w, uint32_t *out) {
    for (uint32_t i = 0; i < w->want->n_replicas; i++) {
        if (is_under_way(w) && w->progress.current_index == w->want->replicas[i].index) {
            *out = i;
            return true;
        }
    }
    return false;
}

static gv_roll count_replica(gv_work *w, const gv_work_pairs *p, uint32_t replica,
                             gv_roll_role *roles) {
    gv_roll roll = {.roles = roles, .n_roles = p->n_roles, .pairs = INT64_MAX};
    for (uint32_t i = 0; i < p->n_roles; i++) {
        roles[i] = count_role(w, replica, p->who[i]);
        int64_t whole = roles[i].whole[GV_NEW];
        roll.pairs = whole > 0 && whole < roll.pairs ? whole : roll.pairs;
    }
    roll.pairs = roll.pairs == INT64_MAX ? 0 : roll.pairs;
    return roll;
}

/* As few as the sizes of the roles allow. */
static int64_t fewest_unavailable(const gv_work_pairs *p, gv_roll_role *roles,
                                  gv_roll_role *space) {
    gv_roll nominal = {.roles = roles, .n_roles = p->n_roles, .pairs = p->roll.pairs};
    for (uint32_t i = 0; i < p->n_roles; i++) {
        roles[i] = p->roll.roles[i];
        for (int v = 0; v < GV_VERSIONS; v++) {
            roles[i].exists[v] = roles[i].serves[v] = v == GV_OLD ? roles[i].whole[GV_OLD] : 0;
        }
    }
    return p->roll.pairs - gv_coherent_highest_floor(&nominal, space, p->moves);
}

/* What may be away of the set as a whole, less what already is in its other replicas. */
static void set_floor(gv_work *w, gv_work_pairs *p, gv_roll_role *space) {
    const gv_rolling *bounds = &w->view->rolling;
    int64_t all = p->roll.pairs, elsewhere = 0;
    for (uint32_t i = 0; i < w->want->n_replicas; i++) {
        if (i != p->replica) {
            gv_roll other = count_replica(w, p, i, space);
            all += other.pairs;
            elsewhere += gv_coherent_usable_all(&other);
        }
    }
    int64_t away = bounds->max_unavailable.value;
    if (!bounds->max_unavailable.set) {
        away = fewest_unavailable(p, space, space + p->n_roles);
    } else if (bounds->percent) {
        away = away * all / 100;
    }
    away = away < 1 ? 1 : away;
    int64_t floor = all - away - elsewhere;
    p->roll.floor = floor < 0 ? 0 : floor > p->roll.pairs ? p->roll.pairs : floor;
    p->all = all;
    p->elsewhere = elsewhere;
    p->away = away;
}

/* Those take part whose progress is open; before its turn, those that have something old. */
static bool read_state(gv_work *w, gv_work_pairs *p, uint32_t replica, bool turn) {
    uint32_t most = role_count(w, replica);
    uint32_t *who = gv_arena_array(&w->arena, uint32_t, most + 1);
    gv_roll_role *roles = gv_arena_array(&w->arena, gv_roll_role, 3 * (size_t)most + 1);
    p->moves = gv_arena_array(&w->arena, gv_roll_move, most + 1);
    if (who == NULL || roles == NULL || p->moves == NULL) {
        return false;
    }
    for (uint32_t i = first_role(w, replica); i < most; i++) {
        bool open = is_open(w, progress_of(w, replica, i)) ||
                    (!turn && count_role(w, replica, i).exists[GV_OLD] > 0);
        if (lives(w, replica, i) && open) {
            who[p->n_roles++] = i;
        }
    }
    p->who = who;
    p->replica = replica;
    p->roll = count_replica(w, p, replica, roles);
    p->roll.paused = w->view->rolling.paused;
    set_floor(w, p, roles + most);
    return true;
}

/* ---- what is done ---- */

/* Everything that was written for this turn stands in the cluster. */
static bool turn_stands(const gv_work *w) {
    const gv_work_pairs *p = &w->pairs;
    bool stands = (w->pcs->u.head.flags & GV_HEAD_EXPECTED) == 0;
    for (uint32_t i = 0; i < p->n_roles; i++) {
        stands = stands && !progress_of(w, p->replica, p->who[i])->started_now;
        if (is_clique(w, p->replica, p->who[i])) {
            const gv_work_clique *c = clique_of(w, p->replica, p->who[i]);
            stands = stands && gv_str_eq(c->memo->hash_label, c->want->expected_hash);
        }
    }
    return stands;
}

/* The oldest ready one of the old version that still stays; ties go to the lower index. */
static const gv_pod *next_pod(const gv_work_clique *c) {
    const gv_pod *best = NULL;
    for (uint32_t i = 0; i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        if (!c->goes[i] && is_old_pod(c, p) && is_ready(p) &&
            (best == NULL || p->head.created < best->head.created)) {
            best = p;
        }
    }
    return best;
}

static grove_status move_clique(gv_work *w, gv_work_clique *c, const gv_roll_move *m) {
    grove_status status = GROVE_OK;
    for (uint32_t i = 0; i < c->n_pods && m->clear > 0 && status == GROVE_OK; i++) {
        if (is_old_pod(c, c->pods[i]) && !is_ready(c->pods[i])) {
            status = gv_pod_remove(w, c, c->pods[i], "RollingUpdate", "old version and not ready");
        }
    }
    for (int64_t n = 0; n < m->take && status == GROVE_OK; n++) {
        const gv_pod *p = next_pod(c);
        if (p == NULL) {
            break;
        }
        status = gv_pod_remove(w, c, p, "RollingUpdate", "its pair's turn in the coherent update");
    }
    return status;
}

static grove_status move_group(gv_work *w, gv_work_group *g, const gv_roll_move *m) {
    int64_t take = m->take;
    grove_status status = GROVE_OK;
    for (int64_t r = 0; r < g->want->replicas && status == GROVE_OK; r++) {
        gv_index_state s = gv_index_look(w, g, r);
        bool works = !s.broken && gv_index_works(w, g, r);
        if (!s.old || (works && take == 0)) {
            continue;
        }
        if (!works) {
            gv_index_hold_back(w, g, r);
            if (m->clear == 0) {
                continue;
            }
        }
        take -= works ? 1 : 0;
        status = gv_index_remove(w, g, r,
                                 works ? "its pair's turn in the coherent update"
                                       : "old version and not working");
    }
    return status;
}

static grove_status move(gv_work *w) {
    gv_work_pairs *p = &w->pairs;
    grove_status status = GROVE_OK;
    for (uint32_t i = 0; i < p->n_roles && status == GROVE_OK; i++) {
        status = is_clique(w, p->replica, p->who[i])
                     ? move_clique(w, clique_of(w, p->replica, p->who[i]), &p->moves[i])
                     : move_group(w, group_of(w, p->replica, p->who[i]), &p->moves[i]);
    }
    return status;
}

/* Nothing of the old version is left: all take their leave together. */
static void close_finished(gv_work *w) {
    const gv_work_pairs *p = &w->pairs;
    for (uint32_t i = 0; i < p->n_roles; i++) {
        if (p->roll.roles[i].exists[GV_OLD] > 0) {
            return;
        }
    }
    for (uint32_t i = 0; i < p->n_roles; i++) {
        gv_progress_finish(progress_of(w, p->replica, p->who[i]));
    }
}

/* ---- progress ---- */

static void see_pods(const gv_work_clique *c, int64_t *latest) {
    for (uint32_t i = 0; i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        if (!is_old_pod(c, p) && p->head.created != GV_TIME_NONE && p->head.created > *latest) {
            *latest = p->head.created;
        }
    }
}

/* When the last step was taken: the turn began, or a new pod came. */
static int64_t last_step(gv_work *w) {
    const gv_work_pairs *p = &w->pairs;
    int64_t latest = w->now;
    if (w->progress.current_started.n > 0 &&
        gv_time_parse(w->progress.current_started, &latest, NULL) < 0) {
        latest = w->now;
    }
    for (uint32_t i = 0; i < p->n_roles; i++) {
        if (is_clique(w, p->replica, p->who[i])) {
            see_pods(clique_of(w, p->replica, p->who[i]), &latest);
            continue;
        }
        const gv_work_group *g = group_of(w, p->replica, p->who[i]);
        for (int64_t r = 0; r < g->want->replicas; r++) {
            for (uint32_t k = 0; k < g->want->n_members; k++) {
                see_pods(&w->cliques[gv_want_member(g->want, r, k)], &latest);
            }
        }
    }
    return latest;
}

static void judge_progress(gv_work *w) {
    gv_work_pairs *p = &w->pairs;
    int64_t allowed = DEFAULT_DEADLINE_NS;
    gv_str text = w->view->rolling.progress_deadline;
    if (text.n > 0 && gv_duration_parse(text, &allowed, NULL) < 0) {
        allowed = DEFAULT_DEADLINE_NS;
    }
    p->since = last_step(w);
    p->deadline = p->since > GROVE_NEVER - allowed ? GROVE_NEVER : p->since + allowed;
    p->stalled = !p->roll.paused && p->deadline <= w->now;
    if (!p->stalled && !p->roll.paused) {
        gv_deadline(w, p->deadline);
    }
}

static bool tell(gv_work *w) {
    const gv_work_pairs *p = &w->pairs;
    const char *reason = p->roll.paused                 ? "UpdatePaused"
                         : p->answer == GV_ROLL_BLOCKED ? "UpdateBlocked"
                                                        : "ReplacementNotReady";
    return gv_wait_say(w, GV_KIND_PODCLIQUESET, w->set, reason, GV_KIND_PODCLIQUESET, w->set,
                       p->since, p->stalled || p->roll.paused ? GROVE_NEVER : p->deadline,
                       gv_pairs_text(w));
}

/* ---- the whole ---- */

grove_status gv_roll_pairs(gv_work *w) {
    gv_work_pairs *p = &w->pairs;
    uint32_t replica = 0;
    *p = (gv_work_pairs){0};
    for (uint32_t i = 0; i < w->want->n_replicas; i++) {
        close_unchanged(w, i);
    }
    if (!find_current(w, &replica)) {
        return GROVE_OK;
    }
    if (!read_state(w, p, replica, true)) {
        return gv_work_nomem(w);
    }
    if (p->n_roles == 0) {
        return GROVE_OK;
    }
    p->active = true;
    p->answer = gv_coherent_next(&p->roll, p->moves);
    judge_progress(w);
    if (!turn_stands(w)) {
        return GROVE_OK;
    }
    grove_status status = GROVE_OK;
    if (p->answer == GV_ROLL_MOVE) {
        status = move(w);
    } else if (p->answer != GV_ROLL_DONE && !tell(w)) {
        status = gv_work_nomem(w);
    }
    if (status == GROVE_OK) {
        close_finished(w);
    }
    return status;
}

/*
 * What is away elsewhere may be what blocks this replica, and only be mended by that one's turn: where something
 * of the new template came in before it, as in place of what was lost.
 */
grove_status gv_pairs_yield(gv_work *w, int64_t *out_index) {
    const gv_work_pairs *p = &w->pairs;
    bool lacking = p->active && p->answer == GV_ROLL_BLOCKED &&
                   p->elsewhere < p->all - p->roll.pairs;
    *out_index = -1;
    for (uint32_t i = 0; i < w->want->n_replicas && lacking && *out_index < 0; i++) {
        gv_work_pairs other = {0};
        if (i == p->replica) {
            continue;
        }
        if (!read_state(w, &other, i, false)) {
            return gv_work_nomem(w);
        }
        bool moves = other.n_roles > 0 &&
                     gv_coherent_next(&other.roll, other.moves) == GV_ROLL_MOVE;
        *out_index = moves ? w->want->replicas[i].index : -1;
    }
    return GROVE_OK;
}

gv_str gv_pairs_text(gv_work *w) {
    const gv_work_pairs *p = &w->pairs;
    gv_str text = gv_text(
        w, "replica %lld: of %lld pairs %lld of the old and %lld of the new version are whole",
        (long long)w->want->replicas[p->replica].index, (long long)p->roll.pairs,
        (long long)gv_coherent_usable(&p->roll, GV_OLD),
        (long long)gv_coherent_usable(&p->roll, GV_NEW));
    for (uint32_t i = 0; i < p->n_roles; i++) {
        const gv_roll_role *r = &p->roll.roles[i];
        gv_str name = is_clique(w, p->replica, p->who[i])
                          ? clique_of(w, p->replica, p->who[i])->want->name
                          : group_of(w, p->replica, p->who[i])->want->name;
        text = gv_text(w, "%.*s, %.*s %lld old and %lld new", ARG_STR(text), ARG_STR(name),
                       (long long)r->serves[GV_OLD], (long long)r->serves[GV_NEW]);
    }
    return gv_text(w, "%.*s; at most %lld of %lld in the set may be away", ARG_STR(text),
                   (long long)p->away, (long long)p->all);
}

/* ---- the promise, counted anew from the plan's actions ---- */

static bool rolls(const gv_act *act) {
    return act->verb == GROVE_VERB_DELETE && strcmp(act->reason, "RollingUpdate") == 0;
}

/* Of an old replica of a group, before the plan. */
static bool served(gv_work *w, const gv_work_group *g, int64_t index) {
    gv_index_state s = gv_index_look(w, g, index);
    return s.old && !s.broken && !s.absent;
}

static int64_t taken_of(gv_work *w, uint32_t role) {
    uint32_t replica = w->pairs.replica;
    int64_t taken = 0, last = -1;
    for (size_t i = 0; i < w->acts.n; i++) {
        const gv_act *act = &w->acts.v[i];
        if (!rolls(act)) {
            continue;
        }
        if (is_clique(w, replica, role)) {
            const gv_work_clique *c = clique_of(w, replica, role);
            bool its = act->pod != NULL && act->clique == (uint32_t)(c - w->cliques);
            taken += its && is_ready(act->pod) && is_old_pod(c, act->pod) ? 1 : 0;
        } else if (act->kind == GV_KIND_PODCLIQUE) {
            const gv_work_group *g = group_of(w, replica, role);
            uint32_t at = gv_want_find_clique(w->want, act->name);
            bool its = at != GV_NOT_WANTED && w->cliques[at].want->group != GV_STANDALONE &&
                       &w->groups[w->cliques[at].want->group] == g;
            int64_t index = its ? w->cliques[at].want->group_replica : last;
            taken += index != last && served(w, g, index) ? 1 : 0;
            last = index;
        }
    }
    return taken;
}

grove_status gv_pairs_kept(gv_work *w, bool *out) {
    const gv_work_pairs *p = &w->pairs;
    *out = true;
    if (!p->active) {
        return GROVE_OK;
    }
    gv_roll_role *roles = gv_arena_array(&w->arena, gv_roll_role, p->n_roles + 1);
    if (roles == NULL) {
        return gv_work_nomem(w);
    }
    gv_roll after = p->roll;
    after.roles = roles;
    for (uint32_t i = 0; i < p->n_roles; i++) {
        roles[i] = p->roll.roles[i];
        int64_t served = roles[i].serves[GV_OLD] + roles[i].serves[GV_NEW];
        int64_t taken = taken_of(w, p->who[i]);
        roles[i].serves[GV_OLD] -= taken;
        *out = *out && (taken == 0 || served - taken >= roles[i].least);
    }
    int64_t before = gv_coherent_usable_all(&p->roll);
    *out = *out &&
           gv_coherent_usable_all(&after) >= (before < p->roll.floor ? before : p->roll.floor);
    return GROVE_OK;
}
