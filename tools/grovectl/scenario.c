/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a scenario and running its steps in virtual time. */
#include "scenario.h"

#include "io.h"
#include "verbs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

int scenario_complain(const scenario *s, const grove_node *at, const char *fmt, ...) {
    uint32_t line = 0, column = 0;
    va_list ap;
    grove_node_position(s->doc, at, &line, &column);
    fprintf(stderr, "%s:%u:%u: error: ", s->file, line, column);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

const char *scenario_text(const grove_node *object, const char *key, const char *otherwise) {
    const char *text = grove_node_text(grove_node_get(object, key));
    return text ? text : otherwise;
}

static int is_word(const char *word, const char *words) {
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += n) {
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) {
            return 1;
        }
    }
    return 0;
}

int scenario_known_members(const scenario *s, const grove_node *object, const char *words) {
    for (const grove_node *m = grove_node_first(object); m; m = grove_node_next(object, m)) {
        if (!is_word(grove_node_key(m, NULL), words)) {
            return scenario_complain(s, m, "unknown member \"%s\"; there are: %s",
                                     grove_node_key(m, NULL), words);
        }
    }
    return EXIT_OK;
}

int64_t scenario_duration(const char *text) {
    static const struct {
        const char *word;
        int64_t ns;
    } units[] = {{"ns", 1},     {"us", 1000},       {"ms", 1000000},
                 {"s", SECOND}, {"m", 60 * SECOND}, {"h", 3600 * SECOND}};
    int64_t total = 0;
    if (!text || !*text) {
        return -1;
    }
    while (*text) {
        char *end = NULL;
        long long n = strtoll(text, &end, 10);
        size_t letters = strspn(end, "nusmh"), u = 0;
        while (u < sizeof units / sizeof *units &&
               (strlen(units[u].word) != letters || strncmp(units[u].word, end, letters) != 0)) {
            u++;
        }
        if (end == text || n < 0 || u == sizeof units / sizeof *units ||
            n > (INT64_MAX - total) / units[u].ns) {
            return -1;
        }
        total += n * units[u].ns;
        text = end + letters;
    }
    return total;
}

char *scenario_path(const scenario *s, const char *name) {
    const char *slash = strrchr(s->file, '/');
    size_t head = name[0] == '/' || !slash ? 0 : (size_t)(slash - s->file + 1);
    size_t n = strlen(name) + 1;
    char *path = malloc(head + n);
    if (path) {
        memcpy(path, s->file, head);
        memcpy(path + head, name, n);
    }
    return path;
}

/* ---- reading ---- */

