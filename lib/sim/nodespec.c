/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes from a line of text: "blocks=2,racks=2,nodes=4,gpu=8", or from Node manifests. */
#include <grove/quantity.h>

#include "sim/call.h"
#include "sim/meta.h"

typedef struct spec {
    int64_t zones, blocks, racks, nodes;
    gv_str gpu, cpu, memory, pods;
    gv_str zone_key, block_key, rack_key, gpu_key, prefix;
} spec;

static const spec defaults = {
    1,
    1,
    1,
    1,
    {"8", 1},
    {"64", 2},
    {"512Gi", 5},
    {"110", 3},
    {"topology.kubernetes.io/zone", 27},
    {"node.network.kwai.io/block", 26},
    {"node.network.kwai.io/rack", 25},
    {"nvidia.com/gpu", 14},
    {"node", 4},
};

/* ---- reading ---- */

static bool set_count(int64_t *to, gv_str value) {
    return gv_str_int64(value, to) && *to > 0 && *to <= 100000;
}

static bool set_quantity(gv_str *to, gv_str value) {
    grove_quantity q;
    *to = value;
    return grove_quantity_parse(value.p, value.n, &q, NULL) == GROVE_OK && q.hi >= 0;
}

static bool set_text(gv_str *to, gv_str value) {
    *to = value;
    return value.n > 0 && value.n <= 200;
}

static bool set_term(spec *s, gv_str key, gv_str value) {
    struct {
        const char *key;
        int64_t *count;
        gv_str *quantity, *text;
    } const terms[] = {
        {"zones", &s->zones, NULL, NULL},       {"blocks", &s->blocks, NULL, NULL},
        {"racks", &s->racks, NULL, NULL},       {"nodes", &s->nodes, NULL, NULL},
        {"gpu", NULL, &s->gpu, NULL},           {"cpu", NULL, &s->cpu, NULL},
        {"memory", NULL, &s->memory, NULL},     {"pods", NULL, &s->pods, NULL},
        {"zone-key", NULL, NULL, &s->zone_key}, {"block-key", NULL, NULL, &s->block_key},
        {"rack-key", NULL, NULL, &s->rack_key}, {"gpu-key", NULL, NULL, &s->gpu_key},
        {"prefix", NULL, NULL, &s->prefix},
    };
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        if (gv_str_is(key, terms[i].key)) {
            return terms[i].count      ? set_count(terms[i].count, value)
                   : terms[i].quantity ? set_quantity(terms[i].quantity, value)
                                       : set_text(terms[i].text, value);
        }
    }
    return false;
}

/* Takes the text up to `sep` off *rest. */
static gv_str take(gv_str *rest, char sep) {
    const char *p = rest->n ? memchr(rest->p, sep, rest->n) : NULL;
    gv_str head = {rest->p, p ? (size_t)(p - rest->p) : rest->n};
    *rest = p ? (gv_str){p + 1, rest->n - head.n - 1} : (gv_str){"", 0};
    return gv_str_trim(head);
}

/* "2x2x4x8" */
static bool read_short(gv_str text, spec *s) {
    int64_t *const counts[] = {&s->blocks, &s->racks, &s->nodes};
    for (size_t i = 0; i < 3; i++) {
        if (!set_count(counts[i], take(&text, 'x'))) {
            return false;
        }
    }
    return text.n > 0 && set_quantity(&s->gpu, text);
}

static grove_status read_spec(gv_str text, spec *s, grove_error *err) {
    *s = defaults;
    text = gv_str_trim(text);
    if (text.n > 0 && !memchr(text.p, '=', text.n)) {
        return read_short(text, s)
                   ? GROVE_OK
                   : gv_error(err, GROVE_E_PARSE, "not a node spec: %.*s", (int)text.n, text.p);
    }
    while (text.n > 0) {
        gv_str term = take(&text, ','), value = term;
        gv_str key = take(&value, '=');
        if (!set_term(s, key, value)) {
            return gv_error(err, GROVE_E_PARSE, "not a term of a node spec: %.*s", (int)term.n,
                            term.p);
        }
    }
    return GROVE_OK;
}

/* ---- building ---- */

static void build_label(grove_builder *b, gv_str key, const char *value) {
    char text[256];
    (void)gv_fmt(text, sizeof text, "%.*s", (int)key.n, key.p);
    grove_builder_string(b, text, value);
}

static void build_resources(grove_builder *b, const spec *s, const char *key) {
    char gpu[256];
    grove_builder_open_object(b, key);
    grove_builder_stringn(b, "cpu", s->cpu.p, s->cpu.n);
    grove_builder_stringn(b, "memory", s->memory.p, s->memory.n);
    grove_builder_string(b, "ephemeral-storage", "1Ti");
    grove_builder_stringn(b, "pods", s->pods.p, s->pods.n);
    if (!gv_str_is(s->gpu, "0")) {
        (void)gv_fmt(gpu, sizeof gpu, "%.*s", (int)s->gpu_key.n, s->gpu_key.p);
        grove_builder_stringn(b, gpu, s->gpu.p, s->gpu.n);
    }
    grove_builder_close(b);
}

