/* SPDX-License-Identifier: Apache-2.0 */
/* Formatted text into a buffer. */
#ifndef GROVED_TEXT_H
#define GROVED_TEXT_H

#include <grove/buf.h>

/* Appends; a text that finds no memory is left out. */
void text_put(grove_buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
