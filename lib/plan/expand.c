/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of everything that should exist for one set: see expand.h. */
#include "plan/expand.h"

#include "base/hash.h"
#include "base/mem.h"
#include "model/labels.h"
#include "plan/ratio.h"
#include "plan/template_def.h"

struct gv_expander {
    grove_env *env;
    gv_arena arena;
    gv_want want;
};

/* One run. The counts of the first pass make every array exact, so that nothing grows. */
typedef struct run {
    gv_arena *a;
    const gv_expand_input *in;
    gv_want *w;
    gv_want_replica *replicas;
    gv_want_group *groups;
    gv_want_clique *cliques;
    gv_want_gang *gangs;
    gv_want_object *objects;
    gv_want_problem *problems;
    uint32_t cap_objects, cap_problems;
    bool stage_failed; /* of the accounts, Services, HPAs, ComputeDomains and claims of the set */
    bool nomem, too_big;
} run;

/* More of anything than this is no set that a cluster can hold; it keeps the counts within 32 bits. */
#define MOST INT64_C(1000000)

static grove_status too_big(grove_error *err) {
    return gv_error(err, GROVE_E_LIMIT, "the set expands to more than %lld objects",
                    (long long)MOST);
}

grove_status gv_expander_new(grove_env *env, gv_expander **out) {
    gv_expander *x = gv_zalloc(env, sizeof *x);
    if (!x) {
        return GROVE_E_NOMEM;
    }
    x->env = grove_env_ref(env);
    gv_arena_init(&x->arena, env);
    *out = x;
    return GROVE_OK;
}

void gv_expander_free(gv_expander *x) {
    if (!x) {
        return;
    }
    grove_env *env = x->env;
    gv_arena_fini(&x->arena);
    gv_free(env, x, sizeof *x);
    grove_env_unref(env);
}

/* ---- first pass: replicas and groups, and with them every count ---- */

static const gv_template *revision_of(const gv_expand_input *in, uint32_t i) {
    const gv_template *t = i < in->n_revisions ? in->revisions[i] : NULL;
    return t ? t : in->current;
}

static gv_str checked(run *r, gv_str name) {
    if (!name.p) {
        r->nomem = true;
        return GV_STR("");
    }
    return name;
}

static int64_t live_replicas(const run *r, gv_kind kind, gv_str name) {
    return r->in->live_replicas ? r->in->live_replicas(r->in->live_ctx, kind, name) : -1;
}

static int64_t at_least(int64_t value, int64_t least) {
    return value < least ? least : value;
}

static uint32_t count_groups(const run *r, uint32_t n_replicas) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_replicas; i++) {
        n += revision_of(r->in, i)->pcs.n_groups;
    }
    return n;
}

/* ---- ratios: from what scalers asked for to what is planned ---- */

static gv_ratio_side side_of(const run *r, const gv_want_replica *rep, const gv_scaling *scaling,
                             gv_kind kind, gv_str own, int64_t of_template, int64_t least) {
    const gv_template *t = rep->t;
    gv_str name = t->layout->in_replica(r->a, t->pcs.meta.name, rep->index, own);
    int64_t live = name.p ? live_replicas(r, kind, name) : -1;
    int64_t most = scaling->set ? gv_opt_or(scaling->max_replicas, INT32_MAX) : INT32_MAX;
    int64_t asked = at_least(live < 0 ? of_template : live, least);
    return (gv_ratio_side){asked > MOST ? MOST : asked, least, most};
}

/* The place of a name among cliques and groups; UINT32_MAX: nothing that scales has it. */
static uint32_t find_scaled(const gv_pcs *pcs, gv_str name) {
    for (uint32_t g = 0; g < pcs->n_groups; g++) {
        if (gv_str_eq(pcs->groups[g].name, name)) {
            return pcs->n_cliques + g;
        }
    }
    uint32_t c = gv_pcs_find_clique(pcs, name);
    return c == GV_NO_CLIQUE || pcs->cliques[c].group >= 0 ? UINT32_MAX : c;
}

