/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without a fuzzer: every file of the folders named on the command line, then seeded
 * mutants of them, so that each corpus is a test on every compiler.
 *
 *     fuzz_json [--mutants N] [--seed S] FOLDER...
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static uint64_t prng_state;

static uint64_t next_random(void) {
    uint64_t z = (prng_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void die(const char *what, const char *name) {
    fprintf(stderr, "fuzz driver: %s: %s\n", what, name);
    exit(2);
}

static void *checked_alloc(size_t n) {
    void *p = malloc(n > 0 ? n : 1);
    if (!p) {
        die("out of memory", "input");
    }
    return p;
}

static input read_file(const char *path) {
    input in = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        die("cannot read", path);
    }
    long size = ftell(f);
    if (size < 0 || fseek(f, 0, SEEK_SET) != 0) {
        die("cannot read", path);
    }
    in.size = (size_t)size;
    in.data = checked_alloc(in.size);
    if (fread(in.data, 1, in.size, f) != in.size) {
        die("cannot read", path);
    }
    fclose(f);
    return in;
}

/* The target sees a block of exactly `size` bytes, so that a read past the end is seen by a sanitizer. */
static void run_one(const uint8_t *data, size_t size) {
    uint8_t *copy = checked_alloc(size);
    if (size > 0) {
        memcpy(copy, data, size);
    }
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Flips bits, writes odd bytes, cuts, doubles a slice: enough to leave the well-formed paths. */
static size_t mutate(uint8_t *data, size_t size, size_t cap) {
    static const uint8_t odd[] = {0, 0x7f, 0x80, 0xff, '"', '\\', '{', '[', ':', '-', '9', '\n'};
    uint64_t edits = 1 + next_random() % 4;
    for (uint64_t i = 0; i < edits && size > 0; i++) {
        size_t at = (size_t)(next_random() % size);
        switch (next_random() % 4) {
        case 0:
            data[at] = (uint8_t)(data[at] ^ (1u << (next_random() % 8)));
            break;
        case 1:
            data[at] = odd[next_random() % sizeof odd];
            break;
        case 2:
            size = at;
            break;
        default: {
            size_t n = (size_t)(next_random() % 32) + 1;
            n = n < size - at ? n : size - at;
            if (size + n <= cap) {
                memmove(data + at + n, data + at, size - at);
                size += n;
            }
        }
        }
    }
    return size;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t read_folder(const char *folder, input **inputs, size_t n) {
    char **names = NULL;
    size_t count = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        die("cannot open folder", folder);
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_name[0] == '.') {
            continue;
        }
        names = realloc(names, (count + 1) * sizeof *names);
        size_t len = strlen(folder) + strlen(e->d_name) + 2;
        if (!names) {
            die("out of memory", folder);
        }
        names[count] = checked_alloc(len);
        snprintf(names[count++], len, "%s/%s", folder, e->d_name);
    }
    closedir(dir);
    if (count > 0) {
        qsort(names, count, sizeof *names, by_name);
        *inputs = realloc(*inputs, (n + count) * sizeof **inputs);
        if (!*inputs) {
            die("out of memory", folder);
        }
    }
    for (size_t i = 0; i < count; i++) {
        (*inputs)[n + i] = read_file(names[i]);
        free(names[i]);
    }
    free(names);
    return n + count;
}

int main(int argc, char **argv) {
    uint64_t mutants = 2000;
    uint64_t seed = 1;
    input *inputs = NULL;
    size_t n = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--mutants") == 0 && i + 1 < argc) {
            mutants = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 10);
        } else {
            n = read_folder(argv[i], &inputs, n);
        }
    }
    if (n == 0) {
        die("no input: an empty corpus proves nothing", argc > 1 ? argv[argc - 1] : "(no folder)");
    }
    for (size_t i = 0; i < n; i++) {
        run_one(inputs[i].data, inputs[i].size);
    }
    run_one(NULL, 0);
    prng_state = seed;
    for (uint64_t i = 0; i < mutants; i++) {
        const input *in = &inputs[next_random() % n];
        size_t cap = in->size * 2 + 64;
        uint8_t *data = checked_alloc(cap);
        memcpy(data, in->data, in->size);
        run_one(data, mutate(data, in->size, cap));
        free(data);
    }
    printf("%zu inputs, %" PRIu64 " mutants, seed %" PRIu64 ": no finding\n", n, mutants, seed);
    for (size_t i = 0; i < n; i++) {
        free(inputs[i].data);
    }
    free(inputs);
    return 0;
}
