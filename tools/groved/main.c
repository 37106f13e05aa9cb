/* SPDX-License-Identifier: Apache-2.0 */
/* groved: reads the command line. */
#include "groved.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LISTEN "127.0.0.1:0"
#define DEFAULT_NODES "2x2x4x8"

static const char help[] =
    "usage: groved --backend k8s [--kubeconfig FILE] [--config FILE] [OPTIONS]\n"
    "       groved --embedded [--listen ADDR] [--kubeconfig-out FILE] [OPTIONS]\n"
    "       groved install-crds [--set upstream|extended] [--kubeconfig FILE]\n"
    "       groved uninstall [--keep-workloads] [--kubeconfig FILE]\n"
    "       groved ctl --control PATH [COMMAND...]\n"
    "\n"
    "The first form manages the PodCliqueSets of a Kubernetes cluster. The second runs a cluster "
    "with\n"
    "Grove in this process and serves its API, for kubectl and any other client; it is in memory "
    "and\n"
    "ends with the process.\n"
    "\n"
    "On a real cluster (--backend k8s):\n"
    "  --kubeconfig FILE      how to reach it [$KUBECONFIG, the pod's service account, "
    "~/.kube/config]\n"
    "  --context NAME         of the kubeconfig\n"
    "  --config FILE          OperatorConfiguration, as Grove's operator takes it\n"
    "  --namespace NS         manage the sets of one namespace only\n"
    "  --no-webhooks          serve none (deploy/webhook-free has rules for the API server)\n"
    "  --webhook-url URL      how the API server reaches them [by the Service]\n"
    "  --service NAME         name of that Service [grove-operator]\n"
    "  --webhooks, --probes, --metrics HOST:PORT|off\n"
    "                         where to listen, instead of what the configuration says\n"
    "  --identity NAME        in the Lease [host name and a random number]\n"
    "  --force-takeover       begin though another operator seems to be at work\n"
    "  --shadow               write nothing; print what would be done\n"
    "  --once                 with --shadow: end when that is told (status 4: there was "
    "something)\n"
    "  --control PATH         a socket for `groved ctl`\n"
    "  --crash-after N        for crash tests: SIGKILL itself after N writes\n"
    "  --record FILE          record all that passes between engine and cluster\n"
    "\n"
    "Embedded:\n"
    "  --listen HOST:PORT     address to serve at; port 0 takes a free one [127.0.0.1:0]\n"
    "  --kubeconfig-out FILE  write a kubeconfig that leads here, before the first request\n"
    "  --nodes SPEC|FILE      nodes of the cluster [2x2x4x8: blocks x racks x nodes x GPUs]\n"
    "  --config FILE          operator configuration and cluster objects\n"
    "  --real-time            the cluster's clock follows the wall clock [default]\n"
    "  --virtual-time         after each request the clock jumps on until nothing more happens, "
    "at\n"
    "                         most ten minutes of the cluster's time\n"
    "  --no-operator          without Grove in it: a cluster for an operator that is yet to come\n"
    "  --faults FILE          lets requests fail as the file says: for tests of clients\n"
    "  --tls                  HTTPS; the kubeconfig holds the certificate to trust\n"
    "  --verbose              a line on standard error for each request\n"
    "There is no authentication: whoever reaches the address owns the "
    "cluster.\n"
    "When it serves, a line \"groved: listening on http://HOST:PORT ...\" goes to standard error.\n"
    "\n"
    "Both:\n"
    "  --seed N               seed of everything that may be chosen freely [0]\n"
    "  --help                 this text\n"
    "\n"
    "SIGINT and SIGTERM end it in order; a second signal ends it at once.\n"
    "Exit status: 0 ended by a signal, 1 could not start or go on (also: the Lease was lost), 2 "
    "wrong\n"
    "usage or unreadable input, 3 another operator is at work, 4 --shadow --once found "
    "differences.\n"
    "\n"
    "Example:\n"
    "  groved --embedded --kubeconfig-out /tmp/kubeconfig &\n"
    "  kubectl --kubeconfig /tmp/kubeconfig apply -f set.yaml\n"
    "  kubectl --kubeconfig /tmp/kubeconfig get pcs,pclq,pcsg,pg,pod\n";

void groved_say(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("groved: ", stderr);
    (void)vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

static int wrong(const char *what, const char *word) {
    groved_say("%s '%s'; see groved --help", what, word);
    return EXIT_WRONG_USAGE;
}

enum form { FORM_NONE, FORM_EMBEDDED, FORM_LIVE, FORM_INSTALL, FORM_UNINSTALL, FORM_CONTROL };

/* Options with a value, and where it goes. */
static const struct {
    const char *word;
    size_t at;
} with_value[] = {{"--listen", offsetof(groved_options, listen)},
                  {"--kubeconfig-out", offsetof(groved_options, kubeconfig_out)},
                  {"--nodes", offsetof(groved_options, nodes)},
                  {"--faults", offsetof(groved_options, faults)},
                  {"--config", offsetof(groved_options, config)},
                  {"--kubeconfig", offsetof(groved_options, kubeconfig)},
                  {"--context", offsetof(groved_options, context)},
                  {"--namespace", offsetof(groved_options, ns)},
                  {"--webhook-url", offsetof(groved_options, webhook_url)},
                  {"--service", offsetof(groved_options, service)},
                  {"--webhooks", offsetof(groved_options, webhooks)},
                  {"--probes", offsetof(groved_options, probes)},
                  {"--metrics", offsetof(groved_options, metrics)},
                  {"--identity", offsetof(groved_options, identity)},
                  {"--control", offsetof(groved_options, control)},
                  {"--crash-after", offsetof(groved_options, crash_after)},
                  {"--record", offsetof(groved_options, record)},
                  {"--set", offsetof(groved_options, set)}};

static const struct {
    const char *word;
    size_t at;
} flags[] = {{"--verbose", offsetof(groved_options, verbose)},
             {"--tls", offsetof(groved_options, tls)},
             {"--no-operator", offsetof(groved_options, no_operator)},
             {"--virtual-time", offsetof(groved_options, virtual_time)},
             {"--no-webhooks", offsetof(groved_options, no_webhooks)},
             {"--shadow", offsetof(groved_options, shadow)},
             {"--once", offsetof(groved_options, once)},
             {"--force-takeover", offsetof(groved_options, force_takeover)},
             {"--keep-workloads", offsetof(groved_options, keep_workloads)}};

static const char **place_of(groved_options *o, const char *word) {
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) {
        if (strcmp(word, with_value[i].word) == 0) {
            return (const char **)(void *)((char *)o + with_value[i].at);
        }
    }
    return NULL;
}

