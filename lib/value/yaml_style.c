/* SPDX-License-Identifier: Apache-2.0 */
/* Styles of YAML strings: plain, 'single', "double", and literal blocks. */
#include "value/yaml_style.h"

#include "value/utf8.h"
#include "value/yaml_scalar.h"

#define BLOCK_INDENT "2" /* what an indentation indicator says: columns beyond the parent's */

static uint32_t code_point(const char *s, size_t n) {
    const unsigned char *u = (const unsigned char *)s;
    switch (n) {
    case 1:
        return u[0];
    case 2:
        return (u[0] & 0x1Fu) << 6 | (u[1] & 0x3Fu);
    case 3:
        return (u[0] & 0x0Fu) << 12 | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu);
    default:
        return (u[0] & 0x07u) << 18 | (u[1] & 0x3Fu) << 12 | (u[2] & 0x3Fu) << 6 | (u[3] & 0x3Fu);
    }
}

/* Must be written as an escape: not printable in YAML, or a line break in YAML 1.1 only. */
static bool needs_escape(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
           c == 0xFFFE || c == 0xFFFF;
}

/* A character of valid UTF-8 at s. */
static uint32_t character(gv_str s, size_t at, size_t *out_len) {
    size_t n = gv_utf8_length(s.p + at);
    *out_len = n > 0 ? n : 1;
    return code_point(s.p + at, *out_len);
}

static bool has_escapes(gv_str s) {
    for (size_t i = 0; i < s.n;) {
        size_t n = 1;
        if (((unsigned char)s.p[i] < 0x20 || (unsigned char)s.p[i] > 0x7E) &&
            needs_escape(character(s, i, &n))) {
            return true;
        }
        i += n;
    }
    return false;
}

/* Could the scanner take the text for something else than one plain scalar (in block context)? */
static bool has_indicators(gv_str s) {
    static const char forbidden_first[] = ",[]{}#&*!|>'\"%@`?: ";
    const char first = s.p[0];
    const bool marker = s.n >= 3 && (memcmp(s.p, "---", 3) == 0 || memcmp(s.p, "...", 3) == 0) &&
                        (s.n == 3 || s.p[3] == ' ');
    if (memchr(forbidden_first, first, sizeof forbidden_first - 1) || marker ||
        (first == '-' && (s.n == 1 || s.p[1] == ' ')) || s.p[s.n - 1] == ' ' ||
        s.p[s.n - 1] == ':') {
        return true;
    }
    for (size_t i = 0; i + 1 < s.n; i++) {
        if ((s.p[i] == ':' && s.p[i + 1] == ' ') || (s.p[i] == ' ' && s.p[i + 1] == '#')) {
            return true;
        }
    }
    return false;
}

static grove_status put_single_quoted(gv_str s, grove_buf *out) {
    grove_status st = gv_buf_char(out, '\'');
    for (size_t i = 0; st == GROVE_OK && i < s.n; i++) {
        st = s.p[i] == '\'' ? gv_buf_c(out, "''") : gv_buf_char(out, s.p[i]);
    }
    return st < 0 ? st : gv_buf_char(out, '\'');
}

static grove_status put_escape(uint32_t c, grove_buf *out) {
    static const char letters[] = "\0000\aa\bb\tt\nn\vv\ff\rr\033e\"\"\\\\";
    for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
        if ((unsigned char)letters[i] == c) {
            const char escape[2] = {'\\', letters[i + 1]};
            return grove_buf_append(out, escape, 2);
        }
    }
    return c < 0x100 ? gv_buf_fmt(out, "\\x%02x", c) : gv_buf_fmt(out, "\\u%04x", c);
}

static grove_status put_double_quoted(gv_str s, grove_buf *out) {
    grove_status st = gv_buf_char(out, '"');
    size_t n = 0;
    for (size_t i = 0; st == GROVE_OK && i < s.n; i += n) {
        uint32_t c = character(s, i, &n);
        st = needs_escape(c) || c == '"' || c == '\\' ? put_escape(c, out)
                                                      : grove_buf_append(out, s.p + i, n);
    }
    return st < 0 ? st : gv_buf_char(out, '"');
}

grove_status gv_yaml_put_line(gv_str text, grove_buf *scratch, grove_buf *out) {
    bool ambiguous = false;
    grove_status st = gv_yaml_is_ambiguous(text, scratch, &ambiguous);
    if (st < 0) {
        return st;
    }
    if (ambiguous || has_escapes(text)) {
        return put_double_quoted(text, out);
    }
    return has_indicators(text) ? put_single_quoted(text, out) : gv_buf_str(out, text);
}

bool gv_yaml_fits_block(gv_str text) {
    bool words = false;
    if (text.n == 0 || !memchr(text.p, '\n', text.n)) {
        return false;
    }
    size_t n = 0, line = 0;
    for (size_t i = 0; i < text.n; i += n) {
        uint32_t c = character(text, i, &n);
        if (c == '\n') {
            /* Lines of blanks only are where readers differ. */
            if (i > line && (text.p[i - 1] == ' ' || text.p[i - 1] == '\t')) {
                size_t k = line;
                while (text.p[k] == ' ' || text.p[k] == '\t') {
                    k++;
                }
                if (k == i) {
                    return false;
                }
            }
            line = i + 1;
        } else if (c != '\t' && needs_escape(c)) {
            return false;
        } else {
            words = words || (c != ' ' && c != '\t');
        }
    }
    while (line < text.n && (text.p[line] == ' ' || text.p[line] == '\t')) {
        line++;
        if (line == text.n) {
            return false;
        }
    }
    return words;
}

grove_status gv_yaml_put_blanks(size_t n, grove_buf *out) {
    static const char blanks[] = "                                ";
    grove_status st = GROVE_OK;
    while (n > 0 && st == GROVE_OK) {
        size_t step = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
        st = grove_buf_append(out, blanks, step);
        n -= step;
    }
    return st;
}

grove_status gv_yaml_put_block(gv_str text, size_t indent, grove_buf *out) {
    const bool ends = text.p[text.n - 1] == '\n';
    const bool ends_empty = ends && text.p[text.n - 2] == '\n';
    const bool leads = text.p[0] == ' ' || text.p[0] == '\t' || text.p[0] == '\n';
    grove_status st = gv_buf_char(out, '|');
    st = st < 0 || !leads ? st : gv_buf_c(out, BLOCK_INDENT);
    st = st < 0 || (ends && !ends_empty) ? st : gv_buf_char(out, ends ? '+' : '-');
    for (size_t at = 0; st == GROVE_OK && at < text.n;) {
        const char *end = memchr(text.p + at, '\n', text.n - at);
        size_t n = end ? (size_t)(end - text.p) - at : text.n - at;
        st = gv_buf_char(out, '\n');
        st = st < 0 || n == 0 ? st : gv_yaml_put_blanks(indent, out);
        st = st < 0 ? st : grove_buf_append(out, text.p + at, n);
        at += n + 1;
    }
    return st;
}
