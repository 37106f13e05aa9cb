/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/sys/backend.h - the contract between an engine and whatever cluster it drives.
 *
 * A backend carries operations out and reports what changed. It is a table of seven functions (`ops`)
 * and an object of its own (`impl`); the embedded cluster, the Kubernetes client and decorators that
 * record, replay or break things all look the same from outside.
 *
 *   - Operations and watches are data. `submit` and `watch` copy what they keep (texts) and pin the
 *     documents (grove_doc_ref); the caller's structs may die at once.
 *   - The caller chooses tokens: never 0, unique among everything that has not ended. Operations and
 *     watches share one number space.
 *   - Nothing is delivered from inside submit, watch or cancel. `process` alone delivers, into the sink
 *     that it is given: first completions in the order in which they became known, and events of one
 *     watch in the cluster's order. There is no order between different watches.
 *   - Each submitted operation gets exactly one completion (GROVE_E_CANCELLED after a cancel that came
 *     in time), except for GROVE_VERB_EVENT with GROVE_OP_NO_REPLY, which gets none.
 *   - The sink may call submit, watch and cancel; never process, control or destroy.
 *   - A sink function that returns a negative status stops `process`, which returns that status at once;
 *     the same item is delivered again by the next call. So a failed allocation loses nothing.
 *   - Documents and texts in completions and events are borrowed for the call; grove_doc_ref keeps.
 *
 * Threads: one thread at a time, no affinity. A backend that uses threads of its own signals through a
 * descriptor that it lists in pollfds.
 */
#ifndef GROVE_SYS_BACKEND_H
#define GROVE_SYS_BACKEND_H

#include <grove/doc.h>
#include <grove/verbs.h>

GROVE_BEGIN_DECLS

/* ---- what is to be done ---- */

#define GROVE_OP_DRY_RUN 0x1u  /**< answer as if, change nothing */
#define GROVE_OP_FORCE 0x2u    /**< GROVE_VERB_APPLY: take fields over from other managers */
#define GROVE_OP_NO_REPLY 0x4u /**< GROVE_VERB_EVENT: no completion is wanted */

#define GROVE_GRACE_DEFAULT (-1) /**< deletion takes the object's own grace period */

/**
 * One operation. Zero-initialise, set size, then what the verb needs; NULL and 0 mean "not set".
 *
 * verb     | needs                                      | object of a successful completion
 * ---------|--------------------------------------------|-------------------------------------------
 * GET      | kind ns name, subresource SCALE allowed    | the object, or its Scale
 * LIST     | kind; ns, selectors, limit, position       | a List of the kind
 * CREATE   | kind ns body                               | the object as stored
 * PATCH    | kind ns name patch_type body; subresource  | the object as stored
 * APPLY    | kind ns name body manager; subresource     | the object as stored
 * REPLACE  | kind ns name body; subresource             | the object as stored
 * DELETE   | kind ns name; uid, grace, propagation      | the object while it terminates, else a Status
 * BIND     | ns name target; uid                        | a Status
 * EVICT    | ns name; uid, grace                        | a Status
 * EVENT    | kind ns name uid of the object it is about;| the Event, or nothing
 *          | body {type, reason, note[, action]}        |
 * SCALE    | kind ns name replicas                      | the Scale
 *
 * uid and resource_version are preconditions wherever they are set: GROVE_E_CONFLICT when the stored
 * object has others. Since 0.1.
 */
typedef struct grove_op {
    uint32_t size; /**< sizeof(grove_op) */
    grove_verb verb;
    uint64_t token; /**< chosen by the caller, not 0 */
    grove_kind kind;
    grove_subresource subresource;
    grove_patch_type patch_type;
    grove_propagation propagation;
    uint32_t flags; /**< GROVE_OP_* */
    uint32_t limit; /**< LIST: items of a page; 0: all */
    const char *ns; /**< namespace; NULL or "" for cluster-scoped kinds, LIST: all namespaces */
    const char *name;
    grove_doc *body_doc;    /**< the document that `body` was reached from */
    const grove_node *body; /**< NULL with a body_doc: its root */
    const char *uid;
    const char *resource_version;
    const char *target;         /**< BIND: the node */
    const char *manager;        /**< field manager; NULL: the backend's own */
    const char *reason;         /**< reason code of the plan action: for logs and recordings */
    const char *label_selector; /**< LIST */
    const char *field_selector; /**< LIST */
    const char *position;       /**< LIST: continue token of the page before */
    int64_t grace_seconds;      /**< DELETE, EVICT: GROVE_GRACE_DEFAULT or >= 0 */
    int64_t replicas;           /**< SCALE */
} grove_op;

/* ---- what came of it ---- */

/** The end of one operation; borrowed during the call. Since 0.1. */
typedef struct grove_completion {
    uint32_t size; /**< sizeof(grove_completion) as the backend knows it */
    grove_status status;
    uint64_t token;
    int32_t http;            /**< HTTP status code; 0: there was no answer */
    uint32_t flags;          /**< GROVE_ERROR_RETRIABLE, GROVE_ERROR_UNCERTAIN */
    uint32_t retry_after_ms; /**< the server's wish; 0: none */
    uint32_t reserved;
    const char *reason;       /**< "" or Kubernetes' word: "Conflict", "AlreadyExists", ... */
    const char *message;      /**< "" on success */
    grove_doc *object_doc;    /**< NULL when there is no object */
    const grove_node *object; /**< what the table above promises; on failure a Status, or NULL */
} grove_completion;

