/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that is recorded and played again: what a user sends in with a fault report.
 *
 * The engine first runs on the embedded cluster through a recorder; then a new engine runs on the recording alone.
 * It must make the same calls, or the replay says where it did not.
 *
 *     recorder set.yaml
 */
#include <stdio.h>
#include <stdlib.h>

#include <grove/grove.h>
#include <grove/sys/backend.h>
#include <grove/sys/sim.h>

#define SECOND INT64_C(1000000000)

static grove_status append(void *ctx, const char *bytes, size_t len) {
    return grove_buf_append(ctx, bytes, len);
}

/* The same clock for both runs: the recording knows what was delivered when. */
static grove_status live(grove_env *env, const grove_backend *backend, int64_t start) {
    grove_engine *engine = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = grove_engine_new(env, NULL, &engine, &err);
    for (int second = 0; second < 30 && st == GROVE_OK; second++) {
        int64_t due;
        st = grove_runner_turn(engine, backend, start + second * SECOND, &due, &err);
    }
    if (st < 0) {
        fprintf(stderr, "%s\n", err.message);
    }
    grove_engine_free(engine);
    return st;
}

static grove_status record(grove_env *env, grove_doc *set, grove_buf *recording) {
    grove_sim *sim = NULL;
    grove_backend inner = {0}, recorder = {0};
    grove_status st = grove_sim_new(env, NULL, &sim, NULL);
    if (st == GROVE_OK && (st = grove_sim_add_nodes(sim, "1x1x2x8", NULL)) == GROVE_OK &&
        (st = grove_sim_apply(sim, set, NULL, NULL)) == GROVE_OK &&
        (st = grove_sim_backend(sim, &inner, NULL)) == GROVE_OK &&
        (st = grove_backend_record(env, &inner, append, recording, &recorder, NULL)) == GROVE_OK) {
        st = live(env, &recorder, grove_sim_now(sim));
        recorder.ops->destroy(recorder.impl); /* and the inner one with it */
    }
    grove_sim_free(sim);
    return st;
}

static grove_status play(grove_env *env, const grove_buf *recording, int64_t start) {
    grove_backend replay = {0};
    grove_status st = grove_backend_replay(env, recording->data, (size_t)recording->len, &replay,
                                           NULL);
    if (st == GROVE_OK) {
        st = live(env, &replay, start);
        replay.ops->destroy(replay.impl);
    }
    return st;
}

static grove_doc *read_set(grove_env *env, const char *path) {
    static char text[1 << 16];
    grove_doc *doc = NULL, *stored = NULL;
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) {
        fclose(f);
    }
    if (grove_doc_parse_yaml(env, text, len, GROVE_PARSE_STRICT, &doc, NULL) == GROVE_OK) {
        (void)grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &stored, NULL);
    }
    grove_doc_unref(doc);
    return stored;
}

int main(int argc, char **argv) {
    const int64_t start = INT64_C(1767225600) *
                          SECOND; /* where the embedded cluster's clock begins */
    grove_env *env = NULL;
    grove_buf recording;
    if (argc != 2 || grove_env_new(NULL, &env) < 0) {
        fprintf(stderr, "usage: recorder set.yaml\n");
        return 2;
    }
    grove_buf_init(&recording, env);
    grove_doc *set = read_set(env, argv[1]);
    int status = 1;
    if (set && record(env, set, &recording) == GROVE_OK &&
        play(env, &recording, start) == GROVE_OK) {
        printf("%llu bytes recorded and played again without a difference\n",
               (unsigned long long)recording.len);
        status = 0;
    }
    grove_doc_unref(set);
    grove_buf_fini(&recording);
    grove_env_unref(env);
    return status;
}
