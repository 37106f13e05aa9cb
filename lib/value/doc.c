/* SPDX-License-Identifier: Apache-2.0 */
/* The life of documents: references, pins, owners. */
#include "base/mem.h"
#include "value/node.h"

grove_doc *grove_doc_ref(grove_doc *doc) {
    if (doc) {
        gv_refs_up(&doc->refs);
    }
    return doc;
}

/* A chain of documents that pin each other may be long: freed by a list, not by recursion. */
void grove_doc_unref(grove_doc *doc) {
    if (!doc || !gv_refs_down(&doc->refs)) {
        return;
    }
    doc->next_dead = NULL;
    for (grove_doc *dead = doc; dead;) {
        grove_doc *d = dead;
        dead = d->next_dead;
        for (uint32_t i = 0; i < d->n_pins; i++) {
            if (gv_refs_down(&d->pins[i]->refs)) {
                d->pins[i]->next_dead = dead;
                dead = d->pins[i];
            }
        }
        grove_env *env = d->env;
        gv_free(env, d, d->size);
        grove_env_unref(env);
    }
}

const grove_node *grove_doc_root(const grove_doc *doc) {
    return doc ? (const grove_node *)(const void *)((const char *)doc + doc->nodes_at) : NULL;
}

grove_env *grove_doc_env(const grove_doc *doc) {
    return doc ? doc->env : NULL;
}

uint64_t grove_doc_bytes(const grove_doc *doc) {
    return doc ? doc->size : 0;
}

static bool holds(const grove_doc *doc, uintptr_t node) {
    return node >= (uintptr_t)doc && node < (uintptr_t)doc + doc->size;
}

grove_doc *gv_doc_owner(grove_doc *doc, const grove_node *node) {
    const uintptr_t at = (uintptr_t)node;
    if (holds(doc, at)) {
        return doc;
    }
    size_t low = 0;
    size_t high = doc->n_pins;
    while (low < high) { /* the last pin that begins at or before the node */
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)doc->pins[middle] <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && holds(doc->pins[low - 1], at) ? doc->pins[low - 1] : NULL;
}
