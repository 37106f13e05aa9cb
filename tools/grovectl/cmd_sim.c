/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl sim: manifests and scenarios on the embedded cluster, in virtual time. */
#include "io.h"
#include "picture.h"
#include "scenario.h"
#include "verbs.h"

#include <grove/kinds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define DEFAULT_NODES "2x2x4x8"
#define DEFAULT_UNTIL (600 * SECOND)

static const char help[] =
    "usage: grovectl sim FILE... [--scenario FILE] [OPTIONS]\n"
    "\n"
    "Applies the objects of each FILE to an embedded cluster with Grove, lets virtual time run, "
    "and prints\n"
    "what has become of them. Nothing is contacted and no real time passes.\n"
    "\n"
    "  --scenario FILE    actions and expectations at virtual times (docs/reference/scenario.md)\n"
    "  --nodes SPEC|FILE  nodes of the cluster [2x2x4x8: blocks x racks x nodes x GPUs]\n"
    "  --config FILE      operator configuration and cluster objects\n"
    "  --until TIME       when to stop, such as 90s or 1h [when nothing happens any more, at most "
    "10m]\n"
    "  --instant          pods are Ready as soon as they are bound\n"
    "  --watch            print each change as it happens\n"
    "  --stock-scheduler  pods of default-scheduler are bound one by one, as a stock "
    "kube-scheduler does\n"
    "  --check            verify the planner's laws at every step\n"
    "  --seed N           seed of everything that may be chosen freely [0]\n"
    "  --picture FILE     draws the cluster with the gangs in it at the end, FILE.svg or "
    "FILE.html\n"
    "  -o text|json|yaml  final state: tables, or a List with status, events and timeline [text]\n"
    "\n"
    "Exit status: 0 done, 1 an expectation failed or an object was refused, 2 wrong usage or "
    "unreadable\n"
    "input.\n";

typedef enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_YAML } format;

typedef struct request {
    grove_env *env;
    cluster_options options;
    const char *scenario_path, *config_path, *nodes, *picture;
    int64_t until_ns; /* -1: until quiet */
    format format;
    int watch;
    cluster *cluster;
    timeline *timeline;
} request;

/* ---- output ---- */

static const grove_kind shown[] = {GROVE_KIND_PODCLIQUESET, GROVE_KIND_PODCLIQUE,
                                   GROVE_KIND_PODCLIQUESCALINGGROUP, GROVE_KIND_PODGANG,
                                   GROVE_KIND_POD};

static int print_tables(request *q) {
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < sizeof shown / sizeof *shown; i++) {
        grove_doc *list = NULL;
        grove_buf out;
        grove_error err = GROVE_ERROR_INIT;
        grove_buf_init(&out, q->env);
        grove_status st = grove_sim_list(q->cluster->sim, shown[i], NULL, NULL, &list, &err);
        const grove_node *items = grove_node_get(grove_doc_root(list), "items");
        if (st == GROVE_OK && grove_node_size(items)) {
            st = i > 0 ? grove_buf_append(&out, "\n", 1) : GROVE_OK;
            st = st < 0 ? st
                        : grove_table_write(q->env, shown[i], items,
                                            GROVE_TABLE_WIDE | GROVE_TABLE_NAMESPACE,
                                            cluster_now(q->cluster), &out, &err);
        }
        code = st < 0 ? (io_print_error(NULL, &err), EXIT_USAGE) : io_write(&out);
        grove_buf_fini(&out);
        grove_doc_unref(list);
    }
    return code;
}

/* Why sets are not where they should be: nothing is printed when all are. */
static int print_waits(request *q) {
    grove_doc *list = NULL;
    grove_buf out;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf_init(&out, q->env);
    grove_status st = grove_sim_list(q->cluster->sim, GROVE_KIND_PODCLIQUESET, NULL, NULL, &list,
                                     &err);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *o = grove_node_first(items); st == GROVE_OK && o;
         o = grove_node_next(items, o)) {
        const char *ns = grove_node_text(grove_node_at_path(o, "/metadata/namespace"));
        st = grove_engine_explain(q->cluster->engine, GROVE_KIND_PODCLIQUESET, ns, io_name(o),
                                  cluster_now(q->cluster), 0, &out, &err);
    }
    if (st == GROVE_OK && out.len) {
        printf("\n");
    }
    int code = st < 0 ? (io_print_error(NULL, &err), EXIT_USAGE) : io_write(&out);
    grove_doc_unref(list);
    grove_buf_fini(&out);
    return code;
}

