/* SPDX-License-Identifier: Apache-2.0 */
/* A pod spec as a class of the placement engine. */
#include "engine/view_class.h"

#include "value/doc.h"

#define MOST_ASKED (INT64_MAX / 65536)

typedef struct work {
    gv_view *v;
    bool failed;
} work;

static void *array(work *w, size_t elem, uint32_t n) {
    void *p = gv_arena_zalloc(&w->v->scratch, elem * (n ? n : 1));
    w->failed = w->failed || !p;
    return p;
}

/* Texts of nodes are NUL-terminated and live as long as their document, which the store pins. */
static const char *text(const grove_node *object, const char *key) {
    return gv_node_get_str(object, key).p;
}

/* Bytes are counted in KiB: whole petabytes fit then. What is asked is rounded up, what there is down,
 * so that no node is overfilled. */
static bool is_bytes(const char *name) {
    return strcmp(name, "memory") == 0 || strcmp(name, "ephemeral-storage") == 0 ||
           strncmp(name, "hugepages-", 10) == 0;
}

static int64_t amount_of(const gv_request *r, bool asked) {
    int64_t amount = is_bytes(r->name) ? r->amount / 1024 + (asked && r->amount % 1024 != 0)
                                       : r->amount;
    if (!asked) {
        return amount;
    }
    /* A gang may ask for nonsense; sums over its pods must not overflow. No node has so much. */
    return amount < 0 ? 0 : amount > MOST_ASKED ? MOST_ASKED : amount;
}

grove_status gv_view_amounts(gv_view *v, const gv_request *list, uint32_t n, bool asked,
                             int64_t **out, uint32_t *out_n) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t resource = 0;
        grove_status st = grove_sched_resource(v->sched, list[i].name, &resource);
        if (st < 0) {
            return st;
        }
    }
    uint32_t count = grove_sched_resource_count(v->sched);
    int64_t *amounts = gv_arena_array(&v->scratch, int64_t, count);
    if (!amounts) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t resource = 0;
        grove_status st = grove_sched_resource(v->sched, list[i].name, &resource);
        if (st < 0) {
            return st;
        }
        amounts[resource] = amount_of(&list[i], asked);
    }
    *out = amounts;
    *out_n = count;
    return GROVE_OK;
}

static grove_status read_requests(gv_view *v, const grove_node *spec, grove_sched_class_spec *out,
                                  grove_error *err) {
    v->requests.n = 0;
    grove_status st = gv_podspec_requests(v->env, spec, &v->requests, err);
    if (st < 0) {
        return st;
    }
    gv_request *list = gv_arena_array(&v->scratch, gv_request, v->requests.n + 1);
    if (!list) {
        return gv_error_nomem(err);
    }
    for (size_t i = 0; i < v->requests.n; i++) {
        list[i].name = gv_arena_dup(&v->scratch, v->requests.v[i].name);
        list[i].amount = v->requests.v[i].amount;
        if (!list[i].name) {
            return gv_error_nomem(err);
        }
    }
    int64_t *amounts = NULL;
    st = gv_view_amounts(v, list, (uint32_t)v->requests.n, true, &amounts, &out->n_requests);
    out->requests = amounts;
    return st < 0 ? gv_error(err, st, "resources could not be read") : st;
}

static void read_selector(work *w, const grove_node *spec, grove_sched_class_spec *out) {
    const grove_node *selector = grove_node_get(spec, "nodeSelector");
    grove_sched_label *labels = array(w, sizeof *labels, grove_node_size(selector));
    uint32_t n = 0;
    GV_EACH(value, selector) {
        if (labels) {
            labels[n++] = (grove_sched_label){gv_node_key(value).p, gv_node_str(value).p};
        }
    }
    out->selector = labels;
    out->n_selector = n;
}

static grove_match_op match_op(gv_str word) {
    static const struct {
        const char *word;
        grove_match_op op;
    } ops[] = {{"In", GROVE_MATCH_IN},         {"NotIn", GROVE_MATCH_NOT_IN},
               {"Exists", GROVE_MATCH_EXISTS}, {"DoesNotExist", GROVE_MATCH_DOES_NOT_EXIST},
               {"Gt", GROVE_MATCH_GT},         {"Lt", GROVE_MATCH_LT}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (gv_str_is(word, ops[i].word)) {
            return ops[i].op;
        }
    }
    return GROVE_MATCH_IN; /* an unknown word with its values: matches nothing else */
}

