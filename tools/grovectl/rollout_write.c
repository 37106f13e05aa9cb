/* SPDX-License-Identifier: Apache-2.0 */
/* A change of a set: to the running cluster, or of the file's set to standard output. */
#include "rollout.h"
#include "verbs.h"

#include <grove/kinds.h>
#include <stdio.h>

#ifdef GROVECTL_LIVE
#include "errand.h"
#endif

static int print_changed(const rollout_request *q, const io_object *set, grove_doc *patch) {
    grove_doc *changed = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf out;
    grove_buf_init(&out, q->env);
    int code = EXIT_USAGE;
    if (grove_merge_patch_apply(set->doc, set->node, patch, grove_doc_root(patch), &changed, &err) <
            0 ||
        grove_node_write_yaml(grove_doc_root(changed), 0, &out, &err) < 0) {
        io_print_error(set->file, &err);
    } else {
        code = io_write(&out);
    }
    grove_doc_unref(changed);
    grove_buf_fini(&out);
    return code;
}

#ifdef GROVECTL_LIVE
static int send_change(const rollout_request *q, const io_object *set, grove_doc *patch,
                       const char *done) {
    errand e;
    grove_op op = {.verb = GROVE_VERB_PATCH,
                   .kind = GROVE_KIND_PODCLIQUESET,
                   .ns = q->ns,
                   .name = io_name(set->node),
                   .patch_type = GROVE_PATCH_MERGE,
                   .body_doc = patch,
                   .body = grove_doc_root(patch)};
    if (errand_begin(&e, "grovectl", q->access.kubeconfig, q->access.context) < 0) {
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    if (errand_ask(&e, &op) < 0) {
        fprintf(stderr, "grovectl rollout: %s\n", e.message);
        code = EXIT_REFUSED;
    } else {
        printf("podcliqueset %s/%s: %s\n", q->ns, io_name(set->node), done);
    }
    errand_end(&e);
    return code;
}
#else
static int send_change(const rollout_request *q, const io_object *set, grove_doc *patch,
                       const char *done) {
    (void)done;
    return print_changed(q, set, patch); /* never reached: nothing was read from a cluster */
}
#endif

int rollout_write(const rollout_request *q, const io_object *set, grove_doc *patch,
                  const char *done) {
    if (!patch) {
        fprintf(stderr, "grovectl: out of memory\n");
        return EXIT_USAGE;
    }
    return q->access.asked ? send_change(q, set, patch, done) : print_changed(q, set, patch);
}
