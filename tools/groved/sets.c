/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon notes for itself of the objects that pass: the sets there are, and other writers. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROTECTION "grove.io/disable-managed-resource-protection"
#define OWN_MANAGER "groved"
#define RECENT_SECONDS 60 /* a write this old is somebody's who may still be there */
#define COMPLAIN_NS (60 * LIVE_SECOND)

typedef struct noted {
    char *ns, *name;
    int unprotected;
} noted;

struct sets {
    noted *v;
    uint32_t n, cap;
    char rival[300];
    int64_t complained_at;
};

struct sets *sets_new(void) {
    return calloc(1, sizeof(struct sets));
}

static void free_at(struct sets *s, uint32_t i) {
    free(s->v[i].ns);
    free(s->v[i].name);
    s->v[i] = s->v[--s->n];
}

void sets_free(struct sets *s) {
    if (s) {
        while (s->n) {
            free_at(s, s->n - 1);
        }
        free(s->v);
        free(s);
    }
}

static noted *find(const struct sets *s, const char *ns, size_t ns_len, const char *name,
                   size_t name_len) {
    for (uint32_t i = 0; i < s->n; i++) {
        noted *at = &s->v[i];
        if (strlen(at->name) == name_len && memcmp(at->name, name, name_len) == 0 &&
            strlen(at->ns) == ns_len && memcmp(at->ns, ns, ns_len) == 0) {
            return at;
        }
    }
    return NULL;
}

int sets_find(const struct sets *s, const char *ns, size_t ns_len, const char *name,
              size_t name_len, int *out_unprotected) {
    const noted *at = find(s, ns, ns_len, name, name_len);
    if (at) {
        *out_unprotected = at->unprotected;
    }
    return at != NULL;
}

void sets_each(const struct sets *s, void (*fn)(void *ctx, const char *ns, const char *name),
               void *ctx) {
    for (uint32_t i = 0; i < s->n; i++) {
        fn(ctx, s->v[i].ns, s->v[i].name);
    }
}

static void add(struct sets *s, const char *ns, const char *name, int unprotected) {
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 16;
        noted *grown = realloc(s->v, cap * sizeof *grown);
        if (!grown) {
            return;
        }
        s->v = grown;
        s->cap = cap;
    }
    noted fresh = {strdup(ns), strdup(name), unprotected};
    if (!fresh.ns || !fresh.name) {
        free(fresh.ns);
        free(fresh.name);
        return;
    }
    s->v[s->n++] = fresh;
}

static void note_set(struct sets *s, const grove_event *event, const grove_node *metadata) {
    const char *ns = grove_node_text(grove_node_get(metadata, "namespace"));
    const char *name = grove_node_text(grove_node_get(metadata, "name"));
    const char *off = grove_node_text(
        grove_node_get(grove_node_get(metadata, "annotations"), PROTECTION));
    if (!ns || !name) {
        return;
    }
    noted *at = find(s, ns, strlen(ns), name, strlen(name));
    int unprotected = off && strcmp(off, "true") == 0;
    if (event->type == GROVE_EVENT_DELETED) {
        if (at) {
            free_at(s, (uint32_t)(at - s->v));
        }
    } else if (at) {
        at->unprotected = unprotected;
    } else {
        add(s, ns, name, unprotected);
    }
}

/* ---- other writers ---- */

static int64_t time_of(const char *text) {
    struct tm tm = {0};
    if (!text || sscanf(text, "%d-%d-%dT%d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
                        &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6) {
        return 0;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (int64_t)timegm(&tm);
}

/* Only an operator writes the status of these; people do with kubectl. */
static const char *foreign_writer(const grove_node *metadata, int64_t since_s) {
    const grove_node *list = grove_node_get(metadata, "managedFields"), *f;
    for (f = grove_node_first(list); f; f = grove_node_next(list, f)) {
        const char *manager = grove_node_text(grove_node_get(f, "manager"));
        const char *part = grove_node_text(grove_node_get(f, "subresource"));
        if (manager && part && strcmp(part, "status") == 0 && strcmp(manager, OWN_MANAGER) != 0 &&
            strncmp(manager, "kubectl", 7) != 0 &&
            time_of(grove_node_text(grove_node_get(f, "time"))) >= since_s) {
            return manager;
        }
    }
    return NULL;
}

static void look_for_rival(live *d, const grove_node *metadata) {
    struct sets *s = d->sets;
    int64_t now = live_now(d);
    int64_t since = d->phase == LIVE_LEADING ? d->leads_since / LIVE_SECOND + 1
                                             : (int64_t)time(NULL) - RECENT_SECONDS;
    const char *manager = foreign_writer(metadata, since);
    if (!manager) {
        return;
    }
    (void)snprintf(s->rival, sizeof s->rival, "%s wrote the status of %s/%s", manager,
                   grove_node_text(grove_node_get(metadata, "namespace")),
                   grove_node_text(grove_node_get(metadata, "name")));
    if (d->phase == LIVE_LEADING) {
        d->metrics.foreign_writes++;
        if (now >= s->complained_at) {
            s->complained_at = now + COMPLAIN_NS;
            log_write(&d->log, GROVE_LOG_ERROR, "another operator writes to managed objects", "who",
                      s->rival, LOG_END);
        }
    }
}

const char *sets_rival(const struct sets *s) {
    return s->rival;
}

void sets_event(live *d, const grove_event *event) {
    if (event->type > GROVE_EVENT_DELETED || !event->object_doc) {
        return;
    }
    const grove_node *object = event->object ? event->object : grove_doc_root(event->object_doc);
    const grove_node *metadata = grove_node_get(object, "metadata");
    if (event->kind == GROVE_KIND_PODCLIQUESET) {
        note_set(d->sets, event, metadata);
    }
    if (event->kind == GROVE_KIND_PODCLIQUE || event->kind == GROVE_KIND_PODCLIQUESCALINGGROUP) {
        look_for_rival(d, metadata);
    }
}
