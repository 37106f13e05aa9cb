/* SPDX-License-Identifier: Apache-2.0 */
/* The typing rules of YAML scalars. */
#include "value/yaml_scalar.h"

#include <math.h>

#include "value/number.h"
#include "value/yaml_text.h"

#define WORD(text, type) \
    { text, sizeof(text) - 1, type }

const gv_yaml_word gv_yaml_words[] = {
    WORD("", GV_YAML_NULL),
    WORD("~", GV_YAML_NULL),
    WORD("null", GV_YAML_NULL),
    WORD("Null", GV_YAML_NULL),
    WORD("NULL", GV_YAML_NULL),
    WORD("y", GV_YAML_TRUE),
    WORD("Y", GV_YAML_TRUE),
    WORD("yes", GV_YAML_TRUE),
    WORD("Yes", GV_YAML_TRUE),
    WORD("YES", GV_YAML_TRUE),
    WORD("true", GV_YAML_TRUE),
    WORD("True", GV_YAML_TRUE),
    WORD("TRUE", GV_YAML_TRUE),
    WORD("on", GV_YAML_TRUE),
    WORD("On", GV_YAML_TRUE),
    WORD("ON", GV_YAML_TRUE),
    WORD("n", GV_YAML_FALSE),
    WORD("N", GV_YAML_FALSE),
    WORD("no", GV_YAML_FALSE),
    WORD("No", GV_YAML_FALSE),
    WORD("NO", GV_YAML_FALSE),
    WORD("false", GV_YAML_FALSE),
    WORD("False", GV_YAML_FALSE),
    WORD("FALSE", GV_YAML_FALSE),
    WORD("off", GV_YAML_FALSE),
    WORD("Off", GV_YAML_FALSE),
    WORD("OFF", GV_YAML_FALSE),
    WORD(".inf", GV_YAML_INFINITY),
    WORD(".Inf", GV_YAML_INFINITY),
    WORD(".INF", GV_YAML_INFINITY),
    WORD("+.inf", GV_YAML_INFINITY),
    WORD("+.Inf", GV_YAML_INFINITY),
    WORD("+.INF", GV_YAML_INFINITY),
    WORD("-.inf", GV_YAML_MINUS_INFINITY),
    WORD("-.Inf", GV_YAML_MINUS_INFINITY),
    WORD("-.INF", GV_YAML_MINUS_INFINITY),
    WORD(".nan", GV_YAML_NAN),
    WORD(".NaN", GV_YAML_NAN),
    WORD(".NAN", GV_YAML_NAN),
};
const size_t gv_yaml_n_words = sizeof gv_yaml_words / sizeof gv_yaml_words[0];

#define WORD_MAX_BYTES 5

gv_yaml_tag gv_yaml_tag_of(const char *tag) {
    static const struct {
        const char *name;
        gv_yaml_tag tag;
    } tags[] = {
        {"str", GV_YAML_TAG_STR},     {"int", GV_YAML_TAG_INT},
        {"float", GV_YAML_TAG_FLOAT}, {"bool", GV_YAML_TAG_BOOL},
        {"null", GV_YAML_TAG_NULL},   {"binary", GV_YAML_TAG_BINARY},
        {"map", GV_YAML_TAG_MAP},     {"seq", GV_YAML_TAG_SEQ},
        {"merge", GV_YAML_TAG_MERGE}, {"timestamp", GV_YAML_TAG_TIMESTAMP},
    };
    const gv_str prefix = GV_STR("tag:yaml.org,2002:");
    if (!tag || strcmp(tag, "!") == 0) {
        return GV_YAML_TAG_NONE;
    }
    if (gv_str_starts(gv_str_c(tag), prefix)) {
        for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
            if (strcmp(tag + prefix.n, tags[i].name) == 0) {
                return tags[i].tag;
            }
        }
    }
    return GV_YAML_TAG_UNKNOWN;
}