static gv_ratio_side read_side(const run *r, const gv_want_replica *rep, uint32_t at) {
    const gv_pcs *pcs = &rep->t->pcs;
    if (at < pcs->n_cliques) {
        const gv_clique_facts *f = &rep->t->facts[at];
        return side_of(r, rep, &pcs->cliques[at].scaling, GV_KIND_PODCLIQUE, pcs->cliques[at].name,
                       f->replicas, f->min_available);
    }
    const gv_group *g = &pcs->groups[at - pcs->n_cliques];
    return side_of(r, rep, &g->scaling, GV_KIND_PODCLIQUESCALINGGROUP, g->name,
                   gv_opt_or(g->replicas, 1), at_least(gv_opt_or(g->min_available, 1), 0));
}

/* In the order of the list: what one has moved is what the next one sees. */
static bool apply_ratios(run *r, gv_want_replica *rep) {
    const gv_pcs *pcs = &rep->t->pcs;
    uint32_t n = pcs->n_cliques + pcs->n_groups;
    gv_want_scaled *all = pcs->n_ratios ? gv_arena_array(r->a, gv_want_scaled, n + 1) : NULL;
    rep->scaled = all;
    for (uint32_t i = 0; all && i < n; i++) {
        all[i].asked = all[i].planned = -1;
    }
    for (uint32_t i = 0; all && i < pcs->n_ratios; i++) {
        const gv_ratio *ratio = &pcs->ratios[i];
        uint32_t above = find_scaled(pcs, ratio->numerator);
        uint32_t below = find_scaled(pcs, ratio->denominator);
        if (above == UINT32_MAX || below == UINT32_MAX || above == below) {
            continue; /* admission refuses it */
        }
        gv_ratio_side num = read_side(r, rep, above), den = read_side(r, rep, below);
        num.asked = all[above].planned >= 0 ? all[above].planned : num.asked;
        den.asked = all[below].planned >= 0 ? all[below].planned : den.asked;
        gv_ratio_result result = gv_ratio_apply(ratio, num, den);
        all[above] = (gv_want_scaled){num.asked, result.numerator, all[above].ratio};
        all[below] = (gv_want_scaled){den.asked, result.denominator, all[below].ratio};
        if (result.broken) {
            all[result.denominator != den.asked ? below : above].ratio = ratio;
        }
    }
    return all || pcs->n_ratios == 0;
}

static void read_group(run *r, gv_want_replica *rep, uint32_t replica, uint32_t config) {
    const gv_template *t = rep->t;
    const gv_group *view = &t->pcs.groups[config];
    gv_want_group *g = &r->groups[r->w->n_groups++];
    g->name = checked(r, t->layout->in_replica(r->a, t->pcs.meta.name, rep->index, view->name));
    g->replica = replica;
    g->config = config;
    g->n_members = view->n_cliques;
    g->min_available = at_least(gv_opt_or(view->min_available, 1), 0);
    g->live_replicas = live_replicas(r, GV_KIND_PODCLIQUESCALINGGROUP, g->name);
    int64_t wanted = g->live_replicas < 0 ? gv_opt_or(view->replicas, 1) : g->live_replicas;
    g->asked = g->replicas = at_least(wanted, g->min_available);
    const gv_want_scaled *scaled = rep->scaled ? &rep->scaled[t->pcs.n_cliques + config] : NULL;
    if (scaled && scaled->planned >= 0) {
        g->replicas = scaled->planned;
        g->ratio = scaled->ratio;
    }
    if (g->replicas > MOST || g->replicas * (g->n_members + 1) + r->w->n_cliques > MOST) {
        r->too_big = true;
        g->replicas = g->min_available = 0;
    }
    rep->n_cliques += (uint32_t)g->replicas * g->n_members;
    rep->n_gangs += (uint32_t)(g->replicas - g->min_available);
}

