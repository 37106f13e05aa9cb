/* SPDX-License-Identifier: Apache-2.0 */
/* Matching scripts to pods. */
#include "sim/rules.h"

#include "sim/kubelet.h"
#include "sim/select.h"
#include "value/doc.h"

typedef struct gv_sim_rule {
    gv_sim_filter filter; /* namespace and labels */
    char *pod;            /* NULL: any; may end in '*' */
    gv_sim_behaviour what;
} gv_sim_rule;

static bool name_matches(const char *pattern, gv_str name) {
    size_t n = pattern ? strlen(pattern) : 0;
    if (n == 0) {
        return true;
    }
    return pattern[n - 1] == '*' ? gv_str_starts(name, (gv_str){pattern, n - 1})
                                 : gv_str_is(name, pattern);
}

static void overlay64(int64_t *to, int64_t from) {
    if (from != GROVE_SIM_KEEP) {
        *to = from;
    }
}

static void overlay32(int32_t *to, int32_t from) {
    if (from >= 0) {
        *to = from;
    }
}

static void overlay(gv_sim_behaviour *to, const gv_sim_behaviour *from) {
    overlay64(&to->pull_ns, from->pull_ns);
    overlay64(&to->init_ns, from->init_ns);
    overlay64(&to->start_container_ns, from->start_container_ns);
    overlay64(&to->ready_ns, from->ready_ns);
    overlay64(&to->terminate_ns, from->terminate_ns);
    overlay64(&to->crash_ns, from->crash_ns);
    overlay32(&to->exit_code, from->exit_code);
    overlay32(&to->crashes, from->crashes);
    overlay32(&to->pull_fails, from->pull_fails);
    overlay32(&to->init_exit_code, from->init_exit_code);
}

void gv_sim_rules_apply(const grove_sim *sim, const gv_sim_object *pod,
                        gv_sim_behaviour *out_behaviour) {
    const grove_sim_options *o = &sim->options;
    gv_sim_behaviour b = {o->pull_ns,
                          o->init_ns,
                          o->start_container_ns,
                          o->ready_ns,
                          o->terminate_ns,
                          GROVE_SIM_NEVER,
                          1,
                          0,
                          0,
                          0};
    for (size_t i = 0; i < sim->rules.n; i++) {
        const gv_sim_rule *r = sim->rules.v[i];
        if (name_matches(r->pod, pod->name) &&
            gv_sim_filter_matches(&r->filter, gv_sim_root(pod))) {
            overlay(&b, &r->what);
        }
    }
    *out_behaviour = b;
}

static void rule_free(grove_sim *sim, gv_sim_rule *r) {
    gv_sim_filter_fini(sim->env, &r->filter);
    if (r->pod) {
        gv_free(sim->env, r->pod, strlen(r->pod) + 1);
    }
    gv_free(sim->env, r, sizeof *r);
}

void gv_sim_rules_fini(grove_sim *sim) {
    for (size_t i = 0; i < sim->rules.n; i++) {
        rule_free(sim, sim->rules.v[i]);
    }
    gv_vec_fini(sim->env, &sim->rules);
}

static grove_status rule_make(grove_sim *sim, const grove_sim_rule *in, gv_sim_rule *r,
                              grove_error *err) {
    r->what = (gv_sim_behaviour){in->pull_ns,       in->init_ns,      in->start_container_ns,
                                 in->ready_ns,      in->terminate_ns, in->crash_ns,
                                 in->exit_code,     in->crashes,      in->pull_fails,
                                 in->init_exit_code};
    if (in->pod && in->pod[0]) {
        size_t n = strlen(in->pod) + 1;
        r->pod = gv_alloc(sim->env, n);
        if (!r->pod) {
            return gv_error_nomem(err);
        }
        memcpy(r->pod, in->pod, n);
    }
    return gv_sim_filter_make(sim->env, GV_KIND_POD, in->ns, in->label_selector, NULL, &r->filter,
                              err);
}

/* Pods that wait for an image try again soon when a rule changed. */
static void wake_pullers(grove_sim *sim) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&sim->tables[GV_KIND_POD].objects, &i));) {
        gv_sim_object *o = e->value;
        if (o->pod && o->pod->stage == GV_STAGE_PULL && o->pod->pull_tries > 0) {
            o->pod->due_stage = sim->now;
            gv_sim_kubelet_arm(sim, o->pod);
        }
    }
}

grove_status grove_sim_add_rule(grove_sim *sim, const grove_sim_rule *rule, grove_error *err) {
    grove_sim_rule in = GROVE_SIM_RULE_INIT;
    grove_status st = gv_struct_in(&in, sizeof in, rule, rule->size,
                                   offsetof(grove_sim_rule, pull_ns));
    if (st < 0) {
        return gv_error(err, st, "grove_sim_rule has an unknown size");
    }
    gv_sim_rule *r = gv_zalloc(sim->env, sizeof *r);
    if (!r) {
        return gv_error_nomem(err);
    }
    st = rule_make(sim, &in, r, err);
    if (st == GROVE_OK && !gv_vec_push(sim->env, &sim->rules, r)) {
        st = gv_error_nomem(err);
    }
    if (st < 0) {
        rule_free(sim, r);
        return st;
    }
    wake_pullers(sim);
    return GROVE_OK;
}
