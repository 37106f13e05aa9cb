/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a decision is as it is: for every constraint its level, how many domains fail by which reason and
 * the nearest miss; then the smallest change that would help, found by asking again in a what-if. Made on
 * demand, so that decisions pay nothing for it.
 */
#include "sched/decision.h"

#include "base/text.h"

typedef struct census {
    uint32_t domains, fitting, by_reason[GROVE_REASON_KEPT + 1];
    gv_bound nearest;
    uint32_t nearest_node;
    bool any;
} census;

typedef struct writer {
    grove_sched *s;
    const grove_gang *g;
    grove_buf *buf;
    bool json;
    bool first; /* in the present JSON list */
    grove_status st;
} writer;

static void put(writer *w, const char *text) {
    w->st = w->st < 0 ? w->st : gv_buf_c(w->buf, text);
}

static void put_number(writer *w, int64_t n) {
    w->st = w->st < 0 ? w->st : gv_buf_fmt(w->buf, "%lld", (long long)n);
}

/* A JSON string; names may hold anything. */
static void put_string(writer *w, const char *text) {
    put(w, "\"");
    for (const char *p = text ? text : ""; *p && w->st == GROVE_OK; p++) {
        if (*p == '"' || *p == '\\') {
            w->st = gv_buf_fmt(w->buf, "\\%c", *p);
        } else if ((unsigned char)*p < 0x20) {
            w->st = gv_buf_fmt(w->buf, "\\u%04x", (unsigned)(unsigned char)*p);
        } else {
            w->st = gv_buf_char(w->buf, *p);
        }
    }
    put(w, "\"");
}

static const char *level_name(const writer *w, uint32_t level) {
    const char *key = grove_sched_level_key(w->s, w->g->topology, (grove_level)level - 1);
    return level == 0 || !key ? "cluster" : key;
}

static const char *entity_kind(int32_t kind) {
    return kind == GROVE_ENTITY_GANG ? "gang" : kind == GROVE_ENTITY_GROUP ? "group" : "podgroup";
}

static const char *entity_name(const writer *w, int32_t kind, uint32_t id) {
    const grove_gang *g = w->g;
    if (kind == GROVE_ENTITY_GROUP && id < g->groups.n) {
        return gv_gang_text(g, g->groups.v[id].name);
    }
    if (kind == GROVE_ENTITY_PODGROUP && id < g->podgroups.n) {
        return gv_gang_text(g, g->podgroups.v[id].name);
    }
    return gv_gang_text(g, g->name);
}

/* ---- one constraint ---- */

static census take_census(const gv_problem *p, uint32_t unit) {
    const gv_unit *u = &p->units[unit];
    census c = {.nearest_node = GV_NONE};
    uint32_t lo, hi;
    gv_problem_range(p->t, 0, 0, u->level, &lo, &hi);
    for (uint32_t i = lo; i < hi; i++) {
        uint32_t d = u->level == p->host ? p->t->order[i] : i;
        gv_bound b;
        if (!gv_domain_seen(p->t, u->level, d, u->seen_on) || (u->pin != GV_NONE && u->pin != d)) {
            continue;
        }
        c.domains++;
        gv_bounds_check(p, unit, d, &b);
        c.by_reason[b.reason]++;
        if (b.reason == GROVE_REASON_NONE) {
            c.fitting++;
        } else if (!c.any || (b.need - b.have < c.nearest.need - c.nearest.have)) {
            c.any = true;
            c.nearest = b;
            c.nearest_node = u->level == p->host ? d : p->t->order[p->t->levels[u->level].lo[d]];
        }
    }
    return c;
}

static void write_miss(writer *w, const gv_problem *p, const census *c) {
    const gv_bound *b = &c->nearest;
    const char *what = b->resource != GV_NONE ? grove_sched_resource_name(w->s, b->resource)
                       : b->reason == GROVE_REASON_CAPABILITY ? "domains for a part of it"
                                                              : "pods";
    const char *node = grove_sched_node_name(w->s, c->nearest_node);
    (void)p;
    if (w->json) {
        put(w, ",\"nearest\":{\"node\":");
        put_string(w, node);
        put(w, ",\"reason\":");
        put_string(w, grove_reason_name(b->reason));
        put(w, ",\"of\":");
        put_string(w, what);
        put(w, ",\"have\":");
        put_number(w, b->have);
        put(w, ",\"need\":");
        put_number(w, b->need);
        put(w, "}");
        return;
    }
    w->st = w->st < 0 ? w->st
                      : gv_buf_fmt(w->buf, "    nearest: the one of node %s has %lld of %lld %s\n",
                                   node ? node : "?", (long long)b->have, (long long)b->need, what);
}

