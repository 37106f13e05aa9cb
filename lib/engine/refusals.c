/* SPDX-License-Identifier: Apache-2.0 */
/* Writes that the cluster refused: the planner leaves them alone until their time has come. */
#include "base/sort.h"
#include "engine/engine.h"

/* A conflict, or an object that is gone, says only that the plan was of yesterday. A create that is answered
 * "not found" misses something else, its namespace or its kind: that is a refusal. */
bool gv_engine_is_outdated(const grove_action *action, const grove_completion *c) {
    return c->status == GROVE_E_CONFLICT ||
           (c->status == GROVE_E_NOT_FOUND && action->verb != GROVE_VERB_CREATE);
}

static gv_str refusal_key(grove_engine *e, grove_kind kind, const char *name) {
    grove_buf_clear(&e->op_text);
    return gv_buf_fmt(&e->op_text, "%d/%s", (int)kind, name) < 0 ? (gv_str){NULL, 0}
                                                                 : gv_buf_view(&e->op_text);
}

static void forget(grove_engine *e, gv_set *set, gv_str key) {
    gv_refused *r = gv_map_remove(&set->refused, key);
    if (r) {
        gv_free(e->env, r, r->bytes);
    }
}

void gv_engine_refusals_fini(grove_engine *e, gv_set *set) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&set->refused, &i));) {
        forget(e, set, (gv_str){entry->key, entry->key_len});
    }
    gv_map_fini(&set->refused);
}

static grove_status remember(grove_engine *e, gv_set *set, gv_str key, const grove_action *action,
                             const grove_completion *c) {
    const gv_refused *before = gv_map_get(&set->refused, key);
    uint32_t times = before ? before->times + 1 : 1;
    const char *message = c->message ? c->message : "";
    size_t name = strlen(action->name) + 1, text = strlen(message) + 1;
    gv_refused *r = gv_alloc(e->env, sizeof *r + name + text);
    if (!r) {
        return GROVE_E_NOMEM;
    }
    char *tail = (char *)(r + 1);
    memcpy(tail, action->name, name);
    memcpy(tail + name, message, text);
    int64_t wait = gv_engine_backoff(e, times), wish = (int64_t)c->retry_after_ms * 1000 * 1000;
    *r = (gv_refused){.refusal = {.size = (uint32_t)sizeof r->refusal,
                                  .verb = action->verb,
                                  .kind = action->kind,
                                  .subresource = action->subresource,
                                  .http = c->http,
                                  .name = tail,
                                  .message = tail + name,
                                  .at_ns = e->now,
                                  .retry_ns = e->now + (wish > wait ? wish : wait)},
                      .bytes = sizeof *r + name + text,
                      .times = times};
    forget(e, set, key);
    if (!gv_map_put(&set->refused, key, r)) {
        gv_free(e->env, r, r->bytes);
        return GROVE_E_NOMEM;
    }
    return GROVE_OK;
}

grove_status gv_engine_note_answer(grove_engine *e, gv_set *set, const grove_action *action,
                                   const grove_completion *c) {
    gv_str key = refusal_key(e, action->kind, action->name);
    if (!key.p) {
        return GROVE_E_NOMEM;
    }
    bool unsent = c->status == GROVE_E_CANCELLED; /* nobody has refused it */
    if (c->status == GROVE_OK || unsent || gv_engine_is_outdated(action, c)) {
        forget(e, set, key);
        return GROVE_OK;
    }
    return remember(e, set, key, action, c);
}

/* The plan does not write it any more, although it might: whatever was refused is not wanted now. */
static bool is_moot(const grove_refusal *r, const grove_plan *plan, int64_t now) {
    if (r->retry_ns > now) {
        return false;
    }
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        const grove_action *a = grove_plan_action(plan, i);
        if (a->verb == r->verb && a->kind == r->kind && strcmp(a->name, r->name) == 0) {
            return false;
        }
    }
    return true;
}

bool gv_engine_drop_moot(grove_engine *e, gv_set *set, const grove_plan *plan, int64_t now) {
    gv_map_entry *entry;
    bool any = false;
    for (uint32_t i = 0; (entry = gv_map_next(&set->refused, &i));) {
        const gv_refused *r = entry->value;
        if (is_moot(&r->refusal, plan, now)) {
            forget(e, set, (gv_str){entry->key, entry->key_len});
            any = true;
        }
    }
    return any;
}

/* An order that does not tell which refusal came first. */
static int by_kind_and_name(const void *a, const void *b, void *ctx) {
    const grove_refusal *x = a, *y = b;
    (void)ctx;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->name, y->name);
}

grove_status gv_engine_refusals_of(grove_engine *e, gv_set *set, const grove_refusal *const **out,
                                   uint32_t *out_n) {
    gv_map_entry *entry;
    e->refusals.n = 0;
    for (uint32_t i = 0; (entry = gv_map_next(&set->refused, &i));) {
        const gv_refused *r = entry->value;
        bool created = r->refusal.verb == GROVE_VERB_CREATE &&
                       gv_store_get(e->store, (gv_kind)r->refusal.kind, gv_str_c(set->ns),
                                    gv_str_c(r->refusal.name));
        if (created) {
            forget(e, set, (gv_str){entry->key, entry->key_len});
        } else if (!gv_vec_push(e->env, &e->refusals, &r->refusal)) {
            return GROVE_E_NOMEM;
        }
    }
    gv_sort((const void **)(void *)e->refusals.v, e->refusals.n, by_kind_and_name, NULL);
    *out = e->refusals.v;
    *out_n = (uint32_t)e->refusals.n;
    return GROVE_OK;
}
