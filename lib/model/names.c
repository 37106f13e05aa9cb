/* SPDX-License-Identifier: Apache-2.0 */
/* Generated names: see names.h. */
#include "model/names.h"

#include "base/hash.h"

static gv_str view(const char *text) {
    return (gv_str){text, text ? strlen(text) : 0};
}

#define ARG(s) (int)(s).n, (s).p

/* ---- layout "base" ---- */

static gv_str base_set_replica(gv_arena *a, gv_str set, int64_t i) {
    return view(gv_arena_fmt(a, "%.*s-%lld", ARG(set), (long long)i));
}

static gv_str base_in_replica(gv_arena *a, gv_str set, int64_t i, gv_str name) {
    return view(gv_arena_fmt(a, "%.*s-%lld-%.*s", ARG(set), (long long)i, ARG(name)));
}

static gv_str base_member(gv_arena *a, gv_str group, int64_t r, gv_str clique) {
    return view(gv_arena_fmt(a, "%.*s-%lld-%.*s", ARG(group), (long long)r, ARG(clique)));
}

static gv_str base_scaled_gang(gv_arena *a, gv_str group, int64_t r, int64_t min_available) {
    return view(gv_arena_fmt(a, "%.*s-%lld", ARG(group), (long long)(r - min_available)));
}

const gv_layout *gv_layout_base(void) {
    static const gv_layout base = {"base", base_set_replica, base_in_replica, base_member,
                                   base_scaled_gang};
    return &base;
}

const gv_layout *gv_layout_find(gv_str name) {
    const gv_layout *base = gv_layout_base();
    return gv_str_is(name, base->name) ? base : NULL;
}

/* ---- names that no layout changes ---- */

gv_str gv_name_group_config(gv_arena *a, gv_str group, int64_t r) {
    return view(gv_arena_fmt(a, "%.*s-%lld", ARG(group), (long long)r));
}

gv_str gv_name_service_address(gv_arena *a, gv_str service, gv_str ns) {
    return view(gv_arena_fmt(a, "%.*s.%.*s.svc.cluster.local", ARG(service), ARG(ns)));
}

gv_str gv_name_role(gv_arena *a, gv_str set) {
    return view(gv_arena_fmt(a, "grove.io:pcs:%.*s", ARG(set)));
}

gv_str gv_name_token_secret(gv_arena *a, gv_str set) {
    return view(gv_arena_fmt(a, "%.*s-ic-sat", ARG(set)));
}

gv_str gv_name_legacy_token_secret(gv_arena *a, gv_str set) {
    return view(gv_arena_fmt(a, "%.*s-initc-sa-token-secret", ARG(set)));
}

gv_str gv_name_hostname(gv_arena *a, gv_str clique, int64_t pod_index) {
    return view(gv_arena_fmt(a, "%.*s-%lld", ARG(clique), (long long)pod_index));
}

gv_str gv_name_claim(gv_arena *a, gv_str owner, int64_t index, gv_str claim_template) {
    if (index < 0) {
        return view(gv_arena_fmt(a, "%.*s-all-%.*s", ARG(owner), ARG(claim_template)));
    }
    return view(
        gv_arena_fmt(a, "%.*s-%lld-%.*s", ARG(owner), (long long)index, ARG(claim_template)));
}

gv_str gv_name_computedomain(gv_arena *a, gv_str set, int64_t i, gv_str mnnvl_group) {
    return view(gv_arena_fmt(a, "%.*s-%lld-%.*s", ARG(set), (long long)i, ARG(mnnvl_group)));
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
    char number[24];
    uint64_t h = hash_field(GV_FNV_START, clique_uid);
    size_t n = gv_fmt(number, sizeof number, "%lld", (long long)pod_index);
    h = hash_field(h, (gv_str){number, n});
    h = hash_field(h, replaces);
    n = gv_fmt(number, sizeof number, "%u", salt);
    h = gv_mix64(hash_field(h, (gv_str){number, n}));
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
    if (clique.n < POD_PREFIX_MAX) {
        return view(gv_arena_fmt(a, "%.*s-%s", ARG(clique), suffix));
    }
    return view(gv_arena_fmt(a, "%.*s%s", (int)POD_PREFIX_MAX, clique.p, suffix));
}
