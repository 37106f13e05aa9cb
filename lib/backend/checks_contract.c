/* SPDX-License-Identifier: Apache-2.0 */
/* The manners of the seven functions themselves. */
#include "backend/kit.h"
#include "value/doc.h"

static grove_op create_op(gv_kit *k, char letter) {
    grove_op op = gv_kit_op(GROVE_VERB_CREATE, GROVE_KIND_CONFIGMAP, NULL);
    op.ns = k->ns;
    op.token = ++k->next_token;
    op.body_doc = gv_kit_doc(k, "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"a\":\"1\"}}",
                             gv_kit_name(k, letter));
    return op;
}

static grove_status submit(gv_kit *k, const grove_op *op) {
    k->inside = true;
    grove_status st = k->backend.ops->submit(k->backend.impl, op, NULL);
    k->inside = false;
    return st;
}

static size_t completions_of(const gv_kit *k, uint64_t token) {
    size_t n = 0;
    for (size_t i = 0; i < k->completions.n; i++) {
        n += k->completions.v[i]->token == token ? 1 : 0;
    }
    return n;
}

static void nothing_inside(gv_kit *k) {
    (void)gv_kit_watch(k, GROVE_KIND_CONFIGMAP, NULL, NULL, NULL);
    grove_op op = create_op(k, 'a');
    WANT(k, op.body_doc && submit(k, &op) == GROVE_OK);
    WANT(k, !k->delivered_inside && k->completions.n == 0);
    gv_kit_settle(k);
    WANT(k, completions_of(k, op.token) == 1);
}

static void one_completion_each(gv_kit *k) {
    uint64_t tokens[5];
    for (int i = 0; i < 5; i++) {
        grove_op op = create_op(k, (char)('a' + i));
        tokens[i] = op.token;
        WANT(k, op.body_doc && submit(k, &op) == GROVE_OK);
    }
    gv_kit_settle(k);
    for (int i = 0; i < 5; i++) {
        WANT(k, completions_of(k, tokens[i]) == 1);
    }
}

static void texts_copied(gv_kit *k) {
    char name[64];
    (void)gv_fmt(name, sizeof name, "%s", gv_kit_name(k, 'a'));
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    grove_op op = gv_kit_op(GROVE_VERB_GET, GROVE_KIND_CONFIGMAP, name);
    op.ns = k->ns;
    op.token = ++k->next_token;
    WANT(k, submit(k, &op) == GROVE_OK);
    memset(name, 'x', sizeof name - 1);
    gv_kit_settle(k);
    WANT(k, completions_of(k, op.token) == 1);
    const gv_held *last = k->completions.v[k->completions.n - 1];
    WANT(k, last->token == op.token && last->completion.status == GROVE_OK);
}

static void token_zero(gv_kit *k) {
    grove_op op = create_op(k, 'a');
    op.token = 0;
    WANT(k, submit(k, &op) == GROVE_E_INVALID);
}

static void verb_unknown(gv_kit *k) {
    grove_op op = create_op(k, 'a');
    op.verb = 99;
    WANT(k, submit(k, &op) == GROVE_E_INVALID);
}

static void size_too_small(gv_kit *k) {
    grove_op op = create_op(k, 'a');
    op.size = 4;
    WANT(k, submit(k, &op) == GROVE_E_INVALID);
}

static void cancel_unknown(gv_kit *k) {
    WANT(k, k->backend.ops->cancel(k->backend.impl, ++k->next_token, NULL) == GROVE_E_NOT_FOUND);
}

