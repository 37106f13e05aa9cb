/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes that only some nodes reach. A claim that is bound to a volume limits its pods to the nodes which the
 * volume names, by node affinity or by the zone labels of older provisioners. Claims and volumes are looked
 * up in the configuration; what is not known there is noted.
 */
#include "engine/view_class.h"
#include "model/config.h"
#include "value/doc.h"

static const char *const zone_keys[] = {
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"};
#define N_ZONE_KEYS (sizeof zone_keys / sizeof *zone_keys)

typedef struct volumes {
    gv_view *v;
    const gv_view_owner *owner;
    grove_sched_terms *lists;
    uint32_t n;
    bool failed;
} volumes;

uint32_t gv_view_volume_lists_max(const grove_node *pod_spec) {
    return grove_node_size(grove_node_get(pod_spec, "volumes")) * (uint32_t)(1 + N_ZONE_KEYS);
}

static void add_affinity(volumes *w, const grove_node *volume) {
    const grove_node *terms = gv_node_path(volume, "spec.nodeAffinity.required.nodeSelectorTerms");
    uint32_t n = 0;
    if (!terms) {
        return;
    }
    grove_sched_term *list = gv_arena_array(&w->v->scratch, grove_sched_term,
                                            grove_node_size(terms) + 1);
    w->failed = w->failed || !list;
    GV_EACH(term, terms) {
        w->failed = w->failed || !gv_view_term(w->v, term, &list[n++]);
    }
    w->lists[w->n++] = (grove_sched_terms){list, n, 0};
}

/* "z1" or "z1__z2": any of these. */
static bool split_values(gv_view *v, gv_str text, const char ***out, uint32_t *out_n) {
    const char **values = gv_arena_array(&v->scratch, const char *, text.n / 2 + 1);
    uint32_t n = 0;
    for (size_t from = 0; values && from <= text.n;) {
        size_t end = from;
        while (end < text.n &&
               !(text.p[end] == '_' && end + 1 < text.n && text.p[end + 1] == '_')) {
            end++;
        }
        values[n] = gv_arena_dup(&v->scratch, (gv_str){text.p + from, end - from});
        if (!values[n++]) {
            return false;
        }
        from = end < text.n ? end + 2 : end + 1;
    }
    *out = values;
    *out_n = n;
    return values != NULL;
}

static void add_zone(volumes *w, const char *key, gv_str value) {
    grove_sched_term *term = gv_arena_new(&w->v->scratch, grove_sched_term);
    grove_sched_requirement *q = gv_arena_new(&w->v->scratch, grove_sched_requirement);
    const char **values = NULL;
    uint32_t n = 0;
    if (!term || !q || !split_values(w->v, value, &values, &n)) {
        w->failed = true;
        return;
    }
    *q = (grove_sched_requirement){key, values, n, GROVE_MATCH_IN};
    *term = (grove_sched_term){q, 1, 0};
    w->lists[w->n++] = (grove_sched_terms){term, 1, 0};
}

static void note(volumes *w, uint32_t at, const char *text) {
    const char *path = gv_arena_fmt(&w->v->scratch, "volumes[%u]", at);
    w->failed = !gv_view_note_add(w->v, w->owner->clique, path, text) || w->failed;
}

static void add_claim(volumes *w, uint32_t at, gv_str name) {
    const grove_config *config = w->owner->config;
    const grove_node *claim = config ? gv_config_volume_claim(config, w->owner->ns, name) : NULL;
    gv_str bound = gv_node_str(gv_node_path(claim, "spec.volumeName"));
    const grove_node *volume = bound.n ? gv_config_volume(config, bound) : NULL;
    if (!volume) {
        note(w, at,
             !claim    ? "the claim is not known here: where its volume is, is left out of account"
             : bound.n ? "its volume is not known here: where that is, is left out of account"
                       : "the claim has no volume yet: where it can be, is left out of account");
        return;
    }
    const grove_node *labels = gv_node_path(volume, "metadata.labels");
    add_affinity(w, volume);
    for (size_t k = 0; k < N_ZONE_KEYS; k++) {
        gv_str value = gv_node_get_str(labels, zone_keys[k]);
        if (value.n > 0) {
            add_zone(w, zone_keys[k], value);
        }
    }
}

bool gv_view_volumes(gv_view *v, const gv_view_owner *owner, const grove_node *pod_spec,
                     grove_sched_terms *lists, uint32_t *n) {
    volumes w = {.v = v, .owner = owner, .lists = lists, .n = *n};
    uint32_t at = 0;
    GV_EACH(entry, grove_node_get(pod_spec, "volumes")) {
        gv_str claim = gv_node_str(gv_node_path(entry, "persistentVolumeClaim.claimName"));
        if (claim.n > 0) {
            add_claim(&w, at, claim);
        } else if (grove_node_get(entry, "ephemeral")) {
            note(&w, at,
                 "the claim is made with the pod: where its volume can be, is left out of account");
        }
        at++;
    }
    *n = w.n;
    return !w.failed;
}