static int print_document(request *q, const scenario *s, int64_t start) {
    grove_builder *b = NULL;
    grove_doc *dump = NULL, *doc = NULL;
    grove_buf out;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf_init(&out, q->env);
    grove_status st = grove_sim_dump(q->cluster->sim, &dump, &err);
    st = st < 0 ? st : grove_builder_new(q->env, &b);
    if (st == GROVE_OK) {
        const grove_node *items = grove_node_get(grove_doc_root(dump), "items");
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "apiVersion", "v1");
        grove_builder_string(b, "kind", "List");
        grove_builder_open_array(b, "items");
        for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
            if (strcmp(io_member(o, "kind"), "Event") != 0) {
                grove_builder_link(b, NULL, dump, o);
            }
        }
        grove_builder_close(b);
        grove_builder_open_array(b, "events");
        for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
            if (strcmp(io_member(o, "kind"), "Event") == 0) {
                grove_builder_link(b, NULL, dump, o);
            }
        }
        grove_builder_close(b);
        timeline_put(q->timeline, b, "timeline", start);
        if (s->snapshot_count) {
            scenario_put_snapshots(s, b, "snapshots", start);
        }
        grove_builder_close(b);
        st = grove_builder_finish(b, &doc, &err);
    }
    if (st == GROVE_OK) {
        st = q->format == FORMAT_JSON ? grove_node_write_json(grove_doc_root(doc), 0, &out, &err)
                                      : grove_node_write_yaml(grove_doc_root(doc), 0, &out, &err);
    }
    if (st == GROVE_OK && q->format == FORMAT_JSON) {
        st = grove_buf_append(&out, "\n", 1);
    }
    int code = st < 0 ? (io_print_error(NULL, &err), EXIT_USAGE) : io_write(&out);
    grove_builder_free(b);
    grove_doc_unref(doc);
    grove_doc_unref(dump);
    grove_buf_fini(&out);
    return code;
}

/* ---- running ---- */

static int apply_file(request *q, const char *path) {
    io_objects objects = {0};
    int code = io_read_objects(q->env, path, GROVE_PARSE_STRICT, &objects);
    for (size_t i = 0; code == EXIT_OK && i < objects.n; i++) {
        grove_error err = GROVE_ERROR_INIT;
        if (cluster_apply(q->cluster, objects.v[i].doc, objects.v[i].node, &err) < 0) {
            io_print_error(path, &err);
            code = EXIT_REFUSED;
        }
    }
    io_free_objects(&objects);
    return code;
}

