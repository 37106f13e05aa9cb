/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a cluster file to an engine. */
#include "snapshot.h"

#include "verbs.h"

#include <grove/kinds.h>
#include <stdio.h>
#include <string.h>

static grove_status feed_kind(grove_engine *engine, const grove_watch *watch,
                              const io_objects *objects, int64_t now, grove_error *err) {
    grove_event event = {.size = (uint32_t)sizeof event,
                         .token = watch->token,
                         .kind = watch->kind,
                         .resource_version = ""};
    for (size_t i = 0; i < objects->n; i++) {
        const grove_node *object = objects->v[i].node;
        const char *word = io_member(object, "kind"), *api = io_member(object, "apiVersion");
        const char *group = grove_kind_group(watch->kind);
        size_t n = strlen(group);
        int same_group = n ? strncmp(api, group, n) == 0 && api[n] == '/' : !strchr(api, '/');
        if (strcmp(word, grove_kind_name(watch->kind)) != 0 || !same_group) {
            continue;
        }
        const char *version = grove_node_text(
            grove_node_at_path(object, "/metadata/resourceVersion"));
        event.type = GROVE_EVENT_ADDED;
        event.object_doc = objects->v[i].doc;
        event.object = object;
        event.resource_version = version ? version : "";
        grove_status st = grove_engine_feed(engine, &event, now, err);
        if (st < 0) {
            return st;
        }
    }
    event.type = GROVE_EVENT_SYNCED;
    event.object_doc = NULL;
    event.object = NULL;
    return grove_engine_feed(engine, &event, now, err);
}

/* Operations are looked at and dropped: a file does not change. */
static grove_status think(grove_engine *engine, int64_t now, grove_error *err) {
    const grove_op *op = NULL;
    grove_status st;
    do {
        st = grove_engine_next_op(engine, now, &op, err);
    } while (st == GROVE_OK && op);
    return st;
}

int snapshot_engine(grove_env *env, grove_config *config, const char *binders,
                    const io_objects *objects, int64_t now, grove_engine **out_engine) {
    grove_engine_options options = {.size = (uint32_t)sizeof options,
                                    .flags = GROVE_ENGINE_NO_EVENTS,
                                    .config = config,
                                    .bind_schedulers = binders};
    grove_engine *engine = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = grove_engine_new(env, &options, &engine, &err);
    while (st == GROVE_OK) {
        const grove_watch *watch = NULL;
        st = grove_engine_next_watch(engine, &watch, &err);
        if (st < 0 || !watch) {
            break;
        }
        grove_watch mine = *watch; /* feeding may reuse the engine's own */
        st = feed_kind(engine, &mine, objects, now, &err);
    }
    st = st < 0 ? st : think(engine, now, &err);
    if (st < 0) {
        io_print_error(NULL, &err);
        grove_engine_free(engine);
        return EXIT_USAGE;
    }
    *out_engine = engine;
    return EXIT_OK;
}
