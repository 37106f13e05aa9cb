/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl doctor: is everything there that Grove needs, and does anything stand in its way? */
#include "live.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: grovectl doctor [--kubeconfig FILE] [--context NAME]\n"
    "\n"
    "Looks at a cluster: resource definitions, webhooks and who answers them, the operator's "
    "Lease,\n"
    "schedulers' kinds and who needs them, nodes, sets that do not go and gangs that wait. A line\n"
    "for each, ok, note or bad; what to do stands behind it.\n"
    "Exit status: 0 nothing bad, 1 something is, 2 wrong usage or no cluster.\n";

#ifdef GROVECTL_LIVE
#include "errand.h"

#include <grove/kinds.h>

#define STUCK_SECONDS 300 /* a set with a thousand pods is gone by then */

typedef struct visit {
    errand e;
    int bad;
} visit;

static void say(visit *v, const char *level, const char *what, const char *more) {
    v->bad += strcmp(level, "bad") == 0;
    printf("%-4s  %s%s%s\n", level, what, more[0] ? ": " : "", more);
}

static grove_status get(visit *v, grove_kind kind, const char *ns, const char *name) {
    grove_op op = {.verb = GROVE_VERB_GET, .kind = kind, .ns = ns, .name = name};
    return errand_ask(&v->e, &op);
}

/* -1: not served, or not readable. */
static int64_t count(visit *v, grove_kind kind) {
    grove_op op = {.verb = GROVE_VERB_LIST, .kind = kind};
    return errand_ask(&v->e, &op) < 0
               ? -1
               : (int64_t)grove_node_size(grove_node_get(errand_answer(&v->e), "items"));
}

static void check_definitions(visit *v) {
    static const grove_kind needed[] = {GROVE_KIND_PODCLIQUESET, GROVE_KIND_PODCLIQUE,
                                        GROVE_KIND_PODCLIQUESCALINGGROUP, GROVE_KIND_PODGANG,
                                        GROVE_KIND_CLUSTERTOPOLOGYBINDING};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char text[120];
        int64_t n = count(v, needed[i]);
        (void)snprintf(text, sizeof text, "%lld", (long long)n);
        if (n < 0) {
            say(v, "bad", grove_kind_plural(needed[i]),
                v->e.status == GROVE_E_NOT_FOUND ? "not served; run: groved install-crds"
                                                 : v->e.message);
        } else {
            say(v, "ok", grove_kind_plural(needed[i]), text);
        }
    }
}

/* Why nobody can answer this webhook; "" when somebody may. The configuration is the last answer. */
static const char *unanswered(visit *v) {
    const grove_node *client = grove_node_at_path(errand_answer(&v->e), "/webhooks/0/clientConfig");
    const char *bundle = grove_node_text(grove_node_get(client, "caBundle"));
    const char *ns = grove_node_text(grove_node_at_path(client, "/service/namespace"));
    const char *name = grove_node_text(grove_node_at_path(client, "/service/name"));
    if (!bundle || !bundle[0]) {
        return "trusts no certificate, so every PodCliqueSet is refused";
    }
    grove_doc *held = grove_doc_ref(v->e.doc); /* ns and name are its texts */
    int missing = ns && name && get(v, GROVE_KIND_SERVICE, ns, name) == GROVE_E_NOT_FOUND;
    grove_doc_unref(held);
    return missing ? "its Service does not exist, so every PodCliqueSet is refused; run groved, or "
                     "groved uninstall --keep-workloads"
                   : "";
}

static void check_hooks(visit *v) {
    static const struct {
        grove_kind kind;
        const char *name;
    } hooks[] = {{GROVE_KIND_MUTATING_WEBHOOK, "podcliqueset-defaulting-webhook"},
                 {GROVE_KIND_VALIDATING_WEBHOOK, "podcliqueset-validating-webhook"},
                 {GROVE_KIND_VALIDATING_WEBHOOK, "clustertopology-validating-webhook"}};
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        if (get(v, hooks[i].kind, NULL, hooks[i].name) < 0) {
            say(v, "note", hooks[i].name,
                v->e.status == GROVE_E_NOT_FOUND
                    ? "not registered: nothing is judged on entry but by deploy/webhook-free"
                    : v->e.message);
            continue;
        }
        const char *why = unanswered(v);
        say(v, why[0] ? "bad" : "ok", hooks[i].name, why);
    }
}

static void check_lease(visit *v) {
    char text[400];
    grove_op op = {.verb = GROVE_VERB_LIST, .kind = GROVE_KIND_LEASE};
    op.field_selector = "metadata.name=grove-operator-leader-election";
    if (errand_ask(&v->e, &op) < 0) {
        say(v, "note", "the operator's Lease", v->e.message);
        return;
    }
    const grove_node *items = grove_node_get(errand_answer(&v->e), "items");
    const grove_node *lease = grove_node_first(items);
    const char *holder = grove_node_text(grove_node_at_path(lease, "/spec/holderIdentity"));
    const char *ns = grove_node_text(grove_node_at_path(lease, "/metadata/namespace"));
    const char *renewed = grove_node_text(grove_node_at_path(lease, "/spec/renewTime"));
    if (!holder || !holder[0]) {
        say(v, "bad", "the operator's Lease", "nobody holds it: is groved running, with election?");
        return;
    }
    (void)snprintf(text, sizeof text, "held by %s in %s, renewed %s", holder, ns ? ns : "?",
                   renewed ? renewed : "never");
    say(v, "ok", "the operator's Lease", text);
    if (grove_node_size(items) > 1) {
        say(v, "bad", "the operator's Lease",
            "there is one in more than one namespace: two operators?");
    }
}

