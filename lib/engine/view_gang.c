/* SPDX-License-Identifier: Apache-2.0 */
/* A PodGang object as the placement engine takes it: podgroups, constraints, members, seats. */
#include "base/sort.h"
#include "engine/view_class.h"
#include "engine/view_peers.h"
#include "engine/view_queues.h"
#include "model/config.h"
#include "model/labels.h"
#include "value/doc.h"

#define HOST_KEY "kubernetes.io/hostname"

typedef struct gv_view_topology {
    uint32_t id;
    gv_str keys; /* joined by '\n', behind the struct: to notice a change */
    size_t bytes;
} gv_view_topology;

void gv_view_topologies_fini(gv_view *v) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&v->topologies, &i));) {
        gv_view_topology *t = e->value;
        gv_free(v->env, t, t->bytes);
    }
}

/* ---- topologies ---- */

static char *join_keys(gv_view *v, const char *const *keys, uint32_t n, size_t *out_len) {
    size_t len = 0;
    for (uint32_t i = 0; i < n; i++) {
        len += strlen(keys[i]) + 1;
    }
    char *text = gv_arena_alloc(&v->scratch, len + 1), *at = text;
    for (uint32_t i = 0; text && i < n; i++) {
        size_t k = strlen(keys[i]);
        memcpy(at, keys[i], k);
        at[k] = '\n';
        at += k + 1;
    }
    *out_len = len;
    return text;
}

/* A binding whose levels changed becomes a new topology: decisions made under the old one stand. */
static grove_status topology_of(gv_view *v, gv_str name, const char *const *keys, uint32_t n,
                                uint32_t *out, grove_error *err) {
    size_t len = 0;
    char *joined = join_keys(v, keys, n, &len);
    if (!joined) {
        return gv_error_nomem(err);
    }
    gv_view_topology *known = gv_map_get(&v->topologies, name);
    if (known && gv_str_eq(known->keys, (gv_str){joined, len})) {
        *out = known->id;
        return GROVE_OK;
    }
    const char *unique = gv_arena_fmt(&v->scratch, "%.*s#%u", (int)name.n, name.p,
                                      v->topology_changes++);
    gv_view_topology *t = gv_alloc(v->env, sizeof *t + len + 1);
    if (!unique || !t) {
        gv_free(v->env, t, sizeof *t + len + 1);
        return gv_error_nomem(err);
    }
    t->bytes = sizeof *t + len + 1;
    char *text = (char *)(t + 1);
    memcpy(text, joined, len);
    text[len] = '\0';
    t->keys = (gv_str){text, len};
    grove_status st = grove_sched_topology(v->sched, unique, keys, n, &t->id, err);
    if (st == GROVE_OK && !gv_map_put(&v->topologies, name, t)) {
        st = gv_error_nomem(err);
    }
    if (st < 0) {
        gv_free(v->env, t, t->bytes);
        return st;
    }
    if (known) {
        gv_free(v->env, known, known->bytes);
    }
    *out = t->id;
    return GROVE_OK;
}

