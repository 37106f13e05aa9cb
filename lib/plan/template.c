/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and judging a set's template once: see template.h. */
#include "plan/template_def.h"

#include "base/mem.h"
#include "model/labels.h"

/* ---- parts of the compilation; each is false when out of memory ---- */

/* Keeps a hash of ours and what stands for it in labels and status. */
static bool keep_hash(gv_template *t, const gv_template_options *o, const char *hash, gv_str *own,
                      gv_str *used) {
    gv_str text = gv_str_c(hash);
    *own = (gv_str){gv_arena_dup(&t->arena, text), text.n};
    *used = *own;
    for (uint32_t i = 0; i < o->n_aliases; i++) {
        if (gv_str_eq(o->aliases[i].own, text)) {
            gv_str foreign = o->aliases[i].foreign;
            *used = (gv_str){gv_arena_dup(&t->arena, foreign), foreign.n};
            break;
        }
    }
    return own->p != NULL && used->p != NULL;
}

static grove_status read_facts(gv_template *t, const gv_template_options *o, grove_error *err) {
    gv_str fallback = gv_str_c(t->config->default_scheduler);
    t->facts = gv_arena_array(&t->arena, gv_clique_facts, t->pcs.n_cliques + 1);
    if (!t->facts) {
        return gv_error_nomem(err);
    }
    for (uint32_t i = 0; i < t->pcs.n_cliques; i++) {
        const gv_clique *c = &t->pcs.cliques[i];
        gv_clique_facts *f = &t->facts[i];
        char hash[32];
        grove_status s = gv_hash_clique(t->env, c->labels, c->annotations, c->pod_spec,
                                        t->pcs.priority_class, hash, err);
        if (s < 0) {
            return s;
        }
        gv_str scheduler = gv_get_str(c->pod_spec, "schedulerName");
        f->scheduler = scheduler.n ? scheduler : fallback;
        f->adapter = gv_adapter_of(t->config, f->scheduler);
        f->gpu = gv_pod_spec_wants_gpu(c->pod_spec);
        f->replicas = gv_opt_or(c->replicas, 1) > 0 ? gv_opt_or(c->replicas, 1) : 0;
        f->min_available = gv_opt_or(c->min_available, f->replicas);
        if (f->min_available < 0) {
            f->min_available = 0;
        }
        if (scheduler.n && t->gang_scheduler.n == 0) {
            t->gang_scheduler = scheduler;
        }
        if (!keep_hash(t, o, hash, &f->own_hash, &f->hash)) {
            return gv_error_nomem(err);
        }
    }
    if (t->gang_scheduler.n == 0) {
        t->gang_scheduler = fallback;
    }
    t->gang_adapter = gv_adapter_of(t->config, t->gang_scheduler);
    if (!t->gang_adapter) { /* an unknown name falls back for the gang, not for the pods */
        t->gang_adapter = gv_adapter_of(t->config, fallback);
    }
    return GROVE_OK;
}

static grove_status check_name(gv_str name, bool again, const char *list, uint32_t i,
                               grove_error *err) {
    if (name.n > 0 && !again) {
        return GROVE_OK;
    }
    char path[96];
    gv_fmt(path, sizeof path, "spec.template.%s[%u].name", list, i);
    return gv_error_at(err, GROVE_E_INVALID, 0, 0, path,
                       name.n == 0 ? "a name is required" : "an earlier one has this name");
}

/* The names of children are made of these: where two are alike, two children would be one object. */
static grove_status check_names(const gv_template *t, grove_error *err) {
    grove_status s = GROVE_OK;
    for (uint32_t c = 0; c < t->pcs.n_cliques && s == GROVE_OK; c++) {
        gv_str name = t->pcs.cliques[c].name;
        bool again = false;
        for (uint32_t o = 0; o < c && !again; o++) {
            again = gv_str_eq(name, t->pcs.cliques[o].name);
        }
        s = check_name(name, again, "cliques", c, err);
    }
    for (uint32_t g = 0; g < t->pcs.n_groups && s == GROVE_OK; g++) {
        gv_str name = t->pcs.groups[g].name;
        bool again = false;
        for (uint32_t o = 0; o < g && !again; o++) {
            again = gv_str_eq(name, t->pcs.groups[o].name);
        }
        s = check_name(name, again, "podCliqueScalingGroups", g, err);
    }
    return s;
}

