/* SPDX-License-Identifier: Apache-2.0 */
/* What-if: while a mark is open, changes are kept in a log that is walked back. */
#include "sched/state.h"

bool gv_undo_room(grove_sched *s, size_t more) {
    return s->marks == 0 || gv_vec_reserve(s->env, &s->undo, s->undo.n + more);
}

void gv_undo_note(grove_sched *s, const gv_undo *entry) {
    s->undo.v[s->undo.n++] = *entry; /* gv_undo_room was called for it */
}

static void forget(grove_sched *s, size_t from) {
    for (size_t i = from; i < s->undo.n; i++) {
        if (s->undo.v[i].kind == GV_UNDO_NODE) {
            gv_node_image_free(s, s->undo.v[i].was.image);
        }
    }
    s->undo.n = from;
}

void gv_undo_clear(grove_sched *s) {
    forget(s, 0);
    s->marks = 0;
}

grove_status grove_sched_mark(grove_sched *sched, uint64_t *out_mark) {
    if (!sched || !out_mark) {
        return GROVE_E_INVALID;
    }
    if (!gv_vec_reserve(sched->env, &sched->undo, sched->undo.n + 1)) {
        return GROVE_E_NOMEM;
    }
    sched->marks++;
    *out_mark = sched->undo.n;
    gv_undo_note(sched, &(gv_undo){.kind = GV_UNDO_MARK});
    return GROVE_OK;
}

static bool mark_open(const grove_sched *s, uint64_t mark) {
    return s && s->marks > 0 && mark < s->undo.n && s->undo.v[mark].kind == GV_UNDO_MARK;
}

grove_status grove_sched_rollback(grove_sched *sched, uint64_t mark) {
    grove_sched *s = sched;
    if (!mark_open(s, mark)) {
        return GROVE_E_INVALID;
    }
    while (s->undo.n > mark) {
        gv_undo u = s->undo.v[--s->undo.n];
        switch (u.kind) {
        case GV_UNDO_POD_ADD:
        case GV_UNDO_POD_NEW:
        case GV_UNDO_POD_REMOVE:
            gv_pod_undo(s, &u);
            break;
        case GV_UNDO_GANG_ADD:
        case GV_UNDO_GANG_NEW:
        case GV_UNDO_GANG_REMOVE:
        case GV_UNDO_GANG_EDIT:
            gv_gang_undo(s, &u);
            break;
        case GV_UNDO_NODE:
            gv_node_image_swap(s, u.id, u.was.image);
            gv_node_image_free(s, u.was.image);
            break;
        case GV_UNDO_MARK:
            s->marks--;
            break;
        case GV_UNDO_KEPT:
            break;
        }
    }
    return GROVE_OK;
}

grove_status grove_sched_keep(grove_sched *sched, uint64_t mark) {
    grove_sched *s = sched;
    if (!mark_open(s, mark)) {
        return GROVE_E_INVALID;
    }
    for (size_t i = (size_t)mark; i < s->undo.n; i++) {
        if (s->undo.v[i].kind == GV_UNDO_MARK) {
            s->marks--;
            /* An inner mark that ends here leaves an entry that is passed over. */
            s->undo.v[i] = (gv_undo){.kind = GV_UNDO_KEPT};
        }
    }
    if (s->marks == 0) {
        forget(s, 0);
    }
    return GROVE_OK;
}
