/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl place: gangs and nodes in, placements out. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io.h"
#include "place_batch.h"
#include "place_io.h"
#include "verbs.h"

static const char HELP[] =
    "usage: grovectl place --nodes FILE --gangs FILE.jsonl [--picture FILE] [-o json|text] "
    "[OPTIONS]\n"
    "       grovectl place --nodes FILE --gangs FILE.jsonl --batch N [OPTIONS]\n"
    "       grovectl place --instances FILE.jsonl [-o json|text] [OPTIONS]\n"
    "\n"
    "Decides where gangs go. With --nodes, a CSV of empty nodes (name, label columns from broad "
    "to\n"
    "narrow, gpu, cpu_m, mem_mib, pods), the gangs are placed in order and each is committed "
    "before\n"
    "the next. With --instances every line brings its own nodes and one gang, judged alone.\n"
    "\n"
    "One JSON object a line on standard output; verdict is placed, infeasible (proven) or unknown\n"
    "(the budget ended first). A summary goes to standard error.\n"
    "\n"
    "  --picture FILE  draws the nodes with the gangs in them, as FILE.svg or FILE.html says\n"
    "  -o text     a line for people: where each gang went, or why not [json]\n"
    "  --steps N   budget of one decision (default 2000000)\n"
    "  --method M  exact: without the greedy passes; greedy: without the exact search\n"
    "  --timing    adds \"us\", the microseconds of the decision\n"
    "\n"
    "With --batch the gangs wait together and the order of service decides; a gang may then have\n"
    "queue, priority, since, blocked, neverEvict, yields and base (the name of a gang placed "
    "before).\n"
    "\n"
    "  --batch N            serve N gangs at a time, 0: all at once\n"
    "  --queues FILE.jsonl  name, parent, deserved{}, limit{}, weight, priority of each queue\n"
    "  --together N         decide a gang without a place anew with up to N of the batch\n"
    "  --preempt            less important gangs of its queue may go for it\n"
    "  --reclaim            gangs of queues above their fair share may go for it\n"
    "  --starving-after N   keep a domain free for a gang blocked N times\n"
    "\n"
    "Exit status: 0 all could be judged; 2 wrong usage or unreadable input.\n";

typedef struct options {
    const char *nodes, *gangs, *instances, *queues, *picture;
    uint64_t steps;
    uint32_t flags;
    int timing, text, batched;
    uint32_t batch; /* 0: all */
    grove_serve_options serve;
} options;

typedef struct totals {
    uint64_t gangs, placed, infeasible, unknown, pods;
    int64_t domains, hosts;
    double wall, cpu, slowest; /* seconds in decisions and commits */
    double *each;
    size_t cap;
} totals;

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void count(totals *t, const place_world *w, double took, double cpu) {
    int64_t domains, hosts;
    place_span(w, &domains, &hosts);
    t->domains += domains;
    t->hosts += hosts;
    if (t->gangs == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 1024;
        double *grown = realloc(t->each, t->cap * sizeof *grown);
        if (!grown) {
            fputs("grovectl place: out of memory\n", stderr);
            exit(EXIT_USAGE);
        }
        t->each = grown;
    }
    t->each[t->gangs++] = took;
    t->wall += took;
    t->cpu += cpu;
    t->slowest = took > t->slowest ? took : t->slowest;
    grove_verdict v = grove_decision_verdict(w->decision);
    t->placed += v == GROVE_PLACED;
    t->infeasible += v == GROVE_INFEASIBLE;
    t->unknown += v == GROVE_UNKNOWN;
    for (uint32_t i = 0; i < w->n_podgroups; i++) {
        uint32_t n;
        const uint32_t *nodes = grove_decision_nodes(w->decision, i, &n);
        for (uint32_t k = 0; nodes && k < n; k++) {
            t->pods += nodes[k] != GROVE_SCHED_NONE;
        }
    }
}

