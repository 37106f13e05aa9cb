/* SPDX-License-Identifier: Apache-2.0 */
/* Resource definitions: the facts of the API, limits of size, and the committed files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/schema.h"
#include "support/files.h"
#include "support/oom.h"
#include "value/doc.h"

static grove_env *env;
static grove_doc *crds[GV_KIND_COUNT];

static int setup(void **state) {
    (void)state;
    if (grove_env_new(NULL, &env) < 0) {
        return -1;
    }
    for (int k = GV_KIND_PODCLIQUESET; k <= GV_KIND_PODGANG; k++) {
        if (gv_schema_crd(env, (gv_kind)k, false, &crds[k], NULL) < 0) {
            return -1;
        }
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (int k = 0; k < GV_KIND_COUNT; k++) {
        grove_doc_unref(crds[k]);
    }
    grove_env_unref(env);
    return 0;
}

static const grove_node *schema_of(gv_kind kind) {
    return grove_node_at_path(grove_doc_root(crds[kind]),
                              "/spec/versions/0/schema/openAPIV3Schema");
}

/* spec.list[].map{}.name */
static const grove_node *walk(const grove_node *schema, const char *path) {
    while (schema && *path && strcmp(path, "-") != 0) {
        if (strncmp(path, "[]", 2) == 0) {
            schema = grove_node_get(schema, "items");
            path += 2;
        } else if (strncmp(path, "{}", 2) == 0) {
            schema = grove_node_get(schema, "additionalProperties");
            path += 2;
        } else {
            path += *path == '.';
            size_t n = strcspn(path, ".[{");
            schema = grove_node_getn(grove_node_get(schema, "properties"), path, n);
            path += n;
        }
    }
    return schema;
}

/* Equality, descriptions left out. */
static bool same(const grove_node *found, const grove_node *want) {
    if (!gv_node_is(found, GROVE_OBJECT) || !grove_node_get(found, "description")) {
        return grove_node_equal(found, want) != 0;
    }
    GV_EACH(m, found) {
        gv_str key = gv_node_key(m);
        if (!gv_str_is(key, "description") && !same(m, gv_node_get(want, key))) {
            return false;
        }
    }
    return grove_node_size(found) == grove_node_size(want) + 1;
}

static void check_fact(const char *kind, const char *path, const char *keyword, const char *json) {
    gv_kind k = gv_kind_by_word(gv_str_c(kind));
    assert_true(gv_schema_has(k));
    const grove_node *found = path[0] == '/' ? grove_node_at_path(grove_doc_root(crds[k]), path)
                                             : walk(schema_of(k), path);
    if (strcmp(keyword, ".") != 0) {
        assert_non_null(found);
        found = grove_node_get(found, keyword);
    }
    if (strcmp(json, "-") == 0) {
        if (found) {
            fail_msg("%s %s %s should not be there", kind, path, keyword);
        }
        return;
    }
    grove_doc *want = NULL;
    assert_int_equal(grove_doc_parse_json(env, json, strlen(json), 0, &want, NULL), 0);
    if (!same(found, grove_doc_root(want))) {
        fail_msg("%s %s %s should be %s", kind, path, keyword, json);
    }
    grove_doc_unref(want);
}

static void facts(void **state) {
    (void)state;
    char *text = test_read("tests/golden/crd/facts.txt", NULL);
    int n = 0;
    for (char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? (*end = '\0', end + 1) : line + strlen(line);
        char kind[16], path[200], keyword[64];
        int at = 0;
        if (*line == '#' || sscanf(line, "%15s %199s %63s %n", kind, path, keyword, &at) < 3) {
            continue;
        }
        check_fact(kind, path, keyword, line + at);
        n++;
    }
    assert_true(n > 120);
    free(text);
}

/* No description, enum or rule anywhere below a podSpec. */
static void bare(const grove_node *node) {
    static const char *const banned[] = {"description", "enum", "x-kubernetes-validations"};
    for (size_t i = 0; i < 3; i++) {
        const grove_node *found = grove_node_get(node, banned[i]);
        assert_false(found &&
                     !gv_node_is(found, GROVE_OBJECT)); /* an object: a field of that name */
    }
    GV_EACH(m, node) {
        bare(m);
    }
}

static void pod_spec_is_bare_and_whole(void **state) {
    (void)state;
    const grove_node *pod = walk(schema_of(GV_KIND_PODCLIQUE), "spec.podSpec");
    bare(grove_node_get(pod, "properties"));
    assert_int_equal(grove_node_size(grove_node_get(pod, "properties")), 42);
    assert_int_equal(grove_node_size(grove_node_get(walk(pod, "containers[]"), "properties")), 25);
}