static void read_requirement(work *w, const grove_node *expression, bool on_name,
                             grove_sched_requirement *out) {
    grove_match_op op = match_op(gv_node_get_str(expression, "operator"));
    const grove_node *values = grove_node_get(expression, "values");
    const char **list = array(w, sizeof *list, grove_node_size(values));
    uint32_t n = 0;
    GV_EACH(value, values) {
        if (list) {
            list[n++] = gv_node_str(value).p;
        }
    }
    out->key = text(expression, "key");
    out->values = list;
    out->n_values = n;
    out->op = !on_name                   ? op
              : op == GROVE_MATCH_NOT_IN ? GROVE_MATCH_NAME_NOT_IN
                                         : GROVE_MATCH_NAME_IN;
}

static void read_term(work *w, const grove_node *term, grove_sched_term *out) {
    const grove_node *labels = grove_node_get(term, "matchExpressions");
    const grove_node *fields = grove_node_get(term, "matchFields");
    uint32_t n = 0, most = grove_node_size(labels) + grove_node_size(fields);
    grove_sched_requirement *list = array(w, sizeof *list, most);
    if (!list) {
        return;
    }
    GV_EACH(expression, labels) {
        read_requirement(w, expression, false, &list[n++]);
    }
    GV_EACH(expression, fields) { /* metadata.name is the only field there is */
        read_requirement(w, expression, true, &list[n++]);
    }
    out->requirements = list;
    out->n_requirements = n;
}

bool gv_view_term(gv_view *v, const grove_node *term, grove_sched_term *out) {
    work w = {.v = v};
    *out = (grove_sched_term){0};
    read_term(&w, term, out);
    return !w.failed;
}

/* Lists of terms each of which must have one that holds: node affinity, and a list for each volume. */
static void read_affinity(work *w, const gv_view_owner *owner, const grove_node *spec,
                          grove_sched_class_spec *out) {
    const grove_node *affinity = gv_node_path(spec, "affinity.nodeAffinity");
    const grove_node *required = gv_node_path(
        affinity, "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    const grove_node *preferred = grove_node_get(affinity,
                                                 "preferredDuringSchedulingIgnoredDuringExecution");
    grove_sched_terms *lists = array(w, sizeof *lists, 1 + gv_view_volume_lists_max(spec));
    if (!lists) {
        return;
    }
    if (required) {
        grove_sched_term *list = array(w, sizeof *list, grove_node_size(required));
        uint32_t n = 0;
        GV_EACH(term, required) {
            if (list) {
                read_term(w, term, &list[n++]);
            }
        }
        lists[out->n_required++] = (grove_sched_terms){list, n, 0};
    }
    w->failed = !gv_view_volumes(w->v, owner, spec, lists, &out->n_required) || w->failed;
    out->required = lists;
    grove_sched_term *wishes = array(w, sizeof *wishes, grove_node_size(preferred));
    uint32_t n = 0;
    GV_EACH(wish, preferred) {
        if (wishes) {
            read_term(w, grove_node_get(wish, "preference"), &wishes[n]);
            wishes[n++].weight = (int32_t)gv_node_get_int(wish, "weight", 1);
        }
    }
    out->preferred = wishes;
    out->n_preferred = n;
}

static grove_taint_effect effect_of(gv_str word) {
    return gv_str_is(word, "NoSchedule")         ? GROVE_TAINT_NO_SCHEDULE
           : gv_str_is(word, "PreferNoSchedule") ? GROVE_TAINT_PREFER_NO_SCHEDULE
           : gv_str_is(word, "NoExecute")        ? GROVE_TAINT_NO_EXECUTE
                                                 : GROVE_TAINT_ANY;
}

static void read_tolerations(work *w, const grove_node *spec, grove_sched_class_spec *out) {
    const grove_node *list = grove_node_get(spec, "tolerations");
    grove_sched_toleration *tolerations = array(w, sizeof *tolerations, grove_node_size(list));
    uint32_t n = 0;
    GV_EACH(entry, list) {
        if (tolerations) {
            tolerations[n++] = (grove_sched_toleration){
                .key = text(entry, "key"),
                .value = text(entry, "value"),
                .effect = effect_of(gv_node_get_str(entry, "effect")),
                .exists = gv_str_is(gv_node_get_str(entry, "operator"), "Exists")};
        }
    }
    out->tolerations = tolerations;
    out->n_tolerations = n;
}

/* Containers, and init containers that stay beside them; one that ends keeps no port. */
static bool keeps_ports(const grove_node *container, int list) {
    return list == 0 || gv_str_is(gv_node_get_str(container, "restartPolicy"), "Always");
}

