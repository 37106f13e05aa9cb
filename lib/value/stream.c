/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of many documents, YAML or JSON, one document at a time; and the one YAML document.
 *
 * A text whose first byte is '{' or '[' is read as JSON values one behind the other. Where that fails,
 * it may still be YAML in flow style, or JSON between '---' lines: the YAML reader takes over there.
 */
#include "base/mem.h"
#include "base/text.h"
#include "value/json_at.h"
#ifdef GV_HAVE_YAML
#include "value/yaml_read.h"
#endif

typedef struct place {
    size_t at;
    uint32_t line;
    size_t line_start;
} place;

struct grove_stream {
    grove_env *env; /* referenced */
    gv_str text;
    uint32_t flags;
    uint32_t count; /* documents met so far, empty ones included */
    place here;     /* JSON: behind the last value; blanks that follow may be YAML's indentation */
#ifdef GV_HAVE_YAML
    gv_yaml_reader *yaml; /* NULL while reading JSON */
#endif
};

/* A byte order mark at the start is no part of the text. */
static size_t bom_length(gv_str text) {
    const gv_str bom = GV_STR("\xef\xbb\xbf");
    return gv_str_starts(text, bom) ? bom.n : 0;
}

static bool arguments_ok(const grove_env *env, const char *text, size_t len, uint32_t flags,
                         const void *out) {
    return env && out && (text || len == 0) &&
           !(flags & ~(GROVE_PARSE_STRICT | GROVE_PARSE_NUMBERS_AS_FLOAT64));
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The place at byte `to`, which is not before `from`. */
static place moved(const grove_stream *s, place from, size_t to) {
    for (; from.at < to; from.at++) {
        if (s->text.p[from.at] == '\n') {
            from.line++;
            from.line_start = from.at + 1;
        }
    }
    return from;
}

static uint32_t column(place p) {
    return (uint32_t)(p.at - p.line_start) + 1;
}

/* Where the next value begins. */
static place skip_space(const grove_stream *s) {
    size_t to = s->here.at;
    while (to < s->text.n && is_space(s->text.p[to])) {
        to++;
    }
    return moved(s, s->here, to);
}

/* The end of the bracketed value that begins here, strings passed over; the end of the text if it is open. */
static size_t find_end(const grove_stream *s, size_t begin) {
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = begin; i < s->text.n; i++) {
        char c = s->text.p[i];
        if (in_string) {
            i += c == '\\' ? 1 : 0;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return s->text.n;
}

#ifdef GV_HAVE_YAML
static bool is_behind(const grove_error *a, const grove_error *b) {
    return a->line > b->line || (a->line == b->line && a->column > b->column);
}

/* Hands the rest of the text to the YAML reader. */
static grove_status turn_to_yaml(grove_stream *s, grove_error *err) {
    return gv_yaml_reader_new(s->env, s->text.p, s->text.n, s->here.at, s->here.line,
                              column(s->here), s->flags, &s->yaml, err);
}

/* JSON did not understand the text here: YAML may. Of two refusals the one that got further is told. */
static grove_status retry_as_yaml(grove_stream *s, grove_status json_status,
                                  const grove_error *json_error, grove_doc **out_doc,
                                  grove_error *err) {
    grove_error yaml_error = GROVE_ERROR_INIT;
    grove_status st = turn_to_yaml(s, err);
    if (st < 0) {
        return st;
    }
    st = gv_yaml_reader_next(s->yaml, out_doc, &yaml_error);
    if (st == GROVE_OK || st == GROVE_E_NOMEM) {
        return st < 0 ? gv_error_nomem(err) : st;
    }
    const bool yaml_further = is_behind(&yaml_error, json_error);
    const grove_error *told = yaml_further ? &yaml_error : json_error;
    st = yaml_further ? st : json_status;
    return gv_error_at(err, st, told->line, told->column, told->path, "%s", told->message);
}
#else
static grove_status turn_to_yaml(grove_stream *s, grove_error *err) {
    s->here = moved(s, s->here, s->text.n);
    return gv_error(err, GROVE_E_UNSUPPORTED, "built without YAML");
}

static grove_status retry_as_yaml(grove_stream *s, grove_status json_status,
                                  const grove_error *json_error, grove_doc **out_doc,
                                  grove_error *err) {
    (void)s;
    (void)out_doc;
    return gv_error_at(err, json_status, json_error->line, json_error->column, json_error->path,
                       "%s", json_error->message);
}
#endif

static grove_status next_json(grove_stream *s, place begin, grove_doc **out_doc, grove_error *err) {
    grove_error json_error = GROVE_ERROR_INIT;
    const size_t end = find_end(s, begin.at);
    grove_doc *doc = NULL;
    grove_status st = gv_json_parse_at(s->env, s->text.p + begin.at, end - begin.at, s->flags,
                                       begin.line, column(begin), &doc, &json_error);
    if (st == GROVE_OK) {
        s->here = moved(s, begin, end);
        *out_doc = doc;
        return GROVE_OK;
    }
    if (st == GROVE_E_PARSE) {
        st = retry_as_yaml(s, st, &json_error, out_doc, err);
    } else {
        st = gv_error_at(err, st, json_error.line, json_error.column, json_error.path, "%s",
                         json_error.message);
    }
    if (st < 0) {
        s->here = moved(s, begin, end);
    }
    return st;
}

/* Next document of any kind; NULL at the end. */
static grove_status next_any(grove_stream *s, grove_doc **out_doc, grove_error *err) {
    *out_doc = NULL;
#ifdef GV_HAVE_YAML
    if (s->yaml) {
        return gv_yaml_reader_next(s->yaml, out_doc, err);
    }
#endif
    const place begin = skip_space(s);
    if (begin.at == s->text.n) {
        return GROVE_OK;
    }
    if (s->text.p[begin.at] == '{' || s->text.p[begin.at] == '[') {
        return next_json(s, begin, out_doc, err);
    }
    grove_status st = turn_to_yaml(s, err);
    return st < 0 ? st : next_any(s, out_doc, err);
}

grove_status grove_stream_new(grove_env *env, const char *text, size_t len, uint32_t flags,
                              grove_stream **out_stream, grove_error *err) {
    if (!arguments_ok(env, text, len, flags, out_stream)) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_stream_new is invalid");
    }
    grove_stream *s = gv_zalloc(env, sizeof *s);
    if (!s) {
        return gv_error_nomem(err);
    }
    s->env = grove_env_ref(env);
    s->text = (gv_str){len ? text : "", len};
    s->flags = flags;
    s->here.line = 1;
    s->here.at = s->here.line_start = bom_length(s->text);
    *out_stream = s;
    return GROVE_OK;
}

grove_status grove_stream_next(grove_stream *stream, grove_doc **out_doc, grove_error *err) {
    if (!stream || !out_doc) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_stream_next is invalid");
    }
    for (;;) {
        grove_doc *doc = NULL;
        grove_status st = next_any(stream, &doc, err);
        stream->count += st < 0 || doc ? 1 : 0;
        if (st < 0) {
            return st;
        }
        if (!doc || grove_node_type(grove_doc_root(doc)) != GROVE_NULL_NODE) {
            *out_doc = doc;
            return GROVE_OK;
        }
        grove_doc_unref(doc);
    }
}