/** What an event says. Since 0.1. */
typedef int32_t grove_event_type;
#define GROVE_EVENT_ADDED 1
#define GROVE_EVENT_MODIFIED 2
#define GROVE_EVENT_DELETED 3  /**< object: the last state, with the deletion's resourceVersion */
#define GROVE_EVENT_BOOKMARK 4 /**< everything up to resource_version was delivered */
#define GROVE_EVENT_SYNCED 5 /**< the first list is complete; once per watch that began with one */
#define GROVE_EVENT_GONE 6   /**< the position is lost: the watch has ended, begin a new one */

struct grove_extract;

/** Something that a watch saw; borrowed during the call. Since 0.1. */
typedef struct grove_event {
    uint32_t size; /**< sizeof(grove_event) as the backend knows it */
    grove_event_type type;
    uint64_t token; /**< the watch's */
    grove_kind kind;
    uint32_t reserved;
    grove_doc *object_doc; /**< NULL for BOOKMARK, SYNCED, GONE */
    const grove_node *object;
    const char *resource_version; /**< resume from here; "" for GONE */
    /** In place of the object where the watch asked for GROVE_WATCH_RECORDS, else NULL; borrowed. */
    const struct grove_extract *record;
} grove_event;

/** Receives what `process` delivers. Since 0.1. */
typedef struct grove_sink {
    uint32_t size; /**< sizeof(grove_sink) */
    uint32_t reserved;
    void *ctx;
    grove_status (*completion)(void *ctx, const grove_completion *completion);
    grove_status (*event)(void *ctx, const grove_event *event);
} grove_sink;

/**
 * Pods and nodes may come as records (grove/sys/extract.h), with no object. A backend that has documents
 * anyway gives those, and decorators take the wish away where they need the object.
 */
#define GROVE_WATCH_RECORDS 0x1u

/**
 * A watch to begin. With resource_version NULL or "" it starts with an ADDED for each object there is,
 * then SYNCED, then changes; with one, the changes after it (no SYNCED), or GONE when that is too far
 * back. It runs until `cancel` or GONE; connections that end are the backend's own business.
 * After GONE, begin again without a version: what is not ADDED before SYNCED does not exist any more.
 * Under a selector ADDED and DELETED mean "matches now" and "matches no longer". Since 0.1.
 */
typedef struct grove_watch {
    uint32_t size; /**< sizeof(grove_watch) */
    grove_kind kind;
    uint64_t token;
    uint32_t flags; /**< GROVE_WATCH_* */
    uint32_t reserved;
    const char *ns; /**< NULL or "": all namespaces */
    const char *label_selector;
    const char *field_selector;
    const char *resource_version;
} grove_watch;

/* ---- the seven slots ---- */

/** A descriptor to wait for. Since 0.1. */
typedef struct grove_pollfd {
    int32_t fd;
    uint32_t events; /**< GROVE_POLL_* */
} grove_pollfd;
#define GROVE_POLL_IN 0x1u
#define GROVE_POLL_OUT 0x2u

/** Orders for the backend as a whole; unknown ones answer GROVE_E_UNSUPPORTED. Since 0.1. */
typedef int32_t grove_control;
#define GROVE_CONTROL_FLUSH \
    1 /**< arg NULL: hand everything held back to the cluster now; the embedded
                                     cluster also sends a BOOKMARK on each watch */
#define GROVE_CONTROL_STATS 2 /**< arg grove_buf *: appends one JSON object of counters */
#define GROVE_CONTROL_PAUSE 3 /**< arg NULL: accept, but send nothing, until RESUME */
#define GROVE_CONTROL_RESUME 4
#define GROVE_CONTROL_SYNC_LOST \
    5 /**< arg NULL: forget all positions, as after an outage: every watch
                                       ends with GONE (tests, and hosts that were suspended) */

/** The functions of a backend; all must be set except pollfds and control. Since 0.1. */
typedef struct grove_backend_ops {
    uint32_t size; /**< sizeof(grove_backend_ops) */
    uint32_t reserved;
    /** Takes an operation. A failure means it was not taken: no completion will come. */
    grove_status (*submit)(void *impl, const grove_op *op, grove_error *err);
    /**
     * Ends an operation or a watch. An operation that is already on its way may still take effect: its
     * completion then says so. A watch delivers nothing more. GROVE_E_NOT_FOUND for unknown tokens.
     */
    grove_status (*cancel)(void *impl, uint64_t token, grove_error *err);
    /** Begins a watch. A failure means that it did not begin. */
    grove_status (*watch)(void *impl, const grove_watch *watch, grove_error *err);
    /**
     * Lists the descriptors to wait for: writes at most `cap`, and the whole number to *out_n. NULL: the
     * backend has none and only needs `process` by its deadline or after a submit.
     */
    grove_status (*pollfds)(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n);
    /**
     * Does what can be done at `now` (nanoseconds since the epoch) and delivers at most `budget` items
     * (0: no bound). *out_deadline is the time by which it wants to be called again: `now` while more
     * waits, INT64_MAX when only a descriptor or a submit can wake it. Negative when the backend itself
     * is broken, or with the sink's own failure.
     */
    grove_status (*process)(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err);
    /** See GROVE_CONTROL_*. */
    grove_status (*control)(void *impl, grove_control what, void *arg, grove_error *err);
    /** Frees impl; outstanding operations are dropped without completions. */
    void (*destroy)(void *impl);
} grove_backend_ops;

