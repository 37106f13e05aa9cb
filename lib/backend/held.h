/* SPDX-License-Identifier: Apache-2.0 */
/* A completion or an event that waits: texts copied, the document pinned. */
#ifndef GV_BACKEND_HELD_H
#define GV_BACKEND_HELD_H

#include <stdbool.h>

#include <grove/sys/backend.h>

typedef struct gv_held {
    grove_env *env; /* borrowed */
    int64_t due;
    uint64_t token;
    bool is_event;
    bool busy; /* being told: whoever tells it frees it */
    grove_completion completion;
    grove_event event;
    grove_doc *doc;
    char *text;
    size_t text_len;
} gv_held;

/* GROVE_E_NOMEM. */
grove_status gv_held_completion(grove_env *env, const grove_completion *c, gv_held **out_held);
grove_status gv_held_event(grove_env *env, const grove_event *e, gv_held **out_held);
/* A completion that nobody sent. */
grove_status gv_held_failure(grove_env *env, uint64_t token, grove_status status, int32_t http,
                             uint32_t flags, const char *reason, const char *message,
                             gv_held **out_held);
grove_status gv_held_tell(const gv_held *held, const grove_sink *sink);
void gv_held_free(gv_held *held);

#endif
