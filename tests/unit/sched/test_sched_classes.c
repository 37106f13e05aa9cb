/* SPDX-License-Identifier: Apache-2.0 */
/* Which descriptions of pods are one class: equal ones are, and whatever part differs makes another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sched.h>

#define CHANGES 32 /* of one part each */

/* A description that uses every part there is; tests change one of them. */
typedef struct described {
    int64_t requests[3];
    const char *values[2], *other_values[1];
    grove_sched_label selector[2];
    grove_sched_requirement requirements[2], wished[1];
    grove_sched_term terms[2], preferred[2];
    grove_sched_terms lists[2];
    grove_sched_toleration tolerations[2];
    grove_sched_port ports[2];
    grove_sched_class_spec spec;
} described;

static void describe(described *d) {
    memset(d, 0, sizeof *d);
    d->requests[0] = 1, d->requests[1] = 2, d->requests[2] = 3;
    d->values[0] = "a", d->values[1] = "b";
    d->other_values[0] = "5";
    d->selector[0] = (grove_sched_label){"k", "v"};
    d->selector[1] = (grove_sched_label){"l", "w"};
    d->requirements[0] = (grove_sched_requirement){"arch", d->values, 2, GROVE_MATCH_IN};
    d->requirements[1] = (grove_sched_requirement){"gen", d->other_values, 1, GROVE_MATCH_GT};
    d->wished[0] = (grove_sched_requirement){"zone", NULL, 0, GROVE_MATCH_EXISTS};
    d->terms[0] = (grove_sched_term){d->requirements, 2, 0};
    d->terms[1] = (grove_sched_term){d->wished, 1, 0};
    d->preferred[0] = (grove_sched_term){d->wished, 1, 4};
    d->preferred[1] = (grove_sched_term){d->requirements, 1, 9};
    d->lists[0] = (grove_sched_terms){d->terms, 2, 0};
    d->lists[1] = (grove_sched_terms){d->terms, 1, 0};
    d->tolerations[0] = (grove_sched_toleration){"t", "v", GROVE_TAINT_NO_SCHEDULE, 0};
    d->tolerations[1] = (grove_sched_toleration){"u", "", GROVE_TAINT_ANY, 1};
    d->ports[0] = (grove_sched_port){"TCP", "", 80, 0};
    d->ports[1] = (grove_sched_port){"UDP", "10.0.0.1", 81, 0};
    d->spec = (grove_sched_class_spec){.size = (uint32_t)sizeof d->spec,
                                       .n_requests = 3,
                                       .requests = d->requests,
                                       .selector = d->selector,
                                       .required = d->lists,
                                       .preferred = d->preferred,
                                       .tolerations = d->tolerations,
                                       .ports = d->ports,
                                       .n_selector = 2,
                                       .n_required = 2,
                                       .n_preferred = 2,
                                       .n_tolerations = 2,
                                       .n_ports = 2,
                                       .max_per_host = 3,
                                       .key = 11};
}

static void change_requests(described *d, int which) {
    switch (which) {
    case 0:
        d->requests[1] = 4;
        break;
    case 1:
        d->requests[1] = 3, d->requests[2] = 2;
        break;
    case 2:
        d->spec.n_requests = 2;
        break;
    case 3:
        d->spec.key = 12;
        break;
    case 4:
        d->spec.max_per_host = 4;
        break;
    case 5:
        d->spec.max_per_host = 0;
        break;
    default:
        d->requests[0] = 0, d->requests[2] = 9;
        break;
    }
}

static void change_selector(described *d, int which) {
    switch (which) {
    case 0:
        d->selector[0].key = "K";
        break;
    case 1:
        d->selector[1].value = "v";
        break;
    case 2:
        d->spec.n_selector = 1;
        break;
    case 3:
        d->requirements[0].key = "Arch";
        break;
    case 4:
        d->requirements[0].op = GROVE_MATCH_NOT_IN;
        break;
    case 5:
        d->values[1] = "c";
        break;
    case 6:
        d->requirements[0].n_values = 1;
        break;
    case 7:
        d->terms[0].n_requirements = 1;
        break;
    case 8:
        d->lists[0].n_terms = 1;
        break;
    default:
        d->spec.n_required = 1;
        break;
    }
}