/* A group that lists a clique the set does not have can be expanded by nobody. */
static grove_status check_members(const gv_template *t, grove_error *err) {
    for (uint32_t g = 0; g < t->pcs.n_groups; g++) {
        const gv_group *group = &t->pcs.groups[g];
        for (uint32_t k = 0; k < group->n_cliques; k++) {
            if (group->cliques[k] == GV_NO_CLIQUE) {
                char path[96];
                gv_fmt(path, sizeof path,
                       "spec.template.podCliqueScalingGroups[%u].cliqueNames[%u]", g, k);
                return gv_error_at(err, GROVE_E_NOT_FOUND, 0, 0, path,
                                   "the set has no clique of this name");
            }
        }
    }
    return GROVE_OK;
}

static bool read_places(gv_template *t) {
    uint32_t n = t->pcs.n_cliques;
    t->place = gv_arena_array(&t->arena, uint32_t, n + 1);
    t->standalone = gv_arena_array(&t->arena, uint32_t, n + 1);
    if (!t->place || !t->standalone) {
        return false;
    }
    for (int core = 0; core < 2; core++) {
        for (uint32_t c = 0; c < n; c++) {
            if (t->pcs.cliques[c].group < 0 && t->pcs.cliques[c].outside == (core == 0)) {
                t->place[c] = t->n_standalone;
                t->standalone[t->n_standalone++] = c;
                t->n_outside += core == 0 ? 1 : 0;
            }
        }
    }
    for (uint32_t g = 0; g < t->pcs.n_groups; g++) {
        const gv_group *group = &t->pcs.groups[g];
        for (uint32_t k = 0; k < group->n_cliques; k++) {
            uint32_t c = group->cliques[k];
            if (c != GV_NO_CLIQUE && t->pcs.cliques[c].group == (int32_t)g) {
                t->place[c] = k;
            }
        }
    }
    return true;
}

/* Whether `longer` ends with "-" and `name`. */
static bool is_tail_of(gv_str name, gv_str longer) {
    return longer.n > name.n && longer.p[longer.n - name.n - 1] == '-' && gv_str_ends(longer, name);
}

static bool read_suffixes(gv_template *t) {
    const gv_pcs *pcs = &t->pcs;
    t->first_suffix = gv_arena_array(&t->arena, uint32_t, pcs->n_cliques + 1);
    if (!t->first_suffix) {
        return false;
    }
    for (int round = 0; round < 2; round++) { /* count, then fill */
        uint32_t n = 0;
        for (uint32_t c = 0; c < pcs->n_cliques; c++) {
            uint32_t first = c;
            for (uint32_t o = 0; o < c; o++) {
                if (first == c && gv_str_ends(pcs->cliques[c].name, pcs->cliques[o].name)) {
                    first = o;
                }
                if (is_tail_of(pcs->cliques[c].name, pcs->cliques[o].name)) {
                    if (round == 1) {
                        t->longer[n] = (gv_longer){c, o};
                    }
                    n++;
                }
            }
            t->first_suffix[c] = first;
        }
        if (round == 0) {
            t->longer = gv_arena_array(&t->arena, gv_longer, n + 1);
            if (!t->longer) {
                return false;
            }
        }
        t->n_longer = n;
    }
    return true;
}

uint32_t gv_template_source(const gv_template *t, uint32_t clique, gv_str name) {
    if (t->match == GV_MATCH_EXACT) {
        return clique;
    }
    uint32_t first = t->first_suffix[clique];
    for (uint32_t i = 0; i < t->n_longer; i++) {
        const gv_longer *l = &t->longer[i];
        if (l->clique == clique && l->longer < first &&
            gv_str_ends(name, t->pcs.cliques[l->longer].name)) {
            first = l->longer;
        }
    }
    return first;
}

static void add_hpa(gv_template *t, bool of_group, uint32_t index, const gv_scaling *s,
                    int64_t replicas) {
    if (s->set) {
        int64_t least = gv_opt_or(s->min_replicas, replicas);
        t->hpas[t->n_hpas++] = (gv_want_hpa){
            of_group, index, gv_opt_or(s->max_replicas, 0) < (least > 1 ? least : 1)};
    }
}

static bool read_hpas(gv_template *t) {
    t->hpas = gv_arena_array(&t->arena, gv_want_hpa, t->pcs.n_cliques + t->pcs.n_groups + 1);
    if (!t->hpas) {
        return false;
    }
    for (uint32_t c = 0; c < t->pcs.n_cliques; c++) {
        add_hpa(t, false, c, &t->pcs.cliques[c].scaling, t->facts[c].replicas);
    }
    for (uint32_t g = 0; g < t->pcs.n_groups; g++) {
        const gv_group *group = &t->pcs.groups[g];
        add_hpa(t, true, g, &group->scaling, gv_opt_or(group->replicas, 1));
    }
    return true;
}

/* ---- making and reading ---- */

