/* SPDX-License-Identifier: Apache-2.0 */
/* Reading test data and comparing with golden files. */
#include "support/files.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *join(const char *folder, const char *name) {
    const size_t n = strlen(folder) + strlen(name) + 2;
    char *path = malloc(n);
    if (path) {
        snprintf(path, n, "%s/%s", folder, name);
    }
    return path;
}

char *test_path(const char *relative) {
    return join(GROVE_SOURCE_ROOT, relative);
}

char *test_shared_path(const char *relative) {
    char *path = join(GROVE_SOURCE_ROOT "/../shared", relative);
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (!f) {
        fprintf(stderr, "SKIPPED: shared/%s is not here\n", relative);
        free(path);
        return NULL;
    }
    fclose(f);
    return path;
}

char *test_read_path(const char *path, size_t *out_len) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0;
    size_t cap = 0;
    while (f && !feof(f) && !ferror(f)) {
        if (cap - n < 2) {
            cap = cap ? cap * 2 : 4096;
            char *grown = realloc(text, cap);
            if (!grown) {
                break;
            }
            text = grown;
        }
        n += fread(text + n, 1, cap - n - 1, f);
    }
    const bool ok = f && feof(f) && !ferror(f);
    if (f) {
        fclose(f);
    }
    if (!ok) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    if (out_len) {
        *out_len = n;
    }
    return text;
}

char *test_read(const char *relative, size_t *out_len) {
    char *path = test_path(relative);
    char *text = test_read_path(path, out_len);
    if (!text) {
        fail_msg("cannot read %s", relative);
    }
    free(path);
    return text;
}

/* Length of the line at text[at], its newline included. */
static size_t line_length(const char *text, size_t len, size_t at) {
    const char *end = memchr(text + at, '\n', len - at);
    return end ? (size_t)(end - text) + 1 - at : len - at;
}

static void print_lines(char mark, const char *text, size_t len, size_t from, size_t to,
                        size_t most) {
    while (from < to && most-- > 0) {
        const size_t n = line_length(text, len, from);
        fprintf(stderr, "%c %.*s%s", mark, (int)n, text + from,
                text[from + n - 1] == '\n' ? "" : "\n");
        from += n;
    }
    if (from < to) {
        fprintf(stderr, "%c ... %zu bytes more\n", mark, to - from);
    }
}

bool test_diff(const char *expected, size_t expected_len, const char *actual, size_t actual_len) {
    size_t begin = 0;
    size_t line = 1;
    const size_t shorter = expected_len < actual_len ? expected_len : actual_len;
    if (expected_len == actual_len && memcmp(expected, actual, shorter) == 0) {
        return true;
    }
    for (;;) { /* common lines in front */
        const size_t ne = line_length(expected, expected_len, begin);
        const size_t na = line_length(actual, actual_len, begin);
        if (ne == 0 || ne != na || memcmp(expected + begin, actual + begin, ne) != 0) {
            break;
        }
        begin += ne;
        line++;
    }
    size_t tail = 0; /* common bytes at the end, whole lines only */
    while (tail < shorter - begin &&
           expected[expected_len - 1 - tail] == actual[actual_len - 1 - tail]) {
        tail++;
    }
    while (tail > 0 && actual[actual_len - tail - 1] != '\n') {
        tail--;
    }
    fprintf(stderr, "@@ line %zu (- expected, + actual)\n", line);
    print_lines('-', expected, expected_len, begin, expected_len - tail, 20);
    print_lines('+', actual, actual_len, begin, actual_len - tail, 20);
    return false;
}

static void write_golden(const char *path, const char *name, const char *text, size_t len) {
    FILE *f = fopen(path, "wb");
    const bool ok = f && fwrite(text, 1, len, f) == len;
    if (!f || fclose(f) != 0 || !ok) {
        fail_msg("cannot write tests/golden/%s", name);
    }
}

void test_golden(const char *name, const char *text, size_t len) {
    char *folder = test_path("tests/golden");
    char *path = join(folder, name);
    const char *update = getenv("GROVE_UPDATE_GOLDEN");
    size_t expected_len = 0;
    char *expected = test_read_path(path, &expected_len);
    if (update && strcmp(update, "1") == 0) {
        if (!expected || expected_len != len || memcmp(expected, text, len) != 0) {
            write_golden(path, name, text, len);
        }
    } else if (!expected) {
        fail_msg("tests/golden/%s is missing (GROVE_UPDATE_GOLDEN=1 writes it)", name);
    } else if (!test_diff(expected, expected_len, text, len)) {
        fail_msg("tests/golden/%s differs (GROVE_UPDATE_GOLDEN=1 rewrites it)", name);
    }
    free(expected);
    free(path);
    free(folder);
}

void test_golden_beside(const char *relative, const char *text, size_t len) {
    const char *root = "tests/golden/", *dot = strrchr(relative, '.');
    char name[160];
    if (strncmp(relative, root, strlen(root)) != 0 || !dot) {
        fail_msg("%s is no case of %s", relative, root);
        return;
    }
    relative += strlen(root);
    snprintf(name, sizeof name, "%.*s.out", (int)(dot - relative), relative);
    test_golden(name, len ? text : "", len);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t test_each_file(const char *folder, const char *suffix,
                      void (*each)(const char *relative, void *ctx), void *ctx) {
    char *path = test_path(folder);
    char **names = NULL;
    size_t n = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        const size_t len = strlen(e->d_name);
        const size_t end = strlen(suffix);
        if (len >= end && e->d_name[0] != '.' && strcmp(e->d_name + len - end, suffix) == 0) {
            names = realloc(names, (n + 1) * sizeof *names);
            assert_non_null(names);
            names[n++] = join(folder, e->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    free(path);
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++) {
        each(names[i], ctx);
        free(names[i]);
    }
    free(names);
    return n;
}
