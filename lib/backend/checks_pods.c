/* SPDX-License-Identifier: Apache-2.0 */
/* Gates, binding, eviction, events. */
#include "backend/kit.h"
#include "value/doc.h"

static const grove_completion *bind(gv_kit *k, char letter, const char *uid) {
    grove_op op = gv_kit_op(GROVE_VERB_BIND, GROVE_KIND_POD, gv_kit_name(k, letter));
    op.target = "no-such-node";
    op.uid = uid;
    return gv_kit_run(k, &op);
}

static void gated(gv_kit *k) {
    const grove_completion *c = gv_kit_pod(k, 'a', true);
    WANT(k, gv_kit_is(c, GROVE_OK, 201));
    WANT(k, gv_str_is(gv_kit_text(c, "/status/phase"), "Pending"));
    WANT(k, gv_str_is(gv_kit_text(c, "/status/conditions/0/reason"), "SchedulingGated"));
    WANT(k, gv_kit_is(bind(k, 'a', NULL), GROVE_E_CONFLICT, 409));
}

static grove_doc *remove_gate(gv_kit *k, const char *gate) {
    return gv_kit_doc(
        k,
        "[{\"op\":\"test\",\"path\":\"/spec/schedulingGates/0/name\",\"value\":\"%s\"},"
        "{\"op\":\"remove\",\"path\":\"/spec/schedulingGates/0\"}]",
        gate);
}

static void gate_removed(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_pod(k, 'a', true), GROVE_OK, 201));
    const grove_completion *c = gv_kit_patch(k, GROVE_KIND_POD, gv_kit_name(k, 'a'),
                                             GROVE_PATCH_JSON, remove_gate(k, "example.com/other"));
    WANT(k, gv_kit_is(c, GROVE_E_REFUSED, 422));
    c = gv_kit_patch(k, GROVE_KIND_POD, gv_kit_name(k, 'a'), GROVE_PATCH_JSON,
                     remove_gate(k, "example.com/gate"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, grove_node_size(grove_node_at_path(c->object, "/spec/schedulingGates")) == 0);
    WANT(k, gv_kit_int(c, "/metadata/generation") == 2);
}

static void gate_narrowed(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_pod(k, 'a', true), GROVE_OK, 201));
    const grove_completion *c = gv_kit_patch(
        k, GROVE_KIND_POD, gv_kit_name(k, 'a'), GROVE_PATCH_JSON,
        gv_kit_doc(k, "[{\"op\":\"add\",\"path\":\"/spec/nodeSelector\",\"value\":{\"x\":\"y\"}},"
                      "{\"op\":\"remove\",\"path\":\"/spec/schedulingGates/0\"}]"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_is(gv_kit_text(c, "/spec/nodeSelector/x"), "y"));
}

static void gate_not_added(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_pod(k, 'a', false), GROVE_OK, 201));
    WANT(k, gv_kit_is(gv_kit_patch(k, GROVE_KIND_POD, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
                                   gv_kit_doc(k, "{\"spec\":{\"schedulingGates\":[{\"name\":"
                                                 "\"example.com/late\"}]}}")),
                      GROVE_E_REFUSED, 422));
}

static void spec_fixed(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_pod(k, 'a', false), GROVE_OK, 201));
    WANT(k, gv_kit_is(gv_kit_patch(k, GROVE_KIND_POD, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
                                   gv_kit_doc(k, "{\"spec\":{\"schedulerName\":\"other\"}}")),
                      GROVE_E_REFUSED, 422));
    WANT(k, gv_kit_is(gv_kit_patch(k, GROVE_KIND_POD, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
                                   gv_kit_doc(k, "{\"spec\":{\"nodeName\":\"n\"}}")),
                      GROVE_E_REFUSED, 422));
}

static void binds(gv_kit *k) {
    const grove_completion *made = gv_kit_pod(k, 'a', false);
    WANT(k, gv_kit_is(bind(k, 'a', "00000000-0000-0000-0000-000000000000"), GROVE_E_CONFLICT, 409));
    WANT(k, gv_kit_is(bind(k, 'a', gv_kit_text(made, "/metadata/uid").p), GROVE_OK, 201));
    const grove_completion *c = gv_kit_get(k, GROVE_KIND_POD, gv_kit_name(k, 'a'));
    WANT(k, gv_str_is(gv_kit_text(c, "/spec/nodeName"), "no-such-node"));
    WANT(k, gv_kit_is(bind(k, 'a', NULL), GROVE_E_CONFLICT, 409));
    WANT(k, gv_kit_is(bind(k, 'z', NULL), GROVE_E_NOT_FOUND, 404));
}

static void unbound_goes_at_once(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_pod(k, 'a', false), GROVE_OK, 201));
    WANT(k, gv_kit_is(gv_kit_delete(k, GROVE_KIND_POD, gv_kit_name(k, 'a')), GROVE_OK, 200));
    WANT(k, gv_kit_is(gv_kit_get(k, GROVE_KIND_POD, gv_kit_name(k, 'a')), GROVE_E_NOT_FOUND, 404));
}

static void evicts(gv_kit *k) {
    const grove_completion *made = gv_kit_pod(k, 'a', false);
    grove_op op = gv_kit_op(GROVE_VERB_EVICT, GROVE_KIND_POD, gv_kit_name(k, 'a'));
    op.uid = "00000000-0000-0000-0000-000000000000";
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_E_CONFLICT, 409));
    op.uid = gv_kit_text(made, "/metadata/uid").p;
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_OK, 201));
    op.uid = NULL;
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_E_NOT_FOUND, 404));
}

static void event_made(gv_kit *k) {
    char field[120];
    const grove_completion *made = gv_kit_config_map(k, 'a');
    grove_op op = gv_kit_op(GROVE_VERB_EVENT, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    op.uid = gv_kit_text(made, "/metadata/uid").p;
    op.body_doc = gv_kit_doc(
        k, "{\"type\":\"Normal\",\"reason\":\"Checked\",\"note\":\"by the kit\"}");
    WANT(k, op.body_doc != NULL);
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_OK, 0));
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_OK, 0));
    gv_kit_settle(k);
    (void)gv_fmt(field, sizeof field, "involvedObject.name=%s", gv_kit_name(k, 'a'));
    op = gv_kit_op(GROVE_VERB_LIST, GROVE_KIND_EVENT, NULL);
    op.field_selector = field;
    const grove_completion *c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, grove_node_size(grove_node_get(c->object, "items")) == 1); /* counted, not repeated */
    WANT(k, gv_str_is(gv_kit_text(c, "/items/0/reason"), "Checked"));
}

const gv_check gv_checks_pods[] = {
    {"gated-pod-not-bound", 0, gated},
    {"gate-removed-by-json-patch", 0, gate_removed},
    {"gated-pod-narrowed", 0, gate_narrowed},
    {"gate-not-added-late", 0, gate_not_added},
    {"pod-spec-fixed", 0, spec_fixed},
    {"bind-once", 0, binds},
    {"unbound-pod-goes-at-once", 0, unbound_goes_at_once},
    {"evict", GROVE_CAP_EVICT, evicts},
    {"event-made-and-counted", GROVE_CAP_SELECTORS, event_made},
    {NULL, 0, NULL},
};
