/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of a scenario's steps. */
#include "io.h"
#include "scenario.h"
#include "verbs.h"

#include <grove/kinds.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*act_fn)(scenario *s, cluster *c, const grove_node *what);

/* The cluster says no: the end of the run, unless the step is there to hear it. */
static int denied(scenario *s, const grove_node *what, const char *message) {
    if (!s->denial) {
        return scenario_complain(s, what, "%s", message);
    }
    grove_buf_clear(s->denial);
    return grove_buf_append(s->denial, message, strlen(message)) < 0
               ? scenario_complain(s, what, "out of memory")
               : EXIT_REFUSED;
}

static int failed(scenario *s, const grove_node *what, const grove_error *err) {
    return denied(s, what, err->message);
}

/* The answer to a request about one object. */
static int answered(scenario *s, const grove_node *what, const grove_op *op, grove_status st,
                    const grove_sim_result *result, const char *otherwise) {
    char message[1536];
    if (st >= 0 && result->status >= 0) {
        return EXIT_OK;
    }
    snprintf(message, sizeof message, "%s %s: %s", op->ns, op->name,
             result->message[0] ? result->message : otherwise);
    return denied(s, what, message);
}

/* ---- apply ---- */

static int apply_file(scenario *s, cluster *c, const grove_node *file) {
    io_objects objects = {0};
    grove_error err = GROVE_ERROR_INIT;
    char *path = scenario_path(s, grove_node_text(file));
    if (!path) {
        return scenario_complain(s, file, "out of memory");
    }
    int code = io_read_objects(s->env, path, GROVE_PARSE_STRICT, &objects);
    for (size_t i = 0; code == EXIT_OK && i < objects.n; i++) {
        if (cluster_apply(c, objects.v[i].doc, objects.v[i].node, &err) < 0) {
            code = failed(s, file, &err);
        }
    }
    io_free_objects(&objects);
    free(path);
    return code;
}

static int act_apply(scenario *s, cluster *c, const grove_node *what) {
    grove_error err = GROVE_ERROR_INIT;
    if (grove_node_type(what) == GROVE_STRING) {
        return apply_file(s, c, what);
    }
    if (grove_node_type(what) == GROVE_ARRAY) {
        for (const grove_node *o = grove_node_first(what); o; o = grove_node_next(what, o)) {
            int code = act_apply(s, c, o);
            if (code != EXIT_OK) {
                return code;
            }
        }
        return EXIT_OK;
    }
    return cluster_apply(c, s->doc, what, &err) < 0 ? failed(s, what, &err) : EXIT_OK;
}

/* ---- on selected objects ---- */

typedef int (*each_fn)(scenario *s, cluster *c, const grove_node *what, grove_kind kind,
                       const char *ns, const char *name);

static int for_each(scenario *s, cluster *c, const grove_node *what, const char *members,
                    each_fn each) {
    grove_kind kind = GROVE_KIND_NONE;
    grove_doc *list = NULL;
    int code = scenario_known_members(s, what, members);
    code = code == EXIT_OK ? scenario_select(s, c, what, &kind, &list) : code;
    if (code != EXIT_OK) {
        return code;
    }
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    if (grove_node_size(items) == 0) {
        code = scenario_complain(s, what, "nothing matches");
    }
    for (const grove_node *o = grove_node_first(items); o && code == EXIT_OK;
         o = grove_node_next(items, o)) {
        const grove_node *meta = grove_node_get(o, "metadata");
        code = each(s, c, what, kind, scenario_text(meta, "namespace", ""),
                    scenario_text(meta, "name", ""));
    }
    grove_doc_unref(list);
    return code;
}

static int each_scale(scenario *s, cluster *c, const grove_node *what, grove_kind kind,
                      const char *ns, const char *name) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t replicas = 0;
    const grove_node *n = grove_node_get(what, "replicas");
    if (grove_node_int64(n, &replicas) < 0) {
        return scenario_complain(s, what, "scale needs replicas, a whole number");
    }
    return grove_sim_scale(c->sim, kind, ns, name, replicas, &err) < 0 ? failed(s, what, &err)
                                                                       : EXIT_OK;
}

