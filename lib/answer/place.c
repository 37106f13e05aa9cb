/* SPDX-License-Identifier: Apache-2.0 */
/* grove_place: a document of nodes and gangs, answered by the scheduling engine. */
#include <grove/sched.h>
#include <string.h>

#include "answer/answer.h"
#include "base/mem.h"
#include "value/build.h"

typedef struct placing {
    grove_env *env;
    const grove_doc *doc;
    grove_error *err;
    grove_sched *sched;
    grove_gang *gang;
    grove_decision *decision;
    uint32_t topology;
    bool explain;
    gv_arena a;    /* for one node or gang */
    char path[64]; /* of what is being read */
} placing;

static grove_status refuse(placing *p, const grove_node *at, const char *message) {
    return gv_answer_refuse(p->err, p->doc, at, p->path, message);
}

static const char *name_of(const grove_node *object) {
    return grove_node_type(grove_node_get(object, "name")) == GROVE_STRING
               ? grove_node_text(grove_node_get(object, "name"))
               : NULL;
}

static void set_path(placing *p, const char *outer, uint32_t i, const char *inner, uint32_t k) {
    gv_arena a;
    gv_arena_init(&a, p->env);
    char *text = inner ? gv_arena_fmt(&a, "%s[%u].%s[%u]", outer, i, inner, k)
                       : gv_arena_fmt(&a, "%s[%u]", outer, i);
    size_t n = text ? strlen(text) : 0;
    n = n < sizeof p->path ? n : sizeof p->path - 1;
    if (text) {
        memcpy(p->path, text, n);
    }
    p->path[n] = '\0';
    gv_arena_fini(&a);
}

/* ---- reading ---- */

/* Amounts by resource in the order of the scheduler's; resources that it does not know are made. */
static grove_status read_amounts(placing *p, const grove_node *amounts, int64_t **out_amounts,
                                 uint32_t *out_n) {
    uint32_t known = grove_sched_resource_count(p->sched);
    uint32_t most = known + grove_node_size(amounts);
    int64_t *v = gv_arena_array(&p->a, int64_t, most);
    if (!v) {
        return gv_error_nomem(p->err);
    }
    GV_EACH(one, amounts) {
        uint32_t id = 0;
        grove_status st = grove_sched_resource(p->sched, grove_node_key(one, NULL), &id);
        if (st < 0) {
            return gv_error(p->err, st, "a resource could not be added");
        }
        if (id >= most || grove_node_int64(one, &v[id]) < 0 || v[id] < 0) {
            return refuse(p, one, "an amount is a whole number, zero or more");
        }
    }
    *out_amounts = v;
    *out_n = grove_sched_resource_count(p->sched);
    return GROVE_OK;
}

static grove_status read_labels(placing *p, const grove_node *labels,
                                const grove_sched_label **out_labels, uint32_t *out_n) {
    grove_sched_label *v = gv_arena_array(&p->a, grove_sched_label, grove_node_size(labels) + 1);
    uint32_t n = 0;
    if (!v) {
        return gv_error_nomem(p->err);
    }
    GV_EACH(one, labels) {
        if (grove_node_type(one) != GROVE_STRING) {
            return refuse(p, one, "a label is a string");
        }
        v[n++] = (grove_sched_label){grove_node_key(one, NULL), grove_node_text(one)};
    }
    *out_labels = v;
    *out_n = n;
    return GROVE_OK;
}

static grove_status read_node(placing *p, const grove_node *object) {
    grove_sched_node node = {.size = (uint32_t)sizeof node, .name = name_of(object)};
    int64_t *capacity = NULL;
    uint32_t id;
    if (!node.name) {
        return refuse(p, object, "a node has a name");
    }
    node.flags = grove_node_is_true(grove_node_get(object, "unschedulable"))
                     ? GROVE_NODE_UNSCHEDULABLE
                     : 0;
    grove_status st = read_labels(p, grove_node_get(object, "labels"), &node.labels,
                                  &node.n_labels);
    if (st == GROVE_OK) {
        st = read_amounts(p, grove_node_get(object, "capacity"), &capacity, &node.n_capacity);
    }
    if (st == GROVE_OK && capacity && !grove_node_get(grove_node_get(object, "capacity"), "pods")) {
        capacity[0] = INT32_MAX; /* who does not count pods bounds none */
    }
    node.capacity = capacity;
    return st < 0 ? st : grove_sched_node_add(p->sched, &node, &id, p->err);
}

static grove_status read_topology(placing *p, const grove_node *keys) {
    const char **v = gv_arena_array(&p->a, const char *, grove_node_size(keys) + 1);
    uint32_t n = 0;
    if (!v) {
        return gv_error_nomem(p->err);
    }
    memcpy(p->path, "topology", sizeof "topology");
    GV_EACH(key, keys) {
        if (grove_node_type(key) != GROVE_STRING) {
            return refuse(p, key, "a level is a label key");
        }
        v[n++] = grove_node_text(key);
    }
    return grove_sched_topology(p->sched, "default", v, n, &p->topology, p->err);
}

