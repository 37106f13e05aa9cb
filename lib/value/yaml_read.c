/* SPDX-License-Identifier: Apache-2.0 */
/* YAML to document: items become nodes; aliases are followed and merge keys are spread out. */
#include "base/mem.h"
#include "value/yaml_read.h"

/* Item behind an alias; any other item is itself. */
static const gv_yaml_item *follow(const gv_yaml_reader *r, const gv_yaml_item *item) {
    return item->kind == GV_YAML_ALIAS ? &r->items.v[item->link] : item;
}

static bool is_merge_key(const gv_yaml_item *key) {
    return key->kind == GV_YAML_SCALAR && gv_str_is(key->text, "<<") &&
           (key->plain || key->tag == GV_YAML_TAG_MERGE);
}

static void fail(gv_yaml_reader *r, const gv_yaml_item *at, const char *message) {
    gv_build_fail(r->builder, GROVE_E_PARSE, at->line, at->column, "%s", message);
}

static bool resolve(gv_yaml_reader *r, const gv_yaml_item *item, grove_buf *scratch,
                    gv_yaml_value *out) {
    const char *why = "";
    grove_status st = gv_yaml_resolve(item->text, item->tag, item->plain, scratch, out, &why);
    if (st < 0) {
        gv_build_fail(r->builder, st, item->line, item->column, "%s",
                      st == GROVE_E_NOMEM ? "out of memory" : why);
    }
    return st == GROVE_OK;
}

static void emit_scalar(gv_yaml_reader *r, const gv_yaml_item *item, gv_str key) {
    gv_yaml_value v;
    if (!resolve(r, item, &r->value, &v)) {
        return;
    }
    switch (v.type) {
    case GV_YAML_STRING:
        gv_build_string(r->builder, key, v.text);
        break;
    case GV_YAML_NULL:
        gv_build_scalar(r->builder, key, GROVE_NULL_NODE, GV_STR("null"));
        break;
    case GV_YAML_FALSE:
        gv_build_scalar(r->builder, key, GROVE_BOOL, GV_STR("false"));
        break;
    case GV_YAML_TRUE:
        gv_build_scalar(r->builder, key, GROVE_BOOL, GV_STR("true"));
        break;
    case GV_YAML_INT:
    case GV_YAML_FLOAT:
        gv_build_scalar(r->builder, key, GROVE_NUMBER, v.text);
        break;
    case GV_YAML_INFINITY:
    case GV_YAML_MINUS_INFINITY:
    case GV_YAML_NAN:
        fail(r, item, "JSON has no infinity and no NaN; quote the text to make it a string");
        break;
    }
}

/* The string of a key; it stays until the next key. */
static bool resolve_key(gv_yaml_reader *r, const gv_yaml_item *key, gv_str *out) {
    const gv_yaml_item *item = follow(r, key);
    gv_yaml_value v;
    if (item->kind != GV_YAML_SCALAR) {
        fail(r, key, "a key must be a scalar");
        return false;
    }
    if (!resolve(r, item, &r->key, &v)) {
        return false;
    }
    grove_status st = gv_yaml_key(&v, &r->key, out);
    if (st == GROVE_E_TYPE) {
        fail(r, key,
             v.type == GV_YAML_NULL ? "a key may not be null; quote it to make it a string"
                                    : "a key may not be an integer beyond 64 bits; quote it");
    } else if (st < 0) {
        gv_build_fail(r->builder, st, key->line, key->column, "out of memory");
    }
    return st == GROVE_OK;
}

/* Recursion here and below is bounded by the height that collecting allowed. */
static void emit(gv_yaml_reader *r, const gv_yaml_item *item, gv_str key);
static void emit_members(gv_yaml_reader *r, const gv_yaml_item *map);

static void emit_merged_map(gv_yaml_reader *r, const gv_yaml_item *item) {
    const gv_yaml_item *map = follow(r, item);
    if (map->kind == GV_YAML_MAP) {
        emit_members(r, map);
    } else {
        fail(r, item, "a merge key (<<) takes a mapping or a list of mappings");
    }
}

/* The first of a list wins, so its mappings are spread from the last to the first. */
static void emit_merged_list(gv_yaml_reader *r, const gv_yaml_item *list) {
    GV_VEC(uint32_t) elements = {0};
    const gv_yaml_item *items = r->items.v;
    for (const gv_yaml_item *e = list + 1; e < items + list->next; e = items + e->next) {
        if (!gv_vec_push(r->env, &elements, (uint32_t)(e - items))) {
            gv_build_fail(r->builder, GROVE_E_NOMEM, list->line, list->column, "out of memory");
            break;
        }
    }
    for (size_t i = elements.n; i-- > 0 && gv_build_status(r->builder) == GROVE_OK;) {
        emit_merged_map(r, items + elements.v[i]);
    }
    gv_vec_fini(r->env, &elements);
}