static grove_status compile(gv_template *t, const grove_node *pcs, const gv_template_options *o,
                            grove_error *err) {
    grove_status s = gv_pcs_read(&t->arena, pcs, &t->pcs, err);
    if (s < 0) {
        return s;
    }
    gv_str ns = t->pcs.meta.ns.n ? t->pcs.meta.ns : o->ns.n ? o->ns : GV_STR("default");
    t->ns = (gv_str){gv_arena_dup(&t->arena, ns), ns.n};
    if (!t->ns.p) {
        return gv_error_nomem(err);
    }
    s = check_names(t, err);
    s = s < 0 ? s : check_members(t, err);
    s = s < 0 ? s : read_facts(t, o, err);
    if (s < 0) {
        return s;
    }
    char hash[32];
    s = gv_hash_generation(t, hash, err);
    if (s < 0) {
        return s;
    }
    if (!keep_hash(t, o, hash, &t->own_generation_hash, &t->generation_hash)) {
        return gv_error_nomem(err);
    }
    gv_str topology = gv_pcs_topology_name(&t->pcs);
    if (t->config->topology_enabled && topology.n) {
        t->binding = gv_config_binding(t->config, topology);
    }
    if (!read_places(t) || !read_suffixes(t) || !read_hpas(t) || !gv_mnnvl_domains(t)) {
        return gv_error_nomem(err);
    }
    return GROVE_OK;
}

grove_status gv_template_new(grove_env *env, grove_doc *doc, const grove_node *pcs,
                             grove_config *config, const gv_template_options *options,
                             gv_template **out, grove_error *err) {
    static const gv_template_options none = {.match = GV_MATCH_EXACT};
    const gv_template_options *o = options ? options : &none;
    gv_template *t = gv_zalloc(env, sizeof *t);
    if (!t) {
        return gv_error_nomem(err);
    }
    gv_refs_init(&t->refs);
    t->env = grove_env_ref(env);
    gv_arena_init(&t->arena, env);
    t->doc = grove_doc_ref(doc);
    t->config = grove_config_ref(config);
    t->layout = o->layout ? o->layout : gv_layout_base();
    t->match = o->match;
    grove_status s = compile(t, pcs, o, err);
    if (s < 0) {
        gv_template_unref(t);
        return s;
    }
    *out = t;
    return GROVE_OK;
}

gv_template *gv_template_ref(gv_template *t) {
    gv_refs_up(&t->refs);
    return t;
}

void gv_template_unref(gv_template *t) {
    if (!t || !gv_refs_down(&t->refs)) {
        return;
    }
    grove_env *env = t->env;
    gv_arena_fini(&t->arena);
    grove_doc_unref(t->doc);
    grove_config_unref(t->config);
    gv_free(env, t, sizeof *t);
    grove_env_unref(env);
}

const gv_pcs *gv_template_pcs(const gv_template *t) {
    return &t->pcs;
}
grove_doc *gv_template_doc(const gv_template *t) {
    return t->doc;
}
grove_config *gv_template_config(const gv_template *t) {
    return t->config;
}
gv_str gv_template_ns(const gv_template *t) {
    return t->ns;
}
const gv_clique_facts *gv_template_clique(const gv_template *t, uint32_t clique) {
    return clique < t->pcs.n_cliques ? &t->facts[clique] : NULL;
}
gv_str gv_template_own_generation_hash(const gv_template *t) {
    return t->own_generation_hash;
}

gv_str gv_template_generation_hash(const gv_template *t) {
    return t->generation_hash;
}
const gv_adapter *gv_template_gang_adapter(const gv_template *t, gv_str *out_name) {
    if (out_name) {
        *out_name = t->gang_scheduler;
    }
    return t->gang_adapter;
}

gv_str gv_template_level_key(const gv_template *t, gv_str domain) {
    int32_t level = t->binding && domain.n ? gv_binding_level(t->binding, domain) : -1;
    return level < 0 ? GV_STR("") : t->binding->levels[level].key;
}

const grove_node *gv_template_claim_spec(const gv_template *t, const gv_sharing *entry,
                                         bool *out_own) {
    *out_own = false;
    for (uint32_t i = 0; entry->ns.n == 0 && i < t->pcs.n_claim_templates; i++) {
        if (gv_str_eq(t->pcs.claim_templates[i].name, entry->name)) {
            *out_own = true;
            return t->pcs.claim_templates[i].spec;
        }
    }
    gv_str ns = entry->ns.n ? entry->ns : t->ns;
    const grove_node *external = gv_config_claim_template(t->config, ns, entry->name);
    if (!external && gv_str_eq(ns, t->ns)) { /* one that names no namespace goes with the set */
        external = gv_config_claim_template(t->config, GV_STR(""), entry->name);
    }
    return grove_node_get(grove_node_get(external, "spec"), "spec");
}
