/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as small numbers: labels and taints are compared as integers ever after. */
#include "sched/state.h"

#include <string.h>

bool gv_sched_text(grove_sched *s, const char *text, uint32_t *out_id) {
    gv_str key = gv_str_c(text);
    uintptr_t known = (uintptr_t)gv_map_get(&s->text_ids, key);
    if (known) {
        *out_id = (uint32_t)known - 1;
        return true;
    }
    char *copy = gv_sched_dup(s, key.p);
    if (!copy) {
        return false;
    }
    if (!gv_vec_push(s->env, &s->texts, copy)) {
        gv_sched_dup_free(s, copy);
        return false;
    }
    if (!gv_map_put(&s->text_ids, key, (void *)(uintptr_t)s->texts.n)) {
        s->texts.n--;
        gv_sched_dup_free(s, copy);
        return false;
    }
    *out_id = (uint32_t)s->texts.n - 1;
    return true;
}

uint32_t gv_sched_text_find(const grove_sched *s, const char *text) {
    uintptr_t known = (uintptr_t)gv_map_get(&s->text_ids, gv_str_c(text));
    return known ? (uint32_t)known - 1 : GV_NONE;
}

char *gv_sched_dup(grove_sched *s, const char *text) {
    size_t n = strlen(text) + 1;
    char *copy = gv_alloc(s->env, n);
    if (copy) {
        memcpy(copy, text, n);
    }
    return copy;
}

void gv_sched_dup_free(grove_sched *s, char *text) {
    if (text) {
        gv_free(s->env, text, strlen(text) + 1);
    }
}
