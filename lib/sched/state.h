/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster as the scheduler keeps it: nodes, topologies, classes of pods, pods, and the running sums
 * over them. Levels are counted from inside here: 0 is the whole cluster, 1..n the label levels from
 * broad to narrow, n + 1 the host. A public level is one less.
 */
#ifndef GV_SCHED_STATE_H
#define GV_SCHED_STATE_H

#include <grove/sched.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#define GV_NONE UINT32_MAX
#define GV_RESOURCES_MAX 64u
#define GV_DESCRIBED (UINT32_C(1) << 31) /* in the journal: more than the room changed */
#define GV_COUNT_MAX \
    65535u /* copies of a class that a column counts per node, and pods per podgroup */

typedef struct gv_pair {
    uint32_t key, value; /* interned texts */
} gv_pair;

#define GV_NODE_KEPT 0x100u /* in a node's flags: its room is kept for a starving gang */

typedef struct gv_taint {
    uint32_t key, value;
    grove_taint_effect effect;
} gv_taint;

typedef struct gv_node {
    char *name;      /* NULL: the slot is free */
    gv_pair *labels; /* sorted by key */
    gv_taint *taints;
    uint32_t n_labels, n_taints;
    uint32_t flags;
    uint32_t pods; /* first pod of the list, or GV_NONE */
    uint32_t n_pods;
} gv_node;

/* One level of a topology, as arrays over its domains in depth-first order. */
typedef struct gv_level {
    uint32_t key; /* interned label key */
    uint32_t n;
    uint32_t *lo, *hi;     /* range of positions in gv_topology.order */
    uint32_t *parent;      /* domain on the level above */
    uint32_t *first, *end; /* children on the level below; positions on the last label level */
    uint8_t *labelled;     /* 0: nodes without the key */
    int64_t *free;         /* per domain `stride` sums over nodes that are up, negatives as 0 */
    uint32_t *busy;        /* nodes with at least one pod */
} gv_level;

typedef struct gv_topology {
    char *name;
    uint32_t n_levels; /* label levels; levels[0] is the cluster, levels[n_levels] the narrowest */
    gv_level *levels;
    uint32_t host_alias; /* interned host key when it was listed last, else GV_NONE */
    uint32_t *order;     /* position -> node */
    uint32_t *pos;       /* node -> position; GV_NONE for free slots */
    uint32_t *dom;       /* node * (n_levels + 1) + level -> domain */
    uint32_t n;          /* positions */
    size_t cap_nodes;    /* entries that pos and dom are sized for */
    bool dirty;
    bool gaps; /* some node lacks a key */
    uint64_t version;
} gv_topology;

typedef struct gv_requirement {
    uint32_t key;
    grove_match_op op;
    uint32_t *values;
    uint32_t n_values;
    int64_t bound; /* Gt, Lt */
    bool bad_bound;
} gv_requirement;

typedef struct gv_term {
    gv_requirement *reqs;
    uint32_t n_reqs;
    int32_t weight;
} gv_term;

typedef struct gv_toleration {
    uint32_t key; /* GV_NONE: all keys */
    uint32_t value;
    grove_taint_effect effect;
    bool exists;
} gv_toleration;

typedef struct gv_need {
    uint32_t resource;
    int64_t amount; /* > 0 */
} gv_need;

typedef struct gv_class {
    gv_need *needs; /* only what is asked for; ordered by resource */
    uint32_t n_needs;
    uint32_t vector;    /* row of request_rows */
    gv_term *any;       /* terms of all lists, one list after the other */
    uint32_t *list_end; /* end of each list in `any` */
    uint32_t n_lists;
    gv_term *preferred;
    uint32_t n_preferred;
    gv_toleration *tolerations;
    uint32_t n_tolerations;
    bool tolerates_unschedulable;
    bool filtered;   /* has lists, or a veto callback is set */
    uint32_t column; /* where its column was last found */
    char *identity;  /* bytes by which equal classes are found */
    size_t identity_len;
} gv_class;

