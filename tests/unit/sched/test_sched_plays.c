/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays: a small cluster goes through the steps of a file, and every word of every answer is compared
 * (tests/golden/sched-plays, whose README.md has the form).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/doc.h>

#include "base/text.h"
#include "support/files.h"
#include "support/oom.h"
#include "tell.h"
#include "value/doc.h"

#define MOST 16 /* of anything in a list */
#define CLASSES 64

typedef struct play {
    grove_env *env;
    telling t;
    grove_buf out;
    char names[CLASSES][32]; /* of the classes, in their order */
    uint32_t n_classes;
    uint64_t mark;
} play;

/* ---- reading ---- */

static const char *text_of(const grove_node *n) {
    const char *text = grove_node_text(n);
    return text ? text : "";
}

static const char *text(const grove_node *list, uint32_t i) {
    return text_of(grove_node_at(list, i));
}

static int64_t number_of(const grove_node *n, int64_t otherwise) {
    int64_t v = otherwise;
    (void)grove_node_int64(n, &v);
    return v;
}

static int64_t number(const grove_node *list, uint32_t i) {
    return number_of(grove_node_at(list, i), 0);
}

static uint32_t numbers(const grove_node *list, int64_t *out) {
    uint32_t n = 0;
    GV_EACH(entry, list) {
        assert_true(n < MOST);
        out[n++] = number_of(entry, 0);
    }
    return n;
}

static grove_level level(const play *p, const grove_node *name) {
    return text_of(name)[0] ? grove_sched_level(p->t.s, p->t.topology, text_of(name))
                            : GROVE_LEVEL_NONE;
}

static uint32_t node(const play *p, const grove_node *name) {
    uint32_t id = grove_sched_node_find(p->t.s, text_of(name));
    if (id == GROVE_SCHED_NONE) {
        fail_msg("no node %s", text_of(name));
    }
    return id;
}

static uint32_t class_named(const play *p, const grove_node *name) {
    for (uint32_t i = 0; i < p->n_classes; i++) {
        if (strcmp(p->names[i], text_of(name)) == 0) {
            return i;
        }
    }
    fail_msg("no class %s", text_of(name));
    return 0;
}

static grove_strength strength(const grove_node *word) {
    return strcmp(text_of(word), "required") == 0 ? GROVE_STRENGTH_REQUIRED
                                                  : GROVE_STRENGTH_PREFERRED;
}

/* What the library says of something that may be refused. */
static void answer(play *p, grove_status st, const grove_error *err) {
    if (st < 0) {
        gv_buf_fmt(&p->out, "  %s: %s\n", grove_status_name(st), err ? err->message : "");
    }
}

/* ---- nodes ---- */

typedef struct node_parts {
    grove_sched_label labels[MOST];
    grove_sched_taint taints[MOST];
    int64_t capacity[MOST];
} node_parts;

static uint32_t labels_of(const grove_node *map, grove_sched_label *out) {
    uint32_t n = 0;
    GV_EACH(value, map) {
        assert_true(n < MOST);
        out[n++] = (grove_sched_label){grove_node_key(value, NULL), text_of(value)};
    }
    return n;
}

static grove_taint_effect effect(const grove_node *word) {
    return strcmp(text_of(word), "NoSchedule") == 0         ? GROVE_TAINT_NO_SCHEDULE
           : strcmp(text_of(word), "PreferNoSchedule") == 0 ? GROVE_TAINT_PREFER_NO_SCHEDULE
           : strcmp(text_of(word), "NoExecute") == 0        ? GROVE_TAINT_NO_EXECUTE
                                                            : GROVE_TAINT_ANY;
}

static grove_sched_node read_node(const grove_node *name, const grove_node *spec,
                                  node_parts *parts) {
    grove_sched_node out = {.size = (uint32_t)sizeof out,
                            .name = text_of(name),
                            .flags = (uint32_t)number_of(grove_node_get(spec, "flags"), 0),
                            .labels = parts->labels,
                            .taints = parts->taints,
                            .capacity = parts->capacity};
    out.n_labels = labels_of(grove_node_get(spec, "labels"), parts->labels);
    GV_EACH(taint, grove_node_get(spec, "taints")) {
        parts->taints[out.n_taints++] = (grove_sched_taint){
            .key = text(taint, 0),
            .value = text(taint, 1),
            .effect = effect(grove_node_at(taint, 2))};
    }
    out.n_capacity = numbers(grove_node_get(spec, "capacity"), parts->capacity);
    return out;
}