/* One of a batch, which is timed as a whole. */
static void count_served(place_world *w, void *ctx) {
    count(ctx, w, 0, 0);
}

static int serve(place_batch *b, totals *t) {
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int code = place_batch_serve(b, count_served, t);
    t->wall += seconds(CLOCK_MONOTONIC) - wall;
    t->cpu += seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    return code;
}

/* Decides on the gang just read, and commits when asked to. */
static int decide(place_world *w, const options *o, int commit, totals *t, double *out_us) {
    grove_place_options place = {
        .size = (uint32_t)sizeof place, .steps = o->steps, .flags = o->flags};
    grove_error err = GROVE_ERROR_INIT;
    uint32_t id;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    grove_status st = grove_sched_place(w->sched, w->gang, &place, w->decision, &err);
    if (st == GROVE_OK && commit && grove_decision_verdict(w->decision) == GROVE_PLACED) {
        st = grove_sched_commit(w->sched, w->gang, w->decision, &id, &err);
    }
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (st < 0) {
        fprintf(stderr, "grovectl place: %s\n", err.message);
        return EXIT_USAGE;
    }
    count(t, w, wall, cpu);
    *out_us = wall * 1e6;
    return EXIT_OK;
}

static int print_line(place_world *w, const options *o, const char *id_key, const char *id,
                      double us) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_buf out;
    char text[256];
    grove_buf_init(&out, w->env);
    if (grove_builder_new(w->env, &b) < 0) {
        return EXIT_USAGE;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, id_key, id);
    if (o->gangs) {
        place_write_answer(w, b);
    } else {
        grove_builder_string(b, "verdict", place_verdict(w));
        place_write_placement(w, b, "placement");
        place_reason(w, text, sizeof text);
        grove_builder_string(b, "reason", text);
        grove_builder_int64(b, "steps", (int64_t)grove_decision_steps(w->decision));
    }
    if (o->timing) {
        snprintf(text, sizeof text, "%.1f", us);
        grove_builder_number(b, "us", text, strlen(text));
    }
    grove_builder_close(b);
    int code = EXIT_OK;
    if (grove_builder_finish(b, &doc, NULL) < 0 ||
        grove_node_write_json(grove_doc_root(doc), 0, &out, NULL) < 0) {
        fputs("grovectl place: out of memory\n", stderr);
        code = EXIT_USAGE;
    } else {
        fwrite(out.data, 1, (size_t)out.len, stdout);
        if (out.len == 0 || out.data[out.len - 1] != '\n') {
            putchar('\n');
        }
    }
    grove_doc_unref(doc);
    grove_builder_free(b);
    grove_buf_fini(&out);
    return code;
}

/* One line: the domains of the gang, and how many pods of each podgroup are on which node. */
static int print_text(const place_world *w, const options *o, const char *name, double us) {
    char text[256];
    if (grove_decision_verdict(w->decision) != GROVE_PLACED) {
        place_reason(w, text, sizeof text);
        printf("%s: %s (%s)", name, place_verdict(w), text);
    } else {
        int32_t score = grove_decision_score(w->decision);
        printf("%s: placed, score %d.%06d:", name, score / 1000000, score % 1000000);
        place_print_nodes(w);
    }
    if (o->timing) {
        printf("  [%.1f us]", us);
    }
    putchar('\n');
    return EXIT_OK;
}

static int place_gang(place_world *w, const options *o, const grove_node *gang, totals *t) {
    double us;
    int code = place_read_gang(w, gang, o->gangs);
    if (code == EXIT_OK) {
        code = decide(w, o, 1, t, &us);
    }
    const char *name = io_member(gang, "name");
    code = code == EXIT_OK && o->picture ? place_show(w, name) : code;
    if (code != EXIT_OK) {
        return code;
    }
    return o->text ? print_text(w, o, name, us) : print_line(w, o, "name", name, us);
}