static bool find_word(gv_str text, gv_yaml_type *out) {
    static const char first[] = "~nNyYtTfFoO.+-";
    if (text.n > WORD_MAX_BYTES || (text.n > 0 && !memchr(first, text.p[0], sizeof first - 1))) {
        return false;
    }
    for (size_t i = 0; i < gv_yaml_n_words; i++) {
        const gv_yaml_word *word = &gv_yaml_words[i];
        if (word->n == text.n && memcmp(word->text, text.p, text.n) == 0) {
            *out = gv_yaml_words[i].type;
            return true;
        }
    }
    return false;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Bytes that can begin a number. */
static bool may_be_number(gv_str text) {
    return text.n > 0 &&
           (is_digit(text.p[0]) || text.p[0] == '.' || text.p[0] == '-' || text.p[0] == '+');
}

static uint32_t digit_value(char c) {
    if (is_digit(c)) {
        return (uint32_t)(c - '0');
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (uint32_t)(lower - 'a') + 10 : 99;
}

/* All digits of `s` in `base`; false when there is none, another byte, or more than 64 bits. */
static bool read_digits(gv_str s, uint32_t base, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        uint32_t d = digit_value(s.p[i]);
        if (d >= base || v > (UINT64_MAX - d) / base) {
            return false;
        }
        v = v * base + d;
    }
    *out = v;
    return s.n > 0;
}

static gv_str behind(gv_str s, size_t n) {
    return (gv_str){s.p + n, s.n - n};
}

static bool is_sign(gv_str s, size_t at) {
    return at < s.n && (s.p[at] == '-' || s.p[at] == '+');
}

/* Takes "0x", "0o", "0b" or the "0" of an octal off; the base of what is left. */
static uint32_t take_base(gv_str *s) {
    if (s->n < 2 || s->p[0] != '0') {
        return 10;
    }
    switch (s->p[1] | 0x20) {
    case 'x':
        *s = behind(*s, 2);
        return 16;
    case 'o':
        *s = behind(*s, 2);
        return 8;
    case 'b':
        *s = behind(*s, 2);
        return 2;
    default:
        *s = behind(*s, 1);
        return 8;
    }
}

/* s without underscores. Signed values reach -2^63, unsigned ones without a sign 2^64-1. */
static bool read_integer(gv_str s, bool *out_negative, uint64_t *out) {
    bool sign = is_sign(s, 0);
    bool negative = sign && s.p[0] == '-';
    gv_str digits = behind(s, sign ? 1 : 0);
    uint32_t base = take_base(&digits);
    if (base == 2 && !sign && s.p[1] == 'b' && is_sign(digits, 0)) {
        /* A sign behind the prefix: an oddity of the Go reader ("0b-101" is -5). */
        sign = true;
        negative = digits.p[0] == '-';
        digits = behind(digits, 1);
    }
    uint64_t v = 0;
    if (!read_digits(digits, base, &v)) {
        return false;
    }
    const uint64_t limit = negative ? UINT64_C(1) << 63 : sign ? (uint64_t)INT64_MAX : UINT64_MAX;
    *out_negative = negative && v != 0;
    *out = v;
    return v <= limit;
}

/* The parts of  [sign] digits [. digits] [e [sign] digits]  with at least one digit before the e. */
typedef struct float_parts {
    bool negative;
    gv_str whole, fraction;
    gv_str exponent; /* digits without leading zeros */
    bool exponent_negative;
} float_parts;

static gv_str take_digits(gv_str *s) {
    gv_str digits = {s->p, 0};
    while (digits.n < s->n && is_digit(s->p[digits.n])) {
        digits.n++;
    }
    *s = behind(*s, digits.n);
    return digits;
}

static gv_str without_leading_zeros(gv_str digits) {
    while (digits.n > 0 && digits.p[0] == '0') {
        digits = behind(digits, 1);
    }
    return digits;
}

static bool split_float(gv_str s, float_parts *out) {
    float_parts f = {0};
    if (is_sign(s, 0)) {
        f.negative = s.p[0] == '-';
        s = behind(s, 1);
    }
    f.whole = take_digits(&s);
    if (s.n > 0 && s.p[0] == '.') {
        s = behind(s, 1);
        f.fraction = take_digits(&s);
    }
    if (f.whole.n + f.fraction.n == 0) {
        return false;
    }
    if (s.n > 0 && (s.p[0] == 'e' || s.p[0] == 'E')) {
        s = behind(s, 1);
        if (is_sign(s, 0)) {
            f.exponent_negative = s.p[0] == '-';
            s = behind(s, 1);
        }
        f.exponent = take_digits(&s);
        if (f.exponent.n == 0) {
            return false;
        }
        f.exponent = without_leading_zeros(f.exponent);
    }
    *out = f;
    return s.n == 0;
}

/* Appends the JSON number of the parts; false: too large for a double, and so no number at all. */
static grove_status put_float(const float_parts *f, grove_buf *out, bool *out_fits) {
    gv_str whole = without_leading_zeros(f->whole);
    bool tiny = f->exponent.n >
                GV_EXPONENT_DIGITS_MAX; /* beyond what a document's number may hold */
    *out_fits = true;
    if (tiny) {
        bool zero = without_leading_zeros(whole).n + without_leading_zeros(f->fraction).n == 0;
        *out_fits = zero || f->exponent_negative;
        return gv_buf_c(out, "0");
    }
    grove_status st = f->negative ? gv_buf_char(out, '-') : GROVE_OK;
    st = st < 0 ? st : whole.n > 0 ? gv_buf_str(out, whole) : gv_buf_char(out, '0');
    if (st == GROVE_OK && f->fraction.n > 0) {
        st = gv_buf_char(out, '.');
        st = st < 0 ? st : gv_buf_str(out, f->fraction);
    }
    if (st == GROVE_OK && f->exponent.n > 0) {
        st = gv_buf_c(out, f->exponent_negative ? "e-" : "e");
        st = st < 0 ? st : gv_buf_str(out, f->exponent);
    }
    if (st == GROVE_OK) {
        gv_decimal d = gv_decimal_read(gv_buf_view(out));
        *out_fits = !isinf(gv_decimal_double(&d));
    }
    return st;
}

/* As written, when that is JSON already and no double could overflow. */
static bool is_small_json_float(gv_str text) {
    bool integer = false;
    return text.n < 20 && !memchr(text.p, 'e', text.n) && !memchr(text.p, 'E', text.n) &&
           gv_number_scan(text, &integer) == text.n;
}

/* Sets *out when the text is a float; leaves it alone otherwise. */
static grove_status try_float(gv_str original, gv_str s, grove_buf *scratch, gv_yaml_value *out) {
    float_parts f;
    bool fits = false, integer = false;
    if (!split_float(s, &f)) {
        return GROVE_OK;
    }
    if (is_small_json_float(original)) {
        *out = (gv_yaml_value){GV_YAML_FLOAT, original};
        return GROVE_OK;
    }
    /* s may lie in the scratch buffer: the number is written behind it. */
    const uint64_t at = scratch->len;
    grove_buf number;
    grove_buf_init(&number, scratch->env);
    grove_status st = put_float(&f, &number, &fits);
    if (st == GROVE_OK && fits) {
        bool keep = gv_number_scan(original, &integer) == original.n;
        st = keep ? GROVE_OK : gv_buf_str(scratch, gv_buf_view(&number));
        if (st == GROVE_OK) {
            gv_str view = gv_buf_view(scratch);
            *out = (gv_yaml_value){GV_YAML_FLOAT, keep ? original : behind(view, (size_t)at)};
        }
    }
    grove_buf_fini(&number);
    return st;
}

/* The text without underscores, in scratch when it has any. */
static grove_status drop_underscores(gv_str text, grove_buf *scratch, gv_str *out) {
    *out = text;
    if (!memchr(text.p, '_', text.n)) {
        return GROVE_OK;
    }
    grove_status st = grove_buf_reserve(scratch, text.n * 3 + 8);
    for (size_t i = 0; st == GROVE_OK && i < text.n; i++) {
        st = text.p[i] == '_' ? GROVE_OK : gv_buf_char(scratch, text.p[i]);
    }
    *out = gv_buf_view(scratch);
    return st;
}

/* A fraction without digits in front may have underscores between digits only; elsewhere all count nothing. */
static bool underscores_ok(gv_str text) {
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '_' &&
            (i == 0 || i + 1 == text.n || !is_digit(text.p[i - 1]) || !is_digit(text.p[i + 1]))) {
            return false;
        }
    }
    return true;
}

