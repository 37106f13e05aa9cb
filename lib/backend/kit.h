/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How conformance checks talk to a backend: operations that wait for their completion, watches whose
 * events are kept, objects named after the check.
 */
#ifndef GV_BACKEND_KIT_H
#define GV_BACKEND_KIT_H

#include <grove/sys/conformance.h>

#include "backend/held.h"
#include "base/text.h"
#include "base/vec.h"

typedef struct gv_kit {
    grove_env *env;
    grove_backend backend;
    grove_conformance_options options;
    const char *ns;
    int64_t now;
    uint64_t next_token;
    uint32_t check; /* number of the running check: names are made of it */
    bool failed, skipped;
    grove_status broken; /* the kit itself cannot go on */
    char why[400];
    GV_VEC(gv_held *) completions; /* of the running check */
    GV_VEC(gv_held *) events;
    GV_VEC(grove_doc *) docs;
    bool inside;           /* a call other than process is running: nothing may be delivered */
    bool delivered_inside; /* and something was */
    uint32_t refuse_next;  /* so many deliveries are answered with a failure */
    char names[8][64];
    uint32_t n_names;
} gv_kit;

typedef struct gv_check {
    const char *name;
    uint32_t caps; /* what it needs */
    void (*run)(gv_kit *k);
} gv_check;

extern const gv_check gv_checks_objects[], gv_checks_patches[], gv_checks_deletion[],
    gv_checks_pods[], gv_checks_watches[], gv_checks_contract[];

/* ---- verdicts ---- */

/* The check has failed; the first failure is the one that is told. */
void gv_kit_fail(gv_kit *k, const char *text, int line);
void gv_kit_skip(gv_kit *k, const char *why);
#define WANT(k, condition)                          \
    do {                                            \
        if (!(condition)) {                         \
            gv_kit_fail((k), #condition, __LINE__); \
            return;                                 \
        }                                           \
    } while (0)

/* ---- operations ---- */

/* A name of this check: "check-12-a". */
const char *gv_kit_name(gv_kit *k, char letter);
/* A JSON document for the rest of the check; NULL when out of memory. */
grove_doc *gv_kit_doc(gv_kit *k, const char *fmt, ...) GROVE_PRINTF(2, 3);
/* Fills token, size, namespace (unless set) and waits for the completion; NULL: none came. */
const grove_completion *gv_kit_run(gv_kit *k, grove_op *op);
grove_op gv_kit_op(grove_verb verb, grove_kind kind, const char *name);
const grove_completion *gv_kit_create(gv_kit *k, grove_kind kind, grove_doc *body);
const grove_completion *gv_kit_get(gv_kit *k, grove_kind kind, const char *name);
const grove_completion *gv_kit_patch(gv_kit *k, grove_kind kind, const char *name,
                                     grove_patch_type type, grove_doc *body);
const grove_completion *gv_kit_delete(gv_kit *k, grove_kind kind, const char *name);
/* A ConfigMap {"data":{"a":"1"}} with this check's name. */
const grove_completion *gv_kit_config_map(gv_kit *k, char letter);
/* A valid PodClique (roleName r, one container, replicas 2). */
const grove_completion *gv_kit_clique(gv_kit *k, char letter);
/* A Pod that no scheduler serves, with or without a scheduling gate. */
const grove_completion *gv_kit_pod(gv_kit *k, char letter, bool gated);

/* The completion's or event's object at a JSON pointer; "" when absent. */
gv_str gv_kit_text(const grove_completion *c, const char *pointer);
int64_t gv_kit_int(const grove_completion *c, const char *pointer);
bool gv_kit_is(const grove_completion *c, grove_status status, int32_t http);

/* ---- watches ---- */

/* 0 when it did not begin (status in *out_status, NULL: the check fails). */
uint64_t gv_kit_watch(gv_kit *k, grove_kind kind, const char *label_selector, const char *version,
                      grove_status *out_status);
/*
 * The next event of the watch that was not taken yet, waiting for it; BOOKMARKs are passed over. NULL:
 * none came in time.
 */
const grove_event *gv_kit_event(gv_kit *k, uint64_t token);
/* Takes everything up to SYNCED; false when it did not come. */
bool gv_kit_synced(gv_kit *k, uint64_t token);
/* Lets the backend work until it has nothing to do, at most until `patience` has passed. */
void gv_kit_settle(gv_kit *k);
/* Calls process once with this budget. */
grove_status gv_kit_process(gv_kit *k, uint32_t budget);

void gv_kit_clear(gv_kit *k);

#endif
