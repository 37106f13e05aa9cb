/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf-like formatting without locale, floating point or hidden memory: %% %c %s %d %i %u %x %X with
 * the flags - and 0, a width, a precision for %s, and the lengths hh h l ll j z t.
 */
#include <stdarg.h>
#include <string.h>

#include "base/text.h"

/* Where formatted bytes go: false stops the formatting. */
typedef bool (*sink_fn)(void *to, const char *bytes, size_t n);

typedef struct spec {
    bool left, zero, has_precision;
    size_t width, precision;
    int length; /* 'H' for hh, 'h', 0, 'l', 'q' for ll, 'j', 'z', 't' */
    char conversion;
} spec;

static bool put_repeated(sink_fn sink, void *to, char c, size_t n) {
    while (n-- > 0) {
        if (!sink(to, &c, 1)) {
            return false;
        }
    }
    return true;
}

static bool put_padded(sink_fn sink, void *to, const spec *s, const char *sign, const char *body,
                       size_t n) {
    size_t sign_n = strlen(sign);
    size_t pad = s->width > n + sign_n ? s->width - n - sign_n : 0;
    bool zeros = s->zero && !s->left;
    return (s->left || zeros || put_repeated(sink, to, ' ', pad)) && sink(to, sign, sign_n) &&
           (!zeros || put_repeated(sink, to, '0', pad)) && sink(to, body, n) &&
           (!s->left || put_repeated(sink, to, ' ', pad));
}

static bool put_integer(sink_fn sink, void *to, const spec *s, bool negative, uint64_t magnitude) {
    char digits[24];
    size_t at = sizeof digits;
    const char *alphabet = s->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned base = s->conversion == 'x' || s->conversion == 'X' ? 16 : 10;
    do {
        digits[--at] = alphabet[magnitude % base];
        magnitude /= base;
    } while (magnitude > 0);
    return put_padded(sink, to, s, negative ? "-" : "", digits + at, sizeof digits - at);
}

/* va_list inside a struct, so that it can be passed on by address on every ABI. */
typedef struct arguments {
    va_list ap;
} arguments;

static int64_t next_signed(arguments *a, int length) {
    switch (length) {
    case 'l':
        return va_arg(a->ap, long);
    case 'q':
        return va_arg(a->ap, long long);
    case 'j':
        return va_arg(a->ap, intmax_t);
    case 'z':
    case 't':
        return va_arg(a->ap, ptrdiff_t);
    case 'h':
        return (short)va_arg(a->ap, int);
    case 'H':
        return (signed char)va_arg(a->ap, int);
    default:
        return va_arg(a->ap, int);
    }
}

static uint64_t next_unsigned(arguments *a, int length) {
    switch (length) {
    case 'l':
        return va_arg(a->ap, unsigned long);
    case 'q':
        return va_arg(a->ap, unsigned long long);
    case 'j':
        return va_arg(a->ap, uintmax_t);
    case 'z':
    case 't':
        return va_arg(a->ap, size_t);
    case 'h':
        return (unsigned short)va_arg(a->ap, unsigned);
    case 'H':
        return (unsigned char)va_arg(a->ap, unsigned);
    default:
        return va_arg(a->ap, unsigned);
    }
}

static size_t read_count(const char **fmt, arguments *a) {
    if (**fmt == '*') {
        (*fmt)++;
        int n = va_arg(a->ap, int);
        return n > 0 ? (size_t)n : 0;
    }
    size_t n = 0;
    while (**fmt >= '0' && **fmt <= '9') {
        n = n * 10 + (size_t)(*(*fmt)++ - '0');
    }
    return n;
}

/* Reads what follows a %; returns the place after the conversion letter. */
static const char *read_spec(const char *fmt, arguments *a, spec *s) {
    *s = (spec){0};
    for (; *fmt == '-' || *fmt == '0'; fmt++) {
        s->left |= *fmt == '-';
        s->zero |= *fmt == '0';
    }
    s->width = read_count(&fmt, a);
    if (*fmt == '.') {
        fmt++;
        s->has_precision = true;
        s->precision = read_count(&fmt, a);
    }
    for (; *fmt && strchr("hljzt", *fmt); fmt++) {
        s->length = *fmt == s->length ? (*fmt == 'l' ? 'q' : 'H') : *fmt;
    }
    s->conversion = *fmt;
    return *fmt ? fmt + 1 : fmt;
}