/* The path of the file beside the scenario, or where there is none the text itself. */
static char *file_or_text(const scenario *s, const char *text) {
    char *path = scenario_path(s, text);
    FILE *f = path ? fopen(path, "r") : NULL;
    if (f) {
        fclose(f);
        return path;
    }
    free(path);
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

static int read_spec(scenario *s, const grove_node *root) {
    const grove_node *spec = grove_node_get(root, "spec");
    const grove_node *until = grove_node_get(spec, "until");
    s->steps = grove_node_get(spec, "steps");
    const char *config = grove_node_text(grove_node_get(spec, "config"));
    const char *nodes = grove_node_text(grove_node_get(spec, "nodes"));
    s->instant = grove_node_is_true(grove_node_get(spec, "instant"));
    s->rounds = grove_node_get(spec, "rounds");
    s->until_ns = -1;
    if (scenario_known_members(s, spec, "config nodes instant until rounds steps") != EXIT_OK) {
        return EXIT_USAGE;
    }
    if ((config && !(s->config = scenario_path(s, config))) ||
        (nodes && !(s->nodes = file_or_text(s, nodes)))) {
        return scenario_complain(s, root, "out of memory");
    }
    if (strcmp(io_member(root, "kind"), "Scenario") != 0) {
        return scenario_complain(s, root, "kind must be Scenario");
    }
    if (grove_node_type(s->steps) != GROVE_ARRAY) {
        return scenario_complain(s, root, "spec.steps must be a list of steps");
    }
    int64_t rounds = 1;
    if (s->rounds && (grove_node_int64(s->rounds, &rounds) < 0 || rounds < 1)) {
        return scenario_complain(s, s->rounds, "spec.rounds must be a whole number from 1 on");
    }
    if (until) {
        s->until_ns = scenario_duration(grove_node_text(until));
        if (s->until_ns < 0) {
            return scenario_complain(s, until, "spec.until must be a duration such as 1m30s");
        }
    }
    return EXIT_OK;
}

int scenario_read(grove_env *env, const char *path, scenario *out) {
    io_objects objects = {0};
    *out = (scenario){.env = env, .file = path};
    int code = io_read_objects(env, path, GROVE_PARSE_STRICT, &objects);
    if (code == EXIT_OK && objects.n != 1) {
        fprintf(stderr, "%s: error: one Scenario is expected\n", path);
        code = EXIT_USAGE;
    }
    if (code == EXIT_OK) {
        out->doc = grove_doc_ref(objects.v[0].doc);
        code = read_spec(out, objects.v[0].node);
    }
    io_free_objects(&objects);
    return code;
}

void scenario_fini(scenario *s) {
    for (size_t i = 0; i < s->snapshot_count; i++) {
        grove_doc_unref(s->snapshots[i].dump);
    }
    free(s->snapshots);
    free(s->config);
    free(s->nodes);
    grove_doc_unref(s->doc);
    s->snapshots = NULL;
    s->config = s->nodes = NULL;
    s->snapshot_count = 0;
    s->doc = NULL;
}

/* ---- snapshots ---- */

static int take_snapshot(scenario *s, cluster *c, const timeline *t, const grove_node *what) {
    const char *name = grove_node_text(what);
    grove_error err = GROVE_ERROR_INIT;
    if (!name) {
        return scenario_complain(s, what, "snapshot needs a name");
    }
    scenario_snapshot shot = {name, cluster_now(c), timeline_count(t), NULL};
    scenario_snapshot *all = realloc(s->snapshots, (s->snapshot_count + 1) * sizeof *s->snapshots);
    if (!all) {
        return scenario_complain(s, what, "out of memory");
    }
    s->snapshots = all;
    if (grove_sim_dump(c->sim, &shot.dump, &err) < 0) {
        return scenario_complain(s, what, "%s", err.message);
    }
    s->snapshots[s->snapshot_count++] = shot;
    return EXIT_OK;
}

void scenario_put_snapshots(const scenario *s, grove_builder *b, const char *key,
                            int64_t start_ns) {
    grove_builder_open_object(b, key);
    for (size_t i = 0; i < s->snapshot_count; i++) {
        const scenario_snapshot *shot = &s->snapshots[i];
        const grove_node *items = grove_node_get(grove_doc_root(shot->dump), "items");
        grove_builder_open_object(b, shot->name);
        grove_builder_int64(b, "ms", (shot->at_ns - start_ns) / 1000000);
        grove_builder_int64(b, "timeline", (int64_t)shot->timeline);
        grove_builder_open_array(b, "items");
        for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
            if (strcmp(io_member(o, "kind"), "Event") != 0) {
                grove_builder_link(b, NULL, shot->dump, o);
            }
        }
        grove_builder_close(b);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

/* ---- running ---- */

static int expect_all(scenario *s, cluster *c, const grove_node *list) {
    int code = EXIT_OK;
    for (const grove_node *e = grove_node_first(list); e && code == EXIT_OK;
         e = grove_node_next(list, e)) {
        code = scenario_expect(s, c, e);
    }
    return code;
}

/* What a run of virtual time is watched by. */
typedef struct watch {
    scenario *s;
    int64_t start_ns;
    int code;
} watch;

/* Expectations of `always` at one instant; each counts once, and the first that fails ends them. */
static int check_always(void *ctx, cluster *c) {
    watch *w = ctx;
    scenario *s = w->s;
    unsigned expectations = s->expectations, failures = s->failures;
    s->at_ns = cluster_now(c) - w->start_ns;
    if (s->always && w->code == EXIT_OK) {
        w->code = expect_all(s, c, s->always);
        s->expectations = expectations;
        s->always = s->failures > failures ? NULL : s->always;
    }
    return w->code != EXIT_OK;
}

static int run_step(scenario *s, cluster *c, const timeline *t, const grove_node *step) {
    for (const grove_node *member = grove_node_first(step); member;
         member = grove_node_next(step, member)) {
        const char *key = grove_node_key(member, NULL);
        int known = 1, code = EXIT_OK;
        if (strcmp(key, "at") == 0 || strcmp(key, "after") == 0 || strcmp(key, "name") == 0) {
            continue;
        }
        if (strcmp(key, "expect") == 0) {
            code = expect_all(s, c, member);
        } else if (strcmp(key, "always") == 0) {
            s->always = member;
            s->expectations += grove_node_size(member);
        } else if (strcmp(key, "snapshot") == 0) {
            code = take_snapshot(s, c, t, member);
        } else {
            code = scenario_act(s, c, key, member, &known);
        }
        if (!known) {
            return scenario_complain(s, member, "a step has no action \"%s\"", key);
        }
        if (code != EXIT_OK) {
            return code;
        }
    }
    return EXIT_OK;
}

/* `at` counts from the start, `after` from the step before; neither: at once. */
static int step_time(scenario *s, const grove_node *step, int64_t start, int64_t now,
                     int64_t *out) {
    const grove_node *at = grove_node_get(step, "at"), *after = grove_node_get(step, "after");
    int64_t offset = scenario_duration(grove_node_text(at ? at : after));
    *out = now;
    if (!at && !after) {
        return EXIT_OK;
    }
    if (offset < 0) {
        return scenario_complain(s, at ? at : after, "a duration such as 10s is expected");
    }
    *out = (at ? start : now) + offset;
    if (*out < now) {
        return scenario_complain(s, at, "steps must stand in the order of their times");
    }
    return EXIT_OK;
}

/* Law (b) with the scenario's own bound; nobody counts without --check. */
static void check_rounds(scenario *s, const cluster *c) {
    int64_t bound = 0;
    unsigned most = cluster_most_rounds(c);
    if (!s->rounds || most == 0 || grove_node_int64(s->rounds, &bound) < 0) {
        return;
    }
    s->expectations++;
    if (most > (uint64_t)bound) {
        s->failures++;
        (void)scenario_complain(s, s->rounds, "%u plans in a row, nothing happening in between",
                                most);
    }
}

int scenario_run(scenario *s, cluster *c, timeline *t) {
    int64_t start = cluster_now(c);
    grove_error err = GROVE_ERROR_INIT;
    watch w = {s, start, EXIT_OK};
    for (const grove_node *step = grove_node_first(s->steps); step;
         step = grove_node_next(s->steps, step)) {
        int64_t at = 0;
        int code = step_time(s, step, start, cluster_now(c), &at);
        if (code != EXIT_OK) {
            return code;
        }
        if (cluster_run(c, at, check_always, &w, &err) < 0) {
            return scenario_complain(s, step, "before this step: %s", err.message);
        }
        s->at_ns = cluster_now(c) - start;
        code = w.code == EXIT_OK ? run_step(s, c, t, step) : w.code;
        if (code != EXIT_OK) {
            return code;
        }
        if (cluster_settle_now(c, &err) < 0) {
            return scenario_complain(s, step, "after this step: %s", err.message);
        }
        (void)check_always(&w, c);
        if (w.code != EXIT_OK) {
            return w.code;
        }
    }
    check_rounds(s, c);
    return s->failures ? EXIT_REFUSED : EXIT_OK;
}
