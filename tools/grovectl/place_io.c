/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing of the workload files; see place_io.h. */
#include "place_io.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "verbs.h"

static const char *const resources[] = {"gpu", "cpu_m", "mem_mib"};
#define N_RESOURCES 3
static const char *const default_labels[] = {"zone", "block", "rack"};

static int fail(const char *where, const char *what) {
    fprintf(stderr, "grovectl place: %s: %s\n", where, what);
    return EXIT_USAGE;
}

static void *must(void *p) {
    if (!p) {
        fputs("grovectl place: out of memory\n", stderr);
        exit(EXIT_USAGE);
    }
    return p;
}

static char *copy_text(const char *text, size_t n) {
    char *copy = must(malloc(n + 1));
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

static void free_names(place_world *w) {
    for (uint32_t i = 0; i < w->n_podgroups; i++) {
        free(w->podgroups[i]);
    }
    for (uint32_t i = 0; i < w->n_groups; i++) {
        free(w->groups[i]);
    }
    free(w->podgroups);
    free(w->groups);
    free(w->podgroup_gpus);
    w->podgroup_gpus = NULL;
    w->podgroups = w->groups = NULL;
    w->n_podgroups = w->n_groups = 0;
}

int place_world_new(grove_env *env, const char *const *labels, uint32_t n_labels,
                    place_world *out) {
    place_world w = {.env = env};
    const char *const *keys = labels ? labels : default_labels;
    uint32_t n = labels ? n_labels : 3, id;
    grove_error err = GROVE_ERROR_INIT;
    if (n > PLACE_COLUMNS) {
        return fail("topology", "too many label columns");
    }
    grove_status st = grove_sched_new(env, NULL, &w.sched, &err);
    for (int r = 0; st == GROVE_OK && r < N_RESOURCES; r++) {
        st = grove_sched_resource(w.sched, resources[r], &id);
    }
    if (st == GROVE_OK) {
        st = grove_sched_topology(w.sched, "default", keys, n, &w.topology, &err);
    }
    if (st == GROVE_OK) {
        st = grove_gang_new(w.sched, &w.gang);
    }
    if (st == GROVE_OK) {
        st = grove_decision_new(w.sched, &w.decision);
    }
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        w.labels[w.n_labels++] = copy_text(keys[i], strlen(keys[i]));
        chart_add_level(&w.picture, keys[i]);
    }
    if (st < 0) {
        place_world_free(&w);
        return fail("topology", err.message[0] ? err.message : grove_status_name(st));
    }
    *out = w;
    return EXIT_OK;
}

void place_world_free(place_world *w) {
    free_names(w);
    for (uint32_t i = 0; i < w->n_labels; i++) {
        free(w->labels[i]);
    }
    grove_gang_free(w->gang);
    grove_decision_free(w->decision);
    grove_sched_free(w->sched);
    chart_free(&w->picture);
    memset(w, 0, sizeof *w);
}

/* capacity: pods, gpu, cpu_m, mem_mib in the order of the scheduler's resources. */
static int add_node(place_world *w, const char *name, const char *const *values,
                    const int64_t *capacity, const char *where) {
    grove_sched_label labels[PLACE_COLUMNS];
    uint32_t n = 0, id;
    for (uint32_t i = 0; i < w->n_labels; i++) {
        if (values[i] && values[i][0]) {
            labels[n++] = (grove_sched_label){w->labels[i], values[i]};
        }
    }
    grove_sched_node node = {.size = (uint32_t)sizeof node,
                             .name = name,
                             .labels = labels,
                             .n_labels = n,
                             .capacity = capacity,
                             .n_capacity = 1 + N_RESOURCES};
    grove_error err = GROVE_ERROR_INIT;
    if (grove_sched_node_add(w->sched, &node, &id, &err) < 0) {
        return fail(where, err.message);
    }
    chart_node shown = {.name = name, .devices = capacity[1] < 64 ? (uint32_t)capacity[1] : 64};
    for (uint32_t i = 0; i < w->n_labels && i < CHART_LEVELS; i++) {
        shown.path[i] = values[i] && values[i][0] ? values[i] : NULL;
    }
    return chart_add_node(&w->picture, &shown) == UINT32_MAX ? fail(where, "out of memory")
                                                             : EXIT_OK;
}

