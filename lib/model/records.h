/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: what is kept of an object once it was observed. Every record begins with gv_head; a pod or a
 * node is kept as the fields below and nothing else.
 *
 * Extraction is in two halves so that a second reader (straight from bytes, without a document) can
 * replace the first half: gv_pod_read fills borrowed *facts*; gv_pod_bytes and gv_pod_fill turn facts
 * into a record inside memory the caller provides.
 *
 * Placement classes (node selector, affinity, tolerations) of a managed pod are those of its PodClique's
 * podSpec, which the store keeps whole: they are not repeated per pod. A foreign pod only occupies.
 */
#ifndef GV_MODEL_RECORDS_H
#define GV_MODEL_RECORDS_H

#include <stdbool.h>

#include <grove/doc.h>

#include "base/text.h"
#include "base/vec.h"
#include "model/intern.h"
#include "model/kinds.h"

#define GV_TIME_NONE INT64_MIN /* "no such time" in nanoseconds since the epoch */

/* ---- what every object has ---- */

#define GV_HEAD_MANAGED 0x1u     /* app.kubernetes.io/managed-by is grove-operator */
#define GV_HEAD_TERMINATING 0x2u /* deletionTimestamp set, or a delete of ours was accepted */
#define GV_HEAD_EXPECTED 0x4u    /* effect of a write in flight, not yet observed */

typedef struct gv_head {
    gv_kind kind;
    uint32_t flags;         /* GV_HEAD_* */
    gv_kind owner_kind;     /* of the controller reference, NONE when it has none or is unknown */
    uint32_t n_owners;      /* owner references of any sort */
    const char *ns;         /* "" for cluster scope; interned */
    const char *name;       /* in the record */
    const char *uid;        /* in the record; "" until the server gave one */
    const char *rv;         /* resourceVersion, in the record; "" unknown */
    const char *owner_uid;  /* controller reference; "" none; interned */
    const char *owner_name; /* interned */
    const char *part_of;    /* label app.kubernetes.io/part-of; "" absent; interned */
    uint64_t rv_order;      /* rv as a number; 0 when it is none */
    int64_t generation;
    int64_t created; /* ns; GV_TIME_NONE unknown */
    int64_t deleted; /* deletionTimestamp in ns; GV_TIME_NONE not set */
} gv_head;

/* ---- pods ---- */

typedef enum gv_pod_phase {
    GV_POD_PHASE_NONE = 0, /* empty or unheard of */
    GV_POD_PHASE_PENDING,
    GV_POD_PHASE_RUNNING,
    GV_POD_PHASE_SUCCEEDED,
    GV_POD_PHASE_FAILED,
    GV_POD_PHASE_UNKNOWN
} gv_pod_phase;

#define GV_POD_READY 0x1u              /* condition Ready is True */
#define GV_POD_SCHEDULED 0x2u          /* condition PodScheduled is True */
#define GV_POD_GATED_COND 0x4u         /* PodScheduled is False, reason SchedulingGated */
#define GV_POD_UNSCHEDULABLE 0x8u      /* PodScheduled is False, reason Unschedulable */
#define GV_POD_GROVE_GATE 0x10u        /* carries grove.io/podgang-pending-creation */
#define GV_POD_FOREIGN_GATE 0x20u      /* carries a gate of somebody else */
#define GV_POD_ERRONEOUS 0x40u         /* a container's last termination had a non-zero exit code */
#define GV_POD_STARTED_NOT_READY 0x80u /* a main container has started and is not ready */
#define GV_POD_NOT_STARTED 0x100u      /* a main container has not started, or has no status yet */
#define GV_POD_HAS_FINALIZER 0x200u
#define GV_POD_DISRUPTED 0x400u /* condition DisruptionTarget is True */
#define GV_POD_REFUSED 0x800u   /* status.reason: its node's kubelet had no room for it */

/* Effective request as a scheduler counts it: cpu in milli, everything else in whole units, rounded up. */
typedef struct gv_request {
    const char *name; /* interned */
    int64_t amount;
} gv_request;

typedef struct gv_host_port {
    int32_t port;
    uint32_t protocol; /* 0 TCP, 1 UDP, 2 SCTP */
} gv_host_port;

typedef struct gv_pod {
    gv_head head;
    uint32_t flags; /* GV_POD_* */
    gv_pod_phase phase;
    int32_t index;          /* label grove.io/podclique-pod-index; -1 absent or not a number */
    int32_t hostname_index; /* integer after the last hyphen of spec.hostname; -1 none */
    uint16_t gate_at;       /* place of Grove's gate in spec.schedulingGates */
    uint16_t n_gates;
    uint16_t n_requests, n_ports;
    const char *clique;    /* label grove.io/podclique; interned, as all below */
    const char *gang;      /* label grove.io/podgang */
    const char *base_gang; /* label grove.io/base-podgang */
    const char *hash;      /* label grove.io/pod-template-hash */
    const char *node;      /* spec.nodeName */
    const char *scheduler; /* spec.schedulerName */
    const char *priority_class;
    int32_t priority;
    uint32_t incarnation;       /* label libgrove.io/incarnation; 0 absent */
    int64_t ready_since;        /* lastTransitionTime of Ready; GV_TIME_NONE absent */
    int64_t scheduled_since;    /* lastTransitionTime of PodScheduled */
    int64_t ended;              /* latest finishedAt of a pod in a final phase; GV_TIME_NONE */
    const gv_request *requests; /* n_requests, sorted by name */
    const gv_host_port *ports;  /* n_ports */
} gv_pod;

