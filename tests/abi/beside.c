/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two builds of the library in one process, say of 0.1.0 and of today, brought along by two plug-ins: each does
 * its own work, in turn and in two threads at once, and the one that stays works after the other has gone.
 *
 *     abi_beside LIBRARY OTHER
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "work.h"

enum { ROUNDS = 50 };

typedef struct {
    void *library;
    uint64_t expect;
    int bad;
} worker;

static void *work_rounds(void *arg) {
    worker *w = arg;
    for (int i = 0; i < ROUNDS && !w->bad; i++) {
        uint64_t hash = 0;
        w->bad = work_do(w->library, &hash) || hash != w->expect;
    }
    return NULL;
}

int main(int argc, char **argv) {
    worker w[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        w[i].library = argc == 3 ? work_open(argv[1 + i]) : NULL;
        if (!w[i].library || work_do(w[i].library, &w[i].expect)) {
            return 1;
        }
    }
    if (dlsym(w[0].library, "grove_version") == dlsym(w[1].library, "grove_version")) {
        fprintf(stderr, "the two are one\n");
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, work_rounds, &w[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    dlclose(w[0].library);
    work_rounds(&w[1]);
    dlclose(w[1].library);
    return w[0].bad || w[1].bad;
}
