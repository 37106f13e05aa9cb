/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A merge patch that comes into being only where something differs: objects are opened when their first
 * difference is written, so that no difference means no document and no memory.
 */
#ifndef GV_PLAN_DELTA_H
#define GV_PLAN_DELTA_H

#include "plan/work.h"

#define GV_DELTA_DEPTH 6

typedef struct gv_delta {
    grove_builder *b;
    const char *key[GV_DELTA_DEPTH];
    uint32_t depth;  /* levels entered */
    uint32_t opened; /* of these, opened in the builder; the root counts as one */
    bool urgent;     /* something else than counters differs */
} gv_delta;

void gv_delta_begin(gv_delta *d, grove_builder *b);
/* True when anything was written: the builder then holds the whole patch. */
bool gv_delta_end(gv_delta *d);
void gv_delta_enter(gv_delta *d, const char *key);
void gv_delta_leave(gv_delta *d);
/* Opens what is entered, so that a value may be written; `open` for one that is not urgent. */
void gv_delta_touch(gv_delta *d);
void gv_delta_open(gv_delta *d);

/* Each compares with the member of `live` (may be NULL) and writes only a difference. */
void gv_delta_int(gv_delta *d, const grove_node *live, const char *key, int64_t value);
/* A number that moves with every pod, and is not urgent. */
void gv_delta_count(gv_delta *d, const grove_node *live, const char *key, int64_t value);
void gv_delta_text(gv_delta *d, const grove_node *live, const char *key,
                   gv_str value); /* "": away */
void gv_delta_away(gv_delta *d, const grove_node *live, const char *key);

/* ---- conditions ---- */

typedef struct gv_condition {
    const char *type;
    gv_truth status;
    bool absent; /* it shall not be there */
    const char *reason;
    gv_str message;
    bool generation; /* carries observedGeneration */
    bool restart;    /* its clock starts anew although the status stays */
    bool can_wait;   /* that it comes to be so is not urgent */
} gv_condition;

/* Writes status.conditions whole when one of `want` differs; those of others are carried along. False:
 * out of memory. */
bool gv_delta_conditions(gv_work *w, gv_delta *d, const gv_memo *memo, int64_t generation,
                         const gv_condition *want, uint32_t n);

/* Writes status.lastErrors when it differs from the faults noted for this object. */
void gv_delta_errors(gv_work *w, gv_delta *d, const grove_node *status, gv_kind kind, gv_str name);

/* Events for those of them that do not stand there yet. Call when the builder is free. */
grove_status gv_delta_tell_errors(gv_work *w, const grove_node *status, const gv_object *o);

/* Text in the arena; "" when out of memory (then w->starved, and no plan is given out). */
gv_str gv_text(gv_work *w, const char *fmt, ...) GROVE_PRINTF(2, 3);
gv_str gv_time_text(gv_work *w, int64_t ns);

#endif
