/* SPDX-License-Identifier: Apache-2.0 */
/* groved: reads the command line. */
#include "groved.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LISTEN "127.0.0.1:0"
#define DEFAULT_NODES "2x2x4x8"

static const char help[] =
    "usage: groved --embedded [--listen ADDR] [--kubeconfig-out FILE] [OPTIONS]\n"
    "\n"
    "Runs a Kubernetes cluster with Grove in this process and serves its API, for kubectl and any\n"
    "other client. The cluster is in memory and ends with the process.\n"
    "\n"
    "  --embedded             the cluster of this process (the only form so far; required)\n"
    "  --listen HOST:PORT     address to serve at; port 0 takes a free one [127.0.0.1:0]\n"
    "  --kubeconfig-out FILE  write a kubeconfig that leads here, before the first request\n"
    "  --nodes SPEC|FILE      nodes of the cluster [2x2x4x8: blocks x racks x nodes x GPUs]\n"
    "  --config FILE          operator configuration and cluster objects\n"
    "  --real-time            the cluster's clock follows the wall clock [default]\n"
    "  --virtual-time         after each request the clock jumps on until nothing more happens, "
    "at\n"
    "                         most ten minutes of the cluster's time\n"
    "  --seed N               seed of everything that may be chosen freely [0]\n"
    "  --faults FILE          lets requests fail as the file says: for tests of clients\n"
    "  --tls                  HTTPS; the kubeconfig holds the certificate to trust\n"
    "  --verbose              a line on standard error for each request\n"
    "  --help                 this text\n"
    "\n"
    "There is no authentication: whoever reaches the address owns the "
    "cluster.\n"
    "When it serves, a line \"groved: listening on http://HOST:PORT ...\" goes to standard error.\n"
    "SIGINT and SIGTERM end it in order: open watches are closed first.\n"
    "\n"
    "Exit status: 0 ended by a signal, 1 could not start or go on, 2 wrong usage or unreadable "
    "input.\n"
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

/* An option with a value. */
static int take_value(groved_options *o, const char *option, const char *value) {
    char *end = NULL;
    if (!value) {
        return wrong("a value is missing after", option);
    }
    if (strcmp(option, "--listen") == 0) {
        o->listen = value;
    } else if (strcmp(option, "--kubeconfig-out") == 0) {
        o->kubeconfig_out = value;
    } else if (strcmp(option, "--nodes") == 0) {
        o->nodes = value;
    } else if (strcmp(option, "--config") == 0) {
        o->config = value;
    } else if (strcmp(option, "--faults") == 0) {
        o->faults = value;
    } else {
        o->seed = strtoull(value, &end, 10);
        return *end || !*value ? wrong("not a number:", value) : EXIT_DONE;
    }
    return EXIT_DONE;
}

static int is_one_of(const char *word, const char *const *words) {
    for (; *words; words++) {
        if (strcmp(word, *words) == 0) {
            return 1;
        }
    }
    return 0;
}

static int parse(int argc, char **argv, groved_options *o, int *out_embedded) {
    static const char *const with_value[] = {"--listen", "--kubeconfig-out", "--nodes", "--config",
                                             "--seed",   "--faults",         NULL};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (is_one_of(word, with_value)) {
            int code = take_value(o, word, i + 1 < argc ? argv[++i] : NULL);
            if (code != EXIT_DONE) {
                return code;
            }
        } else if (strcmp(word, "--embedded") == 0) {
            *out_embedded = 1;
        } else if (strcmp(word, "--virtual-time") == 0 || strcmp(word, "--real-time") == 0) {
            o->virtual_time = word[2] == 'v';
        } else if (strcmp(word, "--tls") == 0) {
            o->tls = 1;
        } else if (strcmp(word, "--verbose") == 0) {
            o->verbose = 1;
        } else {
            return wrong("unknown option", word);
        }
    }
    return EXIT_DONE;
}

int main(int argc, char **argv) {
    groved_options options = {.listen = DEFAULT_LISTEN, .nodes = DEFAULT_NODES};
    int embedded = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return EXIT_DONE;
        }
    }
    int code = parse(argc, argv, &options, &embedded);
    if (code == EXIT_DONE && !embedded) {
        groved_say("--embedded is required; see groved --help");
        code = EXIT_WRONG_USAGE;
    }
    return code == EXIT_DONE ? groved_embedded(&options) : code;
}
