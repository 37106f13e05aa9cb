/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that loads the library as a plug-in, works and unloads it, a thousand times: afterwards the heap, the
 * mappings and the open files are what they were after the first times.
 *
 *     abi_reload LIBRARY
 */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>

#include "work.h"

enum { WARM = 20, ROUNDS = 1000 };

typedef struct {
    size_t heap;
    long mapped_lines;
    long files;
} holding;

static long lines_of(const char *path) {
    FILE *f = fopen(path, "r");
    long n = 0;
    for (int ch = f ? getc(f) : EOF; ch != EOF; ch = getc(f)) {
        n += ch == '\n';
    }
    if (f) {
        fclose(f);
    }
    return n;
}

static long files_open(void) {
    DIR *folder = opendir("/proc/self/fd");
    long n = 0;
    while (folder && readdir(folder)) {
        n++;
    }
    if (folder) {
        closedir(folder);
    }
    return n;
}

static holding held(void) {
    holding now = {mallinfo2().uordblks, lines_of("/proc/self/maps"), files_open()};
    return now;
}

static int round_trip(const char *path, uint64_t *hash) {
    void *library = work_open(path);
    if (!library || work_do(library, hash)) {
        return 1;
    }
    if (dlclose(library) != 0) {
        return 1;
    }
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
        fprintf(stderr, "the library stays loaded\n");
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    uint64_t first = 0, hash = 0;
    holding before = {0, 0, 0};
    if (argc != 2 || round_trip(argv[1], &first)) {
        return 1;
    }
    for (int i = 0; i < WARM + ROUNDS; i++) {
        if (i <= WARM) {
            before = held(); /* looking takes memory, too: the last look counts */
        }
        if (round_trip(argv[1], &hash) || hash != first) {
            fprintf(stderr, "round %d\n", i);
            return 1;
        }
    }
    holding after = held();
    printf("%d rounds: heap %zu -> %zu, mappings %ld -> %ld, files %ld -> %ld\n", ROUNDS,
           before.heap, after.heap, before.mapped_lines, after.mapped_lines, before.files,
           after.files);
    return after.heap > before.heap || after.mapped_lines > before.mapped_lines ||
           after.files > before.files;
}
