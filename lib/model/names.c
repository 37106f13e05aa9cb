/* SPDX-License-Identifier: Apache-2.0 */
/* Generated names: see names.h. */
#include "model/names.h"

#include "base/hash.h"

/* Names are made by the thousand whenever a set is looked at: put together by hand, not by a format. */

#define MOST_PARTS 6
typedef struct name {
    gv_str parts[MOST_PARTS];
    uint32_t n;
    char digits[2][24]; /* what the numbers among the parts are made of */
    uint32_t n_numbers;
} name;

static void text(name *m, gv_str s) {
    m->parts[m->n++] = s;
}

static void number(name *m, int64_t value) { /* indices: never negative */
    char *digits = m->digits[m->n_numbers++];
    char *p = digits + sizeof m->digits[0];
    uint64_t rest = (uint64_t)value;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    text(m, (gv_str){p, (size_t)(digits + sizeof m->digits[0] - p)});
}

static gv_str finish(gv_arena *a, const name *m) {
    size_t n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        n += m->parts[i].n;
    }
    char *out = gv_arena_alloc(a, n + 1);
    if (!out) {
        return (gv_str){NULL, 0};
    }
    char *p = out;
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->parts[i].n) {
            memcpy(p, m->parts[i].p, m->parts[i].n);
        }
        p += m->parts[i].n;
    }
    *p = '\0';
    return (gv_str){out, n};
}

/* <prefix>-<i> */
static gv_str with_index(gv_arena *a, gv_str prefix, int64_t i) {
    name m = {.n = 0};
    text(&m, prefix);
    text(&m, GV_STR("-"));
    number(&m, i);
    return finish(a, &m);
}

/* <prefix>-<i>-<last> */
static gv_str with_index_and_name(gv_arena *a, gv_str prefix, int64_t i, gv_str last) {
    name m = {.n = 0};
    text(&m, prefix);
    text(&m, GV_STR("-"));
    number(&m, i);
    text(&m, GV_STR("-"));
    text(&m, last);
    return finish(a, &m);
}

/* The four in a row; any may be empty. */
static gv_str joined(gv_arena *a, gv_str first, gv_str second, gv_str third, gv_str fourth) {
    name m = {{first, second, third, fourth}, 4, {{0}}, 0};
    return finish(a, &m);
}

/* ---- layout "base" ---- */

static gv_str base_scaled_gang(gv_arena *a, gv_str group, int64_t r, int64_t min_available) {
    return with_index(a, group, r - min_available);
}

const gv_layout *gv_layout_base(void) {
    static const gv_layout base = {"base", with_index, with_index_and_name, with_index_and_name,
                                   base_scaled_gang};
    return &base;
}

const gv_layout *gv_layout_find(gv_str wanted) {
    const gv_layout *base = gv_layout_base();
    return gv_str_is(wanted, base->name) ? base : NULL;
}

/* ---- names that no layout changes ---- */

gv_str gv_name_group_config(gv_arena *a, gv_str group, int64_t r) {
    return with_index(a, group, r);
}

gv_str gv_name_service_address(gv_arena *a, gv_str service, gv_str ns) {
    return joined(a, service, GV_STR("."), ns, GV_STR(".svc.cluster.local"));
}

gv_str gv_name_role(gv_arena *a, gv_str set) {
    return joined(a, GV_STR("grove.io:pcs:"), set, GV_STR(""), GV_STR(""));
}

gv_str gv_name_token_secret(gv_arena *a, gv_str set) {
    return joined(a, set, GV_STR("-ic-sat"), GV_STR(""), GV_STR(""));
}

gv_str gv_name_legacy_token_secret(gv_arena *a, gv_str set) {
    return joined(a, set, GV_STR("-initc-sa-token-secret"), GV_STR(""), GV_STR(""));
}

gv_str gv_name_revision(gv_arena *a, gv_str set, gv_str hash) {
    return joined(a, set, GV_STR("-"), hash, GV_STR(""));
}

gv_str gv_name_hostname(gv_arena *a, gv_str clique, int64_t pod_index) {
    return with_index(a, clique, pod_index);
}

gv_str gv_name_claim(gv_arena *a, gv_str owner, int64_t index, gv_str claim_template) {
    return index < 0 ? joined(a, owner, GV_STR("-all-"), claim_template, GV_STR(""))
                     : with_index_and_name(a, owner, index, claim_template);
}

gv_str gv_name_computedomain(gv_arena *a, gv_str set, int64_t i, gv_str mnnvl_group) {
    return with_index_and_name(a, set, i, mnnvl_group);
}

/* ---- pods ---- */

/* The letters and digits Kubernetes itself uses for generated names: no vowels, nothing look-alike. */
static const char POD_LETTERS[] = "bcdfghjklmnpqrstvwxz2456789";
#define N_POD_LETTERS 27u

static uint64_t hash_field(uint64_t h, gv_str s) {
    h = gv_fnv1a(h, s.p, s.n);
    return gv_fnv1a(h, "/", 1); /* so that neighbouring fields cannot run into each other */
}

void gv_name_pod_suffix(char out[6], gv_str clique_uid, int64_t pod_index, gv_str replaces,
                        uint32_t salt) {
    name m = {.n = 0};
    number(&m, pod_index);
    number(&m, salt);
    uint64_t h = hash_field(GV_FNV_START, clique_uid);
    h = hash_field(h, m.parts[0]);
    h = hash_field(h, replaces);
    h = gv_mix64(hash_field(h, m.parts[1]));
    for (int i = 0; i < 5; i++) {
        out[i] = POD_LETTERS[h % N_POD_LETTERS];
        h /= N_POD_LETTERS;
    }
    out[5] = '\0';
}

/* The API server cuts a generateName to 58 characters before it appends its own five. */
#define POD_PREFIX_MAX 58u

gv_str gv_name_pod(gv_arena *a, gv_str clique, gv_str clique_uid, int64_t pod_index,
                   gv_str replaces, uint32_t salt) {
    char suffix[6];
    gv_name_pod_suffix(suffix, clique_uid, pod_index, replaces, salt);
    bool whole = clique.n < POD_PREFIX_MAX;
    gv_str prefix = whole ? clique : (gv_str){clique.p, POD_PREFIX_MAX};
    return joined(a, prefix, whole ? GV_STR("-") : GV_STR(""), gv_str_c(suffix), GV_STR(""));
}
