/* SPDX-License-Identifier: Apache-2.0 */
/* The finished plan: immutable, counted, in memory of its own. A plan of nothing is one static object. */
#include "plan/result.h"

#include <stdatomic.h>

struct grove_plan {
    atomic_uint refs; /* 0: the static empty plan */
    grove_env *env;
    gv_arena arena;
    grove_action *actions;
    grove_wait *waits;
    uint32_t n_actions, n_waits;
    int64_t deadline;
};

static const grove_plan empty_plan = {.deadline = GROVE_NEVER};

grove_plan *grove_plan_ref(grove_plan *plan) {
    if (plan != NULL && plan != &empty_plan) {
        atomic_fetch_add_explicit(&plan->refs, 1, memory_order_relaxed);
    }
    return plan;
}

void grove_plan_unref(grove_plan *plan) {
    if (plan == NULL || plan == &empty_plan ||
        atomic_fetch_sub_explicit(&plan->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    grove_env *env = plan->env;
    for (uint32_t i = 0; i < plan->n_actions; i++) {
        grove_doc_unref(plan->actions[i].body);
    }
    gv_arena_fini(&plan->arena);
    gv_free(env, plan, sizeof *plan);
    grove_env_unref(env);
}

uint32_t grove_plan_actions(const grove_plan *plan) {
    return plan ? plan->n_actions : 0;
}

const grove_action *grove_plan_action(const grove_plan *plan, uint32_t i) {
    return plan != NULL && i < plan->n_actions ? &plan->actions[i] : NULL;
}

uint32_t grove_plan_waits(const grove_plan *plan) {
    return plan ? plan->n_waits : 0;
}

const grove_wait *grove_plan_wait(const grove_plan *plan, uint32_t i) {
    return plan != NULL && i < plan->n_waits ? &plan->waits[i] : NULL;
}

int64_t grove_plan_deadline(const grove_plan *plan) {
    return plan != NULL ? plan->deadline : GROVE_NEVER;
}

/* ---- copying ---- */

typedef struct copier {
    gv_arena *arena;
    bool failed;
} copier;

static const char *text(copier *c, gv_str s) {
    if (s.n == 0) {
        return "";
    }
    const char *copy = gv_arena_dup(c->arena, s);
    c->failed = c->failed || copy == NULL;
    return copy != NULL ? copy : "";
}

static void copy_action(copier *c, const gv_work *w, gv_act *from, grove_action *to) {
    char version[96];
    gv_kind_api_version(from->kind, version, sizeof version);
    bool namespaced = gv_kind_get(from->kind)->namespaced;
    *to = (grove_action){.size = (uint32_t)sizeof *to,
                         .verb = from->verb,
                         .kind = (grove_kind)from->kind,
                         .subresource = from->subresource,
                         .api_version = text(c, gv_str_c(version)),
                         .kind_name = gv_kind_get(from->kind)->name,
                         .ns = namespaced ? text(c, w->ns) : "",
                         .name = text(c, from->name),
                         .uid = text(c, from->uid),
                         .resource_version = text(c, from->rv),
                         .patch_type = from->patch_type,
                         .order = from->order,
                         .flags = from->flags,
                         .node = text(c, from->node),
                         .reason = from->reason,
                         .text = text(c, from->text),
                         .event = from->event ? from->event : "",
                         .event_name = text(c, from->event_name),
                         .event_uid = text(c, from->event_uid),
                         .event_kind = (grove_kind)from->event_kind};
    to->body = from->body; /* taken over */
    from->body = NULL;
}

static void copy_wait(copier *c, const gv_wait_note *from, grove_wait *to) {
    *to = (grove_wait){.size = (uint32_t)sizeof *to,
                       .kind = (grove_kind)from->kind,
                       .name = text(c, from->name),
                       .reason = text(c, gv_str_c(from->reason)),
                       .for_name = text(c, from->for_name),
                       .for_kind = (grove_kind)from->for_kind,
                       .text = text(c, from->text),
                       .since_ns = from->since,
                       .deadline_ns = from->deadline};
}

/* Stable, by stage; within a stage as the steps found them. */
static void copy_in_order(copier *c, gv_work *w, grove_plan *plan) {
    uint32_t count[GV_ORDER_EVENT + 2] = {0};
    for (size_t i = 0; i < w->acts.n; i++) {
        count[w->acts.v[i].order + 1]++;
    }
    for (int i = 1; i <= GV_ORDER_EVENT; i++) {
        count[i] += count[i - 1];
    }
    for (size_t i = 0; i < w->acts.n; i++) {
        gv_act *act = &w->acts.v[i];
        copy_action(c, w, act, &plan->actions[count[act->order]++]);
    }
    plan->n_actions = (uint32_t)w->acts.n;
}

static bool same_wait(const grove_wait *a, const gv_wait_note *b) {
    return a->kind == (grove_kind)b->kind && a->for_kind == (grove_kind)b->for_kind &&
           a->since_ns == b->since && a->deadline_ns == b->deadline &&
           strcmp(a->reason, b->reason) == 0 && gv_str_is(b->name, a->name) &&
           gv_str_is(b->for_name, a->for_name) && gv_str_is(b->text, a->text);
}

/* Whether the plan is to do nothing but wait for the same as the one before. */
static bool is_idle_again(const gv_work *w) {
    const grove_plan *before = w->memory ? w->memory->idle : NULL;
    bool same = before != NULL && w->acts.n == 0 && before->n_waits == w->waits.n &&
                before->deadline == w->deadline;
    for (size_t i = 0; same && i < w->waits.n; i++) {
        same = same_wait(&before->waits[i], &w->waits.v[i]);
    }
    return same;
}

grove_status gv_plan_copy(gv_work *w, grove_plan **out) {
    if (w->acts.n == 0 && w->waits.n == 0 && w->deadline == GROVE_NEVER) {
        /* Never written: ref and unref know it by its address. */
        *out = (grove_plan *)(uintptr_t)&empty_plan;
        return GROVE_OK;
    }
    if (is_idle_again(w)) {
        *out = grove_plan_ref(w->memory->idle);
        return GROVE_OK;
    }
    grove_plan *plan = gv_zalloc(w->env, sizeof *plan);
    if (plan == NULL) {
        return gv_work_nomem(w);
    }
    atomic_init(&plan->refs, 1);
    plan->env = grove_env_ref(w->env);
    gv_arena_init(&plan->arena, w->env);
    plan->deadline = w->deadline;
    plan->actions = gv_arena_array(&plan->arena, grove_action, w->acts.n + 1);
    plan->waits = gv_arena_array(&plan->arena, grove_wait, w->waits.n + 1);
    copier c = {.arena = &plan->arena, .failed = !plan->actions || !plan->waits};
    if (!c.failed) {
        copy_in_order(&c, w, plan);
        for (size_t i = 0; i < w->waits.n; i++) {
            copy_wait(&c, &w->waits.v[i], &plan->waits[i]);
        }
        plan->n_waits = (uint32_t)w->waits.n;
    }
    if (c.failed) {
        grove_plan_unref(plan);
        return gv_work_nomem(w);
    }
    if (w->memory != NULL && plan->n_actions == 0) {
        grove_plan_unref(w->memory->idle);
        w->memory->idle = grove_plan_ref(plan);
    }
    *out = plan;
    return GROVE_OK;
}