uint32_t grove_stream_index(const grove_stream *stream) {
    return stream && stream->count > 0 ? stream->count - 1 : 0;
}

void grove_stream_free(grove_stream *stream) {
    if (!stream) {
        return;
    }
    grove_env *env = stream->env;
#ifdef GV_HAVE_YAML
    gv_yaml_reader_free(stream->yaml);
#endif
    gv_free(env, stream, sizeof *stream);
    grove_env_unref(env);
}

#ifdef GV_HAVE_YAML
/* The one document of a text: empty ones around it do not count; none at all is null. */
static grove_status only_document(gv_yaml_reader *r, grove_doc **out_doc, grove_error *err) {
    grove_doc *only = NULL;
    for (;;) {
        grove_doc *doc = NULL;
        grove_status st = gv_yaml_reader_next(r, &doc, err);
        bool second = st == GROVE_OK && doc && only &&
                      grove_node_type(grove_doc_root(only)) != GROVE_NULL_NODE &&
                      grove_node_type(grove_doc_root(doc)) != GROVE_NULL_NODE;
        if (second) {
            uint32_t line = 0, at = 0;
            grove_node_position(doc, grove_doc_root(doc), &line, &at);
            st = gv_error_at(err, GROVE_E_PARSE, line, at, NULL,
                             "a second document begins here; one is expected");
        }
        if (st < 0) {
            grove_doc_unref(doc);
            grove_doc_unref(only);
            return st;
        }
        if (!doc) {
            *out_doc = only;
            return GROVE_OK;
        }
        if (only && grove_node_type(grove_doc_root(only)) != GROVE_NULL_NODE) {
            grove_doc_unref(doc);
        } else {
            grove_doc_unref(only);
            only = doc;
        }
    }
}

static grove_status null_document(grove_env *env, grove_doc **out_doc, grove_error *err) {
    grove_builder *b = NULL;
    if (grove_builder_new(env, &b) < 0) {
        return gv_error_nomem(err);
    }
    gv_build_at(b, 1, 1);
    grove_builder_null(b, NULL);
    grove_status st = grove_builder_finish(b, out_doc, err);
    grove_builder_free(b);
    return st;
}

grove_status grove_doc_parse_yaml(grove_env *env, const char *text, size_t len, uint32_t flags,
                                  grove_doc **out_doc, grove_error *err) {
    gv_yaml_reader *r = NULL;
    grove_doc *doc = NULL;
    if (!arguments_ok(env, text, len, flags, out_doc)) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_doc_parse_yaml is invalid");
    }
    if (len > gv_env_limits(env)->document_bytes) {
        return gv_error(err, GROVE_E_LIMIT, "the text is larger than the limit of documents");
    }
    grove_status st = gv_yaml_reader_new(env, len ? text : "", len, bom_length((gv_str){text, len}),
                                         1, 1, flags, &r, err);
    if (st == GROVE_OK) {
        st = only_document(r, &doc, err);
        gv_yaml_reader_free(r);
    }
    if (st == GROVE_OK && !doc) {
        st = null_document(env, &doc, err);
    }
    if (st == GROVE_OK) {
        *out_doc = doc;
    }
    return st;
}
#else
grove_status grove_doc_parse_yaml(grove_env *env, const char *text, size_t len, uint32_t flags,
                                  grove_doc **out_doc, grove_error *err) {
    (void)env;
    (void)text;
    (void)len;
    (void)flags;
    (void)out_doc;
    return gv_error(err, GROVE_E_UNSUPPORTED, "built without YAML");
}
#endif
