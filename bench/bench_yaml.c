/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading YAML beside libyaml's bare events, which is what any reader on libyaml pays, and writing it. The
 * text is a stream of manifests as people write them. Best of several rounds.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <grove/doc.h>

#include "base/text.h"

#ifndef GV_HAVE_YAML

int main(void) {
    puts("built without YAML: nothing to measure");
    return 0;
}

#else

#include <yaml.h>

#define MANIFESTS 2000
#define ROUNDS 5

static const char *const manifest[] = {
    "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata:\n  name: set-%05u\n  namespace: "
    "team-a\n"
    "  labels: {app: serve, tier: \"gold\"}\nspec:\n  replicas: 2\n  template:\n"
    "    startupType: CliqueStartupTypeExplicit\n    cliques:\n",
    "    - name: %s\n      labels:\n        role: %s\n      spec:\n        roleName: %s\n        "
    "replicas: 3\n"
    "        minAvailable: 2\n        podSpec:\n          containers:\n          - name: main\n"
    "            image: registry.example.com/serve:1.2.3\n            command: [\"/bin/sh\", "
    "\"-c\"]\n"
    "            args:\n            - |\n              set -e\n              exec serve --port "
    "8080\n"
    "            resources:\n              limits:\n                cpu: 500m\n                "
    "memory: 1.5Gi\n"
    "                nvidia.com/gpu: 8\n            env:\n            - name: LEVEL\n              "
    "value: \"1\"\n"
    "            - {name: HOST, value: 'a: b'}\n          terminationGracePeriodSeconds: 30\n",
};
static const char *const roles[] = {"prefill", "decode", "router"};

static void check(int ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "bench_yaml: %s\n", what);
        exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_text(grove_buf *out) {
    for (unsigned i = 0; i < MANIFESTS; i++) {
        check(gv_buf_fmt(out, manifest[0], i) == 0, "out of memory");
        for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++) {
            check(gv_buf_fmt(out, manifest[1], roles[r], roles[r], roles[r]) == 0, "out of memory");
        }
        check(gv_buf_c(out, "---\n") == 0, "out of memory");
    }
}

static uint64_t bare_events(const grove_buf *text) {
    yaml_parser_t p;
    uint64_t n = 0;
    check(yaml_parser_initialize(&p), "out of memory");
    yaml_parser_set_input_string(&p, (const unsigned char *)text->data, (size_t)text->len);
    for (int done = 0; !done; n++) {
        yaml_event_t event;
        check(yaml_parser_parse(&p, &event), "libyaml refuses the text");
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&p);
    return n;
}

/* Reads all documents; with `out` it also writes each as YAML. */
static uint64_t read_documents(grove_env *env, const grove_buf *text, grove_buf *out) {
    grove_stream *stream = NULL;
    uint64_t n = 0;
    check(grove_stream_new(env, text->data, (size_t)text->len, 0, &stream, NULL) == 0, "no stream");
    for (;; n++) {
        grove_doc *doc = NULL;
        check(grove_stream_next(stream, &doc, NULL) == 0, "the text is refused");
        if (!doc) {
            break;
        }
        if (out) {
            check(grove_node_write_yaml(grove_doc_root(doc), 0, out, NULL) == 0, "not written");
        }
        grove_doc_unref(doc);
    }
    grove_stream_free(stream);
    return n;
}

static void figure(const char *name, double value, const char *unit, double mb) {
    printf("{\"bench\":\"yaml\",\"figure\":\"%s\",\"value\":%.2f,\"unit\":\"%s\",\"setting\":\"%d "
           "manifests, "
           "%.1f MB\"}\n",
           name, value, unit, MANIFESTS, mb);
}

int main(void) {
    grove_env *env = NULL;
    grove_buf text, out;
    check(grove_env_new(NULL, &env) == 0, "no environment");
    grove_buf_init(&text, env);
    grove_buf_init(&out, env);
    make_text(&text);
    const double mb = (double)text.len / 1e6;
    double events = 1e9, reading = 1e9, both = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double t0 = now();
        check(bare_events(&text) > MANIFESTS, "too few events");
        double t1 = now();
        check(read_documents(env, &text, NULL) == MANIFESTS, "documents are missing");
        double t2 = now();
        grove_buf_clear(&out);
        check(read_documents(env, &text, &out) == MANIFESTS, "documents are missing");
        double t3 = now();
        events = t1 - t0 < events ? t1 - t0 : events;
        reading = t2 - t1 < reading ? t2 - t1 : reading;
        both = t3 - t2 < both ? t3 - t2 : both;
    }
    const double writing = both > reading ? both - reading : 1e-9;
    printf("YAML, %d manifests, %.1f MB\n", MANIFESTS, mb);
    printf("  libyaml's events alone %7.1f MB/s\n", mb / events);
    printf("  documents              %7.1f MB/s  (%.2f times the time of the events)\n",
           mb / reading, reading / events);
    printf("  written as YAML        %7.1f MB/s\n", (double)out.len / 1e6 / writing);
    figure("read_mb_s", mb / reading, "MB/s", mb);
    figure("read_time_to_libyaml_events", reading / events, "ratio", mb);
    figure("write_mb_s", (double)out.len / 1e6 / writing, "MB/s", mb);
    grove_buf_fini(&text);
    grove_buf_fini(&out);
    grove_env_unref(env);
    return 0;
}

#endif
