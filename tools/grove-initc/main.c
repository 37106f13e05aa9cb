/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove-initc: the init container that lets a pod start when the cliques before it have pods that are Ready.
 * It waits for ever, through outages of the API server and renewed tokens; the kubelet decides about ends.
 */
#include "parents.h"
#include "wait.h"

#include <grove/k8s.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INFO_FOLDER "/var/grove/pod-info"
#define NAME_MAX_BYTES 300

enum { EXIT_READY = 0, EXIT_NOT = 1 };

static const char help[] =
    "usage: grove-initc --podcliques=NAME:COUNT [--podcliques=NAME:COUNT ...]\n"
    "\n"
    "Ends when each PodClique named has so many pods of this pod's gang that are Ready at one "
    "moment.\n"
    "\n"
    "  -p, --podcliques NAME:COUNT  whom to wait for; may be repeated\n"
    "  --pod-info FOLDER            files namespace and podgangname [/var/grove/pod-info]\n"
    "  --kubeconfig FILE            instead of the pod's service account\n"
    "\n"
    "Exit status: 0 all are ready, 1 wrong usage, unreadable files, or ended by a signal.\n";

typedef struct waiter {
    parents parents;
    const char *folder, *kubeconfig;
    char ns[NAME_MAX_BYTES], gang[NAME_MAX_BYTES];
    grove_env *env;
    grove_backend backend;
    uint64_t token;
    int synced, lost, changed;
} waiter;

static volatile sig_atomic_t asked_to_end;

static void on_signal(int number) {
    (void)number;
    if (asked_to_end) {
        _exit(EXIT_NOT);
    }
    asked_to_end = 1;
}

static void say(const char *level, const char *what, const char *more) {
    char text[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm)) {
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    }
    fprintf(stderr, "%s %s grove-initc: %s%s%s\n", text, level, what, more[0] ? ": " : "", more);
}

static void on_log(void *ctx, const grove_log_record *r) {
    (void)ctx;
    const char *level = r->level <= GROVE_LOG_ERROR  ? "error"
                        : r->level == GROVE_LOG_WARN ? "warn"
                                                     : "info";
    int of_watch = r->n_fields && strcmp(r->fields[0].key, "kind") == 0;
    if (of_watch) {
        say(level, "the watch of pods is tried again", r->message);
    } else {
        say(level, r->message, r->n_fields ? r->fields[0].value : "");
    }
}

/* ---- arguments and files ---- */

static int take(waiter *w, const char *option, const char *value) {
    if (!value) {
        say("error", "a value is missing after", option);
        return EXIT_NOT;
    }
    if (strcmp(option, "--pod-info") == 0) {
        w->folder = value;
    } else if (strcmp(option, "--kubeconfig") == 0) {
        w->kubeconfig = value;
    } else {
        const char *wrong = parents_add(&w->parents, value);
        if (wrong) {
            fprintf(stderr, "grove-initc: --podcliques '%s': %s\n", value, wrong);
            return EXIT_NOT;
        }
    }
    return EXIT_READY;
}

static int parse(waiter *w, int argc, char **argv) {
    static const char *const options[] = {"--podcliques", "-p", "--pod-info", "--kubeconfig"};
    for (int i = 1; i < argc; i++) {
        const char *known = NULL, *value = NULL;
        for (size_t k = 0; k < 4 && !known; k++) {
            size_t n = strlen(options[k]);
            if (strncmp(argv[i], options[k], n) == 0 && (!argv[i][n] || argv[i][n] == '=')) {
                known = options[k];
                value = argv[i][n] == '=' ? argv[i] + n + 1 : i + 1 < argc ? argv[++i] : NULL;
            }
        }
        if (!known) {
            say("error", "unknown option", argv[i]);
            return EXIT_NOT;
        }
        if (take(w, known, value) != EXIT_READY) {
            return EXIT_NOT;
        }
    }
    return EXIT_READY;
}

static int read_word(const waiter *w, const char *name, char out[NAME_MAX_BYTES]) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", w->folder, name);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(out, 1, NAME_MAX_BYTES - 1, f) : 0;
    if (f) {
        (void)fclose(f);
    }
    out[n] = '\0';
    out[strcspn(out, " \t\r\n")] = '\0';
    if (!out[0]) {
        say("error", f ? "the file is empty" : strerror(errno), path);
        return EXIT_NOT;
    }
    return EXIT_READY;
}

