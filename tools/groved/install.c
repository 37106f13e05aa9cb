/* SPDX-License-Identifier: Apache-2.0 */
/* `groved install-crds`: the resource definitions, applied by the server and waited for. */
#include "../grovectl/errand.h"
#include "groved.h"

#include <grove/admission.h>
#include <grove/kinds.h>

#include <string.h>

#define TRIES 60
#define PAUSE_MS 250

static const grove_kind defined[] = {GROVE_KIND_CLUSTERTOPOLOGYBINDING, GROVE_KIND_PODCLIQUESET,
                                     GROVE_KIND_PODCLIQUESCALINGGROUP, GROVE_KIND_PODCLIQUE,
                                     GROVE_KIND_PODGANG};

static grove_status definition(errand *e, grove_kind kind, uint32_t set, grove_doc **out,
                               grove_error *err) {
    grove_buf text;
    grove_buf_init(&text, e->env);
    grove_status st = grove_crd_write(e->env, grove_kind_name(kind), set, &text, err);
    if (st == GROVE_OK) {
        st = grove_doc_parse_yaml(e->env, text.data, (size_t)text.len, 0, out, err);
    }
    grove_buf_fini(&text);
    return st;
}

static int apply(errand *e, grove_kind kind, uint32_t set) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *doc = NULL;
    if (definition(e, kind, set, &doc, &err) < 0) {
        groved_say("%s: %s", grove_kind_name(kind), err.message);
        return EXIT_FAILED;
    }
    const char *name = grove_node_text(grove_node_at_path(grove_doc_root(doc), "/metadata/name"));
    grove_op op = {.verb = GROVE_VERB_APPLY,
                   .kind = GROVE_KIND_CRD,
                   .flags = GROVE_OP_FORCE,
                   .name = name,
                   .body_doc = doc};
    int code = EXIT_DONE;
    if (errand_ask(e, &op) < 0) {
        groved_say("%s: %s", name, e->message);
        code = EXIT_FAILED;
    } else {
        groved_say("applied %s", name);
    }
    grove_doc_unref(doc);
    return code;
}

/* A definition is accepted some time before its resource is served. */
static int wait_for(errand *e, grove_kind kind) {
    for (int i = 0; i < TRIES; i++) {
        grove_op op = {.verb = GROVE_VERB_LIST, .kind = kind, .limit = 1};
        if (errand_ask(e, &op) == GROVE_OK) {
            return EXIT_DONE;
        }
        errand_wait(e, PAUSE_MS);
    }
    groved_say("%s is not served: %s", grove_kind_plural(kind), e->message);
    return EXIT_FAILED;
}

int groved_install_crds(const groved_options *options) {
    errand e;
    uint32_t set = GROVE_CRD_UPSTREAM;
    if (strcmp(options->set, "extended") == 0) {
        set = GROVE_CRD_EXTENDED;
    } else if (strcmp(options->set, "upstream") != 0) {
        groved_say("--set takes upstream or extended");
        return EXIT_WRONG_USAGE;
    }
    int begun = errand_begin(&e, "groved", options->kubeconfig, options->context);
    int code = begun < 0 ? EXIT_WRONG_USAGE : EXIT_DONE;
    size_t n = sizeof defined / sizeof *defined;
    for (size_t i = 0; code == EXIT_DONE && i < n; i++) {
        code = apply(&e, defined[i], set);
    }
    for (size_t i = 0; code == EXIT_DONE && i < n; i++) {
        code = wait_for(&e, defined[i]);
    }
    if (begun == 0) {
        errand_end(&e);
    }
    return code;
}