static bool read_replicas(run *r, uint32_t n) {
    r->replicas = gv_arena_array(r->a, gv_want_replica, n + 1);
    r->groups = gv_arena_array(r->a, gv_want_group, count_groups(r, n) + 1);
    if (!r->replicas || !r->groups) {
        return false;
    }
    for (uint32_t i = 0; i < n && !r->nomem && !r->too_big; i++) {
        gv_want_replica *rep = &r->replicas[i];
        const gv_template *t = revision_of(r->in, i);
        *rep = (gv_want_replica){
            .index = i,
            .t = t,
            .name = checked(r, t->layout->set_replica(r->a, t->pcs.meta.name, i)),
            .first_clique = r->w->n_cliques,
            .n_cliques = t->n_standalone,
            .n_standalone = t->n_standalone,
            .n_outside = t->n_outside,
            .first_group = r->w->n_groups,
            .n_groups = t->pcs.n_groups,
            .first_gang = r->w->n_gangs,
            .n_gangs = 1 + t->n_outside,
        };
        r->nomem = !apply_ratios(r, rep) || r->nomem;
        for (uint32_t g = 0; g < t->pcs.n_groups && !r->nomem; g++) {
            read_group(r, rep, i, g);
        }
        r->w->n_cliques += rep->n_cliques;
        r->w->n_gangs += rep->n_gangs;
        r->too_big = r->too_big || r->w->n_cliques > MOST || r->w->n_groups > MOST;
    }
    r->w->n_replicas = n;
    return !r->nomem && !r->too_big;
}

/* ---- second pass: cliques and gangs ---- */

typedef struct place {
    const gv_want_replica *rep;
    uint32_t replica;
    uint32_t group; /* GV_STANDALONE */
    int64_t group_replica;
    uint32_t gang;
    bool scaled;
} place;

static void add_clique(run *r, uint32_t *at, const place *p, uint32_t clique) {
    const gv_template *t = p->rep->t;
    gv_want_clique *c = &r->cliques[(*at)++];
    gv_str own = t->pcs.cliques[clique].name;
    gv_str name = p->group == GV_STANDALONE
                      ? t->layout->in_replica(r->a, t->pcs.meta.name, p->rep->index, own)
                      : t->layout->member(r->a, r->groups[p->group].name, p->group_replica, own);
    *c = (gv_want_clique){
        .name = checked(r, name),
        .replica = p->replica,
        .group = p->group,
        .group_replica = p->group_replica,
        .clique = clique,
        .gang = p->gang,
        .scaled = p->scaled,
        .gang_minimum = t->facts[clique].min_available,
        .expected_hash = t->facts[clique].hash,
    };
    c->source = gv_template_source(t, clique, c->name);
    const gv_clique_facts *f = &t->facts[c->source];
    c->hash = f->hash;
    c->min_available = f->min_available;
    c->live_replicas = live_replicas(r, GV_KIND_PODCLIQUE, c->name);
    c->asked = at_least(c->live_replicas < 0 ? f->replicas : c->live_replicas, f->min_available);
    const gv_want_scaled *scaled = p->rep->scaled && p->group == GV_STANDALONE
                                       ? &p->rep->scaled[clique]
                                       : NULL;
    bool moved = scaled && scaled->planned >= 0;
    c->replicas = moved ? scaled->planned : c->asked;
    c->ratio = moved ? scaled->ratio : NULL;
    r->too_big = r->too_big || c->replicas > MOST;
}

static void add_members(run *r, uint32_t *at, place *p, const gv_group *view) {
    for (uint32_t k = 0; k < view->n_cliques; k++) {
        add_clique(r, at, p, view->cliques[k]);
    }
}

static bool translates(const gv_template *t, const gv_topology *c) {
    return gv_template_level_key(t, c->required).n || gv_template_level_key(t, c->preferred).n;
}

/* Whether anything in the gang says where to pack. */
static bool gang_has_topology(const run *r, const gv_want_gang *gang) {
    const gv_template *t = r->replicas[gang->replica].t;
    if (!t->binding) {
        return false;
    }
    bool core = gang->role == GV_NO_ROLE;
    const gv_topology *set = &t->pcs.topology;
    bool found = translates(t, gang->topology) ||
                 (core && t->pcs.cross_gang_pack != GV_WISH_NONE && translates(t, set));
    for (uint32_t i = 0; !found && i < gang->n_cliques; i++) {
        const gv_want_clique *c = &r->cliques[gang->first_clique + i];
        const gv_group *g = c->group == GV_STANDALONE ? NULL
                                                      : &t->pcs.groups[r->groups[c->group].config];
        found = translates(t, &t->pcs.cliques[c->clique].topology) ||
                (gang->group == GV_STANDALONE && g && translates(t, &g->topology));
    }
    return found;
}