static void small_enough(void **state) {
    (void)state;
    for (int k = GV_KIND_PODCLIQUESET; k <= GV_KIND_PODGANG; k++) {
        grove_buf out;
        grove_buf_init(&out, env);
        assert_int_equal(grove_node_write_json(grove_doc_root(crds[k]), 0, &out, NULL), 0);
        assert_true(out.len <= 700 * 1024);
        grove_buf_fini(&out);
    }
}

static void check_committed(uint32_t set, const char *word) {
    for (int k = GV_KIND_PODCLIQUESET; k <= GV_KIND_PODGANG; k++) {
        const gv_kind_info *info = gv_kind_get((gv_kind)k);
        char name[160];
        grove_buf out;
        size_t len = 0;
        snprintf(name, sizeof name, "deploy/crds/%s/%s.%s.yaml", word, info->plural, info->group);
        grove_buf_init(&out, env);
        assert_int_equal(grove_crd_write(env, info->name, set, &out, NULL), 0);
        char *text = test_read(name, &len);
        if (!test_diff(text, len, out.data, (size_t)out.len)) {
            fail_msg("%s is stale: write it anew with `grovectl crd %s --set %s`", name, info->name,
                     word);
        }
        free(text);
        grove_buf_fini(&out);
    }
}

static void committed_files_are_current(void **state) {
    (void)state;
    check_committed(GROVE_CRD_UPSTREAM, "upstream");
    check_committed(GROVE_CRD_EXTENDED, "extended");
}

/* Adds up what the extended definition has beyond the other; whatever the other has it has too, but for
 * descriptions and for an enumeration, which may have more values. */
static uint32_t count_more(const grove_node *upstream, const grove_node *extended, bool values) {
    uint32_t more = 0;
    assert_int_equal(grove_node_type(upstream), grove_node_type(extended));
    if (gv_node_is(upstream, GROVE_OBJECT)) {
        GV_EACH(member, upstream) {
            gv_str key = gv_node_key(member);
            bool doc = gv_str_is(key, "description") && gv_node_is(member, GROVE_STRING);
            const grove_node *same = gv_node_get(extended, key);
            assert_non_null(same);
            more += doc ? 0 : count_more(member, same, gv_str_is(key, "enum"));
        }
        return more + grove_node_size(extended) - grove_node_size(upstream);
    }
    if (gv_node_is(upstream, GROVE_ARRAY)) {
        assert_true(values || grove_node_size(upstream) == grove_node_size(extended));
        for (uint32_t i = 0; i < grove_node_size(upstream); i++) {
            more += count_more(grove_node_at(upstream, i), grove_node_at(extended, i), false);
        }
        return more + grove_node_size(extended) - grove_node_size(upstream);
    }
    assert_true(grove_node_equal(upstream, extended));
    return 0;
}

static void extended_only_adds(void **state) {
    /* spread in three places, suspend, crossGangPack, placement, gangWait, failurePolicy twice, ratios, coreMember, rollingUpdate in three places,
     * revisionHistoryLimit, Coherent */
    static const uint32_t added[] = {[GV_KIND_PODCLIQUESET] = 16, [GV_KIND_PODCLIQUE] = 1};
    (void)state;
    for (int k = GV_KIND_PODCLIQUESET; k <= GV_KIND_PODGANG; k++) {
        grove_doc *extended = NULL;
        assert_int_equal(gv_schema_crd(env, (gv_kind)k, true, &extended, NULL), 0);
        assert_int_equal(count_more(grove_doc_root(crds[k]), grove_doc_root(extended), false),
                         k <= GV_KIND_PODCLIQUE ? added[k] : 0);
        grove_doc_unref(extended);
    }
}

static grove_status write_one(grove_env *e, void *ctx) {
    (void)ctx;
    grove_buf out;
    grove_buf_init(&out, e);
    grove_status status = grove_crd_write(e, "pclq", GROVE_CRD_EXTENDED, &out, NULL);
    grove_buf_fini(&out);
    return status;
}

static void survives_allocation_failure(void **state) {
    (void)state;
    oom_loop("crd", write_one, NULL);
}

static void unknown_kinds(void **state) {
    (void)state;
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_crd_write(env, "pod", GROVE_CRD_UPSTREAM, &out, NULL),
                     GROVE_E_NOT_FOUND);
    assert_int_equal(grove_crd_write(env, "nothing", GROVE_CRD_UPSTREAM, &out, NULL),
                     GROVE_E_NOT_FOUND);
    assert_int_equal(grove_crd_write(env, "pcs", 99, &out, NULL), GROVE_E_INVALID);
    assert_int_equal(out.len, 0);
    grove_buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts),
        cmocka_unit_test(pod_spec_is_bare_and_whole),
        cmocka_unit_test(small_enough),
        cmocka_unit_test(committed_files_are_current),
        cmocka_unit_test(extended_only_adds),
        cmocka_unit_test(survives_allocation_failure),
        cmocka_unit_test(unknown_kinds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