/* [node, NAME, SPEC]: added, or updated when it is there. */
static void put_node(play *p, const grove_node *step) {
    node_parts parts;
    grove_error err = GROVE_ERROR_INIT;
    grove_sched_node spec = read_node(grove_node_at(step, 1), grove_node_at(step, 2), &parts);
    uint32_t id = grove_sched_node_find(p->t.s, spec.name);
    answer(p,
           id == GROVE_SCHED_NONE ? grove_sched_node_add(p->t.s, &spec, &id, &err)
                                  : grove_sched_node_update(p->t.s, id, &spec, &err),
           &err);
}

/* [grid, BLOCKS, RACKS, HOSTS, CAPACITY]: labelled block and rack, named by their place. */
static void put_grid(play *p, const grove_node *step) {
    int64_t capacity[MOST];
    uint32_t id, n = numbers(grove_node_at(step, 4), capacity);
    for (int64_t b = 0; b < number(step, 1); b++) {
        for (int64_t r = 0; r < number(step, 2); r++) {
            for (int64_t h = 0; h < number(step, 3); h++) {
                char block[16], rack[32], name[48];
                snprintf(block, sizeof block, "b%d", (int)b);
                snprintf(rack, sizeof rack, "b%dr%d", (int)b, (int)r);
                snprintf(name, sizeof name, "b%dr%dh%d", (int)b, (int)r, (int)h);
                grove_sched_label labels[] = {{"block", block}, {"rack", rack}, {"name", name}};
                grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                                         .name = name,
                                         .labels = labels,
                                         .n_labels = 3,
                                         .capacity = capacity,
                                         .n_capacity = n};
                assert_int_equal(grove_sched_node_add(p->t.s, &spec, &id, NULL), GROVE_OK);
            }
        }
    }
}

/* ---- classes ---- */

typedef struct class_parts {
    int64_t requests[MOST];
    grove_sched_label selector[MOST];
    grove_sched_terms lists[MOST];
    grove_sched_term terms[MOST], preferred[MOST];
    grove_sched_requirement requirements[MOST];
    const char *values[MOST];
    grove_sched_toleration tolerations[MOST];
    grove_sched_port ports[MOST];
    uint32_t n_terms, n_requirements, n_values;
} class_parts;

static grove_match_op op_of(const char *word) {
    static const char *const names[] = {"",   "In", "NotIn", "Exists", "DoesNotExist",
                                        "Gt", "Lt", "NameIn"};
    for (int i = 1; i < 8; i++) {
        if (strcmp(word, names[i]) == 0) {
            return i;
        }
    }
    fail_msg("no operator %s", word);
    return 0;
}

/* A term is a list of [KEY, OPERATOR, VALUE...]. */
static grove_sched_term read_term(class_parts *c, const grove_node *list, int32_t weight) {
    grove_sched_term term = {.requirements = c->requirements + c->n_requirements, .weight = weight};
    GV_EACH(entry, list) {
        grove_sched_requirement *r = &c->requirements[c->n_requirements++];
        *r = (grove_sched_requirement){
            .key = text(entry, 0), .op = op_of(text(entry, 1)), .values = c->values + c->n_values};
        for (uint32_t i = 2; i < grove_node_size(entry); i++) {
            c->values[c->n_values++] = text(entry, i);
            r->n_values++;
        }
        term.n_requirements++;
    }
    return term;
}

static void read_affinity(class_parts *c, const grove_node *spec, grove_sched_class_spec *out) {
    GV_EACH(list, grove_node_get(spec, "required")) {
        grove_sched_terms *terms = &c->lists[out->n_required++];
        *terms = (grove_sched_terms){.terms = c->terms + c->n_terms};
        GV_EACH(term, list) {
            c->terms[c->n_terms++] = read_term(c, term, 0);
            terms->n_terms++;
        }
    }
    GV_EACH(wish, grove_node_get(spec, "preferred")) { /* [WEIGHT, TERM] */
        c->preferred[out->n_preferred++] = read_term(c, grove_node_at(wish, 1),
                                                     (int32_t)number(wish, 0));
    }
}