static void build_node(grove_builder *b, const spec *s, const int64_t at[4]) {
    char zone[64], block[64], rack[64], name[320], in_zone[32] = "";
    int z = (int)at[0], k = (int)at[1], r = (int)at[2], n = (int)at[3];
    if (s->zones > 1) {
        (void)gv_fmt(in_zone, sizeof in_zone, "z%d-", z);
    }
    (void)gv_fmt(zone, sizeof zone, "z%d", z);
    (void)gv_fmt(block, sizeof block, "%sb%d", in_zone, k);
    (void)gv_fmt(rack, sizeof rack, "%s-r%d", block, r);
    (void)gv_fmt(name, sizeof name, "%.*s-%s-n%d", (int)s->prefix.n, s->prefix.p, rack, n);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_string(b, "kind", "Node");
    grove_builder_open_object(b, "metadata");
    grove_builder_string(b, "name", name);
    grove_builder_open_object(b, "labels");
    build_label(b, s->zone_key, zone);
    build_label(b, s->block_key, block);
    build_label(b, s->rack_key, rack);
    grove_builder_string(b, "kubernetes.io/hostname", name);
    grove_builder_string(b, "kubernetes.io/os", "linux"); /* as every kubelet says of itself */
    grove_builder_string(b, "kubernetes.io/arch", "amd64");
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_open_object(b, "status");
    build_resources(b, s, "capacity");
    build_resources(b, s, "allocatable");
    grove_builder_close(b);
    grove_builder_close(b);
}

static void build_nodes(grove_builder *b, const spec *s) {
    int64_t at[4];
    for (at[0] = 0; at[0] < s->zones; at[0]++) {
        for (at[1] = 0; at[1] < s->blocks; at[1]++) {
            for (at[2] = 0; at[2] < s->racks; at[2]++) {
                for (at[3] = 0; at[3] < s->nodes; at[3]++) {
                    build_node(b, s, at);
                }
            }
        }
    }
}

static grove_status list_of_spec(grove_env *env, gv_str text, grove_doc **out_doc,
                                 grove_error *err) {
    spec s;
    grove_builder *b = NULL;
    grove_status st = read_spec(text, &s, err);
    if (st == GROVE_OK) {
        st = grove_builder_new(env, &b);
    }
    if (st < 0) {
        return st == GROVE_E_NOMEM ? gv_error_nomem(err) : st;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_string(b, "kind", "List");
    grove_builder_open_array(b, "items");
    build_nodes(b, &s);
    grove_builder_close(b);
    grove_builder_close(b);
    st = grove_builder_finish(b, out_doc, err);
    grove_builder_free(b);
    return st;
}

/* ---- manifests ---- */

/* Every object of a stream, lists opened, as one List. */
static grove_status list_of_text(grove_env *env, const char *text, grove_doc **out_doc,
                                 grove_error *err) {
    grove_stream *stream = NULL;
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_stream_new(env, text, strlen(text), 0, &stream, err);
    if (st < 0) {
        return st;
    }
    st = grove_builder_new(env, &b);
    if (st == GROVE_OK) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "apiVersion", "v1");
        grove_builder_string(b, "kind", "List");
        grove_builder_open_array(b, "items");
    }
    while (st == GROVE_OK && (st = grove_stream_next(stream, &doc, err)) == GROVE_OK && doc) {
        const grove_node *root = grove_doc_root(doc), *items = grove_node_get(root, "items");
        const grove_node *list = items ? items : grove_node_type(root) == GROVE_ARRAY ? root : NULL;
        if (!list) {
            grove_builder_link(b, NULL, doc, root);
        }
        GV_EACH(o, list) {
            grove_builder_link(b, NULL, doc, o);
        }
        grove_doc_unref(doc);
        doc = NULL;
    }
    if (st == GROVE_OK) {
        grove_builder_close(b);
        grove_builder_close(b);
        st = grove_builder_finish(b, out_doc, err);
    }
    grove_builder_free(b);
    grove_stream_free(stream);
    return st;
}

static bool is_manifest(gv_str text) {
    return text.n > 0 && (text.p[0] == '{' || text.p[0] == '[' || memchr(text.p, ':', text.n) ||
                          memchr(text.p, '\n', text.n));
}

grove_status grove_sim_node_list(grove_env *env, const char *spec_text, grove_doc **out_doc,
                                 grove_error *err) {
    gv_str text = gv_str_trim(gv_str_c(spec_text));
    return is_manifest(text) ? list_of_text(env, spec_text, out_doc, err)
                             : list_of_spec(env, text, out_doc, err);
}

grove_status grove_sim_add_nodes(grove_sim *sim, const char *spec_text, grove_error *err) {
    grove_doc *list = NULL;
    grove_status st = grove_sim_node_list(sim->env, spec_text, &list, err);
    if (st < 0) {
        return st;
    }
    GV_EACH(node, grove_node_get(grove_doc_root(list), "items")) {
        if (gv_kind_of(node) != GV_KIND_NODE) {
            st = gv_error(err, GROVE_E_INVALID, "not a Node");
        }
        if (st == GROVE_OK) {
            st = grove_sim_apply(sim, list, node, err);
        }
    }
    grove_doc_unref(list);
    return st;
}
