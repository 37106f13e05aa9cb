/* SPDX-License-Identifier: Apache-2.0 */
/* The events of one document as a list of items, with aliases resolved and limits kept. */
#include "base/mem.h"
#include "value/yaml_read.h"

#define NONE UINT32_MAX

static uint64_t saturating_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static grove_status fail(const gv_yaml_item *at, grove_status status, grove_error *err,
                         const char *message) {
    return gv_error_at(err, status, at->line, at->column, NULL, "%s", message);
}

/* Adds a finished item to its container's measures, and turns key into value and back. */
static grove_status count_in(gv_yaml_reader *r, const gv_yaml_item *done, grove_error *err) {
    const grove_limits *limits = gv_env_limits(r->env);
    gv_yaml_item top = {0};
    gv_yaml_item *around = r->open == NONE ? &top : &r->items.v[r->open];
    bool is_key = around->kind == GV_YAML_MAP && r->at_key;
    around->nodes = saturating_add(around->nodes, is_key ? 0 : done->nodes);
    around->bytes = saturating_add(around->bytes, done->bytes);
    around->height = around->height > done->height ? around->height : done->height + 1;
    r->at_key = around->kind == GV_YAML_MAP && !is_key;
    if (around->nodes > limits->document_nodes) {
        return fail(done, GROVE_E_LIMIT, err, "the document has too many nodes, aliases expanded");
    }
    if (around->bytes > limits->document_bytes) {
        return fail(done, GROVE_E_LIMIT, err, "the document is too large, aliases expanded");
    }
    const uint32_t deepest = limits->depth < GV_YAML_DEPTH_MAX ? limits->depth : GV_YAML_DEPTH_MAX;
    if (r->depth + done->height > deepest) {
        return fail(done, GROVE_E_LIMIT, err, "the document nests too deeply, aliases expanded");
    }
    return GROVE_OK;
}

/* Begins an item at the event's place and tells its index. */
static grove_status add(gv_yaml_reader *r, const yaml_event_t *event, gv_yaml_item *item,
                        const yaml_char_t *anchor, uint32_t *out_index, grove_error *err) {
    gv_yaml_place_to(&r->place, event->start_mark.index);
    item->line = r->place.line;
    item->column = gv_yaml_place_column(&r->place);
    if ((uint64_t)(r->place.at - r->text) > UINT32_MAX || r->items.n >= NONE - 1) {
        return fail(item, GROVE_E_LIMIT, err, "the text is too large");
    }
    if (item->tag == GV_YAML_TAG_UNKNOWN) {
        return fail(item, GROVE_E_PARSE, err,
                    "the tag is not one of the core set (!!str, !!int, ...)");
    }
    *out_index = (uint32_t)r->items.n;
    if (!gv_vec_push(r->env, &r->items, *item)) {
        return gv_error_nomem(err);
    }
    if (anchor && !gv_map_put(&r->anchors, gv_str_c((const char *)anchor),
                              (void *)((uintptr_t)*out_index + 1))) {
        return gv_error_nomem(err);
    }
    return GROVE_OK;
}

/* libyaml does not tell of the tag "!", which makes a plain scalar a string: `! 1`, `&a ! 1`. */
static bool has_bare_tag(const gv_yaml_place *place) {
    const char *at = place->at;
    if (*at == '&') {
        while (at < place->end && *at != ' ' && *at != '\t' && *at != '\n' && *at != '\r') {
            at++;
        }
        while (at < place->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) {
            at++;
        }
    }
    return at < place->end && *at == '!';
}

static grove_status add_scalar(gv_yaml_reader *r, const yaml_event_t *event, grove_error *err) {
    gv_yaml_item item = {.kind = GV_YAML_SCALAR, .nodes = 1};
    uint32_t index = 0;
    item.tag = gv_yaml_tag_of((const char *)event->data.scalar.tag);
    item.plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    item.text = (gv_str){(const char *)event->data.scalar.value, event->data.scalar.length};
    item.bytes = item.text.n;
    item.text.p = gv_arena_dup(&r->arena, item.text);
    if (!item.text.p) {
        return gv_error_nomem(err);
    }
    grove_status st = add(r, event, &item, event->data.scalar.anchor, &index, err);
    if (st < 0) {
        return st;
    }
    if (r->place.at < r->place.end && (*r->place.at == '!' || *r->place.at == '&')) {
        r->items.v[index].plain &= !has_bare_tag(&r->place);
    }
    r->items.v[index].next = index + 1;
    return count_in(r, &r->items.v[index], err);
}

