/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a planner remembers of a set between plans: its template as last judged, and per object what was
 * last found equal. Only a cache: forgetting it changes no plan, only its cost.
 */
#include "base/hash.h"
#include "plan/work.h"
#include "value/scalar.h"

/* ---- the template ---- */

static const grove_node *metadata_of(const grove_node *object, const char *key) {
    return grove_node_get(grove_node_get(object, "metadata"), key);
}

/* Status writes make new versions of the set; the template only depends on these parts. */
static bool same_template(const grove_node *a, const grove_node *b) {
    return grove_node_equal(grove_node_get(a, "spec"), grove_node_get(b, "spec")) != 0 &&
           grove_node_equal(metadata_of(a, "labels"), metadata_of(b, "labels")) != 0 &&
           grove_node_equal(metadata_of(a, "annotations"), metadata_of(b, "annotations")) != 0 &&
           grove_node_equal(metadata_of(a, "uid"), metadata_of(b, "uid")) != 0;
}

static bool still_fits(const gv_work *w) {
    const gv_set_memory *m = w->memory;
    const gv_document *d = &w->pcs->u.document;
    return m->template != NULL && !m->provisional && m->config == w->request->config &&
           (m->checked == d->doc || same_template(gv_template_pcs(m->template)->node, d->node));
}

static bool all_aliases(gv_work *w, const gv_alias *more, uint32_t n_more,
                        gv_template_options *options) {
    const gv_alias *listed = NULL;
    uint32_t n = 0;
    if (!gv_adopted_read(w, &listed, &n)) {
        return false;
    }
    gv_alias *all = gv_arena_array(&w->arena, gv_alias, n + n_more + 1);
    for (uint32_t i = 0; all != NULL && i < n + n_more; i++) {
        all[i] = i < n ? listed[i] : more[i - n];
    }
    options->aliases = all;
    options->n_aliases = n + n_more;
    return all != NULL;
}

grove_status gv_memory_template(gv_work *w, const gv_alias *more, uint32_t n_more) {
    gv_set_memory *m = w->memory;
    const gv_document *d = &w->pcs->u.document;
    if (n_more == 0 && still_fits(w)) {
        if (m->checked != d->doc) {
            grove_doc_unref(m->checked);
            m->checked = grove_doc_ref(d->doc);
        }
        return GROVE_OK;
    }
    gv_template_options options = {.ns = w->ns};
    gv_template *fresh = NULL;
    if (!all_aliases(w, more, n_more, &options)) {
        return gv_work_nomem(w);
    }
    grove_status status = gv_template_new(w->env, d->doc, d->node, w->request->config, &options,
                                          &fresh, w->err);
    if (status < 0) {
        return status;
    }
    gv_template_unref(m->template);
    grove_doc_unref(m->checked);
    m->template = fresh;
    m->checked = grove_doc_ref(d->doc);
    m->provisional = n_more > 0;
    m->template_id++;
    if (m->config != w->request->config) {
        grove_config_unref(m->config);
        m->config = grove_config_ref(w->request->config);
    }
    return GROVE_OK;
}

/* ---- memos ---- */

static bool memo_is(const void *item, const void *key) {
    return strcmp(((const gv_memo *)item)->uid, key) == 0;
}

gv_stands gv_condition_stands(const grove_node *conditions, const char *type) {
    const grove_node *c = gv_condition_find(conditions, type);
    gv_str status = gv_get_str(c, "status");
    gv_str since = gv_get_str(c, "lastTransitionTime");
    gv_stands out = {.present = c != NULL, .since = GV_TIME_NONE};
    out.status = gv_str_is(status, "True")    ? GV_TRUE
                 : gv_str_is(status, "False") ? GV_FALSE
                                              : GV_UNSURE;
    if (since.n == 0 || gv_time_parse(since, &out.since, NULL) < 0) {
        out.since = GV_TIME_NONE;
    }
    return out;
}

static gv_progress read_progress(const grove_node *status) {
    const grove_node *p = grove_node_get(status, "updateProgress");
    gv_progress out = {.set = grove_node_type(p) == GROVE_OBJECT, .current_index = -1};
    out.started = gv_get_str(p, "updateStartedAt");
    out.ended_at = gv_get_str(p, "updateEndedAt");
    out.ended = out.ended_at.n > 0;
    out.set_hash = gv_get_str(p, "podCliqueSetGenerationHash");
    out.clique_hash = gv_get_str(p, "podTemplateHash");
    const grove_node *pods = grove_node_get(p, "readyPodsSelectedToUpdate");
    const grove_node *indices = grove_node_get(p, "readyReplicaIndicesSelectedToUpdate");
    const grove_node *running = grove_node_at(grove_node_get(p, "currentlyUpdating"), 0);
    out.current_pod = gv_get_str(pods, "current");
    out.completed = grove_node_get(pods ? pods : indices, "completed");
    out.current_index = gv_opt_or(gv_get_int(indices, "current"), -1);
    if (running != NULL) {
        out.current_index = gv_opt_or(gv_get_int(running, "replicaIndex"), -1);
        out.current_started = gv_get_str(running, "updateStartedAt");
    }
    return out;
}

