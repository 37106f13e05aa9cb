/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster's memory: objects with their versions, the history that watches read, the queue of things
 * that controllers have to look at, and the timers of the virtual clock.
 *
 * A stored object is one small document (apiVersion, kind, metadata) whose other members link to section
 * documents of their own. A new version links the sections that did not change, so that versions share
 * their spec and no chain of versions builds up.
 */
#ifndef GV_SIM_STATE_H
#define GV_SIM_STATE_H

#include <stdbool.h>

#include <grove/sys/sim.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/kinds.h"

#define GV_SIM_NO_TIME INT64_MIN
#define GV_SECOND INT64_C(1000000000)

/* ---- timers ---- */

/* A place in the heap of deadlines; lives in what it wakes. */
typedef struct gv_sim_timer {
    int64_t at;
    uint64_t seq; /* ties go to whoever was armed first */
    size_t pos;   /* index in the heap + 1; 0: not armed */
    int what;     /* GV_TIMER_* */
    void *owner;
} gv_sim_timer;

enum { GV_TIMER_POD = 1, GV_TIMER_NODE };

/* ---- objects ---- */

/* A top-level member of an object ("spec", "status", "data") with the document that holds it. */
typedef struct gv_sim_section {
    gv_str key; /* borrowed from the object's document */
    grove_doc *doc;
} gv_sim_section;

typedef GV_VEC(gv_sim_section) gv_sim_sections;

struct gv_sim_pod;
struct gv_sim_node;

typedef struct gv_sim_object {
    uint32_t refs; /* the table's one while it exists, one per queue entry */
    bool exists;
    bool queued;
    bool dying;      /* has a deletionTimestamp */
    bool pod_ready;  /* Pod: Ready is True and it is not dying */
    bool ready_seen; /* what the gang's waiters were last told of it */
    gv_kind kind;
    uint64_t rv;
    uint64_t serial; /* order of creation */
    grove_doc *doc;
    gv_sim_sections sections;
    char *text; /* one block: "ns/name\0uid\0" */
    size_t text_cap;
    gv_str key, ns, name, uid;
    struct gv_sim_pod *pod;     /* Pod on a node: what the kubelet knows */
    struct gv_sim_node *node;   /* Node: what the node lifecycle controller knows */
    struct gv_sim_needs *needs; /* Pod: resource requests, filled by the scheduler on demand */
} gv_sim_object;

/* One change, as watches will see it. */
typedef struct gv_sim_change {
    grove_event_type type; /* ADDED, MODIFIED, DELETED */
    uint64_t rv;
    grove_doc *doc; /* DELETED: the last state with the deletion's version */
    grove_doc *old; /* NULL for ADDED */
} gv_sim_change;

typedef struct gv_sim_table {
    gv_map objects; /* "ns/name" (":name" without a namespace is "/name") -> gv_sim_object */
    GV_VEC(gv_sim_change) history;
    size_t history_head; /* changes before it were dropped */
    uint64_t dropped;    /* how many were: numbers of changes go on from there */
    uint64_t lost_rv;    /* versions before this one cannot be resumed from */
    uint64_t last_rv;    /* of the newest change */
} gv_sim_table;

typedef GV_VEC(gv_sim_object *) gv_sim_objects;

/* What a rule leaves of the options for one pod. */
typedef struct gv_sim_behaviour {
    int64_t pull_ns, init_ns, start_container_ns, ready_ns, terminate_ns, crash_ns;
    int32_t exit_code, crashes, pull_fails, init_exit_code;
} gv_sim_behaviour;

struct gv_sim_rule;
struct gv_sim_scheduler;
struct gv_sim_client;

struct grove_sim {
    grove_env *env;
    grove_sim_options options; /* every field filled in; texts owned */
    char *scheduler_names, *gang_scheduler_names;
    int64_t now;
    uint64_t rv;
    uint64_t serial;
    uint64_t pod_ips;
    gv_prng prng;
    grove_builder *builder; /* for short use inside one function */
    grove_buf scratch;      /* for one text of at most 512 bytes: never grows */
    gv_sim_table tables[GV_KIND_COUNT];
    gv_map by_uid;        /* uid -> gv_sim_object */
    gv_map dependents;    /* owner uid -> gv_sim_objects * */
    gv_map gangs;         /* "ns/podgang" -> gv_sim_objects * of pods */
    gv_sim_objects queue; /* changed or gone, to be looked at by the controllers */
    size_t queue_head;
    GV_VEC(gv_sim_timer *) timers;
    uint64_t timer_seq;
    size_t timer_count; /* timers that exist: the heap has room for all of them */
    GV_VEC(struct gv_sim_rule *) rules;
    GV_VEC(struct gv_sim_scheduler *) schedulers;
    bool schedule; /* somebody may find a node now */
    /* What ran out of memory half-way goes on before anything else, so that the order of events is as if it had not. */
    bool schedule_stuck;
    gv_sim_timer *timer_stuck;
    GV_VEC(struct gv_sim_client *) clients;
    gv_map applied; /* uid -> grove_doc of appliers' managedFields, unless objects carry them */
    grove_sim_observe_fn observe;
    void *observe_ctx;
};

