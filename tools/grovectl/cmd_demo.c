/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl demo: the main job on the embedded cluster, from manifests to a healed node loss. */
#include "cluster.h"
#include "io.h"
#include "picture.h"
#include "timeline.h"
#include "verbs.h"
#include "verdict.h"

#include <grove/kinds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define GPU "nvidia.com/gpu"
#define NODES                                                        \
    "blocks=2,racks=2,nodes=4,gpu=8,block-key=node.network.kwai.io/" \
    "block,rack-key=node.network.kwai.io/rack"
#define LIMIT (1800 * SECOND) /* of virtual time for each part */

static const char help[] =
    "usage: grovectl demo [--manifests DIR]\n"
    "\n"
    "Runs seven manifests, each in a namespace of its own, on an embedded cluster of 2 blocks x 2 "
    "racks x\n"
    "4 nodes x 8 GPUs: applies them, shows what happens in virtual time, the tables that kubectl "
    "would\n"
    "print and the topology with its gangs, scales a group, loses a node, heals, and judges the "
    "result.\n"
    "\n"
    "  --manifests DIR  where the manifests are [examples/manifests]\n"
    "\n"
    "Exit status: 0 every pod runs and every constraint holds, 1 not, 2 wrong usage.\n";

static const char *const keys[] = {"node.network.kwai.io/block", "node.network.kwai.io/rack", NULL};

typedef struct part {
    const char *file, *ns; /* ns NULL: cluster-scoped objects */
} part;

static const part parts[] = {{"02-cluster-topology.yaml", NULL},
                             {"01-router-and-serving-cell.yaml", "cell"},
                             {"03-inference-with-topology.yaml", "topology"},
                             {"04-leader-worker.yaml", "leader"},
                             {"05-disaggregated.yaml", "disagg"},
                             {"06-tensor-parallel-group.yaml", "tensor"},
                             {"07-two-node-instance.yaml", "twonode"}};

typedef struct demo {
    grove_env *env;
    const char *dir;
    cluster *c;
    timeline *t;
    int64_t start;
    size_t told; /* entries of the timeline that were printed */
} demo;

static int complain(const grove_error *err) {
    io_print_error(NULL, err);
    return EXIT_USAGE;
}

static void headline(const char *text) {
    printf("\n== %s\n\n", text);
}

/* ---- applying ---- */

/* The object with its namespace set: the manifests name none. */
static grove_status in_namespace(demo *d, const io_object *object, const char *ns, grove_doc **out,
                                 grove_error *err) {
    grove_builder *b = NULL;
    grove_doc *patch = NULL;
    grove_status st = grove_builder_new(d->env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "metadata");
    grove_builder_string(b, "namespace", ns);
    grove_builder_close(b);
    grove_builder_close(b);
    st = grove_builder_finish(b, &patch, err);
    grove_builder_free(b);
    if (st == GROVE_OK) {
        st = grove_merge_patch_apply(object->doc, object->node, patch, grove_doc_root(patch), out,
                                     err);
    }
    grove_doc_unref(patch);
    return st;
}

static int apply_part(demo *d, const part *p) {
    char path[4096];
    io_objects objects = {0};
    grove_error err = GROVE_ERROR_INIT;
    snprintf(path, sizeof path, "%s/%s", d->dir, p->file);
    int code = io_read_objects(d->env, path, GROVE_PARSE_STRICT, &objects);
    for (size_t i = 0; code == EXIT_OK && i < objects.n; i++) {
        const io_object *o = &objects.v[i];
        grove_doc *placed = NULL;
        grove_status st = p->ns ? in_namespace(d, o, p->ns, &placed, &err) : GROVE_OK;
        st = st < 0   ? st
             : placed ? cluster_apply(d->c, placed, NULL, &err)
                      : cluster_apply(d->c, o->doc, o->node, &err);
        grove_doc_unref(placed);
        if (st < 0) {
            io_print_error(path, &err);
            code = EXIT_REFUSED;
        } else {
            printf("applied  %-34s %s/%s\n", p->file, p->ns ? p->ns : "(cluster)",
                   io_name(o->node));
        }
    }
    io_free_objects(&objects);
    return code;
}

