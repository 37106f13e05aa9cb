/* SPDX-License-Identifier: Apache-2.0 */
/* Generated names, against the table of the API's reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/names.h"

typedef struct fixture {
    grove_env *env;
    gv_arena a;
} fixture;

static int setup(void **state) {
    static fixture f;
    assert_int_equal(grove_env_new(NULL, &f.env), 0);
    gv_arena_init(&f.a, f.env);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gv_arena_fini(&f->a);
    grove_env_unref(f->env);
    return 0;
}

static void layout_base(void **state) {
    fixture *f = *state;
    const gv_layout *l = gv_layout_find(GV_STR("base"));
    assert_non_null(l);
    assert_null(gv_layout_find(GV_STR("other")));
    assert_string_equal(l->set_replica(&f->a, GV_STR("llm"), 10).p, "llm-10");
    assert_string_equal(l->in_replica(&f->a, GV_STR("llm"), 0, GV_STR("router")).p, "llm-0-router");
    assert_string_equal(l->member(&f->a, GV_STR("llm-0-g"), 2, GV_STR("w")).p, "llm-0-g-2-w");
    assert_string_equal(l->scaled_gang(&f->a, GV_STR("llm-0-g"), 5, 2).p, "llm-0-g-3");
}

static void fixed_names(void **state) {
    fixture *f = *state;
    assert_string_equal(gv_name_service_address(&f->a, GV_STR("llm-0"), GV_STR("team")).p,
                        "llm-0.team.svc.cluster.local");
    assert_string_equal(gv_name_role(&f->a, GV_STR("llm")).p, "grove.io:pcs:llm");
    assert_string_equal(gv_name_token_secret(&f->a, GV_STR("llm")).p, "llm-ic-sat");
    assert_string_equal(gv_name_legacy_token_secret(&f->a, GV_STR("llm")).p,
                        "llm-initc-sa-token-secret");
    assert_string_equal(gv_name_hostname(&f->a, GV_STR("llm-0-w"), 12).p, "llm-0-w-12");
    assert_string_equal(gv_name_claim(&f->a, GV_STR("llm"), -1, GV_STR("nic")).p, "llm-all-nic");
    assert_string_equal(gv_name_claim(&f->a, GV_STR("llm-0-g"), 3, GV_STR("nic")).p,
                        "llm-0-g-3-nic");
    assert_string_equal(gv_name_computedomain(&f->a, GV_STR("llm"), 1, GV_STR("train")).p,
                        "llm-1-train");
    assert_string_equal(gv_name_group_config(&f->a, GV_STR("llm-0-g"), 1).p, "llm-0-g-1");
}

/* One decision, one name; another clique, index, predecessor or salt, another name. */
static void pod_names(void **state) {
    fixture *f = *state;
    gv_str c = GV_STR("llm-0-w"), uid = GV_STR("4f1e"), none = GV_STR("");
    gv_str name = gv_name_pod(&f->a, c, uid, 0, none, 0);
    assert_int_equal(name.n, c.n + 6);
    assert_memory_equal(name.p, "llm-0-w-", 8);
    assert_int_equal(strspn(name.p + 8, "bcdfghjklmnpqrstvwxz2456789"), 5);
    assert_string_equal(name.p, gv_name_pod(&f->a, c, uid, 0, none, 0).p);
    assert_string_not_equal(name.p, gv_name_pod(&f->a, c, uid, 1, none, 0).p);
    assert_string_not_equal(name.p, gv_name_pod(&f->a, c, uid, 0, none, 1).p);
    assert_string_not_equal(name.p, gv_name_pod(&f->a, c, uid, 0, uid, 0).p);
    assert_string_not_equal(name.p, gv_name_pod(&f->a, c, GV_STR("4f1f"), 0, none, 0).p);
    /* neighbouring fields do not run into each other */
    assert_string_not_equal(gv_name_pod(&f->a, c, GV_STR("a1"), 2, none, 0).p,
                            gv_name_pod(&f->a, c, GV_STR("a"), 12, none, 0).p);
}

/* Pinned: a changed rule would give a standby process other names than the one it takes over from. */
static void pod_name_is_pinned(void **state) {
    char out[6];
    (void)state;
    gv_name_pod_suffix(out, GV_STR("0b5c9d3e-0000-4000-8000-000000000001"), 0, GV_STR(""), 0);
    assert_string_equal(out, "n6ngw");
}

/* The server cuts a generateName to 58 characters; so do we, and the name keeps within 63. */
static void long_pod_names(void **state) {
    fixture *f = *state;
    char clique[80];
    memset(clique, 'c', sizeof clique);
    for (size_t n = 55; n < 70; n++) {
        gv_str name = gv_name_pod(&f->a, (gv_str){clique, n}, GV_STR("u"), 0, GV_STR(""), 0);
        assert_true(name.n <= 63);
        assert_int_equal(name.n, n < 58 ? n + 6 : 63);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_base),    cmocka_unit_test(fixed_names),
        cmocka_unit_test(pod_names),      cmocka_unit_test(pod_name_is_pinned),
        cmocka_unit_test(long_pod_names),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