/* Key of an object in its table, into a caller's buffer of GV_SIM_KEY_MAX. */
#define GV_SIM_KEY_MAX 520
gv_str gv_sim_key(char *buf, gv_str ns, gv_str name);

gv_sim_object *gv_sim_find(const grove_sim *sim, gv_kind kind, gv_str ns, gv_str name);
gv_sim_object *gv_sim_find_uid(const grove_sim *sim, gv_str uid);
void gv_sim_object_unref(grove_sim *sim, gv_sim_object *o);
const grove_node *gv_sim_root(const gv_sim_object *o);
/* A top-level member's document and node; NULL when absent. */
grove_doc *gv_sim_section_doc(const gv_sim_object *o, const char *key);

/* ---- metadata: meta.h reads and writes it ---- */

typedef struct gv_sim_meta {
    gv_str name, generate_name, ns, uid;
    int64_t generation; /* 0: the kind has none */
    int64_t created_ns;
    int64_t deleted_ns;                                           /* GV_SIM_NO_TIME: alive */
    int64_t grace;                                                /* seconds; -1: none */
    const grove_node *labels, *annotations, *owners, *finalizers; /* NULL: none */
    const grove_node *managed; /* managedFields; NULL: none, or not kept */
} gv_sim_meta;

/* ---- writes that cannot be refused (everything was checked before) ---- */

/* A member of the next version: `node` of anybody's document, which is copied unless `shared` holds it. */
typedef struct gv_sim_part {
    gv_str key;
    const grove_node *node;
    grove_doc *shared; /* borrowed */
} gv_sim_part;

typedef GV_VEC(gv_sim_part) gv_sim_parts;

/* The members of `object` besides apiVersion, kind, metadata; what equals a section of `old` is shared. */
grove_status gv_sim_parts_of(grove_sim *sim, const grove_node *object, const gv_sim_object *old,
                             gv_sim_parts *out_parts);
/* Replaces or adds one member. */
grove_status gv_sim_parts_set(grove_sim *sim, gv_sim_parts *parts, const char *key,
                              const grove_node *node, grove_doc *shared);
void gv_sim_parts_remove(gv_sim_parts *parts, const char *key);
/* Whether any member but `except` is new, gone or different from what `old` has. */
bool gv_sim_parts_differ(const gv_sim_parts *parts, const gv_sim_object *old, const char *except);

/* Stores a new object; *out_object is borrowed. */
grove_status gv_sim_insert(grove_sim *sim, gv_kind kind, const gv_sim_meta *meta,
                           const gv_sim_parts *parts, gv_sim_object **out_object);
/* Stores a new version. */
grove_status gv_sim_update(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta,
                           const gv_sim_parts *parts);
/* Removes the object; meta is what its last state shows, with a version of its own. */
grove_status gv_sim_remove(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta,
                           const gv_sim_parts *parts);
/* The document that an insert or update would make, without storing (dry run). */
grove_status gv_sim_compose(grove_sim *sim, gv_kind kind, const gv_sim_meta *meta,
                            const gv_sim_parts *parts, uint64_t rv, grove_doc **out_doc);
/* Puts an object into the controllers' queue. */
grove_status gv_sim_touch(grove_sim *sim, gv_sim_object *o);
void gv_sim_history_trim(gv_sim_table *t, size_t keep);
/* 36 characters and a NUL. */
void gv_sim_make_uid(grove_sim *sim, char *out);

/* ---- timers ---- */

/* Makes room for one more timer; every arm after it succeeds. */
bool gv_sim_timer_init(grove_sim *sim, gv_sim_timer *t, int what, void *owner);
void gv_sim_timer_fini(grove_sim *sim, gv_sim_timer *t);
void gv_sim_timer_arm(grove_sim *sim, gv_sim_timer *t, int64_t at); /* INT64_MAX disarms */
gv_sim_timer *gv_sim_timer_first(const grove_sim *sim);

#endif
