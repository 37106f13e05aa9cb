/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations, times, percentages and label selectors from any text. Oracle: what was read is written in a
 * normal form that reads back to the same value and is written the same again.
 */
#include <stdint.h>
#include <stdlib.h>

#include "value/scalar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok) {
    if (!ok) {
        abort();
    }
}

typedef grove_status (*parse_fn)(gv_str text, int64_t *out, grove_error *err);
typedef grove_status (*format_fn)(int64_t value, grove_buf *buf);

/* `unit`: what the normal form keeps of a value. */
static void check_number(gv_str text, parse_fn parse, format_fn format, int64_t unit,
                         grove_buf *buf) {
    int64_t value = 0, back = 0;
    grove_error err = GROVE_ERROR_INIT;
    if (parse(text, &value, &err) < 0) {
        check(err.message[0] != '\0');
        return;
    }
    grove_buf_clear(buf);
    check(format(value, buf) == GROVE_OK);
    const grove_status st = parse(gv_buf_view(buf), &back, NULL);
    /* The last instant of int64 loses its fraction towards the past, which int64 may not hold. */
    check(st == GROVE_OK || (st == GROVE_E_RANGE && value < INT64_MIN + unit));
    check(st < 0 || (back <= value && value - back < unit));
}

static gv_str no_label(const void *ctx, gv_str key) {
    (void)ctx;
    (void)key;
    return (gv_str){NULL, 0};
}

static void check_selector(grove_env *env, gv_str text, grove_buf *buf) {
    gv_selector *s = NULL, *again = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf second;
    if (gv_selector_parse(env, text, &s, &err) < 0) {
        check(err.message[0] != '\0' && err.column > 0 && err.column <= text.n + 1 && !s);
        return;
    }
    grove_buf_clear(buf);
    grove_buf_init(&second, env);
    check(gv_buf_c(buf, "") == GROVE_OK && gv_buf_c(&second, "") == GROVE_OK);
    check(gv_selector_format(s, buf) == GROVE_OK);
    check(gv_selector_parse(env, gv_buf_view(buf), &again, NULL) == GROVE_OK);
    check(gv_selector_format(again, &second) == GROVE_OK);
    check(gv_str_eq(gv_buf_view(buf), gv_buf_view(&second)));
    check(gv_selector_matches_by(s, no_label, NULL) ==
          gv_selector_matches_by(again, no_label, NULL));
    grove_buf_fini(&second);
    gv_selector_free(again);
    gv_selector_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const gv_str text = {(const char *)data, size};
    grove_env *env = NULL;
    grove_buf buf;
    int32_t percent = 0;
    check(grove_env_new(NULL, &env) == GROVE_OK);
    grove_buf_init(&buf, env);
    check_number(text, gv_duration_parse, gv_duration_format, 1, &buf);
    check_number(text, gv_time_parse, gv_time_format, 1000000000, &buf);
    check_number(text, gv_time_parse, gv_microtime_format, 1000, &buf);
    check(gv_percent_parse(text, &percent, NULL) < 0 || text.p[text.n - 1] == '%');
    check_selector(env, text, &buf);
    grove_buf_fini(&buf);
    grove_env_unref(env);
    return 0;
}