/* A clique outside the core unit is a gang of its own: it waits for nobody and packs with nobody. */
static void add_outside_gangs(run *r, uint32_t replica, uint32_t *clique) {
    static const gv_topology anywhere = {.set = false};
    gv_want_replica *rep = &r->replicas[replica];
    const gv_template *t = rep->t;
    for (uint32_t s = 0; s < t->n_outside; s++) {
        uint32_t at = rep->first_gang + rep->n_gangs - t->n_outside + s;
        place p = {rep, replica, GV_STANDALONE, -1, at, false};
        gv_want_gang *gang = &r->gangs[at];
        *gang = (gv_want_gang){
            .replica = replica,
            .group = GV_STANDALONE,
            .group_replica = -1,
            .role = t->standalone[s],
            .base = at,
            .first_clique = *clique,
            .n_cliques = 1,
            .topology = &anywhere,
        };
        add_clique(r, clique, &p, t->standalone[s]);
        gang->name = r->cliques[gang->first_clique].name;
        gang->has_topology = gang_has_topology(r, gang);
    }
}

static void add_base_gang(run *r, uint32_t replica, uint32_t *clique) {
    gv_want_replica *rep = &r->replicas[replica];
    const gv_template *t = rep->t;
    gv_want_gang *gang = &r->gangs[rep->first_gang];
    place p = {rep, replica, GV_STANDALONE, -1, rep->first_gang, false};
    *gang = (gv_want_gang){
        .name = rep->name,
        .replica = replica,
        .group = GV_STANDALONE,
        .group_replica = -1,
        .role = GV_NO_ROLE,
        .base = rep->first_gang,
        .first_clique = *clique,
        .topology = &t->pcs.topology,
    };
    for (uint32_t s = t->n_outside; s < t->n_standalone; s++) {
        add_clique(r, clique, &p, t->standalone[s]);
    }
    for (uint32_t g = 0; g < rep->n_groups; g++) {
        gv_want_group *group = &r->groups[rep->first_group + g];
        group->first_base = *clique;
        p.group = rep->first_group + g;
        for (p.group_replica = 0; p.group_replica < group->min_available; p.group_replica++) {
            add_members(r, clique, &p, &t->pcs.groups[g]);
        }
    }
    gang->n_cliques = *clique - gang->first_clique;
    gang->has_topology = gang_has_topology(r, gang);
}

static void add_scaled_gangs(run *r, uint32_t replica, uint32_t *clique) {
    gv_want_replica *rep = &r->replicas[replica];
    const gv_template *t = rep->t;
    uint32_t at = rep->first_gang + 1;
    for (uint32_t g = 0; g < rep->n_groups; g++) {
        gv_want_group *group = &r->groups[rep->first_group + g];
        const gv_group *view = &t->pcs.groups[g];
        group->first_scaled = *clique;
        group->first_gang = at;
        for (int64_t n = group->min_available; n < group->replicas; n++) {
            place p = {rep, replica, rep->first_group + g, n, at, true};
            gv_want_gang *gang = &r->gangs[at++];
            *gang = (gv_want_gang){
                .name = checked(r,
                                t->layout->scaled_gang(r->a, group->name, n, group->min_available)),
                .replica = replica,
                .group = p.group,
                .group_replica = n,
                .role = GV_NO_ROLE,
                .base = rep->first_gang,
                .first_clique = *clique,
                .topology = view->topology.set ? &view->topology : &t->pcs.topology,
            };
            add_members(r, clique, &p, view);
            gang->n_cliques = *clique - gang->first_clique;
            gang->has_topology = gang_has_topology(r, gang);
        }
    }
}