/* Members in the order of the text; the builder lets the last of equal keys win, merged ones included. */
static void emit_members(gv_yaml_reader *r, const gv_yaml_item *map) {
    const gv_yaml_item *items = r->items.v, *end = items + map->next;
    for (const gv_yaml_item *key = map + 1; key < end && gv_build_status(r->builder) == GROVE_OK;) {
        const gv_yaml_item *value = items + key->next;
        gv_str text = GV_NO_KEY;
        if (!is_merge_key(key)) {
            if (resolve_key(r, key, &text)) {
                emit(r, value, text);
            }
        } else if (value->kind == GV_YAML_SEQ) {
            emit_merged_list(r, value);
        } else {
            emit_merged_map(r, value);
        }
        key = items + value->next;
    }
}

static void emit(gv_yaml_reader *r, const gv_yaml_item *item, gv_str key) {
    item = follow(r, item);
    gv_build_at(r->builder, item->line, item->column);
    if (item->kind == GV_YAML_SCALAR) {
        emit_scalar(r, item, key);
        return;
    }
    gv_build_open(r->builder, key, item->kind == GV_YAML_MAP ? GROVE_OBJECT : GROVE_ARRAY);
    if (item->kind == GV_YAML_MAP) {
        emit_members(r, item);
    } else {
        const gv_yaml_item *items = r->items.v;
        for (const gv_yaml_item *e = item + 1;
             e < items + item->next && gv_build_status(r->builder) == GROVE_OK;
             e = items + e->next) {
            emit(r, e, GV_NO_KEY);
        }
    }
    const bool ok = gv_build_status(r->builder) == GROVE_OK;
    grove_builder_close(r->builder);
    if (ok && gv_build_status(r->builder) == GROVE_E_PARSE) {
        r->twice = (uint32_t)(item - r->items.v); /* closing found equal keys */
    }
}

/* The builder tells where the value behind the second of two equal keys is; people look for the key. */
static void locate_key(const gv_yaml_reader *r, grove_error *err) {
    const gv_yaml_item *items = r->items.v, *map = items + r->twice, *end = items + map->next;
    for (const gv_yaml_item *key = map + 1; key < end;) {
        const gv_yaml_item *value = items + key->next, *place = follow(r, value);
        if (place->line == err->line && place->column == err->column) {
            err->line = key->line;
            err->column = key->column;
            return;
        }
        key = items + value->next;
    }
}

grove_status gv_yaml_reader_new(grove_env *env, const char *text, size_t len, size_t at,
                                uint32_t line, uint32_t column, uint32_t flags,
                                gv_yaml_reader **out, grove_error *err) {
    gv_yaml_reader *r = gv_zalloc(env, sizeof *r);
    if (!r) {
        return gv_error_nomem(err);
    }
    if (grove_builder_new(env, &r->builder) < 0) {
        gv_free(env, r, sizeof *r);
        return gv_error_nomem(err);
    }
    if (!yaml_parser_initialize(&r->parser)) {
        grove_builder_free(r->builder);
        gv_free(env, r, sizeof *r);
        return gv_error_nomem(err);
    }
    r->env = grove_env_ref(env);
    r->text = text;
    r->flags = flags;
    gv_arena_init(&r->arena, env);
    gv_map_init(&r->anchors, env);
    grove_buf_init(&r->key, env);
    grove_buf_init(&r->value, env);
    r->begin = (gv_yaml_place){text + at, text + len, text + at, 0, line};
    r->begin.line_start -= column - 1; /* the line began earlier in the same text */
    r->place = r->begin;
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text + at, len - at);
    *out = r;
    return GROVE_OK;
}

void gv_yaml_reader_free(gv_yaml_reader *r) {
    if (!r) {
        return;
    }
    grove_env *env = r->env;
    yaml_parser_delete(&r->parser);
    gv_vec_fini(env, &r->items);
    gv_arena_fini(&r->arena);
    gv_map_fini(&r->anchors);
    grove_buf_fini(&r->key);
    grove_buf_fini(&r->value);
    grove_builder_free(r->builder);
    gv_free(env, r, sizeof *r);
    grove_env_unref(env);
}

/* Passes over what an error left of a document, and on to the start of the next one. */
static grove_status find_document(gv_yaml_reader *r, grove_error *err) {
    bool begun = false;
    while (!begun && !r->ended) {
        yaml_event_t event;
        grove_status st = gv_yaml_scan(r, &event, err);
        if (st < 0) {
            return st;
        }
        r->ended = event.type == YAML_STREAM_END_EVENT;
        begun = event.type == YAML_DOCUMENT_START_EVENT;
        yaml_event_delete(&event);
    }
    r->in_document = begun;
    return GROVE_OK;
}

grove_status gv_yaml_reader_next(gv_yaml_reader *r, grove_doc **out_doc, grove_error *err) {
    grove_doc *doc = NULL;
    grove_status st = r->ended ? GROVE_OK : find_document(r, err);
    if (st == GROVE_OK && !r->ended) {
        st = gv_yaml_collect(r, err);
        if (st == GROVE_OK) {
            gv_build_strict(r->builder, (r->flags & GROVE_PARSE_STRICT) != 0);
            r->twice = UINT32_MAX;
            emit(r, r->items.v, GV_NO_KEY);
            st = grove_builder_finish(r->builder, &doc, err);
            if (st < 0 && err && r->twice != UINT32_MAX) {
                locate_key(r, err);
            }
        }
    }
    if (st == GROVE_OK) {
        *out_doc = doc;
    }
    return st;
}
