/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON to document in one pass. The text is copied once into the document's block and scanned there:
 * strings stay where they are (escapes only shrink them), a closing quote or the byte behind a number
 * becomes the NUL, and nodes grow at the end of the block. A NUL behind the text stops every loop.
 */
#include <math.h>

#include "base/mem.h"
#include "value/json_string.h"
#include "value/keys.h"
#include "value/number.h"

#define NONE UINT32_MAX
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
/* First guess of how dense a text is; dense ones make the block grow. */
#define BYTES_PER_NODE 16
/* Distances in a block are 32 bits wide. */
#define TEXT_MAX (UINT32_MAX / 3)

typedef struct parser {
    grove_env *env;
    grove_error *err;
    const char *source; /* the caller's text, for places in error messages */
    size_t source_len;
    uint32_t flags;
    char *block;
    size_t size;
    size_t nodes_at;
    grove_node *nodes;
    uint32_t n, cap;
    uint32_t room;  /* cap, or the limit of nodes if that is less */
    char *at, *end; /* in the block's text */
    char *line_start;
    uint32_t line;
    uint32_t open; /* innermost open container; its `a` names the one around it */
    uint32_t depth, deepest;
    char *key; /* of the value to come; NULL: none */
    size_t key_len;
    char *number_end; /* becomes NUL once the byte there was read; else points to `nowhere` */
    char nowhere;     /* where a NUL does no harm */
    gv_keys keys;
} parser;

static grove_status fail(parser *p, grove_status status, const char *at, const char *message) {
    return gv_error_at(p->err, status, p->line, (uint32_t)(at - p->line_start) + 1, NULL, "%s",
                       message);
}

/* "expected WHAT, found ..." at the current place, whose byte was c. */
static grove_status expected(parser *p, const char *what, char c) {
    char found[32];
    const unsigned byte = (unsigned char)c;
    if (p->at >= p->end) {
        gv_fmt(found, sizeof found, "the end of the text");
    } else if (byte > ' ' && byte < 0x7F) {
        gv_fmt(found, sizeof found, "'%c'", c);
    } else {
        gv_fmt(found, sizeof found, "byte 0x%02x", byte);
    }
    return gv_error_at(p->err, GROVE_E_PARSE, p->line, (uint32_t)(p->at - p->line_start) + 1, NULL,
                       "expected %s, found %s", what, found);
}

/* ---- nodes ---- */

static void set_cap(parser *p, uint32_t cap) {
    const uint64_t limit = gv_env_limits(p->env)->document_nodes;
    p->cap = cap;
    p->room = limit < cap ? (uint32_t)limit : cap;
}

/* Gives the block room for `cap` nodes; what points into the block moves with it. */
static grove_status resize_block(parser *p, size_t cap) {
    const uint64_t size = p->nodes_at + (uint64_t)cap * sizeof(grove_node);
    if (size > UINT32_MAX) {
        return fail(p, GROVE_E_LIMIT, p->at, "the document is too large");
    }
    const ptrdiff_t at = p->at - p->block;
    const ptrdiff_t end = p->end - p->block;
    const ptrdiff_t line_start = p->line_start - p->block;
    const ptrdiff_t key = p->key ? p->key - p->block : -1;
    const ptrdiff_t number_end = p->number_end != &p->nowhere ? p->number_end - p->block : -1;
    char *block = gv_realloc(p->env, p->block, p->size, (size_t)size);
    if (!block) {
        return gv_error_nomem(p->err);
    }
    p->at = block + at;
    p->end = block + end;
    p->line_start = block + line_start;
    p->key = key < 0 ? NULL : block + key;
    p->number_end = number_end < 0 ? &p->nowhere : block + number_end;
    p->block = block;
    p->size = (size_t)size;
    set_cap(p, (uint32_t)cap);
    p->nodes = (grove_node *)(void *)(block + p->nodes_at);
    return GROVE_OK;
}

static grove_status make_room(parser *p) {
    if (p->n >= gv_env_limits(p->env)->document_nodes) {
        return fail(p, GROVE_E_LIMIT, p->at, "the document has too many values");
    }
    return resize_block(p, (size_t)p->cap + p->cap / 2);
}