static bool read_gangs(run *r) {
    r->cliques = gv_arena_array(r->a, gv_want_clique, r->w->n_cliques + 1);
    r->gangs = gv_arena_array(r->a, gv_want_gang, r->w->n_gangs + 1);
    if (!r->cliques || !r->gangs) {
        return false;
    }
    uint32_t clique = 0;
    for (uint32_t i = 0; i < r->w->n_replicas && !r->nomem; i++) {
        add_outside_gangs(r, i, &clique);
        add_base_gang(r, i, &clique);
        add_scaled_gangs(r, i, &clique);
    }
    return !r->nomem && !r->too_big;
}

/* ---- third pass: objects ---- */

static int64_t claims_of(const gv_sharing *sharing, uint32_t n, int64_t replicas) {
    int64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += sharing[i].each ? (replicas > MOST ? MOST : replicas) : 1;
    }
    return total;
}

/* Upper bounds; what turns out to be refused leaves its place unused. */
static bool count_objects(run *r) {
    const gv_template *now = r->in->current;
    int64_t n = 5; /* ServiceAccount, Role, RoleBinding, Secret, ControllerRevision */
    int64_t problems = 0;
    n += claims_of(now->pcs.sharing, now->pcs.n_sharing, r->w->n_replicas);
    problems += now->pcs.n_sharing;
    for (uint32_t i = 0; i < r->w->n_replicas; i++) {
        const gv_template *t = r->replicas[i].t;
        n += 1 + t->n_hpas + t->n_domains; /* 1: the Service */
        problems += t->n_hpas;
    }
    for (uint32_t i = 0; i < r->w->n_groups; i++) {
        const gv_want_group *g = &r->groups[i];
        const gv_group *view = &r->replicas[g->replica].t->pcs.groups[g->config];
        n += 1 + claims_of(view->sharing, view->n_sharing, g->replicas);
        problems += view->n_sharing;
    }
    for (uint32_t i = 0; i < r->w->n_cliques; i++) {
        const gv_want_clique *c = &r->cliques[i];
        const gv_clique *view = &r->replicas[c->replica].t->pcs.cliques[c->clique];
        n += 1 + claims_of(view->sharing, view->n_sharing, c->replicas);
        problems += 1 + view->n_sharing;
    }
    n += 2 * r->w->n_gangs; /* the gang, and what it becomes for its scheduler */
    problems += r->w->n_gangs;
    r->too_big = n > 16 * MOST;
    r->cap_objects = (uint32_t)n;
    r->cap_problems = (uint32_t)problems;
    return !r->too_big;
}

static gv_want_object *add_object(run *r, gv_kind kind, gv_str name, int64_t replica,
                                  const char *component) {
    gv_want_object *o = &r->objects[r->w->n_objects++];
    *o = (gv_want_object){
        .kind = kind,
        .owner = GV_OWNER_SET,
        .name = checked(r, name),
        .replica = replica,
        .index = -1,
        .component = component,
    };
    return o;
}

static void add_problem(run *r, const char *code, gv_kind kind, gv_str name, gv_str text) {
    r->problems[r->w->n_problems++] = (gv_want_problem){code, kind, name, checked(r, text)};
}

static gv_str text_of(const char *text) {
    return (gv_str){text, text ? strlen(text) : 0};
}

/* The claims of one owner. False when a claim template is missing; the others' claims are added. */
typedef struct claims {
    const gv_template *t;
    const gv_sharing *sharing;
    uint32_t n_sharing;
    gv_owner owner;
    uint32_t owner_index;
    gv_str owner_name;
    int64_t replica;  /* set replica, -1 */
    int64_t replicas; /* of the owner */
    bool blocked;
    const char *code;
} claims;