static void cancel_completes(gv_kit *k) {
    grove_op op = create_op(k, 'a');
    WANT(k, op.body_doc && submit(k, &op) == GROVE_OK);
    WANT(k, k->backend.ops->cancel(k->backend.impl, op.token, NULL) == GROVE_OK);
    gv_kit_settle(k);
    WANT(k, completions_of(k, op.token) == 1);
    bool cancelled = k->completions.v[k->completions.n - 1]->completion.status == GROVE_E_CANCELLED;
    const grove_completion *c = gv_kit_get(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    WANT(k, !cancelled || (c->status == GROVE_E_NOT_FOUND) ||
                (k->backend.caps & GROVE_CAP_DETERMINISTIC) == 0);
}

static void sink_failure(gv_kit *k) {
    grove_op op = create_op(k, 'a');
    WANT(k, op.body_doc && submit(k, &op) == GROVE_OK);
    k->refuse_next = 1;
    grove_status st = GROVE_OK;
    for (int i = 0; i < 1000 && k->refuse_next > 0 && st == GROVE_OK; i++) {
        st = gv_kit_process(k, 0);
        if (k->options.wait && k->refuse_next > 0) {
            k->now = k->options.wait(k->options.wait_ctx, k->now + 1000000);
        }
    }
    WANT(k, st == GROVE_E_LIMIT);
    WANT(k, completions_of(k, op.token) == 0);
    gv_kit_settle(k);
    WANT(k, completions_of(k, op.token) == 1);
}

static void budget_kept(gv_kit *k) {
    for (int i = 0; i < 4; i++) {
        grove_op op = create_op(k, (char)('a' + i));
        WANT(k, op.body_doc && submit(k, &op) == GROVE_OK);
    }
    for (int i = 0; i < 1000 && k->completions.n == 0; i++) {
        size_t told = k->completions.n + k->events.n;
        WANT(k, gv_kit_process(k, 1) == GROVE_OK);
        WANT(k, k->completions.n + k->events.n <= told + 1);
        if (k->options.wait && k->completions.n == 0) {
            k->now = k->options.wait(k->options.wait_ctx, k->now + 1000000);
        }
    }
    gv_kit_settle(k);
    WANT(k, k->completions.n == 4);
}

static void dry_run(gv_kit *k) {
    grove_op op = create_op(k, 'a');
    op.flags = GROVE_OP_DRY_RUN;
    const grove_completion *c = op.body_doc ? gv_kit_run(k, &op) : NULL;
    WANT(k, gv_kit_is(c, GROVE_OK, 201));
    WANT(k, gv_str_is(gv_kit_text(c, "/metadata/name"), gv_kit_name(k, 'a')));
    WANT(k, gv_kit_is(gv_kit_get(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a')), GROVE_E_NOT_FOUND,
                      404));
}

static void control_unknown(gv_kit *k) {
    if (!k->backend.ops->control) {
        gv_kit_skip(k, "no control slot");
        return;
    }
    WANT(k, k->backend.ops->control(k->backend.impl, 9999, NULL, NULL) == GROVE_E_UNSUPPORTED);
}

static void event_without_reply(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    grove_op op = gv_kit_op(GROVE_VERB_EVENT, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    op.ns = k->ns;
    op.token = ++k->next_token;
    op.uid = gv_kit_text(made, "/metadata/uid").p;
    op.flags = GROVE_OP_NO_REPLY;
    op.body_doc = gv_kit_doc(k, "{\"type\":\"Normal\",\"reason\":\"Quiet\",\"note\":\"n\"}");
    WANT(k, op.body_doc && submit(k, &op) == GROVE_OK);
    gv_kit_settle(k);
    WANT(k, completions_of(k, op.token) == 0);
}

const gv_check gv_checks_contract[] = {
    {"nothing-delivered-inside-calls", 0, nothing_inside},
    {"one-completion-each", 0, one_completion_each},
    {"texts-are-copied", 0, texts_copied},
    {"token-zero-invalid", 0, token_zero},
    {"unknown-verb-invalid", 0, verb_unknown},
    {"short-struct-invalid", 0, size_too_small},
    {"cancel-unknown", 0, cancel_unknown},
    {"cancel-completes", 0, cancel_completes},
    {"sink-failure-delivers-again", 0, sink_failure},
    {"budget-is-kept", 0, budget_kept},
    {"dry-run-changes-nothing", GROVE_CAP_DRY_RUN, dry_run},
    {"unknown-control-unsupported", 0, control_unknown},
    {"event-without-reply", 0, event_without_reply},
    {NULL, 0, NULL},
};
