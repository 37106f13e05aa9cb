/* SPDX-License-Identifier: Apache-2.0 */
/* grove_explain: a snapshot is shown to an engine as if it were watching; what it would do is not done. */
#include <grove/engine.h>
#include <grove/kinds.h>
#include <string.h>

#include "answer/answer.h"
#include "base/mem.h"

#define BINDERS "default-scheduler,kai-scheduler,grove-scheduler,lpx-scheduler,volcano"

typedef struct showing {
    grove_engine *engine;
    grove_doc *doc;
    grove_watch watch;
    int64_t now;
    grove_error *err;
} showing;

static bool is_of(grove_kind kind, const grove_node *object) {
    gv_str word = gv_node_get_str(object, "kind"), api = gv_node_get_str(object, "apiVersion");
    const char *group = grove_kind_group(kind);
    size_t n = strlen(group);
    return strcmp(word.p, grove_kind_name(kind)) == 0 &&
           (n ? strncmp(api.p, group, n) == 0 && api.p[n] == '/' : !strchr(api.p, '/'));
}

static grove_status show(void *ctx, const grove_node *object) {
    showing *s = ctx;
    const char *version = grove_node_text(grove_node_at_path(object, "/metadata/resourceVersion"));
    grove_event event = {.size = (uint32_t)sizeof event,
                         .type = GROVE_EVENT_ADDED,
                         .token = s->watch.token,
                         .kind = s->watch.kind,
                         .resource_version = version ? version : "",
                         .object_doc = s->doc,
                         .object = object};
    return is_of(s->watch.kind, object) ? grove_engine_feed(s->engine, &event, s->now, s->err)
                                        : GROVE_OK;
}

static grove_status show_all(showing *s) {
    for (;;) {
        const grove_watch *watch = NULL;
        grove_status st = grove_engine_next_watch(s->engine, &watch, s->err);
        if (st < 0 || !watch) {
            return st;
        }
        s->watch = *watch; /* feeding may reuse the engine's own */
        grove_event end = {.size = (uint32_t)sizeof end,
                           .type = GROVE_EVENT_SYNCED,
                           .token = s->watch.token,
                           .kind = s->watch.kind,
                           .resource_version = ""};
        st = gv_answer_objects(grove_doc_root(s->doc), show, s);
        st = st < 0 ? st : grove_engine_feed(s->engine, &end, s->now, s->err);
        if (st < 0) {
            return st;
        }
    }
}

/* Operations are looked at and dropped: a snapshot does not change. */
static grove_status think(showing *s) {
    const grove_op *op = NULL;
    grove_status st;
    do {
        st = grove_engine_next_op(s->engine, s->now, &op, s->err);
    } while (st == GROVE_OK && op);
    return st;
}

grove_status grove_explain(grove_env *env, grove_doc *snapshot, grove_config *config,
                           grove_kind kind, const char *ns, const char *name, int64_t now_ns,
                           grove_doc **out_answer, grove_error *err) {
    grove_engine_options options = {.size = (uint32_t)sizeof options,
                                    .flags = GROVE_ENGINE_NO_EVENTS,
                                    .config = config,
                                    .bind_schedulers = BINDERS};
    showing s = {.doc = snapshot, .now = now_ns, .err = err};
    grove_buf text;
    if (!env || !snapshot || !name || !out_answer) {
        return gv_error(err, GROVE_E_INVALID,
                        "environment, snapshot, name and answer are required");
    }
    grove_buf_init(&text, env);
    grove_status st = grove_engine_new(env, &options, &s.engine, err);
    st = st < 0 ? st : show_all(&s);
    st = st < 0 ? st : think(&s);
    st = st < 0 ? st
                : grove_engine_explain(s.engine, kind, ns ? ns : "default", name, now_ns, 1, &text,
                                       err);
    if (st == GROVE_OK) {
        st = grove_doc_parse_json(env, text.data, (size_t)text.len, 0, out_answer, err);
    }
    grove_engine_free(s.engine);
    grove_buf_fini(&text);
    return st;
}
