/* SPDX-License-Identifier: Apache-2.0 */
/* Formatted text into a buffer. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_put(grove_buf *out, const char *fmt, ...) {
    char line[512], *long_line = NULL;
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    if (n >= (int)sizeof line && (long_line = malloc((size_t)n + 1))) {
        (void)vsnprintf(long_line, (size_t)n + 1, fmt, again);
        (void)grove_buf_append(out, long_line, (size_t)n);
    } else if (n > 0 && n < (int)sizeof line) {
        (void)grove_buf_append(out, line, (size_t)n);
    }
    free(long_line);
    va_end(again);
    va_end(ap);
}
