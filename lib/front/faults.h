/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What shall go wrong, for tests of clients: a script of faults, and what it says about each request.
 *
 * Deciding is separate from doing: this part knows no socket. The same script and the same requests in the
 * same order give the same faults.
 */
#ifndef GV_FRONT_FAULTS_H
#define GV_FRONT_FAULTS_H

#include <stdbool.h>

#include "front/front.h"

/* Bits: several may be found in one script, and fire at one request. */
typedef enum gv_fault_act {
    GV_FAULT_DROP = 0x1,          /* no answer; the connection ends */
    GV_FAULT_ANSWER = 0x2,        /* another answer */
    GV_FAULT_CUT = 0x4,           /* the connection ends after some bytes of the body */
    GV_FAULT_HANG = 0x8,          /* it stays, but nothing comes after some bytes */
    GV_FAULT_SLOW = 0x10,         /* so many bytes a second */
    GV_FAULT_DELAY = 0x20,        /* the answer, or lines of the watch, are held back */
    GV_FAULT_NO_BOOKMARKS = 0x40, /* of a watch */
    GV_FAULT_STALE = 0x80,        /* the answer of a server that is behind */
    GV_FAULT_RESTART = 0x100,     /* the server goes away for a while */
    GV_FAULT_CERTIFICATE = 0x200, /* of a connection: another certificate */
} gv_fault_act;

typedef enum gv_fault_body {
    GV_BODY_STATUS, /* a Status */
    GV_BODY_EVENT,  /* of a watch: 200 and an ERROR event that holds the Status */
    GV_BODY_HTML,   /* as proxies send it */
    GV_BODY_TEXT,
    GV_BODY_EMPTY,
} gv_fault_body;

typedef enum gv_fault_certificate {
    GV_CERT_GOOD,
    GV_CERT_EXPIRED,
    GV_CERT_NOT_YET_VALID,
    GV_CERT_OTHER_HOST,      /* valid, for another name */
    GV_CERT_OTHER_AUTHORITY, /* valid, but nobody trusts who signed it */
    GV_CERT_RENEWED,         /* a new key and certificate of the same authority */
    GV_CERT_COUNT,
} gv_fault_certificate;

/* What goes wrong with one request (or connection). All zero: nothing. */
typedef struct gv_fault_plan {
    uint32_t acts;    /* bits of gv_fault_act; the parameters below belong to them */
    bool carried_out; /* DROP, ANSWER, RESTART: the request takes effect all the same */
    bool reset;       /* DROP, CUT: by RST instead of an orderly end */
    bool forget;      /* RESTART: older positions of watches are gone afterwards */
    bool initial;     /* NO_BOOKMARKS: nor the one that ends the initial events */
    bool resumable;   /* ANSWER, of a list: the Status offers a token for an inconsistent rest */
    gv_fault_body body;
    gv_fault_certificate certificate;
    int32_t code;
    char reason[40];
    uint32_t retry_after_s;                       /* 0: none */
    uint64_t cut_after, hang_after, answer_after; /* bytes of the body */
    bool hang_whole;                              /* HANG: not even headers come */
    uint32_t bytes_per_s;
    uint32_t delay_ms;
    uint32_t
        delay_bound_ms; /* not 0: each batch of lines of a watch is held back by a draw below it */
    uint32_t down_ms;
} gv_fault_plan;

typedef struct gv_faults gv_faults;

/* Reads a script (docs/reference/faults.md), YAML or JSON; err holds the line of what is wrong in it. */
grove_status gv_faults_new(grove_env *env, const char *text, size_t len, gv_faults **out_faults,
                           grove_error *err);
void gv_faults_free(gv_faults *faults);

/* What happens to this request; counts it. NULL faults: nothing. */
void gv_faults_request(gv_faults *faults, const gv_front_request *request, gv_fault_plan *out_plan);
/* What happens to a new connection; counts it. */
void gv_faults_connection(gv_faults *faults, gv_fault_plan *out_plan);
/* A delay, drawn anew for each batch of lines of a watch. */
uint32_t gv_faults_draw(gv_faults *faults, uint32_t at_most_ms);

/* After a request was carried out: keeps the answer where a script asks for stale ones, and puts an older
 * one that differs in its place where the plan says so. */
grove_status gv_faults_stale(gv_faults *faults, grove_env *env, const gv_front_request *request,
                             const gv_fault_plan *plan, gv_front_response *response);
/* Puts the plan's own answer into the response: body, headers, code. */
grove_status gv_faults_answer(grove_env *env, const gv_fault_plan *plan,
                              const gv_front_request *request, gv_front_response *response);
/* The ERROR event of GV_BODY_EVENT, a whole line. */
grove_status gv_faults_event(grove_env *env, const gv_fault_plan *plan, grove_buf *out_line);

/* Whether the script wants certificates that only TLS has. */
bool gv_faults_need_tls(const gv_faults *faults);
/* Calls `say` with each fault's name, how often it matched, how often it fired. */
typedef void (*gv_faults_say_fn)(void *ctx, const char *name, uint64_t matched, uint64_t fired);
void gv_faults_tell(const gv_faults *faults, gv_faults_say_fn say, void *ctx);

#endif