/* ---- watching ---- */

static void tell_progress(const waiter *w) {
    char text[1024] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < w->parents.n && at + 1 < sizeof text; i++) {
        const parent *p = &w->parents.v[i];
        int n = snprintf(text + at, sizeof text - at, "%s%s %lld of %lld", i ? ", " : "", p->name,
                         (long long)p->ready, (long long)p->wanted);
        at += n > 0 ? (size_t)n : 0;
    }
    say("info", "pods ready", text);
}

static grove_status on_event(void *ctx, const grove_event *event) {
    waiter *w = ctx;
    int changed = 0;
    if (event->type == GROVE_EVENT_GONE) {
        w->lost = 1;
    } else if (event->type == GROVE_EVENT_SYNCED) {
        w->synced = changed = 1;
    } else if (event->type <= GROVE_EVENT_DELETED) {
        changed = parents_pod(&w->parents,
                              event->object ? event->object : grove_doc_root(event->object_doc),
                              event->type == GROVE_EVENT_DELETED);
    }
    w->changed = w->changed || changed > 0;
    return changed < 0 ? GROVE_E_NOMEM : GROVE_OK;
}

static grove_status on_completion(void *ctx, const grove_completion *completion) {
    (void)ctx;
    (void)completion;
    return GROVE_OK;
}

static grove_status begin(waiter *w, grove_error *err) {
    char selector[NAME_MAX_BYTES + 32];
    (void)snprintf(selector, sizeof selector, "grove.io/podgang=%s", w->gang);
    grove_watch watch = {.size = (uint32_t)sizeof watch,
                         .kind = GROVE_KIND_POD,
                         .token = ++w->token,
                         .ns = w->ns,
                         .label_selector = selector};
    parents_forget(&w->parents);
    w->synced = w->lost = 0;
    return w->backend.ops->watch(w->backend.impl, &watch, err);
}

static int watch_until_ready(waiter *w) {
    grove_error err = GROVE_ERROR_INIT;
    grove_sink sink = {
        .size = (uint32_t)sizeof sink, .ctx = w, .completion = on_completion, .event = on_event};
    grove_status st = begin(w, &err);
    while (st == GROVE_OK && !asked_to_end) {
        int64_t deadline = INT64_MAX;
        w->changed = 0;
        st = w->backend.ops->process(w->backend.impl, wait_now(), 0, &sink, &deadline, &err);
        if (st == GROVE_OK && w->changed && w->synced) {
            tell_progress(w);
            if (parents_are_ready(&w->parents)) {
                say("info", "all are ready", "");
                return EXIT_READY;
            }
        }
        if (st == GROVE_OK && w->lost) {
            st = begin(w, &err);
        } else if (st == GROVE_OK) {
            wait_backend(&w->backend, deadline, 1000);
        }
    }
    say("error", asked_to_end ? "ended by a signal" : "cannot go on", err.message);
    return EXIT_NOT;
}

static int run(waiter *w) {
    grove_error err = GROVE_ERROR_INIT;
    grove_env_options eo = {
        .size = (uint32_t)sizeof eo, .log = on_log, .log_level = GROVE_LOG_WARN};
    grove_k8s_options ko = {.size = (uint32_t)sizeof ko,
                            .flags = w->kubeconfig ? 0 : GROVE_K8S_IN_CLUSTER,
                            .kubeconfig = w->kubeconfig,
                            .user_agent = "grove-initc"};
    if (read_word(w, "namespace", w->ns) != EXIT_READY ||
        read_word(w, "podgangname", w->gang) != EXIT_READY) {
        return EXIT_NOT;
    }
    if (grove_env_new(&eo, &w->env) < 0 || grove_k8s_backend(w->env, &ko, &w->backend, &err) < 0) {
        say("error", "no access to the cluster", err.message);
        return EXIT_NOT;
    }
    int code = watch_until_ready(w);
    w->backend.ops->destroy(w->backend.impl);
    return code;
}

int main(int argc, char **argv) {
    waiter w = {.folder = INFO_FOLDER};
    struct sigaction action = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_READY;
    }
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGPIPE, &ignore, NULL);
    int code = parse(&w, argc, argv);
    if (code == EXIT_READY && w.parents.n > 0) {
        code = run(&w);
    }
    parents_fini(&w.parents);
    grove_env_unref(w.env);
    return code;
}
