/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set's life while requests and replies are lost, writes conflict, events come late, twice or not at
 * all, the engine crashes at any operation, and nodes fail: it ends as it would have without all that.
 * GROVE_CHAOS_SEEDS (default 40) histories, GROVE_CHAOS_FIRST (default 1) the first seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "world.h"

#define STEPS 8

typedef struct faults {
    grove_fault_options options;
} faults;

static grove_status put_faults(void *ctx, grove_env *env, grove_backend *backend,
                               grove_error *err) {
    const faults *f = ctx;
    grove_backend outer;
    grove_status st = grove_backend_fault(env, backend, &f->options, &outer, err);
    if (st == GROVE_OK) {
        *backend = outer;
    }
    return st;
}

static unsigned long setting(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

/* What users do; the same for the calm and the stormy run. The last state of replicas decides. */
static void user_step(world *w, gv_prng *r) {
    static const char patch[] =
        "[{\"op\":\"replace\",\"path\":\"/spec/template/cliques/%d/spec/podSpec/containers/0/"
        "image\",\"value\":\"x:%d\"}]";
    char text[256];
    switch (gv_prng_below(r, 4)) {
    case 0:
        world_scale(w, GROVE_KIND_PODCLIQUESET, "s", 1 + (int64_t)gv_prng_below(r, 2));
        break;
    case 1:
        world_scale(w, GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell",
                    1 + (int64_t)gv_prng_below(r, 3));
        break;
    case 2:
        world_scale(w, GROVE_KIND_PODCLIQUE, "s-0-router", 1 + (int64_t)gv_prng_below(r, 3));
        break;
    default: {
        grove_op op = {.size = (uint32_t)sizeof op,
                       .verb = GROVE_VERB_PATCH,
                       .token = 1,
                       .kind = GROVE_KIND_PODCLIQUESET,
                       .patch_type = GROVE_PATCH_JSON,
                       .ns = "default",
                       .name = "s"};
        grove_sim_result result = {.size = (uint32_t)sizeof result};
        snprintf(text, sizeof text, patch, (int)gv_prng_below(r, 3), (int)gv_prng_below(r, 3));
        assert_int_equal(grove_doc_parse_json(w->env, text, strlen(text), 0, &op.body_doc, NULL),
                         GROVE_OK);
        assert_int_equal(grove_sim_execute(w->c->sim, &op, &result), GROVE_OK);
        grove_doc_unref(result.doc);
        grove_doc_unref(op.body_doc);
        break;
    }
    }
}

/* What the world does: only in the stormy run. */
static void storm_step(world *w, gv_prng *r) {
    grove_error err = GROVE_ERROR_INIT;
    char name[128], node[128];
    uint32_t pods = world_pods(w, NULL, NULL);
    switch (gv_prng_below(r, 4)) {
    case 0:
        assert_int_equal(cluster_restart_engine(w->c, &err), GROVE_OK);
        break;
    case 1:
        if (pods && world_pod_name(w, NULL, (uint32_t)gv_prng_below(r, pods), name, sizeof name)) {
            world_delete(w, GROVE_KIND_POD, name);
        }
        break;
    case 2:
        if (pods && world_pod_name(w, NULL, (uint32_t)gv_prng_below(r, pods), name, sizeof name) &&
            world_text(w, GROVE_KIND_POD, name, "/spec/nodeName", node, sizeof node)[0]) {
            grove_sim_fail_node(w->c->sim, node, &err);
            world_run(w, 5 * SECOND);
            grove_sim_recover_node(w->c->sim, node, &err);
        }
        break;
    default:
        grove_sim_compact(w->c->sim); /* every watch position is lost */
        break;
    }
}

static char *play(uint64_t seed, int stormy) {
    world w;
    grove_env *env = NULL;
    gv_prng user, storm;
    faults f = {.options = {.size = (uint32_t)sizeof f.options,
                            .seed = seed,
                            .lose_request = 2500,
                            .lose_reply = 2500,
                            .refuse = 1500,
                            .conflict = 2500,
                            .delay = 6000,
                            .delay_event = 6000,
                            .duplicate_event = 4000,
                            .gone = 300,
                            .max_delay_ns = 3 * SECOND,
                            .quiet_after = 400}};
    cluster_options options = {.seed = seed};
    if (stormy) {
        options.wrap = put_faults;
        options.wrap_ctx = &f;
    }
    gv_prng_seed(&user, seed);
    gv_prng_seed(&storm, seed * 977 + 1);
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    world_start(&w, env, options);
    world_apply(&w, world_set);
    world_run(&w, 20 * SECOND); /* the objects that users scale exist */
    if (!stormy) {
        world_settle(&w);
    } else {
        world_run(&w, 300 * SECOND);
    }
    for (int i = 0; i < STEPS; i++) {
        user_step(&w, &user);
        if (stormy) {
            storm_step(&w, &storm);
            world_run(&w, (int64_t)gv_prng_below(&storm, 90) * SECOND);
        } else {
            world_settle(&w);
        }
    }
    f.options.quiet_after = 1; /* what is left of the storm ends */
    if (stormy) {
        grove_error err = GROVE_ERROR_INIT;
        assert_int_equal(cluster_restart_engine(w.c, &err), GROVE_OK);
    }
    world_settle(&w);
    world_check_rest(&w);
    char *digest = world_digest(&w);
    world_end(&w);
    grove_env_unref(env);
    return digest;
}

/* Lines that only one of two sorted texts has. */
static void print_difference(const char *a, const char *b) {
    while (*a || *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        size_t least = n < m ? n : m;
        int order = !*a ? 1 : !*b ? -1 : strncmp(a, b, least);
        order = order ? order : n < m ? -1 : n > m;
        if (order < 0) {
            print_error("calm   %.*s\n", (int)n, a);
        } else if (order > 0) {
            print_error("stormy %.*s\n", (int)m, b);
        }
        a += order <= 0 ? n + (a[n] != '\0') : 0;
        b += order >= 0 ? m + (b[m] != '\0') : 0;
    }
}

static void test_storms_end_as_calm(void **state) {
    unsigned long first = setting("GROVE_CHAOS_FIRST", 1), n = setting("GROVE_CHAOS_SEEDS", 40);
    (void)state;
    print_message("seeds %lu to %lu\n", first, first + n - 1);
    for (unsigned long seed = first; seed < first + n; seed++) {
        char *calm = play(seed, 0), *stormy = play(seed, 1);
        if (strcmp(calm, stormy) != 0) {
            print_difference(calm, stormy);
            fail_msg("seed %lu ends otherwise", seed);
        }
        free(calm);
        free(stormy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_storms_end_as_calm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
