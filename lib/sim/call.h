/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operation being carried out: what was asked, what it found, what is answered.
 *
 * Functions return GROVE_OK when they could judge: the verdict is then in call->res, and
 * call->res->status tells whether it was a refusal. They return a negative status only when the cluster
 * itself failed (no memory).
 */
#ifndef GV_SIM_CALL_H
#define GV_SIM_CALL_H

#include "sim/state.h"

typedef struct gv_sim_call {
    grove_sim *sim;
    const grove_op *op;
    const gv_kind_info *info;
    gv_kind kind;
    gv_str ns, name;
    const grove_node *body;
    gv_sim_object *obj; /* NULL: not found, or not asked for */
    grove_sim_result *res;
    bool dry_run;
    bool applies;       /* `managed` says who owns what afterwards */
    grove_doc *managed; /* borrowed; NULL: nobody anything */
    grove_doc *said;    /* borrowed: the object as the client has it; NULL: that does not matter */
    const grove_node *claims; /* managedFields as the client wrote them; NULL: it left them alone */
} gv_sim_call;

static inline bool gv_sim_refused(const gv_sim_call *c) {
    return c->res->status < 0;
}

/* ---- answers: each fills call->res and the Status document ---- */

grove_status gv_sim_answer(gv_sim_call *c, int32_t http, grove_doc *doc); /* takes doc over */
grove_status gv_sim_answer_object(gv_sim_call *c, int32_t http, const gv_sim_object *o);
grove_status gv_sim_answer_success(gv_sim_call *c, int32_t http, gv_str uid);
/* The Status by itself: made before an effect that cannot be had twice, so that no answer is lost with it. */
grove_status gv_sim_success_doc(gv_sim_call *c, int32_t http, gv_str uid, grove_doc **out_doc);

/* Why a request is refused beyond reason and message: Kubernetes' cause. */
typedef struct gv_sim_cause {
    const char *reason, *message, *field;
} gv_sim_cause;

grove_status gv_sim_refuse(gv_sim_call *c, int32_t http, const char *reason,
                           const gv_sim_cause *cause, const char *fmt, ...) GROVE_PRINTF(5, 6);
/* With several causes, one a line: field, TAB, reason, TAB, message. Their text is cut up. */
grove_status gv_sim_refuse_causes(gv_sim_call *c, int32_t http, const char *reason, char *causes,
                                  const char *message);
/* With nothing but the message: `details` is empty. */
grove_status gv_sim_refuse_bare(gv_sim_call *c, int32_t http, const char *reason,
                                const char *message);
grove_status gv_sim_bad_request(gv_sim_call *c, const char *fmt, ...) GROVE_PRINTF(2, 3);
grove_status gv_sim_not_found(gv_sim_call *c);
grove_status gv_sim_conflict(gv_sim_call *c, const char *why);
/* 422 with one cause: field, cause reason ("FieldValueInvalid", ...), text. */
grove_status gv_sim_invalid(gv_sim_call *c, const char *field, const char *cause, const char *text);

/* ---- verbs ---- */

/* Carries `op` out. */
grove_status gv_sim_run(grove_sim *sim, const grove_op *op, grove_sim_result *res);

grove_status gv_sim_list(gv_sim_call *c);
grove_status gv_sim_create(gv_sim_call *c, grove_doc *doc, const grove_node *body);
grove_status gv_sim_patch(gv_sim_call *c);
grove_status gv_sim_replace(gv_sim_call *c);
grove_status gv_sim_apply_op(gv_sim_call *c);
grove_status gv_sim_remove_op(gv_sim_call *c);
grove_status gv_sim_bind_op(gv_sim_call *c);
grove_status gv_sim_evict(gv_sim_call *c);
grove_status gv_sim_event_op(gv_sim_call *c);
grove_status gv_sim_scale_get(gv_sim_call *c);
grove_status gv_sim_scale_set(gv_sim_call *c);   /* GROVE_VERB_SCALE */
grove_status gv_sim_scale_write(gv_sim_call *c); /* PATCH and REPLACE of the subresource */

/*
 * Stores `next` as the new version of call->obj: the main resource, or its status. What a server owns is
 * kept; `next` says what is wanted.
 */
grove_status gv_sim_write(gv_sim_call *c, grove_doc *next_doc, const grove_node *next);
/* 409 unless uid and resourceVersion of the operation are those of call->obj. */
grove_status gv_sim_preconditions(gv_sim_call *c);
/* Applies the patch of the operation to `target`; refuses what cannot be applied. */
grove_status gv_sim_patched(gv_sim_call *c, grove_doc *target_doc, const grove_node *target,
                            bool builtin, grove_doc **out_doc);
/* Marks for deletion, or deletes, as the API server does; answers like a DELETE. */
grove_status gv_sim_delete_object(gv_sim_call *c, int64_t grace, grove_propagation propagation);

/* ---- writes of the cluster's own controllers ---- */

/* Replaces one top-level member (NULL: removes it); nothing is written when it is equal. */
grove_status gv_sim_put_section(grove_sim *sim, gv_sim_object *o, const char *key, grove_doc *doc);
grove_status gv_sim_put_meta(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta);
/* The kubelet's or garbage collector's last word: gone, or only finalizers hold it. */
grove_status gv_sim_finish_delete(grove_sim *sim, gv_sim_object *o);
/* A background delete without a client. */
grove_status gv_sim_delete_quietly(grove_sim *sim, gv_sim_object *o);
bool gv_sim_has_generation(gv_kind kind);

#endif