/* [class, NAME, SPEC] */
static void put_class(play *p, const grove_node *step) {
    const grove_node *spec = grove_node_at(step, 2);
    class_parts c = {0};
    grove_error err = GROVE_ERROR_INIT;
    grove_sched_class_spec out = {.size = (uint32_t)sizeof out,
                                  .requests = c.requests,
                                  .selector = c.selector,
                                  .required = c.lists,
                                  .preferred = c.preferred,
                                  .tolerations = c.tolerations,
                                  .ports = c.ports};
    out.n_requests = numbers(grove_node_get(spec, "requests"), c.requests);
    out.n_selector = labels_of(grove_node_get(spec, "selector"), c.selector);
    read_affinity(&c, spec, &out);
    GV_EACH(t, grove_node_get(spec, "tolerations")) { /* [KEY, VALUE, EFFECT, exists?] */
        c.tolerations[out.n_tolerations++] = (grove_sched_toleration){
            .key = text(t, 0),
            .value = text(t, 1),
            .effect = effect(grove_node_at(t, 2)),
            .exists = (int32_t)number(t, 3)};
    }
    GV_EACH(port, grove_node_get(spec, "ports")) { /* [PROTOCOL, IP, PORT] */
        c.ports[out.n_ports++] = (grove_sched_port){
            .protocol = text(port, 0), .ip = text(port, 1), .port = (uint32_t)number(port, 2)};
    }
    out.max_per_host = (uint32_t)number_of(grove_node_get(spec, "max_per_host"), 0);
    uint32_t id = GROVE_SCHED_NONE;
    grove_status st = grove_sched_class(p->t.s, &out, &id, &err);
    answer(p, st, &err);
    if (st == GROVE_OK) {
        assert_true(id <= p->n_classes && id < CLASSES);
        if (id == p->n_classes) { /* else it is one that was there */
            snprintf(p->names[id], sizeof p->names[id], "%s", text(step, 1));
            p->n_classes++;
        }
        gv_buf_fmt(&p->out, "  class %u, allowed on", (unsigned)id);
        for (uint32_t n = 0; n < grove_sched_node_limit(p->t.s); n++) {
            if (grove_sched_node_free(p->t.s, n) && grove_sched_class_allows(p->t.s, id, n)) {
                gv_buf_fmt(&p->out, " %s", grove_sched_node_name(p->t.s, n));
            }
        }
        gv_buf_fmt(&p->out, "\n");
    }
}

/* ---- gangs ---- */

static void read_members(play *p, const grove_node *spec) {
    GV_EACH(m, grove_node_get(spec, "members")) { /* [PODGROUP, NODE] */
        answer(p, grove_gang_member(p->t.g, (uint32_t)number(m, 0), node(p, grove_node_at(m, 1))),
               NULL);
    }
    GV_EACH(s, grove_node_get(spec, "sticky")) { /* [PODGROUP, INDEX, NODE] */
        answer(p,
               grove_gang_sticky(p->t.g, (uint32_t)number(s, 0), (uint32_t)number(s, 1),
                                 node(p, grove_node_at(s, 2))),
               NULL);
    }
    const grove_node *anchor = grove_node_get(spec, "anchor"); /* [LEVEL, NODE, STRENGTH] */
    if (anchor) {
        answer(p,
               grove_gang_anchor(p->t.g, level(p, grove_node_at(anchor, 0)),
                                 node(p, grove_node_at(anchor, 1)),
                                 strength(grove_node_at(anchor, 2))),
               NULL);
    }
    const grove_node *spread = grove_node_get(spec,
                                              "spread"); /* [LEVEL, SKEW, STRENGTH, NODE...] */
    if (spread) {
        uint32_t nodes[MOST], n = 0;
        for (uint32_t i = 3; i < grove_node_size(spread); i++) {
            nodes[n++] = node(p, grove_node_at(spread, i));
        }
        answer(p,
               grove_gang_spread(p->t.g, level(p, grove_node_at(spread, 0)),
                                 (uint32_t)number(spread, 1), strength(grove_node_at(spread, 2)),
                                 nodes, n),
               NULL);
    }
}