/* How many copies of a class fit on each node now, and the sums per domain; kept by the journal. */
typedef struct gv_column {
    uint32_t class_id, topology;
    uint64_t version; /* of the topology; 0: not built */
    uint64_t seen;    /* journal position up to which it is right */
    uint64_t used;    /* stamp of last use: the coldest column is given away */
    uint16_t *count;  /* by node */
    size_t cap_nodes;
    uint64_t **sum; /* by level, by domain */
    size_t *cap_sum;
    uint32_t n_levels;
    uint64_t *empty; /* by level, host last: the most copies that one empty domain can hold */
} gv_column;

/* The domains of a level, least free of a resource first; kept by the journal. See rooms.c. */
typedef struct gv_rooms {
    uint32_t topology, level, resource;
    uint64_t version; /* of the topology; 0: not built */
    uint64_t seen;    /* journal position up to which it is right */
    uint32_t n;
    uint32_t width; /* resources that `room` holds */
    uint32_t *dom;  /* in order */
    int64_t *room;  /* by domain: what was free when it got its place */
    size_t cap_dom, cap_room;
} gv_rooms;

#define GV_POD_SURPLUS 0x100u
#define GV_POD_QUEUE_SHIFT 16u /* the queue stands in the upper half of a pod's flags; 0: none */

typedef struct gv_pod {
    uint32_t node; /* GV_NONE: free slot, `next` is then the next free one */
    uint32_t vector;
    uint32_t next, prev; /* on the node */
    uint32_t gang;       /* GV_NONE: none */
    uint32_t gang_next, gang_prev;
    uint32_t podgroup;
    int32_t priority;
    uint32_t flags;
} gv_pod;

static inline uint32_t gv_pod_queue(const gv_pod *p) {
    return p->flags >> GV_POD_QUEUE_SHIFT;
}

typedef struct gv_gang_record {
    uint32_t head,
        tail; /* pods; tail GV_NONE and live false: free slot, head is the next free one */
    uint32_t n_pods;
    int32_t priority;
    uint32_t serial;            /* tells a gang from a later one in the same slot; 0: none */
    uint32_t base, base_serial; /* the gang it goes with; GV_NONE: none */
    uint16_t queue;
    uint8_t flags; /* GROVE_GANG_* */
    bool live;
} gv_gang_record;

typedef enum gv_undo_kind {
    GV_UNDO_POD_ADD,
    GV_UNDO_POD_NEW, /* the slot was new as well */
    GV_UNDO_POD_REMOVE,
    GV_UNDO_GANG_ADD,
    GV_UNDO_GANG_NEW,
    GV_UNDO_GANG_REMOVE,
    GV_UNDO_GANG_EDIT, /* flags and base alone */
    GV_UNDO_NODE,
    GV_UNDO_MARK,
    GV_UNDO_KEPT /* a mark that was given back by grove_sched_keep */
} gv_undo_kind;

typedef struct gv_undo {
    gv_undo_kind kind;
    uint32_t id;
    union {
        gv_pod pod;
        gv_gang_record gang;
        struct gv_node_image *image;
    } was;
} gv_undo;

/* A node's description before an update. */
typedef struct gv_node_image {
    gv_node node;
    int64_t *cap; /* stride entries */
    uint32_t stride;
} gv_node_image;

typedef struct gv_class_vec {
    gv_class *v;
    size_t n, cap;
} gv_class_vec;

struct gv_work;

struct grove_sched {
    grove_env *env;
    char *host_key;
    uint32_t host_key_id;
    uint32_t hostname_id; /* pseudo label key under which the node's name is matched */
    int32_t (*veto)(void *ctx, uint32_t class_id, uint32_t node);
    void *veto_ctx;
    int64_t (*order)(void *ctx, const grove_sched_candidate *candidate);
    void *order_ctx;
    gv_arena hunt_mem, waiting_mem,
        share_mem;    /* of one search for victims, one reckoning of shares */
    bool soft_taints; /* some node has, or had, a taint that is merely disliked */
    int64_t (*score)(void *ctx, const grove_decision *placed);
    void *score_ctx;
    bool verdict_only; /* whether it fits is all that is asked just now: how far it spans is not */
    uint32_t score_among;