static grove_status gang_topology(gv_view *v, const grove_config *config, const grove_node *podgang,
                                  uint32_t *out, grove_error *err) {
    gv_str name = gv_node_get_str(gv_node_path(podgang, "metadata.annotations"),
                                  GV_ANNOTATION_TOPOLOGY);
    const gv_topology_binding *binding = name.n ? gv_config_binding(config, name) : NULL;
    uint32_t n = binding ? binding->n_levels : 0;
    const char **keys = gv_arena_array(&v->scratch, const char *, n + 1);
    if (!keys) {
        return gv_error_nomem(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = binding->levels[i].key.p;
    }
    if (n == 0) {
        keys[n++] = HOST_KEY; /* no topology: hosts only */
    }
    return topology_of(v, binding ? name : GV_STR(""), keys, n, out, err);
}

typedef struct levels {
    grove_level required, preferred;
} levels;

static levels levels_of(gv_view *v, uint32_t topology, const grove_node *owner) {
    const grove_node *pack = gv_node_path(owner, "topologyConstraint.packConstraint");
    gv_str required = gv_node_get_str(pack, "required");
    gv_str preferred = gv_node_get_str(pack, "preferred");
    levels out = {GROVE_LEVEL_NONE, GROVE_LEVEL_NONE};
    if (required.n) {
        out.required = grove_sched_level(v->sched, topology, required.p);
    }
    if (preferred.n) {
        out.preferred = grove_sched_level(v->sched, topology, preferred.p);
        if (out.preferred == GROVE_LEVEL_UNKNOWN) {
            out.preferred = GROVE_LEVEL_NONE; /* a wish that cannot be meant is no obstacle */
        }
    }
    return out;
}

/* ---- podgroups ---- */

typedef struct describe {
    gv_view *v;
    const grove_store *store;
    gv_view_gang *out;
    const grove_config *config;
    gv_map *podgroups; /* name -> id + 1 */
    gv_peers peers;    /* of the PodGang's podgroups, in their order */
    uint32_t topology;
    uint32_t flags; /* GV_DESCRIBE_* */
    gv_str ns;
    gv_str gang;
    grove_error *err;
} describe;

static int by_index(const void *a, const void *b, void *ctx) {
    const gv_pod *x = ((const gv_view_seat *)a)->pod, *y = ((const gv_view_seat *)b)->pod;
    (void)ctx;
    if (x->index != y->index) {
        return x->index < y->index ? -1 : 1;
    }
    return strcmp(x->head.name, y->head.name);
}

static bool waits_for_a_node(const gv_pod *pod, uint32_t flags) {
    uint32_t gates = GV_POD_FOREIGN_GATE | (flags & GV_DESCRIBE_GATED ? 0 : GV_POD_GROVE_GATE);
    return gv_pod_is_active(pod) && !gv_pod_is_bound(pod) && (pod->flags & gates) == 0;
}

/* Pods of one clique: members that have a node, and seats for those that wait for one. */
static grove_status add_pods(describe *d, gv_str clique, uint32_t class_id, uint32_t podgroup,
                             uint32_t *out_members, uint32_t *out_seats) {
    const gv_list *pods = gv_store_of_gang(d->store, d->ns, d->gang);
    uint32_t members = 0, first = d->out->n_seats;
    for (const gv_object *o = pods->first; o; o = gv_list_next(o, GV_LIST_GANG)) {
        const gv_pod *pod = &o->u.pod;
        if (!gv_str_is(clique, pod->clique)) {
            continue;
        }
        if (gv_pod_is_active(pod) && gv_pod_is_bound(pod)) {
            members++;
        } else if (waits_for_a_node(pod, d->flags)) {
            gv_view_seat *seat = gv_arena_new(&d->v->scratch, gv_view_seat);
            if (!seat) {
                return gv_error_nomem(d->err);
            }
            *seat = (gv_view_seat){pod, podgroup, class_id};
            d->out->seats[d->out->n_seats++] = seat;
        }
    }
    *out_members = members;
    *out_seats = d->out->n_seats - first;
    gv_sort((const void **)(void *)d->out->seats + first, *out_seats, by_index, NULL);
    return GROVE_OK;
}

/* A pod's record does not tell from whom it keeps away: members take their tokens when their gang is met. */
static grove_status hold_tokens(describe *d, const gv_pod *pod, const gv_peer *peer) {
    uint32_t class_id = 0;
    if (peer->n_tokens == 0) {
        return GROVE_OK;
    }
    grove_status st = gv_view_plain_class(d->v, pod, peer->tokens, peer->n_tokens, &class_id,
                                          d->err);
    return st < 0 ? st : gv_view_hold_class(d->v, pod, class_id, d->err);
}

static grove_status add_members(describe *d, const gv_peer *peer, uint32_t podgroup) {
    const gv_list *pods = gv_store_of_gang(d->store, d->ns, d->gang);
    for (const gv_object *o = pods->first; o; o = gv_list_next(o, GV_LIST_GANG)) {
        const gv_pod *pod = &o->u.pod;
        if (!gv_str_is(peer->name, pod->clique) || !gv_pod_is_active(pod) ||
            !gv_pod_is_bound(pod)) {
            continue;
        }
        uint32_t node = (uint32_t)(uintptr_t)gv_map_get(&d->v->nodes, gv_str_c(pod->node));
        if (node) {
            grove_status st = grove_gang_member(d->v->gang, podgroup, node - 1);
            st = st < 0 ? st : hold_tokens(d, pod, peer);
            if (st < 0) {
                return st;
            }
        }
    }
    return GROVE_OK;
}

static grove_status add_podgroup(describe *d, const grove_node *group, const gv_peer *peer) {
    gv_view *v = d->v;
    gv_str name = peer->name;
    if (!peer->clique) {
        d->out->incomplete = "a PodClique of the gang does not exist yet";
        return GROVE_OK;
    }
    uint32_t class_id = 0, members = 0, seats = 0, podgroup = 0;
    uint32_t id = gv_map_size(d->podgroups);
    gv_view_owner owner = {d->config, d->ns, name};
    grove_status st = gv_view_class(v, &owner, gv_node_path(peer->clique, "spec.podSpec"),
                                    peer->tokens, peer->n_tokens, &class_id, d->err);
    if (st == GROVE_OK) {
        st = add_pods(d, name, class_id, id, &members, &seats);
    }
    if (st < 0) {
        return st;
    }
    int64_t minimum = gv_node_get_int(group, "minReplicas", 0);
    if (minimum > (int64_t)members + seats) {
        d->out->incomplete = "pods of the gang are missing or still gated";
    }
    if (d->flags & GV_DESCRIBE_LEAST && (int64_t)members + seats > minimum) {
        uint32_t least = minimum > members ? (uint32_t)minimum - members : 0;
        uint32_t left_out = seats > least ? seats - least : 0;
        d->out->left_out += left_out;
        d->out->n_seats -= left_out; /* the highest indices */
        seats -= left_out;
    }
    uint32_t count = members + seats;
    uint32_t min = minimum < 0 ? 0 : minimum > count ? count : (uint32_t)minimum;
    levels l = levels_of(v, d->topology, group);
    if (peer->pack > l.required && l.required != GROVE_LEVEL_UNKNOWN) {
        l.required = peer->pack;
    }
    st = grove_gang_podgroup(v->gang, name.p, class_id, min, count, l.required, l.preferred,
                             &podgroup);
    if (st == GROVE_OK && !gv_map_put(d->podgroups, name, (void *)(uintptr_t)(podgroup + 1))) {
        st = gv_error_nomem(d->err);
    }
    return st == GROVE_OK ? add_members(d, peer, podgroup) : st;
}

static grove_status add_group(describe *d, const grove_node *config) {
    const grove_node *names = grove_node_get(config, "podGroupNames");
    uint32_t *ids = gv_arena_array(&d->v->scratch, uint32_t, grove_node_size(names) + 1);
    uint32_t n = 0, group = 0;
    if (!ids) {
        return gv_error_nomem(d->err);
    }
    GV_EACH(name, names) {
        uint32_t id = (uint32_t)(uintptr_t)gv_map_get(d->podgroups, gv_node_str(name));
        if (id) {
            ids[n++] = id - 1;
        }
    }
    levels l = levels_of(d->v, d->topology, config);
    return n == 0 ? GROVE_OK
                  : grove_gang_group(d->v->gang, gv_node_get_str(config, "name").p, ids, n,
                                     l.required, l.preferred, &group);
}

/* Pods that affinity keeps in one domain with those of other podgroups. */
static grove_status add_pack(describe *d, const gv_peer_pack *pack) {
    uint32_t *ids = gv_arena_array(&d->v->scratch, uint32_t, pack->n), n = 0, group = 0;
    if (!ids) {
        return gv_error_nomem(d->err);
    }
    for (uint32_t i = 0; i < pack->n; i++) {
        gv_str name = d->peers.v[pack->peers[i]].name;
        uint32_t id = (uint32_t)(uintptr_t)gv_map_get(d->podgroups, name);
        if (id) {
            ids[n++] = id - 1;
        }
    }
    return n == 0 ? GROVE_OK
                  : grove_gang_group(d->v->gang, "podAffinity", ids, n, pack->level,
                                     GROVE_LEVEL_NONE, &group);
}

static grove_status find_peers(describe *d, const grove_node *podgang) {
    const grove_node *groups = gv_node_path(podgang, "spec.podgroups");
    d->peers.v = gv_arena_array(&d->v->scratch, gv_peer, grove_node_size(groups) + 1);
    if (!d->peers.v) {
        return gv_error_nomem(d->err);
    }
    GV_EACH(group, groups) {
        gv_peer *p = &d->peers.v[d->peers.n++];
        p->name = gv_node_get_str(group, "name");
        const gv_object *clique = gv_store_get(d->store, GV_KIND_PODCLIQUE, d->ns, p->name);
        p->clique = clique ? gv_object_node(clique) : NULL;
        p->pods = (uint32_t)grove_node_size(grove_node_get(group, "podReferences"));
    }
    return gv_view_peers(d->v, d->topology, d->ns, d->gang, podgang, &d->peers, d->err);
}

static grove_status fill_gang(describe *d, const grove_node *podgang) {
    const grove_node *spec = grove_node_get(podgang, "spec");
    grove_status st = grove_gang_begin(d->v->gang, d->topology, d->gang.p);
    levels l = levels_of(d->v, d->topology, spec);
    uint32_t at = 0;
    if (st == GROVE_OK) {
        st = grove_gang_pack(d->v->gang, l.required, l.preferred);
    }
    st = st == GROVE_OK ? find_peers(d, podgang) : st;
    GV_EACH(group, grove_node_get(spec, "podgroups")) {
        st = st == GROVE_OK ? add_podgroup(d, group, &d->peers.v[at++]) : st;
    }
    GV_EACH(config, grove_node_get(spec, "topologyConstraintGroupConfigs")) {
        st = st == GROVE_OK ? add_group(d, config) : st;
    }
    for (uint32_t i = 0; st == GROVE_OK && i < d->peers.n_packs; i++) {
        st = add_pack(d, &d->peers.packs[i]);
    }
    return st;
}

grove_status gv_view_describe(gv_view *v, const grove_store *store, const grove_config *config,
                              const grove_node *podgang, uint32_t flags, gv_view_gang *out,
                              grove_error *err) {
    const grove_node *meta = grove_node_get(podgang, "metadata");
    gv_map podgroups;
    *out = (gv_view_gang){0};
    gv_arena_reset(&v->scratch);
    v->notes.n = 0;
    gv_map_init(&podgroups, v->env);
    describe d = {.v = v,
                  .store = store,
                  .out = out,
                  .config = config,
                  .podgroups = &podgroups,
                  .flags = flags,
                  .ns = gv_node_get_str(meta, "namespace"),
                  .gang = gv_node_get_str(meta, "name"),
                  .err = err};
    uint32_t pods = gv_store_of_gang(store, d.ns, d.gang)->n;
    out->seats = gv_arena_array(&v->scratch, const gv_view_seat *, pods + 1);
    grove_status st = out->seats ? GROVE_OK : gv_error_nomem(err);
    if (st == GROVE_OK) {
        st = gang_topology(v, config, podgang, &d.topology, err);
    }
    out->topology = d.topology;
    if (st == GROVE_OK) {
        st = fill_gang(&d, podgang);
    }
    if (st == GROVE_OK && v->queued) {
        gv_str set = gv_node_get_str(grove_node_get(meta, "labels"), GV_LABEL_PART_OF);
        st = grove_gang_queue(v->gang, gv_view_queue_of(v, store, d.ns, set).id);
    }
    if (st == GROVE_OK) {
        st = gv_view_recall(v, store, d.topology, d.ns, podgang, out);
    }
    if (st == GROVE_OK) { /* what is asked for outweighs what is remembered */
        st = gv_view_siblings(v, store, podgang, d.topology, out);
    }
    gv_map_fini(&podgroups);
    if (st < 0) {
        return err && err->status == st ? st : gv_error(err, st, "a gang could not be described");
    }
    if (!out->incomplete && out->n_seats == 0) {
        out->incomplete = "no pod of the gang waits for a node";
    }
    out->complete = !out->incomplete;
    return GROVE_OK;
}