static bool put_string(sink_fn sink, void *to, const spec *s, const char *text) {
    text = text ? text : "(null)";
    size_t n = 0;
    while ((!s->has_precision || n < s->precision) && text[n]) {
        n++;
    }
    return put_padded(sink, to, s, "", text, n);
}

static bool put_conversion(sink_fn sink, void *to, const spec *s, arguments *a) {
    switch (s->conversion) {
    case 'd':
    case 'i': {
        int64_t v = next_signed(a, s->length);
        return put_integer(sink, to, s, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    }
    case 'u':
    case 'x':
    case 'X':
        return put_integer(sink, to, s, false, next_unsigned(a, s->length));
    case 's':
        return put_string(sink, to, s, va_arg(a->ap, const char *));
    case 'c': {
        char c = (char)va_arg(a->ap, int);
        return put_padded(sink, to, s, "", &c, 1);
    }
    default: /* %% and anything unknown stand for themselves */
        return sink(to, &s->conversion, s->conversion ? 1 : 0);
    }
}

static bool format(sink_fn sink, void *to, const char *fmt, arguments *a) {
    while (*fmt) {
        size_t plain = strcspn(fmt, "%");
        if (plain > 0 && !sink(to, fmt, plain)) {
            return false;
        }
        fmt += plain;
        if (*fmt == '%') {
            spec s;
            fmt = read_spec(fmt + 1, a, &s);
            if (!put_conversion(sink, to, &s, a)) {
                return false;
            }
        }
    }
    return true;
}

typedef struct fixed {
    char *out;
    size_t n, cap;
} fixed;

static bool fixed_sink(void *to, const char *bytes, size_t n) {
    fixed *f = to;
    size_t room = f->cap - f->n;
    size_t take = n < room ? n : room;
    memcpy(f->out + f->n, bytes, take);
    f->n += take;
    return take == n;
}

/* The longest prefix of s[0..n) that does not end inside a UTF-8 sequence. */
static size_t whole_characters(const char *s, size_t n) {
    size_t back = 0;
    while (back < 3 && back < n && ((unsigned char)s[n - 1 - back] & 0xC0) == 0x80) {
        back++;
    }
    if (back == n) {
        return n;
    }
    unsigned char lead = (unsigned char)s[n - 1 - back];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    return need > back + 1 ? n - 1 - back : n;
}

size_t gv_vfmt(char *out, size_t cap, const char *fmt, va_list ap) {
    if (cap == 0) {
        return 0;
    }
    fixed f = {out, 0, cap - 1};
    arguments a;
    va_copy(a.ap, ap);
    if (!format(fixed_sink, &f, fmt, &a)) {
        f.n = whole_characters(out, f.n);
    }
    va_end(a.ap);
    out[f.n] = '\0';
    return f.n;
}

size_t gv_fmt(char *out, size_t cap, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    size_t n = gv_vfmt(out, cap, fmt, ap);
    va_end(ap);
    return n;
}

static bool buf_sink(void *to, const char *bytes, size_t n) {
    return grove_buf_append(to, bytes, n) == GROVE_OK;
}

grove_status gv_buf_vfmt(grove_buf *buf, const char *fmt, va_list ap) {
    uint64_t before = buf->len;
    arguments a;
    va_copy(a.ap, ap);
    bool ok = format(buf_sink, buf, fmt, &a);
    va_end(a.ap);
    if (!ok) {
        buf->len = before;
        if (buf->data) {
            buf->data[before] = '\0';
        }
        return buf->env ? GROVE_E_NOMEM : GROVE_E_INVALID;
    }
    return GROVE_OK;
}

grove_status gv_buf_fmt(grove_buf *buf, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    grove_status st = gv_buf_vfmt(buf, fmt, ap);
    va_end(ap);
    return st;
}