    gv_map text_ids; /* text -> id + 1 */
    GV_VEC(char *) texts;

    gv_map resource_ids;
    GV_VEC(char *) resource_names;
    GV_VEC(int64_t) resource_fixed; /* capacity that every node has (ports); -1: ordinary */
    uint32_t stride;                /* columns of the rows below, >= number of resources */

    gv_map node_ids;
    GV_VEC(gv_node) nodes;
    int64_t *free, *cap; /* rows by node */
    size_t cap_rows;
    uint32_t free_node; /* count of free slots */

    GV_VEC(gv_topology) topologies;
    gv_class_vec classes;
    GV_VEC(int64_t) request_rows; /* rows of `stride` */
    uint32_t n_vectors;
    gv_map vector_ids; /* bytes of the row -> id + 1 */

    GV_VEC(gv_column *) columns;
    uint64_t column_clock;
    GV_VEC(gv_rooms) rooms;

    GV_VEC(gv_pod) pods;
    uint32_t free_pod;
    uint64_t live_pods;
    GV_VEC(gv_gang_record) gangs;
    uint32_t free_gang;
    uint32_t gang_serial;       /* of the gang made last */
    struct gv_queues *queues;   /* queue.c; NULL: none were declared */
    struct gv_serve *serve;     /* serve.c: memory from one call to the next */
    GV_VEC(uint32_t) gang_pods; /* answer of grove_sched_gang_pods */

    uint32_t *journal;     /* ring of nodes whose room or description (GV_DESCRIBED) changed */
    uint32_t journal_size; /* a power of two */
    uint64_t journal_end;

    GV_VEC(gv_undo) undo;
    uint32_t marks;

    struct gv_work *work;
};

/* names.c */
bool gv_sched_text(grove_sched *s, const char *text, uint32_t *out_id);
uint32_t gv_sched_text_find(const grove_sched *s, const char *text);
char *gv_sched_dup(grove_sched *s, const char *text);
void gv_sched_dup_free(grove_sched *s, char *text);

/* resource.c */
grove_status gv_sched_resource_fixed(grove_sched *s, const char *name, int64_t every_node,
                                     uint32_t *out_resource);
/* Interns a row of requests; amounts beyond n are 0. */
bool gv_sched_vector(grove_sched *s, const int64_t *row, uint32_t n, uint32_t *out_vector);
static inline const int64_t *gv_sched_row(const grove_sched *s, uint32_t vector) {
    return s->request_rows.v + (size_t)vector * s->stride;
}

/* node.c */
/* An entry of the journal: the node, and GV_DESCRIBED. */
static inline uint32_t gv_journal_at(const grove_sched *s, uint64_t at) {
    return s->journal[at & (s->journal_size - 1)];
}
static inline bool gv_node_live(const grove_sched *s, uint32_t id) {
    return id < s->nodes.n && s->nodes.v[id].name != NULL;
}
static inline bool gv_node_up(const grove_sched *s, uint32_t id) {
    return (s->nodes.v[id].flags & GROVE_NODE_DOWN) == 0;
}
static inline int64_t *gv_node_free(const grove_sched *s, uint32_t id) {
    return s->free + (size_t)id * s->stride;
}
/* Adds sign * row to the room of the node, with all sums and the journal. */
void gv_node_charge(grove_sched *s, uint32_t id, const int64_t *row, int sign);
/* The number of pods on the node went from `before` to what it is now: counts of busy nodes. */
void gv_node_busy(grove_sched *s, uint32_t id, uint32_t before);
void gv_node_touch(grove_sched *s, uint32_t id);                            /* journal only */
void gv_node_image_swap(grove_sched *s, uint32_t id, gv_node_image *image); /* undo of an update */
void gv_node_image_free(grove_sched *s, gv_node_image *image);
void gv_node_clear(grove_sched *s, gv_node *node);