static grove_level level_of(const placing *p, const grove_node *object, const char *key) {
    const char *text = grove_node_text(grove_node_get(object, key));
    return text && text[0] ? grove_sched_level(p->sched, p->topology, text) : GROVE_LEVEL_NONE;
}

#define COUNT_MAX 100000 /* pods of a podgroup: a short request costs no more than this */

/* A count from 0 to the bound; `otherwise` where it is not given. -1: it is no such number. */
static int64_t count_of(const grove_node *object, const char *key, int64_t otherwise) {
    const grove_node *node = grove_node_get(object, key);
    int64_t n = otherwise;
    if (node && grove_node_int64(node, &n) < 0) {
        return -1;
    }
    return n < 0 || n > COUNT_MAX ? -1 : n;
}

static grove_status read_podgroup(placing *p, const grove_node *object) {
    grove_sched_class_spec spec = {.size = (uint32_t)sizeof spec};
    int64_t *requests = NULL;
    uint32_t cls = 0, id;
    int64_t count = count_of(object, "count", 1), min = count_of(object, "min", count);
    if (!name_of(object) || count < 0 || min < 0 || min > count) {
        return refuse(p, object, "a podgroup has a name and 0 <= min <= count <= 100000");
    }
    grove_status st = read_amounts(p, grove_node_get(object, "requests"), &requests,
                                   &spec.n_requests);
    if (st == GROVE_OK) {
        st = read_labels(p, grove_node_get(object, "selector"), &spec.selector, &spec.n_selector);
    }
    spec.requests = requests;
    st = st < 0 ? st : grove_sched_class(p->sched, &spec, &cls, p->err);
    if (st < 0) {
        return st;
    }
    st = grove_gang_podgroup(p->gang, name_of(object), cls, (uint32_t)min, (uint32_t)count,
                             level_of(p, object, "required"), level_of(p, object, "preferred"),
                             &id);
    return st < 0 ? gv_error(p->err, st, "the podgroup could not be added") : st;
}

static grove_status read_group(placing *p, const grove_node *object, const grove_node *podgroups) {
    const grove_node *names = grove_node_get(object, "podgroups");
    uint32_t *members = gv_arena_array(&p->a, uint32_t, grove_node_size(names) + 1);
    uint32_t n = 0, id;
    if (!members) {
        return gv_error_nomem(p->err);
    }
    GV_EACH(name, names) {
        uint32_t i = 0;
        bool found = false;
        GV_EACH(podgroup, podgroups) {
            found = found || grove_node_equal(grove_node_get(podgroup, "name"), name);
            i += !found;
        }
        if (!found) {
            return refuse(p, name, "a group names a podgroup that is not there");
        }
        members[n++] = i;
    }
    if (!name_of(object)) {
        return refuse(p, object, "a group has a name");
    }
    grove_status st = grove_gang_group(p->gang, name_of(object), members, n,
                                       level_of(p, object, "required"),
                                       level_of(p, object, "preferred"), &id);
    return st < 0 ? gv_error(p->err, st, "the group could not be added") : st;
}

static grove_status read_gang(placing *p, const grove_node *object, uint32_t index) {
    const grove_node *podgroups = grove_node_get(object, "podgroups");
    int64_t priority = 0;
    uint32_t i = 0;
    set_path(p, "gangs", index, NULL, 0);
    if (!name_of(object) || grove_node_size(podgroups) == 0) {
        return refuse(p, object, "a gang has a name and podgroups");
    }
    if (grove_node_get(object, "priority") &&
        (grove_node_int64(grove_node_get(object, "priority"), &priority) < 0 ||
         priority != (int32_t)priority)) {
        return refuse(p, object, "a priority is a whole number of 32 bits");
    }
    grove_status st = grove_gang_begin(p->gang, p->topology, name_of(object));
    GV_EACH(podgroup, podgroups) {
        set_path(p, "gangs", index, "podgroups", i++);
        st = st < 0 ? st : read_podgroup(p, podgroup);
    }
    i = 0;
    GV_EACH(group, grove_node_get(object, "groups")) {
        set_path(p, "gangs", index, "groups", i++);
        st = st < 0 ? st : read_group(p, group, podgroups);
    }
    st = st < 0 ? st
                : grove_gang_pack(p->gang, level_of(p, object, "required"),
                                  level_of(p, object, "preferred"));
    return st < 0 ? st : grove_gang_priority(p->gang, (int32_t)priority);
}

/* ---- answering ---- */

static const char *verdict_word(grove_verdict verdict) {
    return verdict == GROVE_PLACED       ? "placed"
           : verdict == GROVE_INFEASIBLE ? "infeasible"
                                         : "unknown";
}

