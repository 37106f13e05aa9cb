/* SPDX-License-Identifier: Apache-2.0 */
/* A script of faults in memory: shared by who reads it and who asks it. */
#ifndef GV_FRONT_FAULTS_SCRIPT_H
#define GV_FRONT_FAULTS_SCRIPT_H

#include "front/faults.h"

/* What a request does, as a bit. */
typedef enum gv_fault_verb {
    GV_VERB_GET = 0x1,
    GV_VERB_LIST = 0x2,
    GV_VERB_WATCH = 0x4,
    GV_VERB_CREATE = 0x8,
    GV_VERB_UPDATE = 0x10,
    GV_VERB_PATCH = 0x20,
    GV_VERB_DELETE = 0x40,
    GV_VERB_DELETECOLLECTION = 0x80,
    GV_VERB_CONNECT = 0x100, /* a new connection */
} gv_fault_verb;
#define GV_VERB_ANY 0xffu /* all but connect */

#define GV_FAULT_NTH_MAX 16

/* One fault of the script: at which requests, and what then. */
typedef struct gv_fault {
    char name[64];
    char path[256]; /* pattern; "": any */
    uint32_t verbs;
    uint64_t nth[GV_FAULT_NTH_MAX]; /* of those that match, from 1; none: each */
    uint32_t n_nth;
    uint64_t from, every;            /* 0: unused */
    uint64_t chance_of, chance_from; /* probability chance_of/chance_from; 0/0: certain */
    uint64_t times;                  /* fires at most so often; 0: no bound */
    gv_fault_act act;
    gv_fault_plan plan; /* what it adds to the plan */
    bool delay_drawn;   /* plan.delay_ms is the bound of what is drawn */
    uint64_t matched, fired;
} gv_fault;

/* An answer that was given before. */
typedef struct gv_fault_memory {
    char *target;
    const char *content_type;
    int32_t http;
    grove_buf body, older; /* older: differs from body; empty: there was none */
    struct gv_fault_memory *next;
} gv_fault_memory;

struct gv_faults {
    uint64_t random;
    uint64_t limit, fired; /* limit 0: none */
    gv_fault *list;
    uint32_t n;
    gv_fault_memory *memory;
};

/* Fills *out_fault from an object of the script; message says what is wrong. */
grove_status gv_fault_read(const grove_doc *doc, const grove_node *node, gv_fault *out_fault,
                           grove_error *err);
/* An error at a node: "line 4: ..." */
grove_status gv_fault_wrong(const grove_doc *doc, const grove_node *at, grove_error *err,
                            const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