/* ---- the timeline ---- */

static int same_moment(const timeline_entry *a, const timeline_entry *b) {
    return a->at_ns == b->at_ns && a->kind == b->kind && strcmp(a->phase, b->phase) == 0 &&
           strcmp(a->ns, b->ns) == 0;
}

/* Pods of one namespace that reach one phase at one instant are one line; gangs are named. */
static void tell(demo *d) {
    size_t n = timeline_count(d->t);
    for (size_t i = d->told; i < n;) {
        const timeline_entry *e = timeline_at(d->t, i);
        size_t k = i + 1;
        unsigned times = 1;
        int64_t ms = (e->at_ns - d->start) / 1000000;
        while (e->kind == GROVE_KIND_POD && k < n && same_moment(e, timeline_at(d->t, k))) {
            times++;
            k++;
        }
        if (e->kind != GROVE_KIND_EVENT) {
            printf("%5lld.%03llds  ", (long long)(ms / 1000), (long long)(ms % 1000));
        }
        if (e->kind == GROVE_KIND_POD && times > 1) {
            printf("%-9s %u pods %s\n", e->ns, times, e->phase);
        } else if (e->kind == GROVE_KIND_POD) {
            printf("%-9s pod %s %s%s%s\n", e->ns, e->name, e->phase, e->text[0] ? " on " : "",
                   e->text);
        } else if (e->kind == GROVE_KIND_PODGANG) {
            printf("%-9s gang %s %s\n", e->ns, e->name, e->phase);
        }
        i = k;
    }
    d->told = n;
}

static int run_until_quiet(demo *d) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t limit = cluster_now(d->c) + LIMIT;
    for (;;) {
        if (cluster_settle_now(d->c, &err) < 0) {
            return complain(&err);
        }
        if (d->c->deadline > limit) {
            break;
        }
        if (cluster_run(d->c, d->c->deadline, NULL, NULL, &err) < 0) {
            return complain(&err);
        }
    }
    tell(d);
    return EXIT_OK;
}

/* ---- tables, picture, verdict ---- */

static int print_tables(demo *d) {
    static const grove_kind kinds[] = {GROVE_KIND_PODCLIQUESET, GROVE_KIND_PODCLIQUE,
                                       GROVE_KIND_PODCLIQUESCALINGGROUP, GROVE_KIND_PODGANG,
                                       GROVE_KIND_POD};
    grove_buf out;
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = GROVE_OK;
    grove_buf_init(&out, d->env);
    for (size_t i = 0; st == GROVE_OK && i < sizeof kinds / sizeof *kinds; i++) {
        grove_doc *list = NULL;
        st = grove_sim_list(d->c->sim, kinds[i], NULL, NULL, &list, &err);
        st = st < 0 || i == 0 ? st : grove_buf_append(&out, "\n", 1);
        st = st < 0 ? st
                    : grove_table_write(d->env, kinds[i],
                                        grove_node_get(grove_doc_root(list), "items"),
                                        GROVE_TABLE_NAMESPACE, cluster_now(d->c), &out, &err);
        grove_doc_unref(list);
    }
    int code = st < 0 ? complain(&err) : io_write(&out);
    grove_buf_fini(&out);
    return code;
}

static int print_picture(demo *d) {
    grove_buf out;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf_init(&out, d->env);
    grove_status st = picture_write(d->env, d->c->sim, keys, GPU, &out, &err);
    int code = st < 0 ? complain(&err) : io_write(&out);
    grove_buf_fini(&out);
    return code;
}

