/* SPDX-License-Identifier: Apache-2.0 */
/* Small sets for the tests of this layer, written as text and expanded in one call. */
#ifndef TESTS_PLAN_SETS_H
#define TESTS_PLAN_SETS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/expand.h"

typedef struct expanded {
    grove_env *env;
    grove_doc *doc;
    grove_config *config;
    gv_template *t;
    gv_expander *x;
    const gv_want *w;
    gv_arena a; /* for whatever the test needs */
} expanded;

/* A set named `s` in namespace `ns`: the text of spec.template, YAML in flow style or block style. */
expanded *expand_new(const char *set_yaml, const char *config_yaml);
/* Again, with live replicas: pairs of name and number, ends with a NULL name. */
typedef struct live {
    const char *name;
    int64_t replicas;
} live;
void expand_again(expanded *e, const live *lives);
void expand_free(expanded *e);

/* The body of an object; the caller unrefs it. */
grove_doc *body_of(expanded *e, gv_kind kind, const char *name);
/* The pod with this index of a clique, made from the PodClique that the library makes. */
grove_doc *pod_of(expanded *e, const char *clique, int64_t index);
/* Asserts that the node at a JSON pointer equals the JSON text. "null": there is none. */
void assert_at(const grove_doc *doc, const char *pointer, const char *json);

#endif