static void read_ports(work *w, const grove_node *spec, grove_sched_class_spec *out) {
    const grove_node *lists[] = {grove_node_get(spec, "containers"),
                                 grove_node_get(spec, "initContainers")};
    bool host_network = gv_node_get_bool(spec, "hostNetwork");
    uint32_t most = 0, n = 0;
    for (int k = 0; k < 2; k++) {
        GV_EACH(container, lists[k]) {
            most += grove_node_size(grove_node_get(container, "ports"));
        }
    }
    grove_sched_port *ports = array(w, sizeof *ports, most);
    for (int k = 0; k < 2; k++) {
        GV_EACH(container, lists[k]) {
            GV_EACH(port, grove_node_get(container, "ports")) {
                /* on the host's network a server makes every container port one of the host */
                int64_t inner = host_network ? gv_node_get_int(port, "containerPort", 0) : 0;
                int64_t number = gv_node_get_int(port, "hostPort", inner);
                if (ports && keeps_ports(container, k) && number > 0 && number <= UINT16_MAX) {
                    gv_str protocol = gv_node_get_str(port, "protocol");
                    ports[n++] = (grove_sched_port){.protocol = protocol.n ? protocol.p : NULL,
                                                    .ip = text(port, "hostIP"),
                                                    .port = (uint32_t)number};
                }
            }
        }
    }
    out->ports = ports;
    out->n_ports = n;
}

/* ---- what is not taken into account ---- */

bool gv_view_note_add(gv_view *v, gv_str clique, const char *path, const char *text) {
    gv_view_note note = {gv_arena_dup(&v->scratch, clique), path, text};
    return note.clique && path && text && gv_vec_push(v->env, &v->notes, note);
}

static void note_rest(work *w, const gv_view_owner *owner, const grove_node *spec) {
    static const struct {
        const char *path, *text;
    } unknown[] = {
        {"topologySpreadConstraints", "pods are not spread by it; use topology constraints"},
        {"resourceClaims", "devices of resource claims are not counted"},
        {"runtimeClassName",
         "what a RuntimeClass adds (nodes, tolerations, overhead) is not known"},
        {"affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution",
         "wishes about other pods are not weighed"},
        {"affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution",
         "wishes about other pods are not weighed"}};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const grove_node *field = gv_node_path(spec, unknown[i].path);
        if (grove_node_size(field) > 0 || gv_node_str(field).n > 0) {
            w->failed = !gv_view_note_add(w->v, owner->clique, unknown[i].path, unknown[i].text) ||
                        w->failed;
        }
    }
    uint32_t i = 0;
    GV_EACH(entry, grove_node_get(spec, "tolerations")) {
        gv_str op = gv_node_get_str(entry, "operator");
        if (op.n > 0 && !gv_str_is(op, "Equal") && !gv_str_is(op, "Exists")) {
            const char *path = gv_arena_fmt(&w->v->scratch, "tolerations[%u].operator", i);
            w->failed = !gv_view_note_add(w->v, owner->clique, path,
                                          "only Equal and Exists are understood; taken as Equal") ||
                        w->failed;
        }
        i++;
    }
}

grove_status gv_view_class(gv_view *v, const gv_view_owner *owner, const grove_node *pod_spec,
                           const grove_sched_token *tokens, uint32_t n_tokens, uint32_t *out_class,
                           grove_error *err) {
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .tokens = tokens, .n_tokens = n_tokens};
    work w = {.v = v};
    grove_status st = read_requests(v, pod_spec, &spec, err);
    if (st < 0) {
        return st;
    }
    read_selector(&w, pod_spec, &spec);
    read_affinity(&w, owner, pod_spec, &spec);
    read_tolerations(&w, pod_spec, &spec);
    read_ports(&w, pod_spec, &spec);
    note_rest(&w, owner, pod_spec);
    if (w.failed) {
        return gv_error_nomem(err);
    }
    return grove_sched_class(v->sched, &spec, out_class, err);
}

grove_status gv_view_plain_class(gv_view *v, const gv_pod *pod, const grove_sched_token *tokens,
                                 uint32_t n_tokens, uint32_t *out_class, grove_error *err) {
    static const char *const protocols[] = {"TCP", "UDP", "SCTP"};
    grove_sched_class_spec spec = {.size = (uint32_t)sizeof spec,
                                   .n_ports = pod->n_ports,
                                   .tokens = tokens,
                                   .n_tokens = n_tokens};
    grove_sched_port *ports = gv_arena_array(&v->scratch, grove_sched_port, pod->n_ports + 1u);
    int64_t *amounts = NULL;
    if (!ports) {
        return gv_error_nomem(err);
    }
    grove_status st = gv_view_amounts(v, pod->requests, pod->n_requests, true, &amounts,
                                      &spec.n_requests);
    if (st < 0) {
        return gv_error(err, st, "a pod's resources could not be read");
    }
    for (uint32_t i = 0; i < pod->n_ports; i++) { /* of all addresses: records keep none */
        ports[i] = (grove_sched_port){.protocol = protocols[pod->ports[i].protocol % 3],
                                      .port = (uint32_t)pod->ports[i].port};
    }
    spec.requests = amounts;
    spec.ports = ports;
    return grove_sched_class(v->sched, &spec, out_class, err);
}