static bool add_claims(run *r, const claims *c) {
    bool complete = true;
    for (uint32_t e = 0; e < c->n_sharing; e++) {
        const gv_sharing *entry = &c->sharing[e];
        bool own;
        if (!gv_template_claim_spec(c->t, entry, &own)) {
            complete = false;
            add_problem(r, c->code, GV_KIND_RESOURCECLAIMTEMPLATE, entry->name,
                        text_of(gv_arena_fmt(r->a,
                                             "%.*s shares ResourceClaimTemplate %.*s, which "
                                             "does not exist",
                                             (int)c->owner_name.n, c->owner_name.p,
                                             (int)entry->name.n, entry->name.p)));
            continue;
        }
        int64_t last = entry->each ? c->replicas - 1 : -1;
        for (int64_t i = entry->each ? 0 : -1; i <= last; i++) {
            gv_want_object *o = add_object(r, GV_KIND_RESOURCECLAIM,
                                           gv_name_claim(r->a, c->owner_name, i, entry->name),
                                           c->replica, GV_COMPONENT_CLAIM);
            o->owner = c->owner;
            o->owner_index = c->owner_index;
            o->at = e;
            o->index = i;
            o->blocked = c->blocked;
            if (c->owner == GV_OWNER_SET && entry->each) {
                o->replica = i;
            }
        }
    }
    return complete;
}

static void add_accounts(run *r) {
    gv_str set = r->w->set, role = gv_name_role(r->a, set);
    add_object(r, GV_KIND_SERVICEACCOUNT, set, -1, GV_COMPONENT_SERVICEACCOUNT);
    add_object(r, GV_KIND_ROLE, role, -1, GV_COMPONENT_ROLE)->create_only = true;
    add_object(r, GV_KIND_ROLEBINDING, role, -1, GV_COMPONENT_ROLEBINDING)->create_only = true;
    add_object(r, GV_KIND_SECRET, gv_name_token_secret(r->a, set), -1, GV_COMPONENT_SECRET)
        ->create_only = true;
}

/* What the set's template is, before anything is made of it. */
static void add_revision(run *r) {
    const gv_template *now = r->in->current;
    if (now->pcs.history > 0) {
        gv_str name = gv_name_revision(r->a, r->w->set, now->own_generation_hash);
        add_object(r, GV_KIND_CONTROLLERREVISION, name, -1, GV_COMPONENT_REVISION)->create_only =
            true;
    }
}

static void add_hpas(run *r, const gv_want_replica *rep) {
    const gv_template *t = rep->t;
    for (uint32_t h = 0; h < t->n_hpas; h++) {
        const gv_want_hpa *hpa = &t->hpas[h];
        gv_str target = hpa->of_group ? t->pcs.groups[hpa->index].name
                                      : t->pcs.cliques[hpa->index].name;
        gv_str name = checked(r, t->layout->in_replica(r->a, t->pcs.meta.name, rep->index, target));
        if (hpa->refused) {
            r->stage_failed = true;
            add_problem(r, "ERR_SYNC_HPA", GV_KIND_HPA, name,
                        GV_STR("maxReplicas is below minReplicas, which no API server accepts"));
            continue;
        }
        add_object(r, GV_KIND_HPA, name, rep->index, GV_COMPONENT_HPA)->at = h;
    }
}

/* Accounts, Services, HPAs, ComputeDomains, claims of the set. */
static void add_first_stage(run *r) {
    const gv_template *now = r->in->current;
    add_revision(r);
    add_accounts(r);
    for (uint32_t i = 0; i < r->w->n_replicas; i++) {
        const gv_want_replica *rep = &r->replicas[i];
        add_object(r, GV_KIND_SERVICE, rep->name, rep->index, GV_COMPONENT_SERVICE);
        add_hpas(r, rep);
        for (uint32_t d = 0; d < rep->t->n_domains; d++) {
            gv_str name = gv_name_computedomain(r->a, r->w->set, rep->index, rep->t->domains[d]);
            add_object(r, GV_KIND_COMPUTEDOMAIN, name, rep->index, GV_COMPONENT_COMPUTEDOMAIN)->at =
                d;
        }
    }
    claims c = {.t = now,
                .sharing = now->pcs.sharing,
                .n_sharing = now->pcs.n_sharing,
                .owner = GV_OWNER_SET,
                .owner_name = r->w->set,
                .replica = -1,
                .replicas = r->w->n_replicas,
                .code = "ERR_SYNC_PCS_RESOURCE_CLAIM"};
    if (!add_claims(r, &c)) {
        r->stage_failed = true;
    }
}

