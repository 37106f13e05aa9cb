/* SPDX-License-Identifier: Apache-2.0 */
/* Random JSON texts. */
#include "support/random_json.h"

static const char *const numbers[] = {"0",
                                      "-0",
                                      "1",
                                      "1.0",
                                      "10e-1",
                                      "-7",
                                      "9223372036854775807",
                                      "9007199254740993",
                                      "1e400",
                                      "0.1",
                                      "1E-7",
                                      "12e3",
                                      "0.50",
                                      "-2.5",
                                      "5e-1",
                                      "100",
                                      "1e2",
                                      "0e9",
                                      "3.25"};
static const char *const strings[] = {
    "",           "a",    "x\\u0000y", "\\\"quoted\\\"", "caf\xC3\xA9", "\\ud83d\\ude00",
    "line\\nend", "\\\\", "/",         "true",           "0",           "\x7F"};
static const char *const keys[] = {"a",  "b", "c",        "spec",      "a/b",  "m~n",
                                   "~1", "",  "\\u0061a", "k\xC3\xA9", "\\\"", "-"};

#define PICK(r, list) (list)[gv_prng_below((r), sizeof(list) / sizeof *(list))]

static void random_object(gv_prng *r, unsigned depth, grove_buf *out) {
    gv_buf_char(out, '{');
    const bool large = gv_prng_below(r, 20) == 0;
    const uint64_t n = gv_prng_below(r, large ? 80 : 5);
    const uint64_t shift = gv_prng_below(r, 64);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t k = (i * 7 + shift) % 997;
        gv_buf_c(out, i > 0 ? ", " : "");
        if (large || k >= sizeof keys / sizeof *keys) {
            gv_buf_fmt(out, "\"key%llu\":", (unsigned long long)k);
        } else {
            gv_buf_fmt(out, "\"%s\" : ", keys[k]);
        }
        random_json(r, depth, out);
    }
    gv_buf_char(out, '}');
}

static void random_array(gv_prng *r, unsigned depth, grove_buf *out) {
    gv_buf_char(out, '[');
    const uint64_t n = gv_prng_below(r, 5);
    for (uint64_t i = 0; i < n; i++) {
        gv_buf_c(out, i > 0 ? ",\n" : "");
        random_json(r, depth, out);
    }
    gv_buf_char(out, ']');
}

void random_json(gv_prng *r, unsigned depth, grove_buf *out) {
    static const char *const words[] = {"true", "false", "null"};
    switch (gv_prng_below(r, depth > 0 ? 8 : 4)) {
    case 0:
        gv_buf_c(out, PICK(r, words));
        break;
    case 1:
        gv_buf_fmt(out, "\"%s\"", PICK(r, strings));
        break;
    case 2:
    case 3:
        gv_buf_c(out, PICK(r, numbers));
        break;
    case 4:
    case 5:
        random_array(r, depth - 1, out);
        break;
    default:
        random_object(r, depth - 1, out);
        break;
    }
}
