/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubeconfig texts: what is accepted has a server that can be connected to; what is refused has a message
 * that quotes no value of the text (the seeds mark theirs with "hunter2"), but the name of what is missing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/access.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    grove_error err = GROVE_ERROR_INIT;
    gv_k8s_access a;
    if (grove_env_new(NULL, &env) < 0) {
        return 0;
    }
    grove_status st = gv_k8s_kubeconfig_text(env, (const char *)data, size, "/base", NULL, &a,
                                             &err);
    if (st == GROVE_OK) {
        if (!a.server || !strstr(a.server, "://") || !a.ns) {
            abort();
        }
        gv_k8s_access_fini(&a);
    } else if (err.message[0] == '\0' ||
               (strstr(err.message, "hunter2") && !strstr(err.message, " of this name"))) {
        abort();
    }
    grove_env_unref(env);
    return 0;
}
