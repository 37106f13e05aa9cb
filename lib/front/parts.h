/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the front share: a request taken apart, and how answers are written. */
#ifndef GV_FRONT_PARTS_H
#define GV_FRONT_PARTS_H

#include <stdbool.h>

#include <grove/kinds.h>

#include "front/front.h"

/* ---- text ---- */

grove_status gv_front_fmt(grove_buf *buf, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- what was asked ---- */

#define GV_FRONT_PARAMS 24

/* The query, decoded. */
typedef struct gv_front_query {
    grove_buf text; /* NUL-terminated keys and values */
    struct {
        size_t key, value; /* offsets into text */
    } params[GV_FRONT_PARAMS];
    uint32_t n;
} gv_front_query;

/* GROVE_E_INVALID: not to be decoded, or too much. */
grove_status gv_front_query_parse(gv_front_query *q, grove_env *env, const char *query);
void gv_front_query_fini(gv_front_query *q);
/* The first value of a key; NULL: not given. */
const char *gv_front_query_get(const gv_front_query *q, const char *key);
bool gv_front_query_true(const gv_front_query *q, const char *key);

#define GV_FRONT_SEGMENTS 8
#define GV_FRONT_TARGET_MAX 8192

/* A path, decoded and cut at its slashes. */
typedef struct gv_front_path {
    char text[GV_FRONT_TARGET_MAX];
    const char *seg[GV_FRONT_SEGMENTS];
    uint32_t n;
} gv_front_path;

/* false: malformed or too long. */
bool gv_front_path_parse(gv_front_path *p, const char *path, size_t len);

/* Where a path of the API leads. */
typedef struct gv_front_route {
    grove_kind kind;
    const char *ns;   /* "" for cluster-scoped kinds and all namespaces */
    const char *name; /* "": the collection */
    const char *sub;  /* "": the object itself */
} gv_front_route;

/* false: no such group, version or resource. */
bool gv_front_route_find(const gv_front_path *p, gv_front_route *out_route);
bool gv_front_is_event_group(const char *group, const char *version);
grove_kind gv_front_kind_at(const char *group, const char *version, const char *plural);

/* In which form an answer is wanted. */
typedef enum gv_front_form {
    GV_FORM_NONE, /* nothing that could be given */
    GV_FORM_JSON,
    GV_FORM_YAML,
    GV_FORM_TABLE,
    GV_FORM_PARTIAL,   /* PartialObjectMetadata, or its list */
    GV_FORM_DISCOVERY, /* APIGroupDiscoveryList v2 */
} gv_front_form;
gv_front_form gv_front_accept(const char *accept);

/* A request on its way through. */
typedef struct gv_front_call {
    gv_front *front;
    grove_env *env;
    grove_sim *sim;
    const gv_front_request *req;
    gv_front_response *res;
    gv_front_path path;
    gv_front_query query;
    gv_front_route route;
    gv_front_form form;
    char manager[128]; /* of whoever does not name one */
} gv_front_call;

/* ---- answers ---- */

grove_status gv_front_text(gv_front_call *c, int32_t http, const char *text);
/* Whole node as JSON (or YAML, as wanted). */
grove_status gv_front_node(gv_front_call *c, int32_t http, const grove_node *node);
/* Finishes the builder into the answer. */
grove_status gv_front_built(gv_front_call *c, int32_t http, grove_builder *b);
/* What a Status says beside its message: nothing, an empty object, the object of the route. */
typedef enum gv_front_details {
    GV_DETAILS_NONE,
    GV_DETAILS_EMPTY,
    GV_DETAILS_OBJECT
} gv_front_details;
/* A Status; reason "" leaves the member out. */
grove_status gv_front_refuse(gv_front_call *c, int32_t http, const char *reason,
                             gv_front_details details, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* 422: an option of the query, such as resourceVersionMatch of ListOptions, with its cause. */
grove_status gv_front_refuse_option(gv_front_call *c, const char *options, const char *field,
                                    const char *cause, const char *why);
grove_status gv_front_not_found(gv_front_call *c); /* text/plain, as for unknown paths */
grove_status gv_front_no_method(gv_front_call *c);
grove_status gv_front_no_subresource(gv_front_call *c);
/* What an operation came to, in the form that is wanted; gives res->doc back. */
grove_status gv_front_result(gv_front_call *c, grove_sim_result *res);

/* ---- forms (shape.c) ---- */

/* What an object or list is turned into. */
typedef struct gv_front_shape {
    grove_env *env;
    grove_kind kind;
    gv_front_form form;
    int64_t now;
    char include[16]; /* includeObject: "", None, Metadata, Object */
} gv_front_shape;
/* Appends it; `columns`: a table with its column definitions, else null in their place. */
grove_status gv_front_shape_put(const gv_front_shape *s, grove_builder *b, const char *key,
                                grove_doc *doc, const grove_node *node, bool columns);

/* ---- parts of the API ---- */

grove_status gv_front_discover(gv_front_call *c, bool *out_done);
grove_status gv_front_openapi(gv_front_call *c);
/* An Event that is written through events.k8s.io, in the core's form; other objects stay. */
grove_status gv_front_core_event(gv_front_call *c, grove_doc **doc);
/* Reviews: who somebody is, and what they may do. */
grove_status gv_front_review(gv_front_call *c, bool *out_done);
/* Whether whoever asks may do anything: the administrator may everything, anybody else nothing. */
bool gv_front_may(const gv_front_call *c);
grove_status gv_front_forbid(gv_front_call *c);
grove_status gv_front_read(gv_front_call *c);
grove_status gv_front_write(gv_front_call *c);
/* Unknown fields as fieldValidation wants them: refused (*out_ok false), warned of, or passed over. */
grove_status gv_front_check_fields(gv_front_call *c, grove_doc *doc, bool *out_ok);
grove_status gv_front_delete(gv_front_call *c);
grove_status gv_front_watch(gv_front_call *c);
/* Whether resourceVersion, resourceVersionMatch and sendInitialEvents go together. */
grove_status gv_front_check_version(gv_front_call *c, bool *out_ok);
/* An operation with what all have in common. */
grove_op gv_front_op(gv_front_call *c, grove_verb verb);
/* A body in protobuf as a document; GROVE_E_UNSUPPORTED for what is not understood. */
grove_status gv_front_protobuf(gv_front_call *c, grove_doc **out_doc);
/* The body as a document; *out_doc stays NULL when it was refused. `patch`: worded as for a patch. */
grove_status gv_front_body(gv_front_call *c, bool yaml, bool patch, grove_doc **out_doc);
/* Reads dryRun into op->flags; *out_ok false: refused. */
grove_status gv_front_dry_run(gv_front_call *c, grove_op *op, bool *out_ok);
grove_status gv_front_execute(gv_front_call *c, const grove_op *op);

/* ---- inside gv_front (watch.c) ---- */

typedef struct gv_front_stream gv_front_stream;

struct gv_front {
    grove_env *env;
    grove_sim *sim;
    grove_backend backend; /* watches only */
    gv_front_stream *streams;
    uint64_t last_token;
};

void gv_front_streams_free(gv_front *front);

#endif