/* [gang, SPEC]: podgroups are [CLASS, MIN, COUNT, REQUIRED, PREFERRED], groups [[PODGROUP...], REQ, PREF]. */
static void put_gang(play *p, const grove_node *step) {
    const grove_node *spec = grove_node_at(step, 1), *pack = grove_node_get(spec, "pack");
    uint32_t id;
    assert_int_equal(grove_gang_begin(p->t.g, p->t.topology, "gang"), GROVE_OK);
    p->t.n_podgroups = p->t.n_groups = 0;
    GV_EACH(row, grove_node_get(spec, "podgroups")) {
        char name[16];
        snprintf(name, sizeof name, "p%u", (unsigned)p->t.n_podgroups);
        grove_status st = grove_gang_podgroup(p->t.g, name, class_named(p, grove_node_at(row, 0)),
                                              (uint32_t)number(row, 1), (uint32_t)number(row, 2),
                                              level(p, grove_node_at(row, 3)),
                                              level(p, grove_node_at(row, 4)), &id);
        answer(p, st, NULL);
        p->t.n_podgroups += st == GROVE_OK;
    }
    GV_EACH(row, grove_node_get(spec, "groups")) {
        int64_t given[MOST];
        uint32_t members[MOST], n = numbers(grove_node_at(row, 0), given);
        for (uint32_t i = 0; i < n; i++) {
            members[i] = (uint32_t)given[i];
        }
        grove_status st = grove_gang_group(p->t.g, "g", members, n, level(p, grove_node_at(row, 1)),
                                           level(p, grove_node_at(row, 2)), &id);
        answer(p, st, NULL);
        p->t.n_groups += st == GROVE_OK;
    }
    if (pack) {
        assert_int_equal(grove_gang_pack(p->t.g, level(p, grove_node_at(pack, 0)),
                                         level(p, grove_node_at(pack, 1))),
                         GROVE_OK);
    }
    read_members(p, spec);
    (void)grove_gang_priority(p->t.g, (int32_t)number_of(grove_node_get(spec, "priority"), 0));
    (void)grove_gang_flags(p->t.g, (uint32_t)number_of(grove_node_get(spec, "flags"), 0));
}

/* ---- steps ---- */

/* [pod, NODE, CLASS or [REQUEST...], PRIORITY, FLAGS] */
static void put_pod(play *p, const grove_node *step) {
    int64_t requests[MOST];
    const grove_node *what = grove_node_at(step, 2);
    bool by_class = grove_node_text(what) != NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_sched_pod pod = {.size = (uint32_t)sizeof pod,
                           .node = node(p, grove_node_at(step, 1)),
                           .class_id = by_class ? class_named(p, what) : GROVE_SCHED_NONE,
                           .requests = requests,
                           .n_requests = by_class ? 0 : numbers(what, requests),
                           .priority = (int32_t)number(step, 3),
                           .flags = (uint32_t)number(step, 4)};
    uint32_t id = 0;
    grove_status st = grove_sched_pod_add(p->t.s, &pod, &id, &err);
    answer(p, st, &err);
    if (st == GROVE_OK) {
        gv_buf_fmt(&p->out, "  pod %u\n", (unsigned)id);
    }
}

/* [place, FLAGS, STEPS] and [preempt, FLAGS, STEPS] */
static void decide(play *p, const grove_node *step) {
    grove_place_options o = {.size = (uint32_t)sizeof o,
                             .flags = (uint32_t)number(step, 1),
                             .steps = (uint64_t)number(step, 2)};
    grove_error err = GROVE_ERROR_INIT;
    uint64_t before = grove_sched_hash(p->t.s);
    grove_status st = text(step, 0)[1] == 'l'
                          ? grove_sched_place(p->t.s, p->t.g, &o, p->t.d, &err)
                          : grove_sched_preempt(p->t.s, p->t.g, &o, p->t.d, &err);
    answer(p, st, &err);
    if (st == GROVE_OK) {
        tell_long(&p->t);
    }
    assert_true(grove_sched_hash(p->t.s) == before);
}

static void tell_domains(play *p) {
    for (grove_level l = 0; l <= grove_sched_host_level(p->t.s, p->t.topology); l++) {
        gv_buf_fmt(&p->out, "  %s: %u domains, %u conflicts:",
                   grove_sched_level_key(p->t.s, p->t.topology, l),
                   (unsigned)grove_sched_domain_count(p->t.s, p->t.topology, l),
                   (unsigned)grove_sched_topology_conflicts(p->t.s, p->t.topology, l));
        for (uint32_t n = 0; n < grove_sched_node_limit(p->t.s); n++) {
            gv_buf_fmt(&p->out, " %d", (int)grove_sched_domain_of(p->t.s, p->t.topology, l, n));
        }
        gv_buf_fmt(&p->out, "\n");
    }
}