static inline bool gv_pod_is_final(const gv_pod *p) {
    return p->phase == GV_POD_PHASE_FAILED || p->phase == GV_POD_PHASE_SUCCEEDED;
}
static inline bool gv_pod_is_refused(const gv_pod *p) {
    return p->phase == GV_POD_PHASE_FAILED && (p->flags & GV_POD_REFUSED) != 0;
}
/* Counts as one of its clique's pods: neither on its way out nor finished. */
static inline bool gv_pod_is_active(const gv_pod *p) {
    return (p->head.flags & GV_HEAD_TERMINATING) == 0 && !gv_pod_is_final(p);
}
static inline bool gv_pod_is_bound(const gv_pod *p) {
    return p->node[0] != '\0';
}

/* ---- nodes ---- */

typedef struct gv_label {
    const char *key, *value; /* interned */
} gv_label;

typedef struct gv_taint {
    const char *key, *value, *effect; /* interned */
} gv_taint;

#define GV_NODE_READY 0x1u
#define GV_NODE_UNSCHEDULABLE 0x2u

typedef struct gv_node_record {
    gv_head head;
    uint32_t flags; /* GV_NODE_* */
    uint32_t n_labels, n_taints, n_allocatable;
    const gv_label *labels;        /* sorted by key */
    const gv_taint *taints;        /* in the object's order */
    const gv_request *allocatable; /* sorted by name; amounts as in gv_request, rounded down */
} gv_node_record;

/* Value of a node's label; NULL when absent. */
const char *gv_node_record_label(const gv_node_record *node, gv_str key);

/* ---- first half: facts, borrowed from what was read ---- */

typedef struct gv_head_facts {
    gv_kind kind, owner_kind;
    uint32_t flags, n_owners;
    gv_str ns, name, uid, rv, owner_uid, owner_name, part_of;
    int64_t generation, created, deleted;
} gv_head_facts;

typedef struct gv_request_fact {
    gv_str name;
    int64_t amount;
} gv_request_fact;
typedef GV_VEC(gv_request_fact) gv_request_facts;

typedef struct gv_pod_facts {
    gv_head_facts head;
    uint32_t flags;
    gv_pod_phase phase;
    int32_t index, hostname_index, priority;
    uint32_t incarnation;
    uint16_t gate_at, n_gates;
    gv_str clique, gang, base_gang, hash, node, scheduler, priority_class;
    int64_t ready_since, scheduled_since, ended;
    gv_request_facts requests;
    GV_VEC(gv_host_port) ports;
} gv_pod_facts;

typedef struct gv_taint_fact {
    gv_str key, value, effect;
} gv_taint_fact;

typedef struct gv_label_fact {
    gv_str key, value;
} gv_label_fact;
typedef GV_VEC(gv_label_fact) gv_label_facts;

typedef struct gv_node_facts {
    gv_head_facts head;
    uint32_t flags;
    gv_label_facts labels;
    GV_VEC(gv_taint_fact) taints;
    gv_request_facts allocatable;
} gv_node_facts;

/* Reads metadata common to all kinds; E_INVALID when kind or name is missing. */
grove_status gv_head_read(const grove_node *object, gv_head_facts *out, grove_error *err);
/* *out must be zeroed or used before (its vectors are reused); gv_*_facts_fini frees the vectors. */
grove_status gv_pod_read(grove_env *env, const grove_node *pod, gv_pod_facts *out,
                         grove_error *err);
grove_status gv_node_read(grove_env *env, const grove_node *node, gv_node_facts *out,
                          grove_error *err);
void gv_pod_facts_fini(grove_env *env, gv_pod_facts *facts);
void gv_node_facts_fini(grove_env *env, gv_node_facts *facts);

/* Effective requests of a pod spec, sorted by name, appended to *out (names borrowed from the spec). */
grove_status gv_podspec_requests(grove_env *env, const grove_node *pod_spec, gv_request_facts *out,
                                 grove_error *err);

/* ---- second half: facts into a record ---- */

/* Bytes beyond the struct itself that the record's own texts and arrays take. */
size_t gv_head_tail(const gv_head_facts *facts);
size_t gv_pod_tail(const gv_pod_facts *facts);
size_t gv_node_tail(const gv_node_facts *facts);
/* Fill *out; `tail` points at that many bytes, aligned to 8. On false (out of memory) nothing is held.
 * Texts that many records share are taken from the pool; gv_*_drop gives them back. */
bool gv_head_fill(gv_head *out, char *tail, const gv_head_facts *facts, gv_intern *pool);
bool gv_pod_fill(gv_pod *out, char *tail, const gv_pod_facts *facts, gv_intern *pool);
bool gv_node_fill(gv_node_record *out, char *tail, const gv_node_facts *facts, gv_intern *pool);
void gv_head_drop(gv_head *head, gv_intern *pool);
void gv_pod_drop(gv_pod *pod, gv_intern *pool);
void gv_node_drop(gv_node_record *node, gv_intern *pool);

/* Equal in everything a decision reads (resourceVersion and generation are not). */
bool gv_pod_same(const gv_pod *a, const gv_pod *b);
bool gv_node_same(const gv_node_record *a, const gv_node_record *b);

#endif