/* ---- CSV ---- */

static uint32_t split_line(char *line, char **fields, uint32_t cap) {
    uint32_t n = 0;
    for (char *at = line; n < cap; at++) {
        fields[n++] = at;
        at += strcspn(at, ",");
        if (!*at) {
            break;
        }
        *at = '\0';
    }
    return n;
}

/* Which resource a column holds (0: pods), or -1: it is the name or a label. */
static int resource_of(const char *column) {
    if (strcmp(column, "pods") == 0) {
        return 0;
    }
    for (int r = 0; r < N_RESOURCES; r++) {
        if (strcmp(column, resources[r]) == 0) {
            return r + 1;
        }
    }
    return -1;
}

typedef struct csv_layout {
    int resource[PLACE_COLUMNS]; /* by column */
    int label[PLACE_COLUMNS];    /* by column: index of the label, or -1 */
    uint32_t n, name;
} csv_layout;

static int read_header(grove_env *env, char *line, csv_layout *layout, const char *path,
                       place_world *out) {
    char *columns[PLACE_COLUMNS];
    const char *labels[PLACE_COLUMNS];
    uint32_t n_labels = 0;
    layout->n = split_line(line, columns, PLACE_COLUMNS);
    layout->name = PLACE_COLUMNS;
    for (uint32_t i = 0; i < layout->n; i++) {
        layout->resource[i] = resource_of(columns[i]);
        layout->label[i] = -1;
        if (strcmp(columns[i], "name") == 0) {
            layout->name = i;
        } else if (layout->resource[i] < 0) {
            layout->label[i] = (int)n_labels;
            labels[n_labels++] = columns[i];
        }
    }
    if (layout->name == PLACE_COLUMNS) {
        return fail(path, "the header has no column 'name'");
    }
    return place_world_new(env, labels, n_labels, out);
}

static int read_record(place_world *w, char *line, const csv_layout *layout, const char *path) {
    char *fields[PLACE_COLUMNS];
    const char *values[PLACE_COLUMNS] = {0};
    int64_t capacity[1 + N_RESOURCES] = {0};
    if (split_line(line, fields, PLACE_COLUMNS) != layout->n) {
        return fail(path, "a line has another number of fields than the header");
    }
    for (uint32_t i = 0; i < layout->n; i++) {
        if (layout->label[i] >= 0) {
            values[layout->label[i]] = fields[i];
        } else if (layout->resource[i] >= 0) {
            char *end;
            capacity[layout->resource[i]] = strtoll(fields[i], &end, 10);
            if (*end || end == fields[i]) {
                return fail(path, "an amount is not a whole number");
            }
        }
    }
    return add_node(w, fields[layout->name], values, capacity, path);
}

int place_read_csv(grove_env *env, const char *path, place_world *out) {
    char *text;
    size_t len;
    if (io_read(path, &text, &len) != EXIT_OK) {
        return EXIT_USAGE;
    }
    csv_layout layout;
    int code = EXIT_OK;
    bool header = true;
    for (char *line = text; code == EXIT_OK && *line;) {
        char *next = line + strcspn(line, "\n");
        char *after = *next ? next + 1 : next;
        if (next > line && next[-1] == '\r') {
            next[-1] = '\0';
        }
        *next = '\0';
        if (*line) {
            code = header ? read_header(env, line, &layout, path, out)
                          : read_record(out, line, &layout, path);
            if (code != EXIT_OK && !header) {
                place_world_free(out);
            }
            header = false;
        }
        line = after;
    }
    free(text);
    return code == EXIT_OK && header ? fail(path, "the file is empty") : code;
}

/* ---- JSON ---- */