static int each_delete(scenario *s, cluster *c, const grove_node *what, grove_kind kind,
                       const char *ns, const char *name) {
    static const char *const words[] = {"", "Orphan", "Background", "Foreground"};
    static const grove_propagation values[] = {GROVE_PROPAGATION_DEFAULT, GROVE_PROPAGATION_ORPHAN,
                                               GROVE_PROPAGATION_BACKGROUND,
                                               GROVE_PROPAGATION_FOREGROUND};
    const char *word = scenario_text(what, "propagation", "");
    size_t at = 0;
    while (at < sizeof words / sizeof *words && strcmp(words[at], word) != 0) {
        at++;
    }
    if (at == sizeof words / sizeof *words) {
        return scenario_complain(s, what, "propagation is Orphan, Background or Foreground");
    }
    grove_op op = {.size = (uint32_t)sizeof op,
                   .verb = GROVE_VERB_DELETE,
                   .token = 1,
                   .kind = kind,
                   .ns = ns,
                   .name = name,
                   .propagation = values[at],
                   .grace_seconds = GROVE_GRACE_DEFAULT};
    grove_sim_result result = {.size = (uint32_t)sizeof result};
    grove_status st = grove_sim_execute(c->sim, &op, &result);
    grove_doc_unref(result.doc);
    return answered(s, what, &op, st, &result, "the deletion failed");
}

static int patch_object(scenario *s, cluster *c, const grove_node *what, grove_kind kind,
                        const char *ns, const char *name, grove_doc *doc, const grove_node *body,
                        grove_patch_type type) {
    grove_op op = {.size = (uint32_t)sizeof op,
                   .verb = GROVE_VERB_PATCH,
                   .token = 1,
                   .kind = kind,
                   .patch_type = type,
                   .ns = ns,
                   .name = name,
                   .body_doc = doc,
                   .body = body};
    grove_sim_result result = {.size = (uint32_t)sizeof result};
    if (strcmp(scenario_text(what, "subresource", ""), "status") == 0) {
        op.subresource = GROVE_SUBRESOURCE_STATUS;
    }
    grove_status st = grove_sim_execute(c->sim, &op, &result);
    grove_doc_unref(result.doc);
    return answered(s, what, &op, st, &result, "the patch failed");
}

static int each_patch(scenario *s, cluster *c, const grove_node *what, grove_kind kind,
                      const char *ns, const char *name) {
    const grove_node *body = grove_node_get(what, "patch");
    if (!body) {
        return scenario_complain(s, what, "patch needs a patch");
    }
    return patch_object(s, c, what, kind, ns, name, s->doc, body,
                        grove_node_type(body) == GROVE_ARRAY ? GROVE_PATCH_JSON
                                                             : GROVE_PATCH_MERGE);
}

static int each_ready(scenario *s, cluster *c, const grove_node *what, grove_kind kind,
                      const char *ns, const char *name) {
    grove_error err = GROVE_ERROR_INIT;
    int32_t ready = grove_node_is_true(grove_node_get(what, "ready"));
    (void)kind;
    return grove_sim_set_ready(c->sim, ns, name, ready, &err) < 0 ? failed(s, what, &err) : EXIT_OK;
}

static int each_crash(scenario *s, cluster *c, const grove_node *what, grove_kind kind,
                      const char *ns, const char *name) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t code = 1;
    const grove_node *given = grove_node_get(what, "exitCode");
    (void)kind;
    if (given && grove_node_int64(given, &code) < 0) {
        return scenario_complain(s, given, "exitCode must be a whole number");
    }
    const char *container = grove_node_text(grove_node_get(what, "container"));
    return grove_sim_crash(c->sim, ns, name, container, (int32_t)code, &err) < 0
               ? failed(s, what, &err)
               : EXIT_OK;
}

#define SELECTION "kind name namespace selector"

static int act_scale(scenario *s, cluster *c, const grove_node *what) {
    return for_each(s, c, what, SELECTION " replicas", each_scale);
}
static int act_delete(scenario *s, cluster *c, const grove_node *what) {
    return for_each(s, c, what, SELECTION " propagation", each_delete);
}
static int act_patch(scenario *s, cluster *c, const grove_node *what) {
    return for_each(s, c, what, SELECTION " patch subresource", each_patch);
}
static int act_ready(scenario *s, cluster *c, const grove_node *what) {
    return for_each(s, c, what, SELECTION " ready", each_ready);
}
static int act_crash(scenario *s, cluster *c, const grove_node *what) {
    return for_each(s, c, what, SELECTION " container exitCode", each_crash);
}