static void write_unit(writer *w, const gv_problem *p, uint32_t unit) {
    const gv_unit *u = &p->units[unit];
    census c = take_census(p, unit);
    if (w->json) {
        put(w, w->first ? "{\"kind\":" : ",{\"kind\":");
        put_string(w, entity_kind(u->kind));
        put(w, ",\"name\":");
        put_string(w, entity_name(w, u->kind, u->entity));
        put(w, ",\"level\":");
        put_string(w, level_name(w, u->level));
        put(w, ",\"domains\":");
        put_number(w, c.domains);
        put(w, ",\"fit_alone\":");
        put_number(w, c.fitting);
        put(w, ",\"fail\":{");
        bool first = true;
        for (int32_t r = 1; r <= GROVE_REASON_BUDGET; r++) {
            if (c.by_reason[r] > 0) {
                put(w, first ? "" : ",");
                put_string(w, grove_reason_name(r));
                put(w, ":");
                put_number(w, c.by_reason[r]);
                first = false;
            }
        }
        put(w, "}");
    } else {
        w->st = w->st < 0 ? w->st
                          : gv_buf_fmt(w->buf,
                                       "  %s %s on level %s: %u of %u domains could hold it "
                                       "alone\n",
                                       entity_kind(u->kind), entity_name(w, u->kind, u->entity),
                                       level_name(w, u->level), c.fitting, c.domains);
        for (int32_t r = 1; r <= GROVE_REASON_BUDGET; r++) {
            if (c.by_reason[r] > 0 && w->st == GROVE_OK) {
                w->st = gv_buf_fmt(w->buf, "    %u fail by %s\n", c.by_reason[r],
                                   grove_reason_name(r));
            }
        }
    }
    if (c.any && c.fitting == 0) {
        write_miss(w, p, &c);
    }
    put(w, w->json ? "}" : "");
    w->first = false;
}

/* ---- what would help ---- */

/* Relaxes one required level by one step and asks again; true when that alone would place the gang. */
static bool relaxing_helps(writer *w, int32_t kind, uint32_t id, uint32_t *out_level,
                           grove_decision *scratch) {
    grove_gang *g = (grove_gang *)(uintptr_t)w->g; /* put back below */
    uint32_t *at = kind == GROVE_ENTITY_GANG    ? &g->required
                   : kind == GROVE_ENTITY_GROUP ? &g->groups.v[id].required
                                                : &g->podgroups.v[id].required;
    uint32_t before = *at;
    bool helps = false;
    for (uint32_t level = before;
         before != GV_LEVEL_UNKNOWN && level-- > 0 && !helps && w->st == GROVE_OK;) {
        *at = level;
        w->st = grove_sched_place(w->s, g, NULL, scratch, NULL);
        helps = w->st == GROVE_OK && scratch->verdict == GROVE_PLACED;
        *out_level = level;
    }
    *at = before;
    return helps;
}

static void write_help(writer *w, int32_t kind, uint32_t id, uint32_t from, uint32_t to) {
    if (w->json) {
        put(w, w->first ? "{\"relax\":" : ",{\"relax\":");
        put_string(w, entity_kind(kind));
        put(w, ",\"name\":");
        put_string(w, entity_name(w, kind, id));
        put(w, ",\"from\":");
        put_string(w, level_name(w, from));
        put(w, ",\"to\":");
        put_string(w, level_name(w, to));
        put(w, "}");
    } else {
        w->st = w->st < 0
                    ? w->st
                    : gv_buf_fmt(w->buf, "  would fit if %s %s were packed on %s instead of %s\n",
                                 entity_kind(kind), entity_name(w, kind, id), level_name(w, to),
                                 level_name(w, from));
    }
    w->first = false;
}

static void write_helps(writer *w, grove_decision *scratch) {
    const grove_gang *g = w->g;
    uint32_t level;
    if (g->required > 0 && relaxing_helps(w, GROVE_ENTITY_GANG, 0, &level, scratch)) {
        write_help(w, GROVE_ENTITY_GANG, 0, g->required, level);
    }
    for (uint32_t i = 0; i < g->groups.n && i < 16; i++) {
        if (g->groups.v[i].required > 0 &&
            relaxing_helps(w, GROVE_ENTITY_GROUP, i, &level, scratch)) {
            write_help(w, GROVE_ENTITY_GROUP, i, g->groups.v[i].required, level);
        }
    }
    for (uint32_t i = 0; i < g->podgroups.n && i < 16; i++) {
        if (g->podgroups.v[i].required > 0 &&
            relaxing_helps(w, GROVE_ENTITY_PODGROUP, i, &level, scratch)) {
            write_help(w, GROVE_ENTITY_PODGROUP, i, g->podgroups.v[i].required, level);
        }
    }
}