/* A node for the value at the current place, under the pending key. NULL: no room, see *out_status. */
static inline grove_node *add_node(parser *p, uint32_t head, grove_status *out_status) {
    if (p->n >= p->room) {
        *out_status = make_room(p);
        if (*out_status < 0) {
            return NULL;
        }
    }
    grove_node *node = &p->nodes[p->n++];
    node->head = head;
    node->key = 0;
    node->a = node->b = 0;
    node->line = p->line;
    node->column = (uint32_t)(p->at - p->line_start) + 1;
    if (p->key) {
        node->head |= GV_NODE_MEMBER | (uint32_t)p->key_len << GV_KEY_LEN_SHIFT;
        node->key = (uint32_t)((char *)node - p->key);
        p->key = NULL;
    }
    if (p->open != NONE) {
        p->nodes[p->open].b++;
    }
    return node;
}

static grove_status open_container(parser *p, uint32_t type) {
    if (p->depth >= gv_env_limits(p->env)->depth) {
        return fail(p, GROVE_E_LIMIT, p->at, "the document is nested too deeply");
    }
    grove_status st = GROVE_OK;
    grove_node *node = add_node(p, type, &st);
    if (node) {
        node->a = p->open;
        p->open = p->n - 1;
        p->depth++;
        p->deepest = p->depth > p->deepest ? p->depth : p->deepest;
        p->at++;
    }
    return st;
}

/* Where the key of the member whose value is at line:column begins, for a message: the source is intact. */
static void locate_key(const parser *p, uint32_t *line, uint32_t *column) {
    const bool marked = p->source_len >= 3 && memcmp(p->source, BYTE_ORDER_MARK, 3) == 0;
    const char *s = p->source + (marked ? 3 : 0);
    const char *line_start = s;
    for (uint32_t l = 1; l < *line; l++) {
        line_start = (const char *)memchr(line_start, '\n',
                                          p->source_len - (size_t)(line_start - p->source)) +
                     1;
    }
    const char *at = line_start + *column - 1;
    while (at[-1] != '"') { /* blanks and the colon */
        at--;
        *line -= *at == '\n';
    }
    const char *quote = at - 1;
    for (;;) { /* back to a quote that no odd number of backslashes escapes */
        do {
            quote--;
        } while (*quote != '"');
        size_t backslashes = 0;
        while (quote[-1 - (ptrdiff_t)backslashes] == '\\') {
            backslashes++;
        }
        if (backslashes % 2 == 0) {
            break;
        }
    }
    line_start = quote;
    while (line_start > s && line_start[-1] != '\n') {
        line_start--;
    }
    *column = (uint32_t)(quote - line_start) + 1;
}

static grove_status refuse_duplicate(parser *p, const grove_node *second) {
    uint32_t line = second->line;
    uint32_t column = second->column;
    locate_key(p, &line, &column);
    return gv_error_at(p->err, GROVE_E_PARSE, line, column, NULL, "the key \"%.*s\" is there twice",
                       (int)(gv_node_key_len(second) < 200 ? gv_node_key_len(second) : 200),
                       gv_node_key_at(second));
}

/* Looks for equal keys and indexes the object if it is large. */
static grove_status close_object(parser *p) {
    const size_t need = p->n + gv_index_nodes(p->nodes[p->open].b);
    if (need > p->cap) {
        grove_status st = resize_block(p, need + need / 4);
        if (st < 0) {
            return st;
        }
    }
    grove_node *object = &p->nodes[p->open];
    const grove_node *second;
    const bool strict = (p->flags & GROVE_PARSE_STRICT) != 0;
    if (gv_keys_close(&p->keys, object, strict, &second) < 0) {
        return gv_error_nomem(p->err);
    }
    p->n = p->open + object->a;
    return second ? refuse_duplicate(p, second) : GROVE_OK;
}

static grove_status close_container(parser *p) {
    grove_node *node = &p->nodes[p->open];
    const uint32_t outer = node->a;
    node->a = p->n - p->open;
    if (gv_node_raw_type(node) == GROVE_OBJECT && node->b > 1) {
        grove_status st = close_object(p);
        if (st < 0) {
            return st;
        }
    }
    p->open = outer;
    p->depth--;
    p->at++;
    return GROVE_OK;
}

/* ---- scalars ---- */

/* p->at: the opening quote. A failure is reported and seen by .error. */
static inline gv_json_string scan_string(parser *p) {
    const gv_json_string s = gv_json_string_scan(p->at + 1);
    if (s.error) {
        /* a NUL is the end only where the text ends */
        const bool inner_nul = *s.next == '\0' && s.next < p->end;
        fail(p, GROVE_E_PARSE, s.next,
             inner_nul ? "a control character in a string must be written as an escape" : s.error);
    }
    return s;
}

