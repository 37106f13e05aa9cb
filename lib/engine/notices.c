/* SPDX-License-Identifier: Apache-2.0 */
/* Events for people: emitted once an action has ended, never retried, never waited for. */
#include "engine/engine.h"

#define SUCCESS "Successful"
#define FAILURE "Failed"
/* More than this waiting to go out: the oldest are dropped, as an event recorder does. */
#define NOTICES_MAX 4096

static void drop_first(grove_engine *e) {
    gv_notice *first = &e->notices.v[0];
    grove_plan_unref(first->plan);
    if (first->failure) {
        gv_free(e->env, first->failure, strlen(first->failure) + 1);
    }
    e->notices.n--;
    memmove(e->notices.v, e->notices.v + 1, e->notices.n * sizeof *e->notices.v);
}

void gv_engine_notices_fini(grove_engine *e) {
    while (e->notices.n) {
        drop_first(e);
    }
    gv_vec_fini(e->env, &e->notices);
    grove_doc_unref(e->op_body);
}

grove_status gv_engine_notice(grove_engine *e, grove_plan *plan, const grove_action *action,
                              const char *failure) {
    if (e->flags & GROVE_ENGINE_NO_EVENTS || !action->event[0]) {
        return GROVE_OK;
    }
    gv_notice notice = {.plan = plan, .action = action};
    if (e->notices.n >= NOTICES_MAX) {
        drop_first(e);
    }
    if (!gv_vec_reserve(e->env, &e->notices, e->notices.n + 1)) {
        return GROVE_E_NOMEM;
    }
    if (failure) {
        size_t n = strlen(failure) + 1;
        notice.failure = gv_alloc(e->env, n);
        if (!notice.failure) {
            return GROVE_E_NOMEM;
        }
        memcpy(notice.failure, failure, n);
    }
    grove_plan_ref(plan);
    e->notices.v[e->notices.n++] = notice;
    return GROVE_OK;
}

/* "PodCreateSuccessful" of a failed action becomes "PodCreateFailed". */
static void put_reason(grove_builder *b, const gv_notice *notice) {
    gv_str event = gv_str_c(notice->action->event);
    if (notice->failure && gv_str_ends(event, GV_STR(SUCCESS))) {
        char reason[96];
        int cut = (int)(event.n - (sizeof SUCCESS - 1));
        gv_fmt(reason, sizeof reason, "%.*s" FAILURE, cut, event.p);
        grove_builder_string(b, "reason", reason);
    } else {
        grove_builder_string(b, "reason", event.p);
    }
}

static grove_status make_body(grove_engine *e, const gv_notice *notice, grove_doc **out,
                              grove_error *err) {
    grove_builder *b = NULL;
    if (grove_builder_new(e->env, &b) < 0) {
        return gv_error_nomem(err);
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "type", notice->failure ? "Warning" : "Normal");
    put_reason(b, notice);
    grove_builder_string(b, "note", notice->failure ? notice->failure : notice->action->text);
    grove_builder_string(b, "action", grove_verb_name(notice->action->verb));
    grove_builder_close(b);
    grove_status st = grove_builder_finish(b, out, err);
    grove_builder_free(b);
    return st;
}

grove_status gv_engine_next_notice(grove_engine *e, bool *out, grove_error *err) {
    *out = false;
    if (e->notices.n == 0) {
        return GROVE_OK;
    }
    grove_doc *body = NULL;
    grove_status st = make_body(e, &e->notices.v[0], &body, err);
    if (st < 0) {
        return st;
    }
    const grove_action *a = e->notices.v[0].action;
    grove_doc_unref(e->op_body);
    grove_plan_unref(e->op_plan);
    e->op_body = body;
    e->op_plan = grove_plan_ref(e->notices.v[0].plan);
    e->op = (grove_op){.size = (uint32_t)sizeof e->op,
                       .verb = GROVE_VERB_EVENT,
                       .token = ++e->next_token,
                       .kind = a->event_kind,
                       .flags = GROVE_OP_NO_REPLY,
                       .ns = a->ns,
                       .name = a->event_name,
                       .uid = a->event_uid[0] ? a->event_uid : NULL,
                       .body_doc = body,
                       .body = grove_doc_root(body),
                       .reason = a->reason,
                       .grace_seconds = GROVE_GRACE_DEFAULT};
    drop_first(e);
    e->stats.operations++;
    *out = true;
    return GROVE_OK;
}