/* topology.c */
/* Brings the tree of a topology up to date; every other function below expects that. */
grove_status gv_topology_refresh(grove_sched *s, uint32_t topology);
void gv_topology_clear(grove_sched *s, gv_topology *t);
static inline uint32_t gv_topology_host(const gv_topology *t) {
    return t->n_levels + 1;
}
static inline uint32_t gv_topology_dom(const gv_topology *t, uint32_t node, uint32_t level) {
    return level > t->n_levels ? node : t->dom[(size_t)node * (t->n_levels + 1) + level];
}

/* filter.c */
bool gv_class_allows(const grove_sched *s, uint32_t class_id, uint32_t node);
/* Weights of preferred terms that do not hold, and of taints that are merely disliked. */
int64_t gv_class_dislike(const grove_sched *s, uint32_t class_id, uint32_t node);

/* class.c */
void gv_class_clear(grove_sched *s, gv_class *c);

/* fit.c */
/* Copies of a class that fit into `room`, at most GV_COUNT_MAX; filters are not asked. */
static inline uint32_t gv_fit(const gv_class *c, const int64_t *room) {
    int64_t best = GV_COUNT_MAX;
    for (uint32_t i = 0; i < c->n_needs; i++) {
        int64_t have = room[c->needs[i].resource], need = c->needs[i].amount;
        if (have < need) {
            return 0;
        }
        if (need == 1) {
            best = have < best ? have : best;
        } else if (have < best * need) { /* need <= INT64_MAX / GV_COUNT_MAX: see class.c */
            best = have / need;
        }
    }
    return (uint32_t)best;
}

/* column.c */
/* The up-to-date column of a class, or NULL when out of memory. Valid until the next call may give it
 * away: at least GV_COLUMNS_KEPT calls for other classes. */
#define GV_COLUMNS_KEPT 1024u
gv_column *gv_column_get(grove_sched *s, uint32_t topology, uint32_t class_id);
void gv_column_clear(grove_sched *s, gv_column *c);

/* rooms.c */
/* The up-to-date order, or NULL when out of memory; valid until the next call or change. */
const gv_rooms *gv_rooms_get(grove_sched *s, uint32_t topology, uint32_t level, uint32_t resource);
/* The first place in the order with at least `need` free. */
uint32_t gv_rooms_from(const gv_rooms *o, int64_t need);
/* The first place behind `at` whose domain is free to other amounts. */
uint32_t gv_rooms_past_equals(const gv_rooms *o, uint32_t at);
/* -1, 0 or 1: whether one room comes before another, ids aside. */
int gv_rooms_compare(const gv_rooms *o, const int64_t *a, const int64_t *b);
void gv_rooms_clear(grove_sched *s, gv_rooms *o);
static inline const int64_t *gv_rooms_of(const gv_rooms *o, uint32_t d) {
    return o->room + (size_t)d * o->width;
}

/* pod.c */
grove_status gv_pod_insert(grove_sched *s, const gv_pod *pod, uint32_t *out_id);
void gv_pod_erase(grove_sched *s, uint32_t id);
void gv_pod_undo(grove_sched *s, const gv_undo *u);
/* Everything of `fresh` but pods and serial is taken over. */
grove_status gv_gang_insert(grove_sched *s, const gv_gang_record *fresh, uint32_t *out_id);
static inline bool gv_gang_live(const grove_sched *s, uint32_t id) {
    return id < s->gangs.n && s->gangs.v[id].live;
}
/* The gang that `id` goes with, or GV_NONE: none, or gone. */
uint32_t gv_gang_base(const grove_sched *s, uint32_t id);
void gv_gang_undo(grove_sched *s, const gv_undo *u);
void gv_gang_erase(grove_sched *s, uint32_t id);

/* undo.c */
bool gv_undo_room(grove_sched *s, size_t more); /* called before a change; false: out of memory */
void gv_undo_note(grove_sched *s, const gv_undo *entry);
void gv_undo_clear(grove_sched *s);

/* queue.c: adds sign * row to what a queue and those above it use. */
void gv_queue_charge(grove_sched *s, uint32_t queue, const int64_t *row, int sign);
void gv_queues_free(grove_sched *s);

/* serve.c */
void gv_serve_free(grove_sched *s);

/* work.c */
void gv_work_free(grove_sched *s);

#endif