static int judge(demo *d) {
    grove_error err = GROVE_ERROR_INIT;
    verdict v;
    if (verdict_judge(d->c->sim, GPU, &v, &err) < 0) {
        return complain(&err);
    }
    printf("%u sets, %u gangs, %u pods, %u required constraints: %u problems\n", v.sets, v.gangs,
           v.pods, v.constraints, v.problems);
    return v.problems ? EXIT_REFUSED : EXIT_OK;
}

/* ---- disturbances ---- */

/* The node of the first pod of the prefill group: the loss hits a gang. */
static int busy_node(demo *d, char *out, size_t cap) {
    grove_doc *list = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_sim_list(d->c->sim, GROVE_KIND_POD, "tensor",
                       "grove.io/podclique=inference-disaggregated-0-prefill-0-pworker", &list,
                       &err) < 0) {
        return complain(&err);
    }
    const grove_node *pod = grove_node_first(grove_node_get(grove_doc_root(list), "items"));
    const char *node = grove_node_text(grove_node_at_path(pod, "/spec/nodeName"));
    snprintf(out, cap, "%s", node ? node : "");
    grove_doc_unref(list);
    return EXIT_OK;
}

static int scale_prefill(demo *d) {
    grove_error err = GROVE_ERROR_INIT;
    headline("Scaling the prefill group of tensor/inference-disaggregated from 2 to 3");
    if (grove_sim_scale(d->c->sim, GROVE_KIND_PODCLIQUESCALINGGROUP, "tensor",
                        "inference-disaggregated-0-prefill", 3, &err) < 0) {
        return complain(&err);
    }
    return run_until_quiet(d);
}

static int lose_a_node(demo *d) {
    char node[256], text[320];
    grove_error err = GROVE_ERROR_INIT;
    int code = busy_node(d, node, sizeof node);
    snprintf(text, sizeof text, "Losing node %s", node);
    headline(text);
    if (code == EXIT_OK && grove_sim_fail_node(d->c->sim, node, &err) < 0) {
        return complain(&err);
    }
    return code == EXIT_OK ? run_until_quiet(d) : code;
}

/* ---- the whole ---- */

static int play(demo *d) {
    int code = EXIT_OK;
    headline("Applying seven manifests to 2 blocks x 2 racks x 4 nodes x 8 GPUs");
    for (size_t i = 0; code == EXIT_OK && i < sizeof parts / sizeof *parts; i++) {
        code = apply_part(d, &parts[i]);
    }
    if (code == EXIT_OK) {
        headline("What happens, in virtual time");
        code = run_until_quiet(d);
    }
    if (code == EXIT_OK) {
        headline("kubectl get pcs,pclq,pcsg,pg,pod -A");
        code = print_tables(d);
    }
    if (code == EXIT_OK) {
        headline("Where the gangs are");
        code = print_picture(d);
    }
    code = code == EXIT_OK ? judge(d) : code;
    code = code == EXIT_OK ? scale_prefill(d) : code;
    code = code == EXIT_OK ? lose_a_node(d) : code;
    if (code == EXIT_OK) {
        headline("Where the gangs are now");
        code = print_picture(d);
    }
    if (code == EXIT_OK) {
        headline("Verdict");
        code = judge(d);
    }
    return code;
}

int cmd_demo(int argc, char **argv) {
    demo d = {.dir = "examples/manifests"};
    grove_error err = GROVE_ERROR_INIT;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    if (argc == 3 && strcmp(argv[1], "--manifests") == 0) {
        d.dir = argv[2];
    } else if (argc != 1) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    cluster_options options = {.nodes = NODES};
    if (grove_env_new(NULL, &d.env) < 0) {
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    if (cluster_new(d.env, &options, &d.c, &err) < 0 || timeline_new(d.env, d.c->sim, &d.t) < 0) {
        code = complain(&err);
    } else {
        d.start = cluster_now(d.c);
        code = play(&d);
    }
    timeline_free(d.t);
    cluster_free(d.c);
    grove_env_unref(d.env);
    return code;
}