static void add_podclique(run *r, uint32_t i, bool blocked) {
    gv_want_clique *c = &r->cliques[i];
    const gv_want_replica *rep = &r->replicas[c->replica];
    const gv_clique *view = &rep->t->pcs.cliques[c->clique];
    bool member = c->group != GV_STANDALONE;
    gv_want_object *o = add_object(r, GV_KIND_PODCLIQUE, c->name, rep->index,
                                   member ? GV_COMPONENT_MEMBER : GV_COMPONENT_STANDALONE);
    o->owner = member ? GV_OWNER_GROUP : GV_OWNER_SET;
    o->owner_index = member ? c->group : 0;
    o->at = i;
    o->blocked = blocked;
    claims own = {.t = rep->t,
                  .sharing = view->sharing,
                  .n_sharing = view->n_sharing,
                  .owner = GV_OWNER_CLIQUE,
                  .owner_index = i,
                  .owner_name = c->name,
                  .replica = rep->index,
                  .replicas = c->replicas,
                  .blocked = blocked,
                  .code = "ERR_SYNC_PCLQ_RESOURCE_CLAIM"};
    c->pods_blocked = !add_claims(r, &own) || blocked;
    const gv_clique_facts *f = &rep->t->facts[c->source];
    if (!f->adapter) {
        c->pods_blocked = true;
        add_problem(r, "ERR_BUILD_POD_RESOURCE", GV_KIND_PODCLIQUE, c->name,
                    text_of(gv_arena_fmt(r->a, "scheduler %.*s is not configured",
                                         (int)f->scheduler.n, f->scheduler.p)));
    }
}

static void add_group(run *r, uint32_t i) {
    const gv_want_group *g = &r->groups[i];
    const gv_want_replica *rep = &r->replicas[g->replica];
    const gv_group *view = &rep->t->pcs.groups[g->config];
    gv_want_object *o = add_object(r, GV_KIND_PODCLIQUESCALINGGROUP, g->name, rep->index,
                                   GV_COMPONENT_GROUP);
    o->at = i;
    o->blocked = r->stage_failed;
    claims c = {.t = rep->t,
                .sharing = view->sharing,
                .n_sharing = view->n_sharing,
                .owner = GV_OWNER_GROUP,
                .owner_index = i,
                .owner_name = g->name,
                .replica = rep->index,
                .replicas = g->replicas,
                .blocked = r->stage_failed,
                .code = "ERR_SYNC_PCSG_RESOURCE_CLAIM"};
    bool blocked = !add_claims(r, &c) || r->stage_failed;
    for (int64_t n = 0; n < g->replicas; n++) {
        for (uint32_t k = 0; k < g->n_members; k++) {
            add_podclique(r, gv_want_member(g, n, k), blocked);
        }
    }
}

static void add_gang(run *r, uint32_t i) {
    const gv_want_gang *g = &r->gangs[i];
    const gv_template *t = r->replicas[g->replica].t;
    gv_want_object *o = add_object(r, GV_KIND_PODGANG, g->name, r->replicas[g->replica].index,
                                   GV_COMPONENT_GANG);
    o->at = i;
    o->blocked = r->stage_failed;
    const gv_adapter *adapter = t->gang_adapter;
    if (!adapter || adapter->gang_kind == GV_KIND_NONE) {
        return;
    }
    gv_str problem = GV_STR("");
    if (adapter->check && adapter->check(r->w, i, r->a, &problem) < 0) {
        r->nomem = true;
    }
    if (problem.n) {
        add_problem(r, GV_EVENT_KAI_MAPPING_FAILED, adapter->gang_kind, g->name, problem);
        return;
    }
    o = add_object(r, adapter->gang_kind, g->name, r->replicas[g->replica].index, NULL);
    o->owner = GV_OWNER_GANG;
    o->owner_index = i;
    o->at = i;
    o->blocked = r->stage_failed;
}

static bool read_objects(run *r) {
    gv_want *w = r->w;
    r->objects = gv_arena_array(r->a, gv_want_object, r->cap_objects + 1);
    r->problems = gv_arena_array(r->a, gv_want_problem, r->cap_problems + 1);
    if (!r->objects || !r->problems) {
        return false;
    }
    add_first_stage(r);
    for (uint32_t i = 0; i < w->n_replicas; i++) {
        for (uint32_t s = 0; s < r->replicas[i].n_standalone; s++) {
            add_podclique(r, r->replicas[i].first_clique + s, r->stage_failed);
        }
    }
    for (uint32_t i = 0; i < w->n_groups; i++) {
        add_group(r, i);
    }
    for (uint32_t i = 0; i < w->n_gangs; i++) {
        add_gang(r, i);
    }
    return !r->nomem;
}