/* Node -> pods, in the order in which nodes first occur. */
static void put_nodes(placing *p, grove_builder *b, const char *podgroup, uint32_t id) {
    uint32_t n = 0;
    const uint32_t *nodes = grove_decision_nodes(p->decision, id, &n);
    grove_builder_open_object(b, podgroup);
    for (uint32_t i = 0; i < n; i++) {
        int64_t here = 0;
        bool first = nodes[i] != GROVE_SCHED_NONE;
        for (uint32_t k = 0; k < n; k++) {
            here += nodes[k] == nodes[i];
            first = first && (nodes[k] != nodes[i] || k >= i);
        }
        if (first) {
            grove_builder_int64(b, grove_sched_node_name(p->sched, nodes[i]), here);
        }
    }
    grove_builder_close(b);
}

static grove_status put_explanation(placing *p, grove_builder *b) {
    grove_buf text;
    grove_doc *doc = NULL;
    grove_buf_init(&text, p->env);
    grove_status st = grove_sched_explain(p->sched, p->gang, p->decision, GROVE_EXPLAIN_JSON, &text,
                                          p->err);
    if (st == GROVE_OK) {
        st = grove_doc_parse_json(p->env, text.data, (size_t)text.len, 0, &doc, p->err);
    }
    if (st == GROVE_OK) {
        grove_builder_link(b, "explanation", doc, grove_doc_root(doc));
    }
    grove_doc_unref(doc);
    grove_buf_fini(&text);
    return st;
}

static grove_status put_gang(placing *p, grove_builder *b, const grove_node *object) {
    uint32_t i = 0, id;
    grove_verdict verdict = grove_decision_verdict(p->decision);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", name_of(object));
    grove_builder_string(b, "verdict", verdict_word(verdict));
    grove_builder_open_object(b, "placement");
    GV_EACH(podgroup, grove_node_get(object, "podgroups")) {
        if (verdict == GROVE_PLACED) {
            put_nodes(p, b, name_of(podgroup), i++);
        }
    }
    grove_builder_close(b);
    grove_builder_int64(b, "score", grove_decision_score(p->decision));
    grove_builder_int64(b, "steps", (int64_t)grove_decision_steps(p->decision));
    grove_status st = p->explain ? put_explanation(p, b) : GROVE_OK;
    grove_builder_close(b);
    if (st == GROVE_OK && verdict == GROVE_PLACED) {
        st = grove_sched_commit(p->sched, p->gang, p->decision, &id, p->err);
    }
    return st;
}

static grove_status place_gangs(placing *p, const grove_node *gangs, grove_builder *b) {
    grove_status st = GROVE_OK;
    uint32_t i = 0;
    grove_builder_open_array(b, "gangs");
    GV_EACH(object, gangs) {
        gv_arena_reset(&p->a);
        st = st < 0 ? st : read_gang(p, object, i++);
        st = st < 0 ? st : grove_sched_place(p->sched, p->gang, NULL, p->decision, p->err);
        st = st < 0 ? st : put_gang(p, b, object);
    }
    grove_builder_close(b);
    return st;
}

static grove_status open_sched(placing *p, const grove_node *request) {
    uint32_t i = 0;
    grove_status st = grove_sched_new(p->env, NULL, &p->sched, p->err);
    st = st < 0 ? st : read_topology(p, grove_node_get(request, "topology"));
    GV_EACH(node, grove_node_get(request, "nodes")) {
        set_path(p, "nodes", i++, NULL, 0);
        gv_arena_reset(&p->a);
        st = st < 0 ? st : read_node(p, node);
    }
    st = st < 0 ? st : grove_gang_new(p->sched, &p->gang);
    return st < 0 ? st : grove_decision_new(p->sched, &p->decision);
}

grove_status grove_place(grove_env *env, grove_doc *request, grove_doc **out_answer,
                         grove_error *err) {
    grove_builder *b = NULL;
    if (!env || !request || !out_answer) {
        return gv_error(err, GROVE_E_INVALID, "environment, request and answer are required");
    }
    const grove_node *root = grove_doc_root(request);
    placing p = {.env = env, .doc = request, .err = err};
    p.explain = grove_node_is_true(grove_node_get(root, "explain"));
    if (grove_node_type(grove_node_get(root, "gangs")) != GROVE_ARRAY) {
        return gv_answer_refuse(err, request, root, "gangs", "a request has a list of gangs");
    }
    gv_arena_init(&p.a, env);
    grove_status st = gv_answer_begin(env, "Placements", &b, err);
    if (st == GROVE_OK) {
        st = open_sched(&p, root);
        st = st < 0 ? st : place_gangs(&p, grove_node_get(root, "gangs"), b);
        st = gv_answer_end(b, st, out_answer, err);
    }
    if (st == GROVE_E_NOMEM) {
        (void)gv_error_nomem(err);
    }
    grove_decision_free(p.decision);
    grove_gang_free(p.gang);
    grove_sched_free(p.sched);
    gv_arena_fini(&p.a);
    return st;
}