static grove_status read_string(parser *p) {
    const gv_json_string s = scan_string(p);
    if (s.error) {
        return GROVE_E_PARSE;
    }
    const ptrdiff_t length = s.next - p->at; /* adding a node may move the block */
    grove_status st = GROVE_OK;
    grove_node *node = add_node(p, GROVE_STRING, &st);
    if (node) {
        node->a = (uint32_t)((char *)node - (p->at + 1));
        node->b = (uint32_t)s.len;
        p->at += length;
    }
    return st;
}

static grove_status read_key(parser *p) {
    const gv_json_string s = scan_string(p);
    if (s.error) {
        return GROVE_E_PARSE;
    }
    if (s.len > GV_KEY_LEN_MAX) {
        return fail(p, GROVE_E_LIMIT, p->at, "a key is too long");
    }
    p->key = p->at + 1;
    p->key_len = s.len;
    p->at = s.next;
    return GROVE_OK;
}

static grove_status refuse_number(parser *p) {
    const char *s = p->at + (*p->at == '-');
    if (*s < '0' || *s > '9') {
        p->at += *p->at == '-';
        return expected(p, "a digit after '-'", *s);
    }
    if (*s == '0' && s[1] >= '0' && s[1] <= '9') {
        return fail(p, GROVE_E_PARSE, s, "a number must not begin with 0");
    }
    while (*s >= '0' && *s <= '9') {
        s++;
    }
    if (*s == '.' && (s[1] < '0' || s[1] > '9')) {
        p->at += s + 1 - p->at;
        return expected(p, "a digit after '.'", *p->at);
    }
    for (s += *s == '.'; *s >= '0' && *s <= '9';) {
        s++;
    }
    s += s[1] == '+' || s[1] == '-' ? 2 : 1;
    if (*s < '0' || *s > '9') {
        p->at += s - p->at;
        return expected(p, "a digit in the exponent", *s);
    }
    return fail(p, GROVE_E_RANGE, s, "the exponent of a number is out of range");
}

static grove_status read_number(parser *p) {
    bool integer;
    const size_t n = gv_number_scan((gv_str){p->at, (size_t)(p->end - p->at)}, &integer);
    if (n == 0) {
        return refuse_number(p);
    }
    if ((p->flags & GROVE_PARSE_NUMBERS_AS_FLOAT64) && (n > 300 || !integer)) {
        const gv_decimal d = gv_decimal_read((gv_str){p->at, n});
        if (isinf(gv_decimal_double(&d))) {
            return fail(p, GROVE_E_RANGE, p->at, "the number is too large for a float64");
        }
    }
    grove_status st = GROVE_OK;
    grove_node *node = add_node(p, GROVE_NUMBER | (integer ? GV_NODE_INTEGER : 0), &st);
    if (!node) {
        return st;
    }
    node->a = (uint32_t)((char *)node - p->at);
    node->b = (uint32_t)n;
    p->at += n;
    p->number_end = p->at;
    return GROVE_OK;
}

static grove_status read_word(parser *p, const char *word, size_t n, uint32_t head) {
    if (strncmp(p->at, word, n) != 0) {
        return expected(p, "a value", *p->at);
    }
    grove_status st = GROVE_OK;
    if (add_node(p, head, &st)) {
        p->at += n;
    }
    return st;
}

/* ---- the machine ---- */

typedef enum state {
    VALUE,          /* a value must come */
    VALUE_OR_CLOSE, /* behind [ */
    KEY,            /* behind a comma in an object */
    KEY_OR_CLOSE,   /* behind { */
    AFTER           /* behind a value */
} state;

static inline char skip_space(parser *p) {
    char c;
    while (c = *p->at, c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        p->at++;
        if (c == '\n') {
            p->line++;
            p->line_start = p->at;
        }
    }
    return c;
}

static inline grove_status step_value(parser *p, char c, state *s) {
    *s = AFTER;
    switch (c) {
    case '"':
        return read_string(p);
    case '{':
        *s = KEY_OR_CLOSE;
        return open_container(p, GROVE_OBJECT);
    case '[':
        *s = VALUE_OR_CLOSE;
        return open_container(p, GROVE_ARRAY);
    case 't':
        return read_word(p, "true", 4, GROVE_BOOL | GV_NODE_TRUE);
    case 'f':
        return read_word(p, "false", 5, GROVE_BOOL);
    case 'n':
        return read_word(p, "null", 4, GROVE_NULL_NODE);
    default:
        if (c == '-' || (c >= '0' && c <= '9')) {
            return read_number(p);
        }
        return expected(p, "a value", c);
    }
}

