/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files for tests: reading, the data folders, golden comparison.
 *
 * Golden files live under tests/golden/. With GROVE_UPDATE_GOLDEN=1 in the environment they are written
 * instead of compared; review the difference before committing it.
 */
#ifndef TESTS_SUPPORT_FILES_H
#define TESTS_SUPPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Path of a file of the repository ("tests/golden/x.json"); free() it. */
char *test_path(const char *relative);
/* Path of a file in the folder `shared` beside the repository; NULL, with a note on stderr, where the
 * folder is not there: then skip() and say so. free() it. */
char *test_shared_path(const char *relative);

/* The whole file, NUL-terminated; NULL when it cannot be read. free() it. out_len may be NULL. */
char *test_read_path(const char *path, size_t *out_len);
/* The same for a file of the repository; fails the test when it is missing. */
char *test_read(const char *relative, size_t *out_len);

/* Compares with tests/golden/<name>, line by line; fails the test with a small diff. */
void test_golden(const char *name, const char *text, size_t len);
/* The same for the answer of a case that test_each_file gave: tests/golden/a/b.yaml has its answer in
 * tests/golden/a/b.out. `text` may be NULL when len is 0. */
void test_golden_beside(const char *relative, const char *text, size_t len);

/* Prints what differs between two texts as a unified diff of whole lines; true when they are equal. */
bool test_diff(const char *expected, size_t expected_len, const char *actual, size_t actual_len);

/* Calls each(path, ctx) for every file of a folder of the repository that ends in `suffix`, in sorted
 * order; returns how many there were. */
size_t test_each_file(const char *folder, const char *suffix,
                      void (*each)(const char *relative, void *ctx), void *ctx);

#endif
