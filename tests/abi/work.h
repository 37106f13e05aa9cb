/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder do with a library that they opened by hand: some of its work, through every layer. */
#ifndef TESTS_ABI_WORK_H
#define TESTS_ABI_WORK_H

#include <grove/grove.h>

/** Opens the library at `path`; NULL, with words on stderr, when that fails. */
void *work_open(const char *path);
/**
 * Parses, defaults, validates, renders and hashes a small set with the library's own functions, and sees that
 * bad input is refused; *out_hash is what it came to. Returns 0 when all went well.
 */
int work_do(void *library, uint64_t *out_hash);

#endif