static inline grove_status step_key(parser *p, char c, state *s) {
    if (c != '"') {
        return expected(p, *s == KEY ? "a key in double quotes" : "a key in double quotes or '}'",
                        c);
    }
    grove_status st = read_key(p);
    if (st < 0) {
        return st;
    }
    c = skip_space(p);
    if (c != ':') {
        return expected(p, "':' behind the key", c);
    }
    p->at++;
    *s = VALUE;
    return GROVE_OK;
}

static inline grove_status step_after(parser *p, char c, state *s) {
    const bool in_object = gv_node_raw_type(&p->nodes[p->open]) == GROVE_OBJECT;
    if (c == ',') {
        p->at++;
        *s = in_object ? KEY : VALUE;
        return GROVE_OK;
    }
    if (c != (in_object ? '}' : ']')) {
        return expected(p, in_object ? "',' or '}'" : "',' or ']'", c);
    }
    return close_container(p);
}

static grove_status run(parser *p) {
    state s = VALUE;
    for (;;) {
        const char c = skip_space(p);
        *p->number_end = '\0'; /* what stood there is in c or was a blank */
        p->number_end = &p->nowhere;
        grove_status st;
        if (s == AFTER) {
            if (p->open == NONE) {
                return p->at == p->end ? GROVE_OK : expected(p, "the end of the text", c);
            }
            st = step_after(p, c, &s);
        } else if ((s == KEY_OR_CLOSE && c == '}') || (s == VALUE_OR_CLOSE && c == ']')) {
            s = AFTER;
            st = close_container(p);
        } else if (s == KEY || s == KEY_OR_CLOSE) {
            st = step_key(p, c, &s);
        } else {
            st = step_value(p, c, &s);
        }
        if (st < 0) {
            return st;
        }
    }
}

static grove_status start(parser *p) {
    const size_t padded = p->source_len + 1 + GV_JSON_PADDING;
    p->nodes_at = (sizeof(grove_doc) + padded + 7) & ~(size_t)7;
    set_cap(p, (uint32_t)(p->source_len / BYTES_PER_NODE) + 4);
    p->size = p->nodes_at +
              p->cap * sizeof(grove_node); /* at most 2.5 times the text: see the caller */
    p->block = gv_alloc(p->env, p->size);
    if (!p->block) {
        gv_error_nomem(p->err);
        return GROVE_E_NOMEM;
    }
    p->nodes = (grove_node *)(void *)(p->block + p->nodes_at);
    p->at = p->block + sizeof(grove_doc);
    p->end = p->at + p->source_len;
    if (p->source_len > 0) {
        memcpy(p->at, p->source, p->source_len);
    }
    memset(p->end, 0, 1 + GV_JSON_PADDING);
    if (p->source_len >= 3 && memcmp(p->at, BYTE_ORDER_MARK, 3) == 0) {
        p->at += 3; /* a byte order mark is passed over, as RFC 8259 permits */
    }
    p->line = 1;
    p->line_start = p->at;
    return GROVE_OK;
}

static grove_doc *finish(parser *p) {
    if ((p->cap - p->n) * sizeof(grove_node) > p->size / 4) {
        p->key = NULL;
        (void)resize_block(p, p->n); /* shrinking: failure leaves the block as it is */
    }
    grove_doc *doc = (grove_doc *)(void *)p->block;
    gv_refs_init(&doc->refs);
    doc->depth = p->deepest;
    doc->env = grove_env_ref(p->env);
    doc->size = p->size;
    doc->nodes_at = p->nodes_at;
    doc->n_nodes = p->n;
    doc->n_pins = 0;
    doc->next_dead = NULL;
    return doc;
}

grove_status grove_doc_parse_json(grove_env *env, const char *text, size_t len, uint32_t flags,
                                  grove_doc **out_doc, grove_error *err) {
    if (!env || !out_doc || (!text && len > 0) ||
        (flags & ~(GROVE_PARSE_STRICT | GROVE_PARSE_NUMBERS_AS_FLOAT64))) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_doc_parse_json is invalid");
    }
    if (len > gv_env_limits(env)->document_bytes || len > TEXT_MAX) {
        return gv_error(err, GROVE_E_LIMIT, "the text is longer than the limit of the environment");
    }
    parser p = {.env = env,
                .err = err,
                .source = text,
                .source_len = len,
                .flags = flags,
                .open = NONE,
                .keys = {.env = env}};
    p.number_end = &p.nowhere;
    grove_status st = start(&p);
    if (st == GROVE_OK) {
        st = run(&p);
    }
    if (st == GROVE_OK) {
        *out_doc = finish(&p);
    } else {
        gv_free(env, p.block, p.size);
    }
    gv_keys_fini(&p.keys);
    return st;
}
