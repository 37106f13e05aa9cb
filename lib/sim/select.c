/* SPDX-License-Identifier: Apache-2.0 */
/* Reading selectors and matching objects. */
#include "sim/select.h"

#include "value/doc.h"

/* ---- fields ---- */

static const char *const any_kind[] = {"metadata.name", "metadata.namespace", NULL};
static const char *const of_pods[] = {
    "spec.nodeName", "spec.schedulerName",      "spec.restartPolicy",       "status.phase",
    "status.podIP",  "spec.serviceAccountName", "status.nominatedNodeName", NULL};
static const char *const of_events[] = {"involvedObject.kind",
                                        "involvedObject.namespace",
                                        "involvedObject.name",
                                        "involvedObject.uid",
                                        "involvedObject.apiVersion",
                                        "involvedObject.fieldPath",
                                        "reason",
                                        "involvedObject.resourceVersion",
                                        "reportingComponent",
                                        "source",
                                        "type",
                                        NULL};
static const char *const of_nodes[] = {"spec.unschedulable", NULL};
static const char *const of_namespaces[] = {"status.phase", NULL};
static const char *const of_secrets[] = {"type", NULL};

static const char *const *indexed(gv_kind kind) {
    static const char *const none[] = {NULL};
    switch (kind) {
    case GV_KIND_POD:
        return of_pods;
    case GV_KIND_EVENT:
        return of_events;
    case GV_KIND_NODE:
        return of_nodes;
    case GV_KIND_NAMESPACE:
        return of_namespaces;
    case GV_KIND_SECRET:
        return of_secrets;
    default:
        return none;
    }
}

static bool listed(const char *const *names, gv_str field) {
    for (size_t i = 0; names[i]; i++) {
        if (gv_str_is(field, names[i])) {
            return true;
        }
    }
    return false;
}

/* One term of "a=b,c==d,e!=f". */
typedef struct term {
    gv_str field, value;
    bool equal;
} term;

/* Takes the next term off *rest; false at the end or when it is malformed (*bad). */
static bool next_term(gv_str *rest, term *out, bool *bad) {
    if (rest->n == 0) {
        return false;
    }
    const char *comma = memchr(rest->p, ',', rest->n);
    gv_str t = {rest->p, comma ? (size_t)(comma - rest->p) : rest->n};
    *rest = comma ? (gv_str){comma + 1, rest->n - t.n - 1} : (gv_str){"", 0};
    const char *eq = t.n ? memchr(t.p, '=', t.n) : NULL;
    if (!eq) {
        *bad = true;
        return false;
    }
    size_t at = (size_t)(eq - t.p);
    out->equal = at == 0 || t.p[at - 1] != '!';
    out->field = gv_str_trim((gv_str){t.p, at - (out->equal ? 0 : 1)});
    size_t skip = at + 1 < t.n && t.p[at + 1] == '=' ? 2 : 1;
    out->value = gv_str_trim((gv_str){t.p + at + skip, t.n - at - skip});
    return true;
}

static grove_status check_fields(gv_kind kind, gv_str text, grove_error *err) {
    term t;
    bool bad = false;
    while (next_term(&text, &t, &bad)) {
        if (!listed(any_kind, t.field) && !listed(indexed(kind), t.field)) {
            return gv_error(err, GROVE_E_REFUSED, "field label not supported: %.*s", (int)t.field.n,
                            t.field.p);
        }
    }
    return bad ? gv_error(err, GROVE_E_REFUSED, "invalid field selector") : GROVE_OK;
}

static gv_str field_value(const grove_node *object, gv_str field) {
    char path[64];
    if (field.n >= sizeof path) {
        return (gv_str){"", 0};
    }
    memcpy(path, field.p, field.n);
    path[field.n] = '\0';
    const grove_node *n = gv_node_path(object, path);
    if (grove_node_type(n) == GROVE_BOOL) {
        return grove_node_is_true(n) ? GV_STR("true") : GV_STR("false");
    }
    if (!n && gv_str_is(field, "spec.unschedulable")) {
        return GV_STR("false");
    }
    return gv_node_str(n);
}

static bool fields_match(const char *fields, const grove_node *object) {
    gv_str rest = gv_str_c(fields);
    term t;
    bool bad = false;
    while (next_term(&rest, &t, &bad)) {
        if (gv_str_eq(field_value(object, t.field), t.value) != t.equal) {
            return false;
        }
    }
    return true;
}

/* ---- both ---- */

static grove_status copy_text(grove_env *env, const char *text, char **out) {
    if (!text || !text[0]) {
        return GROVE_OK;
    }
    size_t n = strlen(text) + 1;
    *out = gv_alloc(env, n);
    if (!*out) {
        return GROVE_E_NOMEM;
    }
    memcpy(*out, text, n);
    return GROVE_OK;
}

grove_status gv_sim_filter_make(grove_env *env, gv_kind kind, const char *ns, const char *labels,
                                const char *fields, gv_sim_filter *out_filter, grove_error *err) {
    gv_sim_filter f = {0};
    grove_status st = fields ? check_fields(kind, gv_str_c(fields), err) : GROVE_OK;
    if (st == GROVE_OK) {
        st = copy_text(env, ns, &f.ns);
    }
    if (st == GROVE_OK) {
        st = copy_text(env, fields, &f.fields);
    }
    if (st == GROVE_OK && labels && labels[0]) {
        st = gv_selector_parse(env, gv_str_c(labels), &f.labels, err);
        if (st < 0 && st != GROVE_E_NOMEM) {
            st = GROVE_E_REFUSED;
        }
    }
    if (st < 0) {
        gv_sim_filter_fini(env, &f);
        return st;
    }
    *out_filter = f;
    return GROVE_OK;
}

static void free_text(grove_env *env, char *text) {
    if (text) {
        gv_free(env, text, strlen(text) + 1);
    }
}

void gv_sim_filter_fini(grove_env *env, gv_sim_filter *f) {
    free_text(env, f->ns);
    free_text(env, f->fields);
    gv_selector_free(f->labels);
    *f = (gv_sim_filter){0};
}

bool gv_sim_filter_matches(const gv_sim_filter *f, const grove_node *object) {
    const grove_node *meta = grove_node_get(object, "metadata");
    return (!f->ns || gv_str_is(gv_node_get_str(meta, "namespace"), f->ns)) &&
           (!f->labels || gv_selector_matches(f->labels, grove_node_get(meta, "labels"))) &&
           (!f->fields || fields_match(f->fields, object));
}