static grove_status add_alias(gv_yaml_reader *r, const yaml_event_t *event, grove_error *err) {
    gv_yaml_item item = {.kind = GV_YAML_ALIAS};
    uint32_t index = 0;
    grove_status st = add(r, event, &item, NULL, &index, err);
    if (st < 0) {
        return st;
    }
    gv_yaml_item *alias = &r->items.v[index];
    const char *name = (const char *)event->data.alias.anchor;
    uintptr_t found = (uintptr_t)gv_map_get(&r->anchors, gv_str_c(name));
    if (found == 0) {
        return gv_error_at(err, GROVE_E_PARSE, alias->line, alias->column, NULL,
                           "no anchor &%.64s stands before this alias", name);
    }
    const gv_yaml_item *target = &r->items.v[found - 1];
    if (target->next == 0) {
        return gv_error_at(err, GROVE_E_PARSE, alias->line, alias->column, NULL,
                           "the value of anchor &%.64s contains itself", name);
    }
    alias->next = index + 1;
    alias->link = (uint32_t)found - 1;
    alias->nodes = target->nodes;
    alias->bytes = target->bytes;
    alias->height = target->height;
    return count_in(r, alias, err);
}

static grove_status open_container(gv_yaml_reader *r, const yaml_event_t *event, bool map,
                                   grove_error *err) {
    gv_yaml_item item = {.kind = map ? GV_YAML_MAP : GV_YAML_SEQ, .link = r->open, .nodes = 1};
    const yaml_char_t *tag = map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    const yaml_char_t *anchor = map ? event->data.mapping_start.anchor
                                    : event->data.sequence_start.anchor;
    uint32_t index = 0;
    item.tag = gv_yaml_tag_of((const char *)tag);
    item.height = 1;
    grove_status st = add(r, event, &item, anchor, &index, err);
    if (st < 0) {
        return st;
    }
    const grove_limits *limits = gv_env_limits(r->env);
    if (r->depth >= limits->depth || r->depth >= GV_YAML_DEPTH_MAX) {
        return fail(&r->items.v[index], GROVE_E_LIMIT, err, "the document nests too deeply");
    }
    if (r->open != NONE && r->items.v[r->open].kind == GV_YAML_MAP && r->at_key) {
        return fail(&r->items.v[index], GROVE_E_PARSE, err, "a key must be a scalar");
    }
    r->depth++;
    r->open = index;
    r->at_key = map;
    return GROVE_OK;
}

static grove_status close_container(gv_yaml_reader *r, grove_error *err) {
    gv_yaml_item *done = &r->items.v[r->open];
    done->next = (uint32_t)r->items.n;
    r->open = done->link;
    r->depth--;
    r->at_key = false; /* a container is never a key */
    return count_in(r, done, err);
}

static grove_status take(gv_yaml_reader *r, const yaml_event_t *event, grove_error *err) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(r, event, err);
    case YAML_ALIAS_EVENT:
        return add_alias(r, event, err);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(r, event, false, err);
    case YAML_MAPPING_START_EVENT:
        return open_container(r, event, true, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_container(r, err);
    case YAML_DOCUMENT_END_EVENT:
        r->in_document = false;
        return GROVE_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
        break;
    }
    return gv_error(err, GROVE_E_INTERNAL, "libyaml gave an event out of order");
}

grove_status gv_yaml_collect(gv_yaml_reader *r, grove_error *err) {
    grove_status st = GROVE_OK;
    r->items.n = 0;
    r->open = NONE;
    r->depth = 0;
    r->at_key = false;
    gv_arena_reset(&r->arena);
    gv_map_clear(&r->anchors);
    while (st == GROVE_OK && r->in_document) {
        yaml_event_t event;
        st = gv_yaml_scan(r, &event, err);
        if (st == GROVE_OK) {
            st = take(r, &event, err);
            yaml_event_delete(&event);
        }
    }
    return st;
}