int place_read_rows(place_world *w, const grove_node *rows, const char *where) {
    for (const grove_node *row = grove_node_first(rows); row; row = grove_node_next(rows, row)) {
        const char *values[PLACE_COLUMNS] = {0};
        int64_t gpu = 0, cpu = 0, mem = 0, pods = 0;
        const char *name = grove_node_text(grove_node_at(row, 0));
        for (uint32_t i = 0; i < w->n_labels; i++) {
            values[i] = grove_node_text(grove_node_at(row, 1 + i));
        }
        uint32_t at = 1 + w->n_labels;
        if (!name || grove_node_int64(grove_node_at(row, at), &gpu) < 0 ||
            grove_node_int64(grove_node_at(row, at + 1), &cpu) < 0 ||
            grove_node_int64(grove_node_at(row, at + 2), &mem) < 0 ||
            grove_node_int64(grove_node_at(row, at + 3), &pods) < 0) {
            return fail(where, "a node is not [name, labels..., gpu, cpu_m, mem_mib, pods]");
        }
        int64_t capacity[1 + N_RESOURCES] = {pods, gpu, cpu, mem};
        if (add_node(w, name, values, capacity, where) != EXIT_OK) {
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

static grove_level level_of(const place_world *w, const grove_node *object, const char *key) {
    const char *text = grove_node_text(grove_node_get(object, key));
    return text && text[0] ? grove_sched_level(w->sched, w->topology, text) : GROVE_LEVEL_NONE;
}

static int64_t number_of(const grove_node *object, const char *key, int64_t otherwise) {
    int64_t n;
    return grove_node_int64(grove_node_get(object, key), &n) == GROVE_OK ? n : otherwise;
}

static int read_podgroup(place_world *w, const grove_node *node, const char *where) {
    grove_error err = GROVE_ERROR_INIT;
    const grove_node *req = grove_node_get(node, "req");
    int64_t requests[1 + N_RESOURCES] = {1};
    for (int r = 0; r < N_RESOURCES; r++) {
        requests[1 + r] = number_of(req, resources[r], 0);
    }
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 1 + N_RESOURCES};
    uint32_t cls, id;
    if (grove_sched_class(w->sched, &spec, &cls, &err) < 0) {
        return fail(where, err.message);
    }
    int64_t count = number_of(node, "count", 1), min = number_of(node, "min", count);
    const char *name = io_member(node, "name");
    if (count < 0 || min < 0 || count > UINT32_MAX || min > count ||
        grove_gang_podgroup(w->gang, name, cls, (uint32_t)min, (uint32_t)count,
                            level_of(w, node, "required"), level_of(w, node, "preferred"),
                            &id) < 0) {
        return fail(where, "a podgroup has counts out of range");
    }
    w->podgroup_gpus[w->n_podgroups] = (uint32_t)requests[1];
    w->podgroups[w->n_podgroups++] = copy_text(name, strlen(name));
    return EXIT_OK;
}

static int read_group(place_world *w, const grove_node *node, const char *where) {
    const grove_node *names = grove_node_get(node, "podgroups");
    uint32_t n = 0, id;
    uint32_t *members = must(calloc(grove_node_size(names) + 1, sizeof *members));
    for (const grove_node *m = grove_node_first(names); m; m = grove_node_next(names, m)) {
        const char *name = grove_node_text(m);
        uint32_t i = 0;
        while (i < w->n_podgroups &&
               (!name || !w->podgroups[i] || strcmp(w->podgroups[i], name) != 0)) {
            i++;
        }
        if (i == w->n_podgroups) {
            free(members);
            return fail(where, "a group names a podgroup that is not there");
        }
        members[n++] = i;
    }
    const char *name = io_member(node, "name");
    grove_status st = grove_gang_group(w->gang, name, members, n, level_of(w, node, "required"),
                                       level_of(w, node, "preferred"), &id);
    free(members);
    if (st < 0) {
        return fail(where, grove_status_name(st));
    }
    w->groups[w->n_groups++] = copy_text(name, strlen(name));
    return EXIT_OK;
}

int place_read_gang(place_world *w, const grove_node *gang, const char *where) {
    const grove_node *podgroups = grove_node_get(gang, "podgroups");
    const grove_node *groups = grove_node_get(gang, "groups");
    free_names(w);
    w->podgroups = must(calloc(grove_node_size(podgroups) + 1, sizeof *w->podgroups));
    w->groups = must(calloc(grove_node_size(groups) + 1, sizeof *w->groups));
    w->podgroup_gpus = must(calloc(grove_node_size(podgroups) + 1, sizeof *w->podgroup_gpus));
    if (grove_gang_begin(w->gang, w->topology, io_member(gang, "name")) < 0 ||
        grove_gang_pack(w->gang, level_of(w, gang, "required"), level_of(w, gang, "preferred")) <
            0) {
        return fail(where, "out of memory");
    }
    int code = EXIT_OK;
    for (const grove_node *p = grove_node_first(podgroups); p && code == EXIT_OK;
         p = grove_node_next(podgroups, p)) {
        code = read_podgroup(w, p, where);
    }
    for (const grove_node *g = grove_node_first(groups); g && code == EXIT_OK;
         g = grove_node_next(groups, g)) {
        code = read_group(w, g, where);
    }
    return code;
}

/* ---- writing ---- */

static int by_node(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The nodes of a podgroup's pods in order, those without a place last; NULL when it has none. */
static uint32_t *sorted_nodes(const place_world *w, uint32_t podgroup, uint32_t *out_n) {
    const uint32_t *nodes = grove_decision_nodes(w->decision, podgroup, out_n);
    uint32_t *sorted = nodes ? must(malloc((*out_n + 1) * sizeof *sorted)) : NULL;
    if (sorted) {
        memcpy(sorted, nodes, *out_n * sizeof *sorted);
        qsort(sorted, *out_n, sizeof *sorted, by_node);
    }
    return sorted;
}

/* The end of the run of equal nodes that begins at k. */
static uint32_t end_of_run(const uint32_t *sorted, uint32_t n, uint32_t k) {
    uint32_t end = k;
    while (end < n && sorted[end] == sorted[k]) {
        end++;
    }
    return end;
}

void place_write_placement(const place_world *w, grove_builder *b, const char *key) {
    grove_builder_open_object(b, key);
    for (uint32_t i = 0; i < w->n_podgroups; i++) {
        uint32_t n, *sorted = sorted_nodes(w, i, &n);
        if (!sorted) {
            continue;
        }
        grove_builder_open_object(b, w->podgroups[i]);
        for (uint32_t k = 0, end; k < n && sorted[k] != GROVE_SCHED_NONE; k = end) {
            end = end_of_run(sorted, n, k);
            grove_builder_int64(b, grove_sched_node_name(w->sched, sorted[k]), end - k);
        }
        grove_builder_close(b);
        free(sorted);
    }
    grove_builder_close(b);
}

void place_print_nodes(const place_world *w) {
    for (uint32_t i = 0; i < w->n_podgroups; i++) {
        uint32_t n, *sorted = sorted_nodes(w, i, &n);
        printf("%s %s:", i ? ";" : "", w->podgroups[i]);
        for (uint32_t k = 0, end; sorted && k < n && sorted[k] != GROVE_SCHED_NONE; k = end) {
            end = end_of_run(sorted, n, k);
            printf("%s %s", k ? "," : "", grove_sched_node_name(w->sched, sorted[k]));
            if (end - k > 1) {
                printf(" x%u", end - k);
            }
        }
        free(sorted);
    }
}

static void write_level(const place_world *w, grove_builder *b, const char *key, int32_t kind,
                        uint32_t id) {
    grove_level level = grove_decision_level(w->decision, kind, id);
    if (level == GROVE_LEVEL_NONE) {
        grove_builder_null(b, key);
    } else if (level == grove_sched_host_level(w->sched, w->topology)) {
        grove_builder_string(b, key, "host");
    } else {
        grove_builder_string(b, key, grove_sched_level_key(w->sched, w->topology, level));
    }
}

void place_write_levels(const place_world *w, grove_builder *b, const char *key) {
    grove_builder_open_object(b, key);
    if (grove_decision_verdict(w->decision) == GROVE_PLACED) {
        write_level(w, b, "gang", GROVE_ENTITY_GANG, 0);
        grove_builder_open_object(b, "groups");
        for (uint32_t i = 0; i < w->n_groups; i++) {
            write_level(w, b, w->groups[i], GROVE_ENTITY_GROUP, i);
        }
        grove_builder_close(b);
        grove_builder_open_object(b, "podgroups");
        for (uint32_t i = 0; i < w->n_podgroups; i++) {
            write_level(w, b, w->podgroups[i], GROVE_ENTITY_PODGROUP, i);
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

const char *place_verdict(const place_world *w) {
    switch (grove_decision_verdict(w->decision)) {
    case GROVE_PLACED:
        return "placed";
    case GROVE_INFEASIBLE:
        return "infeasible";
    default:
        return "unknown";
    }
}

void place_reason(const place_world *w, char *out, size_t cap) {
    grove_certificate c = {.size = (uint32_t)sizeof c};
    out[0] = '\0';
    if (grove_decision_verdict(w->decision) == GROVE_PLACED ||
        grove_decision_certificate(w->decision, &c) < 0) {
        return;
    }
    const char *level = grove_sched_level_key(w->sched, w->topology, c.level);
    const char *resource = grove_sched_resource_name(w->sched, c.resource);
    const char *nearest = grove_sched_node_name(w->sched, c.nearest);
    if (c.reason == GROVE_REASON_JOINT) {
        snprintf(out, cap, "%s on level %s: each part fits alone, but not all together",
                 grove_reason_name(c.reason), level ? level : "cluster");
        return;
    }
    int n = snprintf(out, cap, "%s", grove_reason_name(c.reason));
    bool of_queue = c.reason == GROVE_REASON_QUEUE_LIMIT || c.reason == GROVE_REASON_QUEUE_SHARE;
    if (n > 0 && of_queue && resource) {
        snprintf(out + n, cap - (size_t)n, ": %lld of %lld %s", (long long)c.have,
                 (long long)c.need, resource);
    } else if (n > 0 && !of_queue && c.reason != GROVE_REASON_BUDGET &&
               c.reason != GROVE_REASON_UNKNOWN_LEVEL && c.reason != GROVE_REASON_KEPT) {
        snprintf(out + n, cap - (size_t)n, " on level %s: %lld of %lld%s%s%s%s",
                 level ? level : "cluster", (long long)c.have, (long long)c.need,
                 resource ? " " : "", resource ? resource : "", nearest ? ", nearest at " : "",
                 nearest ? nearest : "");
    }
}

void place_write_answer(const place_world *w, grove_builder *b) {
    char text[256];
    int32_t score = grove_decision_score(w->decision);
    grove_builder_string(b, "verdict", place_verdict(w));
    place_write_placement(w, b, "placement");
    place_write_levels(w, b, "levels");
    snprintf(text, sizeof text, "%d.%06d", score / 1000000, score % 1000000);
    grove_builder_number(b, "score", text, strlen(text));
    grove_builder_int64(b, "steps", (int64_t)grove_decision_steps(w->decision));
    place_reason(w, text, sizeof text);
    grove_builder_string(b, "reason", text);
}

int place_show(place_world *w, const char *gang) {
    char why[256];
    place_reason(w, why, sizeof why);
    int placed = grove_decision_verdict(w->decision) == GROVE_PLACED;
    chart_pods one = {.gang = chart_add_gang(&w->picture, gang, placed ? NULL : why), .count = 1};
    for (uint32_t i = 0; i < w->n_podgroups; i++) {
        uint32_t n;
        const uint32_t *nodes = grove_decision_nodes(w->decision, i, &n);
        one.what = w->podgroups[i];
        one.devices = w->podgroup_gpus[i];
        for (uint32_t k = 0; nodes && k < n; k++) {
            one.node = nodes[k];
            if (one.node != GROVE_SCHED_NONE && chart_add_pods(&w->picture, &one) == UINT32_MAX) {
                return fail(gang, "out of memory");
            }
        }
    }
    return one.gang == UINT32_MAX ? fail(gang, "out of memory") : EXIT_OK;
}

void place_span(const place_world *w, int64_t *out_domains, int64_t *out_hosts) {
    grove_cost cost = {.size = (uint32_t)sizeof cost};
    if (grove_decision_cost(w->decision, &cost) < 0) {
        cost.span = cost.hosts = 0;
    }
    *out_domains = cost.span;
    *out_hosts = cost.hosts;
}