/* Whether a clique of any set asks for this scheduler. */
static int is_asked_for(visit *v, const char *scheduler) {
    if (!scheduler || count(v, GROVE_KIND_PODCLIQUESET) <= 0) {
        return 0;
    }
    const grove_node *sets = grove_node_get(errand_answer(&v->e), "items"), *set;
    for (set = grove_node_first(sets); set; set = grove_node_next(sets, set)) {
        const grove_node *list = grove_node_at_path(set, "/spec/template/cliques"), *c;
        for (c = grove_node_first(list); c; c = grove_node_next(list, c)) {
            const char *name = grove_node_text(
                grove_node_at_path(c, "/spec/podSpec/schedulerName"));
            if (name && strcmp(name, scheduler) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static void check_optional(visit *v) {
    static const struct {
        grove_kind kind;
        const char *without, *scheduler; /* sets that name it cannot live without; NULL: none do */
    } kinds[] = {
        {GROVE_KIND_KAI_PODGROUP, "not served: profile kai-scheduler cannot work", "kai-scheduler"},
        {GROVE_KIND_VOLCANO_PODGROUP, "not served: profile volcano cannot work", "volcano"},
        {GROVE_KIND_RESOURCECLAIM, "not served: no shared resource claims", NULL},
        {GROVE_KIND_COMPUTEDOMAIN, "not served: no automatic NVLink domains", NULL}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char what[160];
        (void)snprintf(what, sizeof what, "%s.%s", grove_kind_plural(kinds[i].kind),
                       grove_kind_group(kinds[i].kind));
        int missing = count(v, kinds[i].kind) < 0;
        int needed = missing && is_asked_for(v, kinds[i].scheduler);
        say(v, needed ? "bad" : missing ? "note" : "ok", what, missing ? kinds[i].without : "");
    }
}

static void check_nodes(visit *v) {
    char text[120];
    int64_t n = count(v, GROVE_KIND_NODE), ready = 0;
    const grove_node *items = grove_node_get(errand_answer(&v->e), "items"), *node;
    for (node = grove_node_first(items); node; node = grove_node_next(items, node)) {
        ready += strcmp(io_member(io_condition(node, "Ready"), "status"), "True") == 0;
    }
    (void)snprintf(text, sizeof text, "%lld of %lld ready", (long long)ready, (long long)n);
    say(v, n < 0 ? "note" : ready > 0 ? "ok" : "bad", "nodes", n < 0 ? v->e.message : text);
}

/* ---- sets and gangs ---- */

/* Times of objects compare as texts. */
static int is_stuck(const grove_node *object) {
    char limit[32];
    struct tm tm;
    time_t at = time(NULL) - STUCK_SECONDS;
    const char *deleted = grove_node_text(
        grove_node_at_path(object, "/metadata/deletionTimestamp"));
    return deleted && gmtime_r(&at, &tm) &&
           strftime(limit, sizeof limit, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0 &&
           strcmp(deleted, limit) < 0;
}

static void check_sets(visit *v) {
    int64_t n = count(v, GROVE_KIND_PODCLIQUESET), stuck = 0;
    char text[160];
    const grove_node *items = grove_node_get(errand_answer(&v->e), "items"), *set;
    for (set = n > 0 ? grove_node_first(items) : NULL; set; set = grove_node_next(items, set)) {
        stuck += is_stuck(set);
    }
    if (stuck > 0) {
        (void)snprintf(text, sizeof text,
                       "%lld of them are being deleted and do not go: is the operator running?",
                       (long long)stuck);
        say(v, "bad", "podcliquesets", text);
    }
}

static void check_gangs(visit *v) {
    int64_t n = count(v, GROVE_KIND_PODGANG), waiting = 0;
    char text[160];
    const grove_node *items = grove_node_get(errand_answer(&v->e), "items"), *gang;
    for (gang = n > 0 ? grove_node_first(items) : NULL; gang; gang = grove_node_next(items, gang)) {
        const char *phase = grove_node_text(grove_node_at_path(gang, "/status/phase"));
        waiting += !phase || strcmp(phase, "Pending") == 0;
    }
    if (waiting > 0) {
        (void)snprintf(text, sizeof text,
                       "%lld of %lld wait for nodes; why: grovectl explain podgang/NAME",
                       (long long)waiting, (long long)n);
        say(v, "note", "podgangs", text);
    }
}

static int examine(const live_access *access) {
    visit v = {.bad = 0};
    if (errand_begin(&v.e, "grovectl", access->kubeconfig, access->context) < 0) {
        return EXIT_USAGE;
    }
    if (get(&v, GROVE_KIND_NAMESPACE, NULL, "default") < 0 && v.e.http == 0) {
        fprintf(stderr, "grovectl: no answer from the cluster: %s\n", v.e.message);
        errand_end(&v.e);
        return EXIT_USAGE;
    }
    check_definitions(&v);
    check_hooks(&v);
    check_lease(&v);
    check_optional(&v);
    check_nodes(&v);
    check_sets(&v);
    check_gangs(&v);
    errand_end(&v.e);
    return v.bad ? EXIT_REFUSED : EXIT_OK;
}
#else
static int examine(const live_access *access) {
    io_objects none = {0};
    return live_read(NULL, access, &none);
}
#endif

int cmd_doctor(int argc, char **argv) {
    live_access access = {.asked = 1};
    for (int i = 1; i < argc; i += 2) { /* every option has a value */
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return EXIT_OK;
        }
        if (!live_option(&access, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
            fputs(help, stderr);
            return EXIT_USAGE;
        }
    }
    return examine(&access);
}