/* Sets *out when the text is a number; leaves it alone otherwise. */
static grove_status try_number(gv_str text, grove_buf *scratch, gv_yaml_value *out) {
    gv_str s = text;
    bool negative = false;
    uint64_t v = 0;
    if (text.p[0] == '.' && !underscores_ok(text)) {
        return GROVE_OK;
    }
    grove_status st = drop_underscores(text, scratch, &s);
    if (st < 0) {
        return st;
    }
    if (text.p[0] == '.' || !read_integer(s, &negative, &v)) {
        return try_float(text, s, scratch, out);
    }
    char digits[24];
    size_t n = gv_fmt(digits, sizeof digits, "%s%llu", negative ? "-" : "", (unsigned long long)v);
    gv_str canonical = {digits, n};
    if (!gv_str_eq(canonical, text)) {
        grove_buf_clear(scratch);
        st = gv_buf_str(scratch, canonical);
        text = gv_buf_view(scratch);
    }
    *out = (gv_yaml_value){GV_YAML_INT, text};
    return st;
}

/* Tags that ask for a type; the others of the core set leave a scalar a string, as the Go reader does. */
static bool has_type(gv_yaml_tag tag) {
    return tag == GV_YAML_TAG_INT || tag == GV_YAML_TAG_FLOAT || tag == GV_YAML_TAG_BOOL ||
           tag == GV_YAML_TAG_NULL || tag == GV_YAML_TAG_TIMESTAMP;
}