/* With --until to that time; else until nothing happens any more, but not beyond the default. */
static int run_out(request *q, int64_t start) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t to = start + (q->until_ns >= 0 ? q->until_ns : DEFAULT_UNTIL);
    for (;;) {
        if (cluster_settle_now(q->cluster, &err) < 0) {
            io_print_error(NULL, &err);
            return EXIT_USAGE;
        }
        int64_t next = q->cluster->deadline;
        if (next > to) {
            break;
        }
        if (cluster_run(q->cluster, next, NULL, NULL, &err) < 0) {
            io_print_error(NULL, &err);
            return EXIT_USAGE;
        }
    }
    if (q->until_ns >= 0 && cluster_run(q->cluster, to, NULL, NULL, &err) < 0) {
        io_print_error(NULL, &err);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

static int run_files(request *q, scenario *s, char **files, int n) {
    grove_error err = GROVE_ERROR_INIT;
    if (cluster_new(q->env, &q->options, &q->cluster, &err) < 0 ||
        timeline_new(q->env, q->cluster->sim, &q->timeline) < 0) {
        io_print_error(NULL, &err);
        return EXIT_USAGE;
    }
    int64_t start = cluster_now(q->cluster);
    int code = EXIT_OK, verdict = EXIT_OK;
    if (q->watch) {
        timeline_print_live(q->timeline, start);
    }
    for (int i = 0; code == EXIT_OK && i < n; i++) {
        code = apply_file(q, files[i]);
    }
    if (code == EXIT_OK && s->doc) {
        verdict = scenario_run(s, q->cluster, q->timeline);
        code = verdict == EXIT_USAGE ? EXIT_USAGE : EXIT_OK;
        q->until_ns = q->until_ns < 0 ? s->until_ns : q->until_ns;
    }
    /* A scenario says itself how far it goes. */
    if (code == EXIT_OK && (!s->doc || q->until_ns >= 0)) {
        code = run_out(q, start);
    }
    if (code == EXIT_OK) {
        code = q->format == FORMAT_TEXT ? print_tables(q) : print_document(q, s, start);
        code = code == EXIT_OK && q->format == FORMAT_TEXT ? print_waits(q) : code;
    }
    if (code == EXIT_OK && q->picture) {
        code = picture_save(q->env, q->cluster->sim, "The cluster at the end", q->picture);
    }
    if (code == EXIT_OK && s->doc) {
        fprintf(stderr, "%u expectations, %u failed\n", s->expectations, s->failures);
    }
    return code != EXIT_OK ? code : verdict;
}

/* ---- command line ---- */

static int usage(void) {
    fputs(help, stderr);
    return EXIT_USAGE;
}

static int take_option(request *q, const char *option, const char *value) {
    char *end = NULL;
    if (!value) {
        return usage();
    }
    if (strcmp(option, "--scenario") == 0) {
        q->scenario_path = value;
    } else if (strcmp(option, "--nodes") == 0) {
        q->nodes = value;
    } else if (strcmp(option, "--config") == 0) {
        q->config_path = value;
    } else if (strcmp(option, "--picture") == 0) {
        q->picture = value;
    } else if (strcmp(option, "--until") == 0) {
        q->until_ns = scenario_duration(value);
        return q->until_ns < 0 ? usage() : EXIT_OK;
    } else if (strcmp(option, "--seed") == 0) {
        q->options.seed = strtoull(value, &end, 10);
        return *end ? usage() : EXIT_OK;
    } else if (strcmp(option, "-o") == 0) {
        if (strcmp(value, "json") == 0) {
            q->format = FORMAT_JSON;
        } else if (strcmp(value, "yaml") == 0) {
            q->format = FORMAT_YAML;
        } else if (strcmp(value, "text") != 0) {
            return usage();
        }
    } else {
        return usage();
    }
    return EXIT_OK;
}

static int parse(request *q, int argc, char **argv, int *out_files) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--watch") == 0) {
            q->watch = 1;
        } else if (strcmp(word, "--instant") == 0) {
            q->options.instant = 1;
        } else if (strcmp(word, "--stock-scheduler") == 0) {
            q->options.stock_scheduler = 1;
        } else if (strcmp(word, "--check") == 0) {
            q->options.engine_flags |= GROVE_ENGINE_CHECK;
        } else if (word[0] == '-' && word[1]) {
            if (take_option(q, word, i + 1 < argc ? argv[i + 1] : NULL) != EXIT_OK) {
                return EXIT_USAGE;
            }
            i++;
        } else {
            argv[(*out_files)++] = argv[i];
        }
    }
    return *out_files == 0 && !q->scenario_path ? usage() : EXIT_OK;
}

/* --nodes takes a spec or the path of a file with Node objects. */
static int read_nodes(request *q, char **out_text) {
    FILE *f = q->nodes ? fopen(q->nodes, "r") : NULL;
    size_t len = 0;
    if (!f) {
        q->options.nodes = q->nodes;
        return EXIT_OK;
    }
    fclose(f);
    int code = io_read(q->nodes, out_text, &len);
    q->options.nodes = *out_text;
    return code;
}

int cmd_sim(int argc, char **argv) {
    request q = {.until_ns = -1};
    scenario s = {0};
    char *nodes = NULL;
    int n = 0;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    if (parse(&q, argc, argv, &n) != EXIT_OK || grove_env_new(NULL, &q.env) < 0) {
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    if (q.scenario_path) {
        code = scenario_read(q.env, q.scenario_path, &s);
        q.config_path = q.config_path ? q.config_path : s.config;
        q.nodes = q.nodes ? q.nodes : s.nodes;
        q.options.instant |= s.instant;
    }
    q.nodes = q.nodes ? q.nodes : DEFAULT_NODES;
    code = code == EXIT_OK ? io_read_config(q.env, q.config_path, &q.options.config) : code;
    code = code == EXIT_OK ? read_nodes(&q, &nodes) : code;
    code = code == EXIT_OK ? run_files(&q, &s, argv, n) : code;
    timeline_free(q.timeline);
    cluster_free(q.cluster);
    scenario_fini(&s);
    grove_config_unref(q.options.config);
    grove_env_unref(q.env);
    free(nodes);
    return code;
}