static void read_memo(gv_memo *memo, gv_kind kind) {
    bool of_clique = kind == GV_KIND_PODCLIQUE;
    memo->status = grove_node_get(memo->node, "status");
    memo->conditions = grove_node_get(memo->status, "conditions");
    memo->progress = read_progress(memo->status);
    memo->breach = gv_condition_stands(memo->conditions, GV_COND_MIN_AVAILABLE_BREACHED);
    memo->scheduled = gv_condition_stands(memo->conditions, GV_COND_CLIQUE_SCHEDULED);
    memo->ever = gv_condition_stands(memo->conditions,
                                     of_clique ? GV_COND_EVER_SCHEDULED : GV_COND_EVER_HEALTHY);
    memo->terminating = gv_condition_stands(memo->conditions, GV_COND_GANG_TERMINATION);
    memo->hash_label = gv_get_str(metadata_of(memo->node, "labels"), GV_LABEL_TEMPLATE_HASH);
    memo->status_hash = gv_get_str(memo->status, "currentPodTemplateHash");
    memo->status_set_hash = gv_get_str(memo->status, kind == GV_KIND_PODCLIQUESET
                                                         ? "currentGenerationHash"
                                                         : "currentPodCliqueSetGenerationHash");
}

static gv_memo *memo_new(grove_env *env, gv_set_memory *m, const char *uid, uint64_t hash) {
    gv_memo *memo = gv_ptable_reserve(&m->memos, 1) ? gv_zalloc(env, sizeof *memo) : NULL;
    if (memo == NULL) {
        return NULL;
    }
    memo->uid_bytes = strlen(uid) + 1;
    memo->uid = gv_alloc(env, memo->uid_bytes);
    if (memo->uid == NULL) {
        gv_free(env, memo, sizeof *memo);
        return NULL;
    }
    memcpy(memo->uid, uid, memo->uid_bytes);
    memo->hash = hash;
    gv_ptable_add(&m->memos, hash, memo);
    return memo;
}

gv_memo *gv_memory_of(gv_work *w, const gv_object *o) {
    gv_set_memory *m = w->memory;
    const char *uid = o->u.head.uid;
    uint64_t hash = gv_fnv1a(GV_FNV_START, uid, strlen(uid));
    gv_memo *memo = gv_ptable_find(&m->memos, hash, memo_is, uid);
    if (memo == NULL && (memo = memo_new(w->env, m, uid, hash)) == NULL) {
        return NULL;
    }
    if (memo->doc != o->u.document.doc || memo->node != o->u.document.node) {
        grove_doc_unref(memo->doc);
        memo->doc = grove_doc_ref(o->u.document.doc);
        memo->node = o->u.document.node;
        memo->body_sig = memo->status_sig = memo->places_sig = 0;
        read_memo(memo, o->u.head.kind);
    }
    m->touched += memo->epoch != m->epoch ? 1u : 0u;
    memo->epoch = m->epoch;
    return memo;
}

static void memo_free(grove_env *env, gv_memo *memo) {
    grove_doc_unref(memo->doc);
    gv_free(env, memo->uid, memo->uid_bytes);
    gv_free(env, memo, sizeof *memo);
}

/* Objects that are gone are forgotten once they are as many as those that live. */
void gv_memory_sweep(grove_env *env, gv_set_memory *m) {
    if (m->memos.live <= 2 * m->touched + 16) {
        return;
    }
    for (uint32_t i = 0; i < m->memos.n_slots;) {
        gv_memo *memo = m->memos.slots[i].item;
        if (memo == NULL || memo->epoch == m->epoch) {
            i++;
            continue;
        }
        /* Removal may move another item into this slot: look at it again. */
        gv_ptable_remove(&m->memos, memo->hash, memo);
        memo_free(env, memo);
    }
}

void gv_memory_free(grove_env *env, gv_set_memory *m) {
    if (m == NULL) {
        return;
    }
    for (uint32_t i = 0; i < m->memos.n_slots; i++) {
        if (m->memos.slots[i].item != NULL) {
            memo_free(env, m->memos.slots[i].item);
        }
    }
    gv_ptable_fini(&m->memos);
    gv_template_unref(m->template);
    grove_doc_unref(m->checked);
    grove_config_unref(m->config);
    grove_plan_unref(m->idle);
    gv_free(env, m, sizeof *m);
}