static const char *why_not(gv_yaml_tag tag) {
    switch (tag) {
    case GV_YAML_TAG_INT:
        return "the text is not an integer, as its tag !!int says";
    case GV_YAML_TAG_FLOAT:
        return "the text is not a number, as its tag !!float says";
    case GV_YAML_TAG_BOOL:
        return "the text is not a boolean, as its tag !!bool says";
    case GV_YAML_TAG_NULL:
        return "the text is not null, as its tag !!null says";
    case GV_YAML_TAG_TIMESTAMP:
        return "the text is not a time, as its tag !!timestamp says";
    default:
        return "the tag is not one of the core set";
    }
}

static bool tag_fits(gv_yaml_tag tag, const gv_yaml_value *v, gv_str text) {
    switch (tag) {
    case GV_YAML_TAG_INT:
        return v->type == GV_YAML_INT;
    case GV_YAML_TAG_FLOAT:
        /* Go turns an int64 into a float, but not a larger unsigned integer. */
        return v->type == GV_YAML_FLOAT || v->type >= GV_YAML_INFINITY ||
               (v->type == GV_YAML_INT && gv_yaml_is_int64(v->text));
    case GV_YAML_TAG_BOOL:
        return v->type == GV_YAML_TRUE || v->type == GV_YAML_FALSE;
    case GV_YAML_TAG_NULL:
        return v->type == GV_YAML_NULL;
    case GV_YAML_TAG_TIMESTAMP:
        return v->type == GV_YAML_STRING && gv_yaml_is_timestamp(text);
    default:
        return false;
    }
}

grove_status gv_yaml_resolve(gv_str text, gv_yaml_tag tag, bool plain, grove_buf *scratch,
                             gv_yaml_value *out, const char **out_why) {
    gv_yaml_value v = {GV_YAML_STRING, text};
    grove_status st = GROVE_OK;
    grove_buf_clear(scratch);
    if (tag == GV_YAML_TAG_BINARY) {
        st = gv_yaml_base64(text, scratch, &v.text, out_why);
        *out = v;
        return st;
    }
    bool typed = tag == GV_YAML_TAG_NONE ? plain : has_type(tag);
    if (typed && !find_word(text, &v.type) && may_be_number(text)) {
        st = try_number(text, scratch, &v);
    }
    if (st < 0) {
        return st;
    }
    if (typed && tag != GV_YAML_TAG_NONE) {
        if (!tag_fits(tag, &v, text)) {
            *out_why = why_not(tag);
            return GROVE_E_PARSE;
        }
        v.type = tag == GV_YAML_TAG_FLOAT && v.type == GV_YAML_INT ? GV_YAML_FLOAT : v.type;
    }
    *out = v;
    return GROVE_OK;
}