static void change_wishes(described *d, int which) {
    switch (which) {
    case 0:
        d->preferred[0].weight = 5;
        break;
    case 1:
        d->preferred[0].weight = 9, d->preferred[1].weight = 4;
        break;
    case 2:
        d->spec.n_preferred = 1;
        break;
    case 3:
        d->tolerations[0].key = "T";
        break;
    case 4:
        d->tolerations[0].value = "w";
        break;
    case 5:
        d->tolerations[0].effect = GROVE_TAINT_NO_EXECUTE;
        break;
    case 6:
        d->tolerations[1].exists = 0;
        d->tolerations[1].value = "x";
        break;
    case 7:
        d->spec.n_tolerations = 1;
        break;
    default:
        d->tolerations[0].exists = 1;
        break;
    }
}

static void change_ports(described *d, int which) {
    switch (which) {
    case 0:
        d->ports[0].protocol = "SCTP";
        break;
    case 1:
        d->ports[0].ip = "10.0.0.2";
        break;
    case 2:
        d->ports[0].port = 82;
        break;
    case 3:
        d->ports[1].ip = "10.0.0.3";
        break;
    case 4:
        d->ports[1].port = 83;
        break;
    default:
        d->spec.n_ports = 1;
        break;
    }
}

static void change(described *d, int which) {
    if (which < 7) {
        change_requests(d, which);
    } else if (which < 17) {
        change_selector(d, which - 7);
    } else if (which < 26) {
        change_wishes(d, which - 17);
    } else {
        change_ports(d, which - 26);
    }
}

static uint32_t class_of(grove_sched *s, const described *d) {
    uint32_t id = GROVE_SCHED_NONE;
    assert_int_equal(grove_sched_class(s, &d->spec, &id, NULL), GROVE_OK);
    return id;
}

static void test_identity(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_sched *s = NULL;
    uint32_t id;
    described d, again;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_sched_new(env, NULL, &s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(s, "gpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_resource(s, "cpu", &id), GROVE_OK);
    describe(&d);
    assert_int_equal(class_of(s, &d), 0);
    for (int i = 0; i < CHANGES; i++) {
        describe(&d);
        describe(&again);
        change(&d, i);
        change(&again, i);
        if (class_of(s, &d) != (uint32_t)i + 1) {
            fail_msg("change %d makes no class of its own", i);
        }
        assert_int_equal(class_of(s, &again), i + 1);
        describe(&d);
        assert_int_equal(class_of(s, &d), 0);
    }
    grove_sched_free(s);
    grove_env_unref(env);
}

/* "pods" counts one whatever is written, and the requests can be read back. */
static void test_requests(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_sched *s = NULL;
    uint32_t id, other;
    int64_t requests[3] = {7, 0, 5};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_sched_new(env, NULL, &s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(s, "gpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_resource(s, "cpu", &id), GROVE_OK);
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 3};
    assert_int_equal(grove_sched_class(s, &spec, &id, NULL), GROVE_OK);
    const int64_t *row = grove_sched_class_requests(s, id);
    assert_true(row[0] == 1 && row[1] == 0 && row[2] == 5);
    assert_null(grove_sched_class_requests(s, id + 1));
    spec.n_requests = 0;
    assert_int_equal(grove_sched_class(s, &spec, &other, NULL), GROVE_OK);
    row = grove_sched_class_requests(s, other);
    assert_true(other == id + 1 && row[0] == 1 && row[1] == 0 && row[2] == 0);
    spec.n_requests = 3;
    requests[1] = -1;
    assert_int_equal(grove_sched_class(s, &spec, &id, NULL), GROVE_E_RANGE);
    requests[1] = INT64_MAX;
    assert_int_equal(grove_sched_class(s, &spec, &id, NULL), GROVE_E_RANGE);
    grove_sched_free(s);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests_name("sched classes", tests, NULL, NULL);
}
