/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `groved uninstall`: takes off the cluster what would stand in the way without an operator. With
 * --keep-workloads sets, cliques and pods stay as they are, for the operator that comes next.
 */
#include "../grovectl/errand.h"
#include "groved.h"

#include <grove/kinds.h>

#include <string.h>

#define TRIES 240
#define PAUSE_MS 500

static const struct {
    grove_kind kind;
    const char *name;
} hooks[] = {{GROVE_KIND_MUTATING_WEBHOOK, "podcliqueset-defaulting-webhook"},
             {GROVE_KIND_VALIDATING_WEBHOOK, "podcliqueset-validating-webhook"},
             {GROVE_KIND_VALIDATING_WEBHOOK, "clustertopology-validating-webhook"},
             {GROVE_KIND_VALIDATING_WEBHOOK, "authorizer-webhook"},
             {GROVE_KIND_VALIDATING_WEBHOOK, "scale-validating-webhook"}};

static const char *const definitions[] = {
    "podcliquesets.grove.io", "podcliques.grove.io", "podcliquescalinggroups.grove.io",
    "podgangs.scheduler.grove.io", "clustertopologybindings.grove.io"};

static int drop(errand *e, grove_kind kind, const char *ns, const char *name) {
    grove_op op = {.verb = GROVE_VERB_DELETE,
                   .kind = kind,
                   .ns = ns,
                   .name = name,
                   .grace_seconds = GROVE_GRACE_DEFAULT};
    grove_status st = errand_ask(e, &op);
    if (st < 0 && st != GROVE_E_NOT_FOUND) {
        groved_say("%s %s: %s", grove_kind_name(kind), name, e->message);
        return EXIT_FAILED;
    }
    if (st == GROVE_OK) {
        groved_say("deleted %s %s%s%s", grove_kind_name(kind), ns ? ns : "", ns ? "/" : "", name);
    }
    return EXIT_DONE;
}

/* A failing webhook would refuse what comes next, so they go first. */
static int drop_hooks(errand *e) {
    int code = EXIT_DONE;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        int one = drop(e, hooks[i].kind, NULL, hooks[i].name);
        code = code == EXIT_DONE ? one : code;
    }
    return code;
}

/* How many sets there are, or -1; the answer stays in e. */
static int64_t list_sets(errand *e) {
    grove_op op = {.verb = GROVE_VERB_LIST, .kind = GROVE_KIND_PODCLIQUESET};
    grove_status st = errand_ask(e, &op);
    if (st == GROVE_E_NOT_FOUND) {
        return 0; /* the definition is gone already */
    }
    if (st < 0) {
        groved_say("podcliquesets: %s", e->message);
        return -1;
    }
    return grove_node_size(grove_node_get(errand_answer(e), "items"));
}

/* The running operator takes their finalizers off, children first. */
static int drop_sets(errand *e) {
    if (list_sets(e) < 0) {
        return EXIT_FAILED;
    }
    grove_doc *list = e->doc ? grove_doc_ref(e->doc) : NULL;
    const grove_node *items = list ? grove_node_get(grove_doc_root(list), "items") : NULL, *set;
    int code = EXIT_DONE;
    for (set = grove_node_first(items); set; set = grove_node_next(items, set)) {
        const grove_node *metadata = grove_node_get(set, "metadata");
        int one = drop(e, GROVE_KIND_PODCLIQUESET,
                       grove_node_text(grove_node_get(metadata, "namespace")),
                       grove_node_text(grove_node_get(metadata, "name")));
        code = code == EXIT_DONE ? one : code;
    }
    grove_doc_unref(list);
    for (int i = 0; code == EXIT_DONE; i++) {
        int64_t left = list_sets(e);
        if (left <= 0) {
            return left < 0 ? EXIT_FAILED : EXIT_DONE;
        }
        if (i == TRIES) {
            groved_say("%d PodCliqueSets do not go: is the operator running?", (int)left);
            return EXIT_FAILED;
        }
        errand_wait(e, PAUSE_MS);
    }
    return code;
}

int groved_uninstall(const groved_options *options) {
    errand e;
    int begun = errand_begin(&e, "groved", options->kubeconfig, options->context);
    int code = begun < 0 ? EXIT_WRONG_USAGE : EXIT_DONE;
    if (code != EXIT_DONE) {
        return code;
    }
    if (options->keep_workloads) {
        code = drop_hooks(&e);
        if (code == EXIT_DONE) {
            groved_say("sets, their pods and the resource definitions stay");
        }
    } else {
        code = drop_sets(&e);
        code = code == EXIT_DONE ? drop_hooks(&e) : code;
        for (size_t i = 0; code == EXIT_DONE && i < sizeof definitions / sizeof *definitions; i++) {
            code = drop(&e, GROVE_KIND_CRD, NULL, definitions[i]);
        }
    }
    errand_end(&e);
    return code;
}
