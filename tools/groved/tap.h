/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend around the daemon's backend. Through it the daemon asks for things of its own beside the engine
 * (its certificate, its webhooks), narrows the engine's watches to what this configuration needs, and sees
 * what passes: for metrics, for other writers, for shadow mode.
 */
#ifndef GROVED_TAP_H
#define GROVED_TAP_H

#include <grove/sys/backend.h>

typedef struct tap tap;

/* The end of a request of the daemon's; borrowed. */
typedef void (*tap_done_fn)(void *ctx, const grove_completion *completion);
/* An event of a watch of the daemon's; borrowed. */
typedef void (*tap_event_fn)(void *ctx, const grove_event *event);

/* Told of what the engine does and sees; each may be NULL. */
typedef struct tap_observer {
    void *ctx;
    /* verb and kind of the operation, and how long it took */
    void (*ended)(void *ctx, grove_verb verb, grove_kind kind, const grove_completion *completion,
                  int64_t took_ns);
    void (*event)(void *ctx, const grove_event *event);
} tap_observer;

typedef struct tap_options {
    tap_observer observer;
    const char *selector;                    /* label selector of the kinds marked `ours` */
    unsigned char ours[GROVE_KIND_COUNT];    /* only objects with that selector are watched */
    unsigned char without[GROVE_KIND_COUNT]; /* not watched at all: synced and empty */
} tap_options;

/* Takes `inner` over: out_backend->ops->destroy destroys both, and the tap. */
grove_status tap_new(grove_env *env, const grove_backend *inner, const tap_options *options,
                     tap **out_tap, grove_backend *out_backend, grove_error *err);
/* Submits a request of the daemon's; its token is set here. done may be NULL. */
grove_status tap_ask(tap *t, grove_op *op, tap_done_fn done, void *ctx, grove_error *err);
grove_status tap_watch(tap *t, grove_watch *watch, tap_event_fn event, void *ctx, grove_error *err);
/* 1 when the first list of every watch has come. */
int tap_is_synced(const tap *t);
/* Operations without an answer, those of the daemon included. */
uint32_t tap_in_flight(const tap *t);
/* Watches that run, and how many of them have synced. */
void tap_watches(const tap *t, uint32_t *out_all, uint32_t *out_synced);

#endif
