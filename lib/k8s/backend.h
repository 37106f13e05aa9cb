/* SPDX-License-Identifier: Apache-2.0 */
/* The backend itself, and the calls and watches that it holds. */
#ifndef GV_K8S_BACKEND_H
#define GV_K8S_BACKEND_H

#include "access.h"
#include "answer.h"
#include "framer.h"
#include "identity.h"
#include "lease.h"
#include "transport.h"

#define GV_K8S_SECOND INT64_C(1000000000)
#define GV_K8S_MS INT64_C(1000000)
#define GV_K8S_CHAINS 1024
#define GV_K8S_SEEN 256

/* Who goes first when the window is full. */
typedef enum gv_k8s_class {
    GV_K8S_CLASS_LEASE,
    GV_K8S_CLASS_DELETE,
    GV_K8S_CLASS_READ,
    GV_K8S_CLASS_CREATE,
    GV_K8S_CLASS_PATCH,
    GV_K8S_CLASS_STATUS,
    GV_K8S_CLASS_EVENT,
    GV_K8S_CLASSES
} gv_k8s_class;

struct gv_k8s;

/* Who wants a call: those of the election pass the fence, and are not told to the sink. */
typedef enum gv_k8s_owner { GV_K8S_CALLER, GV_K8S_ELECTION } gv_k8s_owner;

/* What an EVENT operation needs besides: both of its requests. */
typedef struct gv_k8s_event {
    uint64_t hash;  /* of what is told about what */
    grove_buf body; /* of the one that creates, without its time */
    grove_buf create_path, count_path;
} gv_k8s_event;

/* One operation on its way. It is in one list at a time: a class's queue, `sent`, or `ended`. */
typedef struct gv_k8s_call {
    struct gv_k8s *k;
    struct gv_k8s_call *next, *prev;
    struct gv_k8s_call *chain_next; /* later writes to the same object */
    struct gv_k8s_call *riders;     /* later ones that go along in this one: told of its outcome */
    uint64_t object;                /* hash of the object written; 0: none */
    uint64_t token;
    gv_k8s_event *event; /* EVENT only */
    grove_verb verb;
    grove_kind kind;
    uint32_t flags; /* of the operation */
    gv_k8s_owner owner;
    gv_k8s_class class;
    const char *method;
    const char *content_type;
    grove_buf path; /* with query */
    grove_buf body;
    bool is_waiting; /* in a queue */
    bool is_write, is_json_patch, has_precondition, is_repeatable, judged, counts;
    uint32_t attempts, refreshed, generation;
    int64_t not_before, sent_at;
    void *handle; /* the transport's while sent */
    /* the answer */
    gv_k8s_end how;
    int32_t http;
    uint32_t retry_after_ms;
    grove_buf reply;
    bool too_large; /* the answer is not kept whole: nothing can be said about it */
    grove_doc *doc;
    gv_k8s_verdict verdict;
} gv_k8s_call;

typedef struct gv_k8s_list {
    gv_k8s_call *first, *last;
} gv_k8s_list;

/* Events told before: counted, not repeated. */
typedef struct gv_k8s_seen {
    uint64_t hash;
    int64_t told_at;
    uint32_t count;
} gv_k8s_seen;

typedef struct gv_k8s_stats {
    uint64_t operations, completions, events, requests, retries, errors, busy, coalesced,
        watches_opened, watches_lost, relists, bytes;
} gv_k8s_stats;

typedef struct gv_k8s {
    grove_env *env;
    gv_k8s_access access;
    gv_k8s_identity identity;
    gv_k8s_transport transport;
    gv_k8s_pool texts;
    const char *user_agent, *manager;
    uint32_t flags, max_in_flight, request_timeout_ms, page_size;
    uint64_t random;
    int64_t now;          /* of the last process */
    int64_t transport_at; /* when the transport wants to work, whatever comes */
    bool paused;
    /* calls */
    gv_k8s_list queues[GV_K8S_CLASSES];
    gv_k8s_list sent, ended;
    gv_k8s_call *chains[GV_K8S_CHAINS]; /* first open write of each object, by hash */
    uint32_t in_flight, window, successes;
    uint32_t again;    /* calls in queues that were sent before: they may have to wait */
    int64_t fastest;   /* shortest round trip seen */
    uint64_t activity; /* grows with everything that happens */
    gv_k8s_seen seen[GV_K8S_SEEN];
    uint64_t warnings[64]; /* hashes of what was told already */
    /* watches */
    struct gv_k8s_watch *watches;
    bool no_watchlist[GROVE_KIND_COUNT];
    bool no_pages[GROVE_KIND_COUNT]; /* a page's token expired: the next list comes in one piece */
    int64_t lost_at[GROVE_KIND_COUNT]; /* when a watch of the kind ended last with GONE */
    bool bookmarks_seen;
    uint32_t silences; /* streams given up because nothing came */
    gv_k8s_stats stats;
    struct gv_k8s_elect *elect; /* NULL: no election */
} gv_k8s;

/* ---- resource.c: where things are ---- */

/* Appends "/apis/grove.io/v1alpha1/namespaces/NS/podcliques[/NAME[/SUB]]". GROVE_E_INVALID: bad names. */
grove_status gv_k8s_put_path(grove_buf *out, grove_kind kind, const char *ns, const char *name,
                             const char *sub);
/* Appends "?key=value" or "&key=value"; nothing when value is empty. */
grove_status gv_k8s_put_query(grove_buf *out, const char *key, const char *value);
/* "grove.io/v1alpha1" */
const char *gv_k8s_api_version(grove_kind kind, char out[96]);