static void write_victims(writer *w, grove_decision *scratch) {
    w->st = w->st < 0 ? w->st : grove_sched_preempt(w->s, w->g, NULL, scratch, NULL);
    if (w->st < 0 || scratch->verdict != GROVE_PLACED || scratch->victims.n == 0) {
        return;
    }
    if (w->json) {
        put(w, w->first ? "{\"preempt\":" : ",{\"preempt\":");
        put_number(w, (int64_t)scratch->victims.n);
        put(w, "}");
    } else {
        w->st = w->st < 0 ? w->st
                          : gv_buf_fmt(w->buf,
                                       "  would fit after preempting %u less important "
                                       "gangs or pods\n",
                                       (uint32_t)scratch->victims.n);
    }
    w->first = false;
}

/* ---- all of it ---- */

static void write_head(writer *w, const grove_decision *d) {
    static const char *const verdicts[] = {"", "placed", "infeasible", "unknown"};
    if (w->json) {
        put(w, "{\"gang\":");
        put_string(w, gv_gang_text(w->g, w->g->name));
        put(w, ",\"verdict\":");
        put_string(w, verdicts[d->verdict]);
        put(w, ",\"reason\":");
        put_string(w, grove_reason_name(d->certificate.reason));
        put(w, ",\"steps\":");
        put_number(w, (int64_t)d->steps);
        put(w, ",\"constraints\":[");
    } else {
        w->st = w->st < 0 ? w->st
                          : gv_buf_fmt(w->buf, "gang %s: %s", gv_gang_text(w->g, w->g->name),
                                       verdicts[d->verdict]);
        if (d->verdict != GROVE_PLACED && w->st == GROVE_OK) {
            w->st = gv_buf_fmt(w->buf, " (%s)", grove_reason_name(d->certificate.reason));
        }
        put(w, "\n");
    }
    w->first = true;
}

static grove_status write_constraints(writer *w, const uint32_t *levels) {
    gv_problem p;
    gv_refusal refusal;
    gv_work *work = (gv_work *)w->s->work;
    grove_status st = gv_problem_build(w->s, w->g, levels, &work->mem, &p, &refusal);
    if (st < 0) {
        return st;
    }
    for (uint32_t u = 0; u < p.n_units && w->st == GROVE_OK; u++) {
        if (p.units[u].pods > 0 && (u == 0 || p.units[u].level > 0)) {
            write_unit(w, &p, u);
        }
    }
    return w->st;
}

grove_status grove_sched_explain(grove_sched *sched, const grove_gang *gang,
                                 const grove_decision *decision, uint32_t flags, grove_buf *buf,
                                 grove_error *err) {
    if (!sched || !gang || !decision || !buf || gang->sched != sched || decision->sched != sched ||
        gang->topology == GV_NONE) {
        return gv_error(err, GROVE_E_INVALID, "explain needs a gang and a decision on it");
    }
    writer w = {.s = sched, .g = gang, .buf = buf, .json = (flags & GROVE_EXPLAIN_JSON) != 0};
    grove_status st = gv_gang_link((grove_gang *)(uintptr_t)gang, err);
    if (st < 0) {
        return st;
    }
    if (gv_topology_refresh(sched, gang->topology) < 0 ||
        gv_work_begin(sched, gang->topology, UINT64_MAX) < 0) {
        return gv_error_nomem(err);
    }
    gv_refusal refusal;
    gv_work *work = (gv_work *)sched->work;
    uint32_t *levels = gv_required_levels(gang, &work->mem, &refusal);
    write_head(&w, decision);
    st = levels ? w.st : GROVE_E_NOMEM;
    if (st == GROVE_OK && refusal.reason == GROVE_REASON_NONE) {
        st = write_constraints(&w, levels);
    }
    put(&w, w.json ? "],\"would_help\":[" : "");
    w.first = true;
    if (st == GROVE_OK && decision->verdict == GROVE_INFEASIBLE) {
        grove_decision *scratch = NULL;
        st = grove_decision_new(sched, &scratch);
        if (st == GROVE_OK) {
            write_helps(&w, scratch);
            write_victims(&w, scratch);
            grove_decision_free(scratch);
        }
    }
    put(&w, w.json ? "]}" : "");
    st = st < 0 ? st : w.st;
    return st < 0 ? gv_error(err, st, "the explanation cannot be written") : GROVE_OK;
}
