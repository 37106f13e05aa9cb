/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl: finds the verb and runs it. */
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const verb grovectl_verbs[] = {
    {"migrate", "objects of older releases in today's form", cmd_migrate},
    {"crd", "print the resource definitions", cmd_crd},
    {"place", "decide where gangs go", cmd_place},
    {"default", "objects as a cluster would store them", cmd_default},
    {"render", "every child object of a PodCliqueSet, offline", cmd_render},
    {"validate", "what a cluster would say about manifests", cmd_validate},
    {"sim", "manifests and scenarios on the embedded cluster", cmd_sim},
    {"demo", "the main job on the embedded cluster", cmd_demo},
    {"explain", "why an object of a cluster waits", cmd_explain},
    {"rollout", "how far an update is; pause, resume, restart, undo it", cmd_rollout},
    {"plan", "what scaling a role would bring, and which ratio is the bottleneck", cmd_plan},
    {"fit", "would manifests find room on a cluster", cmd_fit},
    {"whatif", "which gangs keep room when nodes go or come", cmd_whatif},
    {"tree", "sets of a cluster with what hangs below them", cmd_tree},
    {"status", "what is not as it should be on a cluster", cmd_status},
    {"doctor", "what a cluster lacks, and what stands in the way", cmd_doctor},
    {NULL, NULL, NULL},
};

static void usage(FILE *out) {
    fputs("usage: grovectl VERB [ARGS...]\n\nVerbs:\n", out);
    for (const verb *v = grovectl_verbs; v->name; v++) {
        fprintf(out, "  %-10s %s\n", v->name, v->summary);
    }
}

/*
 * The words with each --option=value as two, as kubectl lets people write it. NULL: no memory. Freed by the
 * caller; the words are those of argv.
 */
static char **split_values(int argc, char **argv, int *out_n) {
    char **words = calloc(2 * (size_t)argc + 1, sizeof *words);
    *out_n = 0;
    for (int i = 0; words && i < argc; i++) {
        char *sign = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        words[(*out_n)++] = argv[i];
        if (sign) {
            *sign = '\0';
            words[(*out_n)++] = sign + 1;
        }
    }
    return words;
}

static int run(const verb *v, int argc, char **argv) {
    int n = 0;
    char **words = split_values(argc, argv, &n);
    if (!words) {
        fputs("grovectl: out of memory\n", stderr);
        return EXIT_USAGE;
    }
    int code = v->run(n, words);
    free(words);
    return code;
}

int main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0) {
        usage(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_OK;
    }
    for (const verb *v = grovectl_verbs; v->name; v++) {
        if (strcmp(argv[1], v->name) == 0) {
            return run(v, argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "grovectl: unknown verb '%s'\n", argv[1]);
    usage(stderr);
    return EXIT_USAGE;
}