/* ---- compile.c: operations to requests ---- */

grove_status gv_k8s_compile(gv_k8s *k, const grove_op *op, gv_k8s_call *call, grove_error *err);

/* ---- event.c ---- */

grove_status gv_k8s_compile_event(gv_k8s *k, const grove_op *op, gv_k8s_call *call,
                                  grove_error *err);
/* Decides between creating and counting; *out_send is false when nothing has to be sent now. */
grove_status gv_k8s_event_prepare(gv_k8s *k, gv_k8s_call *call, bool *out_send);
/* Takes note of the answer; true when the call is to be sent again in the other form. */
bool gv_k8s_event_answered(gv_k8s *k, gv_k8s_call *call);
void gv_k8s_event_free(gv_k8s *k, gv_k8s_event *event);

/* ---- coalesce.c ---- */

/*
 * A status write goes along in the one of the same object that waits, if the two can be one: then *out_done,
 * and it belongs to that one. waiting: the object's last open write, NULL: none. GROVE_E_NOMEM.
 */
grove_status gv_k8s_coalesce(gv_k8s *k, gv_k8s_call *waiting, gv_k8s_call *later, bool *out_done);

/* ---- calls.c ---- */

grove_status gv_k8s_submit(gv_k8s *k, const grove_op *op, gv_k8s_owner owner, grove_error *err);
/* GROVE_E_NOT_FOUND: no such operation. */
grove_status gv_k8s_cancel_call(gv_k8s *k, uint64_t token);
/* Sends what may go. */
grove_status gv_k8s_send_calls(gv_k8s *k, gv_k8s_readiness ready);
/* Decides what the answers that came mean, and which requests are sent again. */
grove_status gv_k8s_judge_calls(gv_k8s *k);
grove_status gv_k8s_tell_calls(gv_k8s *k, const grove_sink *sink, uint32_t *budget);
int64_t gv_k8s_calls_deadline(const gv_k8s *k);
void gv_k8s_drop_calls(gv_k8s *k);
/* True when a write waits or is on its way. */
bool gv_k8s_has_writes(const gv_k8s *k);
/* Answers every write of the caller that waits, unsent. */
void gv_k8s_refuse_writes(gv_k8s *k, const char *why);
/* Cuts off what is on its way in the lane of requests: writes end uncertain, reads are sent again. */
grove_status gv_k8s_cut_calls(gv_k8s *k, const char *why);

/* ---- elect.c: the election of the process that may write ---- */

/* Sends what the election needs, and keeps the fence. */
grove_status gv_k8s_elect_step(gv_k8s *k);
/* How a request of the election ended. GROVE_E_NOMEM: to be called again. */
grove_status gv_k8s_elect_answered(gv_k8s *k, const gv_k8s_call *call);
/* True when a write may leave now. */
bool gv_k8s_may_write(const gv_k8s *k);
uint32_t gv_k8s_elect_timeout_ms(const gv_k8s *k);
int64_t gv_k8s_elect_deadline(const gv_k8s *k);
void gv_k8s_elect_free(gv_k8s *k);

/* Starts a request with the headers that all share. */
grove_status gv_k8s_start(gv_k8s *k, gv_k8s_request *r, const char *path, const char *content_type,
                          void **out_handle);
/* Header work that all answers share: warnings are logged once. Returns Retry-After in ms, or 0. */
uint32_t gv_k8s_note_header(gv_k8s *k, int32_t http, const char *name, const char *value);
#define GV_K8S_REPLY_LIMIT (UINT64_C(64) << 20)  /* of a success: as large as a document may be */
#define GV_K8S_FAILURE_LIMIT (UINT64_C(1) << 20) /* of a failure: what comes after says no more */
/* Keeps a piece of a body, whatever a server, a proxy or a compressed body makes of it. GROVE_E_LIMIT. */
grove_status gv_k8s_keep(grove_buf *body, int32_t http, const char *bytes, size_t n);
uint64_t gv_k8s_hash(uint64_t start, const char *text);
/* Uniform in [low, high). */
int64_t gv_k8s_random_between(gv_k8s *k, int64_t low, int64_t high);
void gv_k8s_log(const gv_k8s *k, grove_log_level level, const char *message, const char *key,
                const char *value);

/* ---- watch.c ---- */

grove_status gv_k8s_watch_begin(gv_k8s *k, const grove_watch *watch, grove_error *err);
grove_status gv_k8s_watch_cancel(gv_k8s *k, uint64_t token);
bool gv_k8s_watch_open(const gv_k8s *k, uint64_t token);
/* Streams that only wait go on over new connections. */
void gv_k8s_watches_reopen(gv_k8s *k);
grove_status gv_k8s_watches_step(gv_k8s *k, gv_k8s_readiness ready);
grove_status gv_k8s_tell_watches(gv_k8s *k, const grove_sink *sink, uint32_t *budget);
int64_t gv_k8s_watches_deadline(const gv_k8s *k);
void gv_k8s_watches_lose(gv_k8s *k);
void gv_k8s_drop_watches(gv_k8s *k);

/* ---- backend.c ---- */

/* The backend's own object; NULL when it is another kind of backend. */
gv_k8s *gv_k8s_of(const grove_backend *backend);

/* Over any transport, which it takes over: what tests begin with. Takes access over, too. */
grove_status gv_k8s_new(grove_env *env, const grove_k8s_options *options, gv_k8s_access *access,
                        const gv_k8s_transport *transport, grove_backend *out_backend,
                        grove_error *err);

#endif