static int place_instance(grove_env *env, const options *o, const grove_node *line, totals *t) {
    place_world w;
    double us;
    int code = place_world_new(env, NULL, 0, &w);
    if (code != EXIT_OK) {
        return code;
    }
    code = place_read_rows(&w, grove_node_get(line, "nodes"), o->instances);
    if (code == EXIT_OK) {
        code = place_read_gang(&w, grove_node_get(line, "gang"), o->instances);
    }
    if (code == EXIT_OK) {
        code = decide(&w, o, 0, t, &us);
    }
    if (code == EXIT_OK) {
        const char *id = io_member(line, "id");
        code = o->text ? print_text(&w, o, id, us) : print_line(&w, o, "id", id, us);
    }
    place_world_free(&w);
    return code;
}

/* Gangs that wait; a full batch is served at once. */
static int place_waiting(place_batch *b, const options *o, const grove_node *gang, totals *t) {
    int code = place_batch_add(b, gang, o->gangs);
    return code == EXIT_OK && o->batch > 0 && place_batch_size(b) == o->batch ? serve(b, t) : code;
}

/* Each line of a file as a document. */
static int each_line(grove_env *env, const options *o, place_world *w, place_batch *b, totals *t) {
    const char *path = o->gangs ? o->gangs : o->instances;
    char *text;
    size_t len;
    if (io_read(path, &text, &len) != EXIT_OK) {
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    uint32_t number = 1;
    for (char *line = text; code == EXIT_OK && *line; number++) {
        size_t n = strcspn(line, "\n");
        if (n > 0) {
            grove_error err = GROVE_ERROR_INIT;
            grove_doc *doc = NULL;
            if (grove_doc_parse_json(env, line, n, 0, &doc, &err) < 0) {
                fprintf(stderr, "grovectl place: %s:%u: %s\n", path, number, err.message);
                code = EXIT_USAGE;
            } else {
                code = b          ? place_waiting(b, o, grove_doc_root(doc), t)
                       : o->gangs ? place_gang(w, o, grove_doc_root(doc), t)
                                  : place_instance(env, o, grove_doc_root(doc), t);
                grove_doc_unref(doc);
            }
        }
        line += n + (line[n] == '\n');
    }
    free(text);
    return code;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void summary(totals *t, double load) {
    double p50 = 0, p99 = 0;
    if (t->gangs > 0) {
        qsort(t->each, (size_t)t->gangs, sizeof *t->each, by_value);
        p50 = t->each[t->gangs / 2];
        p99 = t->each[t->gangs * 99 / 100];
    }
    fprintf(stderr,
            "gangs %llu: placed %llu (%llu pods), infeasible %llu, unknown %llu; narrowest domains "
            "used %lld, hosts %lld\n"
            "load %.3f ms; decide and commit: wall %.3f ms, CPU %.3f ms, p50 %.1f us, p99 %.1f us, "
            "max %.1f us\n",
            (unsigned long long)t->gangs, (unsigned long long)t->placed,
            (unsigned long long)t->pods, (unsigned long long)t->infeasible,
            (unsigned long long)t->unknown, (long long)t->domains, (long long)t->hosts, load * 1e3,
            t->wall * 1e3, t->cpu * 1e3, p50 * 1e6, p99 * 1e6, t->slowest * 1e6);
    free(t->each);
}

static int run(grove_env *env, const options *o) {
    totals t = {0};
    place_world w = {0};
    double load = seconds(CLOCK_MONOTONIC);
    int code = o->nodes ? place_read_csv(env, o->nodes, &w) : EXIT_OK;
    load = seconds(CLOCK_MONOTONIC) - load;
    if (code == EXIT_OK && o->queues) {
        code = place_read_queues(&w, o->queues);
    }
    place_batch *b = code == EXIT_OK && o->batched ? place_batch_new(&w, &o->serve) : NULL;
    if (code == EXIT_OK) {
        code = each_line(env, o, &w, b, &t);
    }
    if (code == EXIT_OK && b) {
        code = serve(b, &t);
    }
    place_batch_free(b);
    if (code == EXIT_OK && o->picture) {
        w.picture.title = "Gangs placed by libgrove";
        w.picture.device = "GPU";
        code = chart_save(env, &w.picture, o->picture);
    }
    place_world_free(&w);
    if (code == EXIT_OK) {
        summary(&t, load);
    } else {
        free(t.each);
    }
    return code;
}

/* Options with a number behind them; *out_known tells whether this was one. */
static int take_number(options *o, int argc, char **argv, int *i, int *out_known) {
    uint64_t batch = 0;
    uint32_t *to = strcmp(argv[*i], "--together") == 0         ? &o->serve.together
                   : strcmp(argv[*i], "--starving-after") == 0 ? &o->serve.starving_after
                   : strcmp(argv[*i], "--batch") == 0          ? &o->batch
                                                               : NULL;
    *out_known = to || strcmp(argv[*i], "--steps") == 0;
    if (!*out_known) {
        return EXIT_OK;
    }
    o->batched = o->batched || to == &o->batch;
    char *end = NULL;
    if (*i + 1 < argc) {
        batch = strtoull(argv[++*i], &end, 10);
    }
    if (!end || *end || end == argv[*i] || (to && batch > UINT32_MAX)) {
        return EXIT_USAGE;
    }
    if (to) {
        *to = (uint32_t)batch;
    } else {
        o->steps = o->serve.steps = batch;
    }
    return EXIT_OK;
}

static int usage_error(void) {
    fputs(HELP, stderr);
    return EXIT_USAGE;
}

int cmd_place(int argc, char **argv) {
    options o = {.serve.size = (uint32_t)sizeof o.serve};
    for (int i = 1; i < argc; i++) {
        int known;
        if (take_number(&o, argc, argv, &i, &known) != EXIT_OK) {
            return usage_error();
        }
        if (known) {
            continue;
        }
        const char **path = strcmp(argv[i], "--nodes") == 0       ? &o.nodes
                            : strcmp(argv[i], "--gangs") == 0     ? &o.gangs
                            : strcmp(argv[i], "--instances") == 0 ? &o.instances
                            : strcmp(argv[i], "--queues") == 0    ? &o.queues
                            : strcmp(argv[i], "--picture") == 0   ? &o.picture
                                                                  : NULL;
        if (path && i + 1 < argc) {
            *path = argv[++i];
        } else if (strcmp(argv[i], "--preempt") == 0) {
            o.serve.flags |= GROVE_SERVE_PREEMPT;
        } else if (strcmp(argv[i], "--reclaim") == 0) {
            o.serve.flags |= GROVE_SERVE_RECLAIM;
        } else if (strcmp(argv[i], "--method") == 0 && i + 1 < argc) {
            i++;
            o.flags = strcmp(argv[i], "exact") == 0    ? GROVE_PLACE_EXACT_ONLY
                      : strcmp(argv[i], "greedy") == 0 ? GROVE_PLACE_GREEDY_ONLY
                                                       : 0;
            if (!o.flags) {
                return usage_error();
            }
        } else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            o.text = strcmp(argv[++i], "text") == 0;
            if (!o.text && strcmp(argv[i], "json") != 0) {
                return usage_error();
            }
        } else if (strcmp(argv[i], "--timing") == 0) {
            o.timing = 1;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(HELP, stdout);
            return EXIT_OK;
        } else {
            return usage_error();
        }
    }
    int service = o.queues || o.serve.flags || o.serve.together || o.serve.starving_after;
    int in_order = o.picture || o.text; /* of gangs that keep their places */
    if ((o.instances ? (o.nodes || o.gangs || o.batched || o.picture) : !(o.nodes && o.gangs)) ||
        (service && !o.batched) || (in_order && o.batched)) {
        return usage_error();
    }
    grove_env *env = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        fputs("grovectl place: out of memory\n", stderr);
        return EXIT_USAGE;
    }
    int code = run(env, &o);
    grove_env_unref(env);
    return code;
}