static bool step_of_books(play *p, const grove_node *step, const char *verb) {
    grove_error err = GROVE_ERROR_INIT;
    uint32_t id = 0;
    if (strcmp(verb, "commit") == 0) {
        grove_status st = grove_sched_commit(p->t.s, p->t.g, p->t.d, &id, &err);
        answer(p, st, &err);
        if (st == GROVE_OK) {
            gv_buf_fmt(&p->out, "  gang %u\n", (unsigned)id);
        }
    } else if (strcmp(verb, "release") == 0) {
        answer(p, grove_sched_release(p->t.s, (uint32_t)number(step, 1)), NULL);
    } else if (strcmp(verb, "unpod") == 0) {
        answer(p, grove_sched_pod_remove(p->t.s, (uint32_t)number(step, 1)), NULL);
    } else if (strcmp(verb, "drop") == 0) {
        answer(p, grove_sched_node_remove(p->t.s, node(p, grove_node_at(step, 1))), NULL);
    } else if (strcmp(verb, "mark") == 0) {
        answer(p, grove_sched_mark(p->t.s, &p->mark), NULL);
    } else if (strcmp(verb, "rollback") == 0) {
        answer(p, grove_sched_rollback(p->t.s, p->mark), NULL);
    } else if (strcmp(verb, "keep") == 0) {
        answer(p, grove_sched_keep(p->t.s, p->mark), NULL);
    } else {
        return false;
    }
    return true;
}

static void step_of(play *p, const grove_node *step) {
    const char *verb = text(step, 0);
    if (step_of_books(p, step, verb)) {
        return;
    }
    if (strcmp(verb, "grid") == 0) {
        put_grid(p, step);
    } else if (strcmp(verb, "node") == 0) {
        put_node(p, step);
    } else if (strcmp(verb, "class") == 0) {
        put_class(p, step);
    } else if (strcmp(verb, "gang") == 0) {
        put_gang(p, step);
    } else if (strcmp(verb, "place") == 0 || strcmp(verb, "preempt") == 0) {
        decide(p, step);
    } else if (strcmp(verb, "pod") == 0) {
        put_pod(p, step);
    } else if (strcmp(verb, "room") == 0) {
        tell_room(&p->t);
    } else if (strcmp(verb, "domains") == 0) {
        tell_domains(p);
    } else {
        fail_msg("no step %s", verb);
    }
}

static void one_play(const char *relative, void *ctx) {
    play p = {.env = ctx};
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    char *yaml = test_read(relative, NULL);
    const char *keys[MOST];
    uint32_t n_keys = 0, id;
    if (grove_doc_parse_yaml(p.env, yaml, strlen(yaml), GROVE_PARSE_STRICT, &doc, &err) < 0) {
        fail_msg("%s:%u: %s", relative, (unsigned)err.line, err.message);
    }
    const grove_node *root = grove_doc_root(doc);
    grove_buf_init(&p.out, p.env);
    p.t.out = &p.out;
    assert_int_equal(grove_sched_new(p.env, NULL, &p.t.s, NULL), GROVE_OK);
    GV_EACH(name, grove_node_get(root, "resources")) {
        assert_int_equal(grove_sched_resource(p.t.s, text_of(name), &id), GROVE_OK);
    }
    GV_EACH(key, grove_node_get(root, "levels")) {
        keys[n_keys++] = text_of(key);
    }
    assert_int_equal(grove_sched_topology(p.t.s, "t", keys, n_keys, &p.t.topology, NULL), GROVE_OK);
    assert_int_equal(grove_gang_new(p.t.s, &p.t.g), GROVE_OK);
    assert_int_equal(grove_decision_new(p.t.s, &p.t.d), GROVE_OK);
    GV_EACH(step, grove_node_get(root, "steps")) {
        assert_int_equal(grove_node_write_json(step, 0, &p.out, NULL), 0);
        gv_buf_fmt(&p.out, "\n");
        step_of(&p, step);
    }
    test_golden_beside(relative, p.out.data, (size_t)p.out.len);
    grove_gang_free(p.t.g);
    grove_decision_free(p.t.d);
    grove_sched_free(p.t.s);
    grove_buf_fini(&p.out);
    grove_doc_unref(doc);
    free(yaml);
}

static void test_plays(void **state) {
    (void)state;
    grove_env *env = NULL;
    oom_memory memory;
    oom_memory_init(&memory); /* never refuses here: it counts, and nothing it gives is zero */
    env = oom_env(&memory, NULL);
    assert_int_equal(test_each_file("tests/golden/sched-plays", ".yaml", one_play, env), 7);
    grove_env_unref(env);
    assert_int_equal(memory.live_blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plays),
    };
    return cmocka_run_group_tests_name("sched plays", tests, NULL, NULL);
}
