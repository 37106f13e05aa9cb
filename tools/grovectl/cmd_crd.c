/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl crd: prints the CustomResourceDefinitions. */
#include <stdio.h>
#include <string.h>

#include <grove/admission.h>

#include "verbs.h"

static const char HELP[] =
    "usage: grovectl crd [KIND...] [--set upstream|extended]\n"
    "\n"
    "Prints the CustomResourceDefinition of each KIND (PodCliqueSet, pcs, podcliquesets, ...), all "
    "five\n"
    "of Grove without one, as YAML documents for `kubectl apply -f -`. The extended set has the "
    "fields that\n"
    "libgrove has beside Grove's.\n"
    "\n"
    "Exit status: 0 printed; 2 a KIND has no definition, or the output cannot be written.\n";

static const char *const all[] = {"PodCliqueSet", "PodClique", "PodCliqueScalingGroup",
                                  "ClusterTopologyBinding", "PodGang"};

static int print(grove_env *env, uint32_t set, const char *const *kinds, int n) {
    grove_buf out;
    int code = EXIT_OK;
    grove_buf_init(&out, env);
    for (int i = 0; i < n && code == EXIT_OK; i++) {
        grove_error err = GROVE_ERROR_INIT;
        grove_status status = n > 1 ? grove_buf_append(&out, "---\n", 4) : GROVE_OK;
        if (status == GROVE_OK) {
            status = grove_crd_write(env, kinds[i], set, &out, &err);
        }
        if (status < 0) {
            fprintf(stderr, "grovectl crd: %s: %s\n", kinds[i],
                    err.message[0] ? err.message : grove_status_name(status));
            code = EXIT_USAGE;
        }
    }
    if (code == EXIT_OK && fwrite(out.data, 1, (size_t)out.len, stdout) != out.len) {
        perror("grovectl crd");
        code = EXIT_USAGE;
    }
    grove_buf_fini(&out);
    return code;
}

int cmd_crd(int argc, char **argv) {
    const char *kinds[64];
    uint32_t set = GROVE_CRD_UPSTREAM;
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(HELP, stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--set") == 0 && i + 1 < argc &&
            (strcmp(argv[i + 1], "upstream") == 0 || strcmp(argv[i + 1], "extended") == 0)) {
            set = argv[++i][0] == 'e' ? GROVE_CRD_EXTENDED : GROVE_CRD_UPSTREAM;
            continue;
        }
        if (argv[i][0] == '-' || n == 64) {
            fputs(HELP, stderr);
            return EXIT_USAGE;
        }
        kinds[n++] = argv[i];
    }
    grove_env *env = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        fputs("grovectl crd: out of memory\n", stderr);
        return EXIT_USAGE;
    }
    int code = n > 0 ? print(env, set, kinds, n) : print(env, set, all, 5);
    grove_env_unref(env);
    return code;
}