grove_status gv_yaml_key(const gv_yaml_value *value, grove_buf *scratch, gv_str *out_key) {
    switch (value->type) {
    case GV_YAML_STRING:
        *out_key = value->text;
        return GROVE_OK;
    case GV_YAML_NULL:
        return GROVE_E_TYPE;
    case GV_YAML_FALSE:
        *out_key = GV_STR("false");
        return GROVE_OK;
    case GV_YAML_TRUE:
        *out_key = GV_STR("true");
        return GROVE_OK;
    case GV_YAML_INT:
        *out_key = value->text;
        return gv_yaml_is_int64(value->text) ? GROVE_OK : GROVE_E_TYPE;
    case GV_YAML_FLOAT:
        return gv_yaml_float_key(value->text, scratch, out_key);
    case GV_YAML_INFINITY:
        *out_key = GV_STR(".inf");
        return GROVE_OK;
    case GV_YAML_MINUS_INFINITY:
        *out_key = GV_STR("-.inf");
        return GROVE_OK;
    case GV_YAML_NAN:
        *out_key = GV_STR(".nan");
        return GROVE_OK;
    }
    return GROVE_E_TYPE;
}

/* ---- for the writer ---- */

static bool only_digits(gv_str s, uint32_t base) {
    for (size_t i = 0; i < s.n; i++) {
        if (digit_value(s.p[i]) >= base) {
            return false;
        }
    }
    return s.n > 0;
}

/* Any size of number, since other readers have other limits. */
static bool looks_like_number(gv_str s) {
    float_parts ignored;
    gv_str digits = behind(s, is_sign(s, 0) ? 1 : 0);
    uint32_t base = take_base(&digits);
    return only_digits(digits, base) || split_float(s, &ignored);
}

/* "12:30:45.5", a number to base 60 in YAML 1.1. */
static bool looks_like_sexagesimal(gv_str s) {
    s = behind(s, is_sign(s, 0) ? 1 : 0);
    bool ok = take_digits(&s).n > 0 && s.n > 0 && s.p[0] == ':';
    while (ok && s.n > 0 && s.p[0] == ':') {
        s = behind(s, 1);
        gv_str part = take_digits(&s);
        ok = part.n == 1 || (part.n == 2 && part.p[0] <= '5');
    }
    if (ok && s.n > 0 && s.p[0] == '.') {
        s = behind(s, 1);
        (void)take_digits(&s);
    }
    return ok && s.n == 0;
}

/* "2001-12-14" and whatever follows a T or a blank behind it. */
static bool looks_like_date(gv_str s) {
    bool ok = take_digits(&s).n == 4;
    for (int i = 0; ok && i < 2; i++) {
        ok = s.n > 1 && s.p[0] == '-';
        s = behind(s, ok ? 1 : 0);
        size_t n = take_digits(&s).n;
        ok = ok && (n == 1 || n == 2);
    }
    return ok && (s.n == 0 || s.p[0] == 'T' || s.p[0] == 't' || s.p[0] == ' ' || s.p[0] == '\t');
}

grove_status gv_yaml_is_ambiguous(gv_str text, grove_buf *scratch, bool *out) {
    gv_yaml_type ignored;
    gv_str s = text;
    if (find_word(text, &ignored) || gv_str_is(text, "=") || gv_str_is(text, "<<")) {
        *out = true;
        return GROVE_OK;
    }
    *out = false;
    if (!may_be_number(text)) {
        return GROVE_OK;
    }
    const char *why = "";
    gv_yaml_value v;
    grove_status st = gv_yaml_resolve(text, GV_YAML_TAG_NONE, true, scratch, &v, &why);
    if (st == GROVE_OK) {
        grove_buf_clear(scratch);
        st = drop_underscores(text, scratch, &s);
    }
    if (st == GROVE_OK) {
        *out = v.type != GV_YAML_STRING || looks_like_number(s) || looks_like_sexagesimal(s) ||
               looks_like_date(s);
    }
    return st;
}