/* ---- look-up by name ---- */

static uint64_t name_hash(gv_kind kind, gv_str name) {
    return gv_mix64(gv_fnv1a(GV_FNV_START + (uint64_t)kind, name.p, name.n));
}

static uint32_t slots_for(uint32_t n) {
    uint32_t slots = 8;
    while (slots < 2 * n) {
        slots *= 2;
    }
    return slots;
}

/* Names are unique per kind, save in sets whose derived names collide: the first one is found then. */
static bool index_names(run *r) {
    gv_want *w = r->w;
    w->n_clique_slots = slots_for(w->n_cliques);
    w->n_object_slots = slots_for(w->n_objects);
    uint32_t *cliques = gv_arena_array(r->a, uint32_t, w->n_clique_slots);
    uint32_t *objects = gv_arena_array(r->a, uint32_t, w->n_object_slots);
    if (!cliques || !objects) {
        return false;
    }
    for (uint32_t i = 0; i < w->n_cliques; i++) {
        uint64_t h = name_hash(GV_KIND_PODCLIQUE, w->cliques[i].name);
        while (cliques[h % w->n_clique_slots]) {
            h++;
        }
        cliques[h % w->n_clique_slots] = i + 1;
    }
    for (uint32_t i = 0; i < w->n_objects; i++) {
        uint64_t h = name_hash(w->objects[i].kind, w->objects[i].name);
        while (objects[h % w->n_object_slots]) {
            h++;
        }
        objects[h % w->n_object_slots] = i + 1;
    }
    w->clique_slots = cliques;
    w->object_slots = objects;
    return true;
}

uint32_t gv_want_find_clique(const gv_want *w, gv_str name) {
    for (uint64_t h = name_hash(GV_KIND_PODCLIQUE, name);; h++) {
        uint32_t at = w->clique_slots[h % w->n_clique_slots];
        if (at == 0) {
            return GV_NOT_WANTED;
        }
        if (gv_str_eq(w->cliques[at - 1].name, name)) {
            return at - 1;
        }
    }
}

uint32_t gv_want_find_object(const gv_want *w, gv_kind kind, gv_str name) {
    for (uint64_t h = name_hash(kind, name);; h++) {
        uint32_t at = w->object_slots[h % w->n_object_slots];
        if (at == 0) {
            return GV_NOT_WANTED;
        }
        if (w->objects[at - 1].kind == kind && gv_str_eq(w->objects[at - 1].name, name)) {
            return at - 1;
        }
    }
}

/* ---- the whole ---- */

grove_status gv_expand(gv_expander *x, const gv_expand_input *in, const gv_want **out,
                       grove_error *err) {
    const gv_pcs *pcs = &in->current->pcs;
    int64_t replicas = at_least(gv_opt_or(pcs->replicas, 0), 0);
    if (replicas > MOST) {
        return too_big(err);
    }
    gv_arena_reset(&x->arena);
    x->want = (gv_want){.current = in->current, .set = pcs->meta.name, .ns = in->current->ns};
    run r = {.a = &x->arena, .in = in, .w = &x->want};
    if (!read_replicas(&r, (uint32_t)replicas) || !read_gangs(&r) || !count_objects(&r)) {
        return r.too_big ? too_big(err) : gv_error_nomem(err);
    }
    x->want.replicas = r.replicas;
    x->want.groups = r.groups;
    x->want.cliques = r.cliques;
    x->want.gangs = r.gangs;
    if (!read_objects(&r)) {
        return gv_error_nomem(err);
    }
    x->want.objects = r.objects;
    x->want.problems = r.problems;
    if (!index_names(&r)) {
        return gv_error_nomem(err);
    }
    *out = &x->want;
    return GROVE_OK;
}