#define GROVE_CAP_STATUS 0x1u          /**< status is a subresource */
#define GROVE_CAP_SCALE 0x2u           /**< scale subresource */
#define GROVE_CAP_STRATEGIC 0x4u       /**< strategic merge patch on built-in kinds */
#define GROVE_CAP_APPLY 0x8u           /**< server-side apply */
#define GROVE_CAP_REPLACE 0x10u        /**< GROVE_VERB_REPLACE */
#define GROVE_CAP_EVICT 0x20u          /**< eviction with disruption budgets */
#define GROVE_CAP_DRY_RUN 0x40u        /**< GROVE_OP_DRY_RUN */
#define GROVE_CAP_SELECTORS 0x80u      /**< label and field selectors in LIST and watches */
#define GROVE_CAP_GC 0x100u            /**< collects what deleted owners leave */
#define GROVE_CAP_VIRTUAL_TIME 0x200u  /**< time is what `process` is told */
#define GROVE_CAP_DETERMINISTIC 0x400u /**< same calls, same answers, byte for byte */

/** A backend to hand around: a small value; whoever made it says who calls ops->destroy. Since 0.1. */
typedef struct grove_backend {
    uint32_t size; /**< sizeof(grove_backend) */
    uint32_t caps; /**< GROVE_CAP_* */
    const grove_backend_ops *ops;
    void *impl;
} grove_backend;

/* ---- decorators: backends around backends ---- */

/*
 * Each takes the inner backend over: destroying the decorator destroys the inner one. On failure the
 * inner one still belongs to the caller.
 */

/** Receives a piece of a recording: whole lines, each ending in a newline. */
typedef grove_status (*grove_record_fn)(void *ctx, const char *bytes, size_t len);

/**
 * Writes every call and delivery as one JSON line (format: docs/reference/recording.md). A negative answer
 * of `write` makes the call that was being recorded fail with it. Since 0.1.
 */
GROVE_API grove_status grove_backend_record(grove_env *env, const grove_backend *inner,
                                            grove_record_fn write, void *ctx,
                                            grove_backend *out_backend, grove_error *err);
/**
 * Plays a recording: expects the same calls in the same order and delivers what was delivered then. The
 * first difference makes the call, and all later ones, fail with GROVE_E_CONFLICT and a message that
 * shows both lines. GROVE_CONTROL_STATS tells {"lines", "played"}. Copies the text. Since 0.1.
 */
GROVE_API grove_status grove_backend_replay(grove_env *env, const char *recording, size_t len,
                                            grove_backend *out_backend, grove_error *err);

/** What the fault decorator does, each as a chance in 1/65536 per item. Since 0.1. */
typedef struct grove_fault_options {
    uint32_t size; /**< sizeof(grove_fault_options) */
    uint32_t reserved;
    uint64_t seed;
    uint32_t lose_request;    /**< never reaches the cluster: GROVE_E_UNAVAILABLE, UNCERTAIN */
    uint32_t lose_reply;      /**< takes effect, answered by GROVE_E_UNAVAILABLE, UNCERTAIN */
    uint32_t refuse;          /**< GROVE_E_BUSY (429) with retry_after_ms 1000, no effect */
    uint32_t conflict;        /**< writes with a precondition: GROVE_E_CONFLICT, no effect */
    uint32_t delay;           /**< completion is held back for up to max_delay_ns */
    uint32_t delay_event;     /**< a watch is held back, order kept, for up to max_delay_ns */
    uint32_t duplicate_event; /**< an event is delivered twice in a row */
    uint32_t gone;            /**< a watch ends with GONE instead of the next event */
    int64_t max_delay_ns;
    uint64_t quiet_after; /**< no faults after this many were dealt out; 0: never ends */
} grove_fault_options;

/** Breaks things by a seeded script; the same seed and calls break the same things. Since 0.1. */
GROVE_API grove_status grove_backend_fault(grove_env *env, const grove_backend *inner,
                                           const grove_fault_options *options,
                                           grove_backend *out_backend, grove_error *err);
/**
 * Lets reads and watches through and sets GROVE_OP_DRY_RUN on every write; EVENTs are swallowed. Where
 * the inner backend cannot dry-run, writes are answered GROVE_OK with the body as object. Since 0.1.
 */
GROVE_API grove_status grove_backend_dry_run(grove_env *env, const grove_backend *inner,
                                             grove_backend *out_backend, grove_error *err);

GROVE_END_DECLS
#endif