/* ---- setImage: a new image in a set's template ---- */

static grove_status build_image_patch(scenario *s, uint32_t clique, uint32_t container,
                                      const char *image, grove_doc **out) {
    grove_builder *b = NULL;
    char path[128];
    grove_status st = grove_builder_new(s->env, &b);
    if (st < 0) {
        return st;
    }
    snprintf(path, sizeof path, "/spec/template/cliques/%u/spec/podSpec/containers/%u/image",
             (unsigned)clique, (unsigned)container);
    grove_builder_open_array(b, NULL);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "op", "add");
    grove_builder_string(b, "path", path);
    grove_builder_string(b, "value", image);
    grove_builder_close(b);
    grove_builder_close(b);
    st = grove_builder_finish(b, out, NULL);
    grove_builder_free(b);
    return st;
}

/* Index of the entry with this name; UINT32_MAX: none; name NULL: the first. */
static uint32_t index_of(const grove_node *list, const char *name) {
    uint32_t i = 0;
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e), i++) {
        if (!name || strcmp(scenario_text(e, "name", ""), name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static int act_set_image(scenario *s, cluster *c, const grove_node *what) {
    const char *ns = scenario_text(what, "namespace", "default");
    const char *set = scenario_text(what, "set", ""), *clique = scenario_text(what, "clique", "");
    const char *container = grove_node_text(grove_node_get(what, "container"));
    const char *image = scenario_text(what, "image", "");
    if (scenario_known_members(s, what, "namespace set clique container image") != EXIT_OK) {
        return EXIT_USAGE;
    }
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *doc = NULL, *patch = NULL;
    if (grove_sim_get(c->sim, GROVE_KIND_PODCLIQUESET, ns, set, &doc, &err) < 0) {
        return failed(s, what, &err);
    }
    const grove_node *cliques = grove_node_at_path(grove_doc_root(doc), "/spec/template/cliques");
    uint32_t at = index_of(cliques, clique);
    uint32_t in = index_of(
        grove_node_at_path(grove_node_at(cliques, at), "/spec/podSpec/containers"), container);
    int code = EXIT_OK;
    if (at == UINT32_MAX || in == UINT32_MAX) {
        code = scenario_complain(s, what, "the set has no such clique or container");
    } else if (build_image_patch(s, at, in, image, &patch) < 0) {
        code = EXIT_USAGE;
    } else {
        code = patch_object(s, c, what, GROVE_KIND_PODCLIQUESET, ns, set, patch,
                            grove_doc_root(patch), GROVE_PATCH_JSON);
    }
    grove_doc_unref(patch);
    grove_doc_unref(doc);
    return code;
}

/* ---- nodes ---- */

typedef int (*node_fn)(scenario *s, cluster *c, const grove_node *what, const char *node);

/* Nodes of the selected objects: of pods those they are on. */
static int on_selected(scenario *s, cluster *c, const grove_node *what, node_fn each) {
    grove_kind kind = GROVE_KIND_NONE;
    grove_doc *list = NULL;
    int code = scenario_select(s, c, what, &kind, &list);
    if (code != EXIT_OK) {
        return code;
    }
    if (kind != GROVE_KIND_NODE && kind != GROVE_KIND_POD) {
        code = scenario_complain(s, what, "nodes, or pods on them, are expected");
    }
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *o = grove_node_first(items); o && code == EXIT_OK;
         o = grove_node_next(items, o)) {
        const char *node = grove_node_text(
            grove_node_at_path(o, kind == GROVE_KIND_POD ? "/spec/nodeName" : "/metadata/name"));
        code = node ? each(s, c, what, node) : EXIT_OK;
    }
    grove_doc_unref(list);
    return code;
}

/* A name, a list of what names nodes, or a selection. */
static int for_nodes(scenario *s, cluster *c, const grove_node *what, node_fn each) {
    const char *node = grove_node_text(what);
    int code = EXIT_OK;
    if (node) {
        return each(s, c, what, node);
    }
    if (grove_node_type(what) != GROVE_ARRAY) {
        return on_selected(s, c, what, each);
    }
    for (const grove_node *e = grove_node_first(what); e && code == EXIT_OK;
         e = grove_node_next(what, e)) {
        code = for_nodes(s, c, e, each);
    }
    return code;
}

static int each_fail_node(scenario *s, cluster *c, const grove_node *what, const char *node) {
    grove_error err = GROVE_ERROR_INIT;
    return grove_sim_fail_node(c->sim, node, &err) < 0 ? failed(s, what, &err) : EXIT_OK;
}
static int each_recover_node(scenario *s, cluster *c, const grove_node *what, const char *node) {
    grove_error err = GROVE_ERROR_INIT;
    return grove_sim_recover_node(c->sim, node, &err) < 0 ? failed(s, what, &err) : EXIT_OK;
}
static int each_cordon(scenario *s, cluster *c, const grove_node *what, const char *node) {
    grove_error err = GROVE_ERROR_INIT;
    return grove_sim_cordon(c->sim, node, 1, &err) < 0 ? failed(s, what, &err) : EXIT_OK;
}
static int each_uncordon(scenario *s, cluster *c, const grove_node *what, const char *node) {
    grove_error err = GROVE_ERROR_INIT;
    return grove_sim_cordon(c->sim, node, 0, &err) < 0 ? failed(s, what, &err) : EXIT_OK;
}

static int act_fail_node(scenario *s, cluster *c, const grove_node *what) {
    return for_nodes(s, c, what, each_fail_node);
}
static int act_recover_node(scenario *s, cluster *c, const grove_node *what) {
    return for_nodes(s, c, what, each_recover_node);
}
static int act_cordon(scenario *s, cluster *c, const grove_node *what) {
    return for_nodes(s, c, what, each_cordon);
}
static int act_uncordon(scenario *s, cluster *c, const grove_node *what) {
    return for_nodes(s, c, what, each_uncordon);
}

/* The engine dies and starts anew with nothing but what the cluster holds. */
static int act_restart(scenario *s, cluster *c, const grove_node *what) {
    grove_error err = GROVE_ERROR_INIT;
    return cluster_restart_engine(c, &err) < 0 ? failed(s, what, &err) : EXIT_OK;
}

static int act_add_nodes(scenario *s, cluster *c, const grove_node *what) {
    grove_error err = GROVE_ERROR_INIT;
    const char *spec = grove_node_text(what);
    return grove_sim_add_nodes(c->sim, spec ? spec : "", &err) < 0 ? failed(s, what, &err)
                                                                   : EXIT_OK;
}

/* No more objects of a kind than `atMost`; without it as many as anybody likes. */
static int act_quota(scenario *s, cluster *c, const grove_node *what) {
    const grove_node *most = grove_node_get(what, "atMost");
    const char *word = scenario_text(what, "kind", "");
    grove_kind kind = grove_kind_find(word, strlen(word));
    int64_t n = 0;
    if (scenario_known_members(s, what, "kind atMost") != EXIT_OK) {
        return EXIT_USAGE;
    }
    if (kind == GROVE_KIND_NONE) {
        return scenario_complain(s, what, "unknown kind \"%s\"", word);
    }
    if (most && (grove_node_int64(most, &n) < 0 || n < 0 || n > UINT32_MAX)) {
        return scenario_complain(s, most, "atMost must be a whole number from 0 on");
    }
    c->quota_kind = most ? kind : GROVE_KIND_NONE;
    c->quota_most = (uint32_t)n;
    return EXIT_OK;
}

/* ---- rules of container life ---- */

static int read_time(scenario *s, const grove_node *what, const char *key, int64_t *out) {
    const grove_node *node = grove_node_get(what, key);
    const char *text = grove_node_text(node);
    if (!node) {
        return EXIT_OK;
    }
    *out = text && strcmp(text, "never") == 0 ? GROVE_SIM_NEVER : scenario_duration(text);
    return *out < 0 ? scenario_complain(s, node, "%s must be a duration or never", key) : EXIT_OK;
}

static int read_count(scenario *s, const grove_node *what, const char *key, int32_t *out) {
    const grove_node *node = grove_node_get(what, key);
    int64_t n = 0;
    if (!node) {
        return EXIT_OK;
    }
    if (grove_node_int64(node, &n) < 0 || n < 0 || n > 255) {
        return scenario_complain(s, node, "%s must be a number from 0 to 255", key);
    }
    *out = (int32_t)n;
    return EXIT_OK;
}

static int act_rule(scenario *s, cluster *c, const grove_node *what) {
    grove_sim_rule rule = GROVE_SIM_RULE_INIT;
    grove_error err = GROVE_ERROR_INIT;
    rule.ns = grove_node_text(grove_node_get(what, "namespace"));
    rule.pod = grove_node_text(grove_node_get(what, "pod"));
    rule.label_selector = grove_node_text(grove_node_get(what, "selector"));
    const struct {
        const char *key;
        int64_t *out;
    } times[] = {{"pull", &rule.pull_ns},
                 {"init", &rule.init_ns},
                 {"start", &rule.start_container_ns},
                 {"ready", &rule.ready_ns},
                 {"terminate", &rule.terminate_ns},
                 {"crash", &rule.crash_ns}};
    int code = scenario_known_members(s, what,
                                      "namespace pod selector pull init start ready terminate "
                                      "crash exitCode crashes initExitCode pullFails");
    for (size_t i = 0; code == EXIT_OK && i < sizeof times / sizeof *times; i++) {
        code = read_time(s, what, times[i].key, times[i].out);
    }
    code = code == EXIT_OK ? read_count(s, what, "exitCode", &rule.exit_code) : code;
    code = code == EXIT_OK ? read_count(s, what, "crashes", &rule.crashes) : code;
    code = code == EXIT_OK ? read_count(s, what, "initExitCode", &rule.init_exit_code) : code;
    const grove_node *pull_fails = grove_node_get(what, "pullFails");
    if (pull_fails) {
        rule.pull_fails = grove_node_is_true(pull_fails);
    }
    if (code == EXIT_OK && grove_sim_add_rule(c->sim, &rule, &err) < 0) {
        code = failed(s, what, &err);
    }
    return code;
}

/* ---- refused: an action that the cluster must not take ---- */

/* Every text of `because`, one or a list, stands in what the cluster said. */
static int check_because(scenario *s, const grove_node *because) {
    const char *said = s->denial->len ? s->denial->data : "";
    int is_list = grove_node_type(because) == GROVE_ARRAY;
    const grove_node *e = is_list ? grove_node_first(because) : because;
    while (e) {
        const char *text = grove_node_text(e);
        if (!text) {
            return scenario_complain(s, because, "because is a text of the refusal, or a list");
        }
        if (!strstr(said, text)) {
            scenario_fail(s, e, "the refusal is", said, text);
            return EXIT_OK;
        }
        e = is_list ? grove_node_next(because, e) : NULL;
    }
    return EXIT_OK;
}

static int act_refused(scenario *s, cluster *c, const grove_node *what) {
    const grove_node *because = grove_node_get(what, "because");
    const grove_node *act = grove_node_first(what);
    grove_buf said;
    int known = 1;
    act = act && act == because ? grove_node_next(what, act) : act;
    if (s->denial || !because || !act || grove_node_size(what) != 2 ||
        (grove_node_type(because) == GROVE_ARRAY && grove_node_size(because) == 0)) {
        return scenario_complain(s, what, "refused needs one action and because");
    }
    grove_buf_init(&said, s->env);
    s->denial = &said;
    s->expectations++;
    int code = scenario_act(s, c, grove_node_key(act, NULL), act, &known);
    if (!known) {
        code = scenario_complain(s, act, "a step has no action \"%s\"", grove_node_key(act, NULL));
    } else if (code == EXIT_OK) {
        scenario_fail(s, act, grove_node_key(act, NULL), "accepted", "refused");
    } else if (code == EXIT_REFUSED) {
        code = check_because(s, because);
    }
    s->denial = NULL;
    grove_buf_fini(&said);
    return code;
}

int scenario_act(scenario *s, cluster *c, const char *action, const grove_node *what,
                 int *out_known) {
    static const struct {
        const char *word;
        act_fn act;
    } actions[] = {
        {"apply", act_apply},    {"scale", act_scale},        {"delete", act_delete},
        {"patch", act_patch},    {"setImage", act_set_image}, {"setReady", act_ready},
        {"crash", act_crash},    {"failNode", act_fail_node}, {"recoverNode", act_recover_node},
        {"cordon", act_cordon},  {"uncordon", act_uncordon},  {"addNodes", act_add_nodes},
        {"rule", act_rule},      {"restart", act_restart},    {"quota", act_quota},
        {"refused", act_refused}};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].word, action) == 0) {
            return actions[i].act(s, c, what);
        }
    }
    *out_known = 0;
    return EXIT_OK;
}