static int set_flag(groved_options *o, const char *word) {
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(word, flags[i].word) == 0) {
            *(int *)(void *)((char *)o + flags[i].at) = 1;
            return 1;
        }
    }
    return 0;
}

static enum form form_of(const char *word) {
    static const char *const verbs[] = {"install-crds", "uninstall", "ctl"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(word, verbs[i]) == 0) {
            return (enum form)(FORM_INSTALL + i);
        }
    }
    return FORM_NONE;
}

static int take_backend(const char *value, enum form *form) {
    if (strcmp(value, "k8s") == 0) {
        *form = FORM_LIVE;
    } else if (strcmp(value, "embedded") == 0) {
        *form = FORM_EMBEDDED;
    } else {
        return wrong("no such backend:", value);
    }
    return EXIT_DONE;
}

static int take_value(groved_options *o, enum form *form, const char *word, const char *value) {
    const char **place = place_of(o, word);
    if (!value) {
        return wrong("a value is missing after", word);
    }
    if (place) {
        *place = value;
    } else if (strcmp(word, "--seed") == 0) {
        char *end = NULL;
        o->seed = strtoull(value, &end, 10);
        return *end || !*value ? wrong("not a number:", value) : EXIT_DONE;
    } else {
        return take_backend(value, form);
    }
    return EXIT_DONE;
}

static int takes_value(groved_options *o, const char *word) {
    return place_of(o, word) || strcmp(word, "--seed") == 0 || strcmp(word, "--backend") == 0;
}

/* --option=value, as manifests have it: cuts the word there. NULL: the value is a word of its own. */
static const char *cut_value(groved_options *o, char *word) {
    char *sign = word[0] == '-' ? strchr(word, '=') : NULL;
    if (!sign) {
        return NULL;
    }
    *sign = '\0';
    if (takes_value(o, word)) {
        return sign + 1;
    }
    *sign = '=';
    return NULL;
}

/* *out_rest: the first word of a command for `ctl`. */
static int parse(int argc, char **argv, groved_options *o, enum form *out_form, int *out_rest) {
    *out_rest = argc;
    for (int i = 1; i < argc; i++) {
        const char *value = cut_value(o, argv[i]), *word = argv[i];
        if (takes_value(o, word)) {
            value = value ? value : i + 1 < argc ? argv[++i] : NULL;
            int code = take_value(o, out_form, word, value);
            if (code != EXIT_DONE) {
                return code;
            }
        } else if (strcmp(word, "--embedded") == 0) {
            *out_form = FORM_EMBEDDED;
        } else if (strcmp(word, "--real-time") == 0) {
            o->virtual_time = 0;
        } else if (*out_form == FORM_NONE && form_of(word) != FORM_NONE) {
            *out_form = form_of(word);
        } else if (*out_form == FORM_CONTROL && word[0] != '-') {
            *out_rest = i;
            return EXIT_DONE;
        } else if (!set_flag(o, word)) {
            return wrong("unknown option", word);
        }
    }
    return EXIT_DONE;
}

static int run(enum form form, groved_options *o, int n_rest, char **rest) {
    switch (form) {
    case FORM_EMBEDDED:
        return groved_embedded(o);
#ifdef GROVED_LIVE
    case FORM_LIVE:
        return groved_live(o);
    case FORM_INSTALL:
        return groved_install_crds(o);
    case FORM_UNINSTALL:
        return groved_uninstall(o);
    case FORM_CONTROL:
        if (o->control) {
            return groved_control(o->control, n_rest, rest);
        }
        groved_say("ctl needs --control PATH");
        return EXIT_WRONG_USAGE;
#endif
    default:
        (void)n_rest;
        (void)rest;
        groved_say("--embedded or --backend is required; see groved --help");
        return EXIT_WRONG_USAGE;
    }
}

int main(int argc, char **argv) {
    groved_options options = {.listen = DEFAULT_LISTEN,
                              .nodes = DEFAULT_NODES,
                              .service = "grove-operator",
                              .set = "upstream"};
    enum form form = FORM_NONE;
    int rest = argc;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return EXIT_DONE;
        }
    }
    int code = parse(argc, argv, &options, &form, &rest);
    return code == EXIT_DONE ? run(form, &options, argc - rest, argv + rest) : code;
}
