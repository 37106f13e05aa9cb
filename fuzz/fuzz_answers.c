/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole questions on any text: the first byte chooses the question, the rest is what is asked (two texts,
 * split at the first record separator, where two are wanted). Oracles: the same question has the same
 * answer, byte for byte; an answer is JSON that reads back to itself; a refusal says why; nothing is
 * called an inner fault.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/grove.h>
#include <grove/sys/backend.h>
#include <grove/sys/sim.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEPARATOR 0x1E
#define LONGEST_SPEC 256
#define SIMULATED_NS INT64_C(60000000000)

typedef struct question {
    grove_env *env;
    grove_config *config;
    const char *text; /* not ended by a 0 */
    size_t len;
    grove_error err;
} question;

/* An answer to be compared; NULL in *out: the question has none but its status. */
typedef grove_status (*ask_fn)(question *q, grove_doc **out);

static void require(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "fuzz answers: %s\n", what);
        abort();
    }
}

static grove_status read_text(question *q, const char *text, size_t len, grove_doc **out) {
    return grove_doc_parse_json(q->env, text, len, 0, out, &q->err);
}

/* The text as the object that a cluster would store. */
static grove_status read_stored(question *q, const char *text, size_t len, grove_doc **out) {
    grove_doc *doc = NULL;
    grove_status status = read_text(q, text, len, &doc);
    if (status == GROVE_OK) {
        status = grove_default(q->env, doc, grove_doc_root(doc), NULL, NULL, out, &q->err);
    }
    grove_doc_unref(doc);
    return status;
}

static grove_status ask_place(question *q, grove_doc **out) {
    grove_doc *doc = NULL;
    grove_status status = read_text(q, q->text, q->len, &doc);
    status = status < 0 ? status : grove_place(q->env, doc, out, &q->err);
    grove_doc_unref(doc);
    return status;
}

static grove_status ask_render(question *q, grove_doc **out) {
    grove_doc *stored = NULL;
    grove_status status = read_stored(q, q->text, q->len, &stored);
    status = status < 0 ? status
                        : grove_render(q->env, stored, grove_doc_root(stored), q->config, NULL,
                                       GROVE_RENDER_EXACT_TEMPLATES, out, &q->err);
    grove_doc_unref(stored);
    return status;
}

static grove_status ask_names(question *q, grove_doc **out) {
    grove_doc *stored = NULL;
    grove_status status = read_stored(q, q->text, q->len, &stored);
    status = status < 0 ? status
                        : grove_names_list(q->env, stored, grove_doc_root(stored), q->config, out,
                                           &q->err);
    grove_doc_unref(stored);
    return status;
}

static grove_status ask_diff(question *q, grove_doc **out) {
    const char *cut = memchr(q->text, SEPARATOR, q->len);
    size_t first = cut ? (size_t)(cut - q->text) : q->len;
    grove_doc *old = NULL, *new_set = NULL;
    grove_status status = read_stored(q, q->text, first, &old);
    status = status < 0 ? status
             : cut      ? read_stored(q, cut + 1, q->len - first - 1, &new_set)
                        : read_stored(q, q->text, first, &new_set);
    status = status < 0 ? status : grove_diff(q->env, old, new_set, q->config, out, &q->err);
    grove_doc_unref(old);
    grove_doc_unref(new_set);
    return status;
}

static grove_status ask_explain(question *q, grove_doc **out) {
    grove_doc *doc = NULL;
    grove_status status = read_text(q, q->text, q->len, &doc);
    status = status < 0 ? status
                        : grove_explain(q->env, doc, q->config, GROVE_KIND_PODCLIQUESET, NULL, "s",
                                        INT64_C(1800000000000000000), out, &q->err);
    grove_doc_unref(doc);
    return status;
}

static grove_status ask_simulate(question *q, grove_doc **out) {
    grove_simulate_options options = {.size = sizeof options,
                                      .flags = GROVE_SIMULATE_INSTANT,
                                      .nodes = "1x1x2x4",
                                      .for_ns = SIMULATED_NS};
    grove_doc *doc = NULL;
    grove_status status = read_text(q, q->text, q->len, &doc);
    status = status < 0 ? status : grove_simulate(q->env, doc, q->config, &options, out, &q->err);
    grove_doc_unref(doc);
    return status;
}

static grove_status ask_migrate(question *q, grove_doc **out) {
    grove_doc *doc = NULL;
    grove_diags *diags = NULL;
    require(grove_diags_new(q->env, &diags) == GROVE_OK, "no list of findings");
    grove_status status = read_text(q, q->text, q->len, &doc);
    status = status < 0 ? status
                        : grove_migrate(q->env, doc, grove_doc_root(doc), diags, out, &q->err);
    if (status == GROVE_OK) {
        (void)grove_lint(q->env, doc, grove_doc_root(doc), q->config, NULL, diags, NULL);
    }
    grove_doc_unref(doc);
    grove_diags_free(diags);
    return status;
}

static grove_status ask_config(question *q, grove_doc **out) {
    (void)out;
    grove_config *config = NULL;
    require(grove_config_new(q->env, &config) == GROVE_OK, "no configuration");
    grove_status status = grove_config_load(config, q->text, q->len, &q->err);
    grove_config_unref(config);
    return status;
}

static grove_status ask_replay(question *q, grove_doc **out) {
    (void)out;
    grove_backend backend = {.size = sizeof backend};
    grove_status status = grove_backend_replay(q->env, q->text, q->len, &backend, &q->err);
    if (status == GROVE_OK) {
        backend.ops->destroy(backend.impl);
    }
    return status;
}

static grove_status ask_nodes(question *q, grove_doc **out) {
    char spec[LONGEST_SPEC];
    size_t n = q->len < sizeof spec ? q->len : sizeof spec - 1;
    memcpy(spec, q->text, n);
    spec[n] = '\0';
    return grove_sim_node_list(q->env, spec, out, &q->err);
}

static const ask_fn questions[] = {ask_place,    ask_render,  ask_names,  ask_diff,   ask_explain,
                                   ask_simulate, ask_migrate, ask_config, ask_replay, ask_nodes};

static void check_reads_back(question *q, const grove_buf *answer) {
    grove_doc *doc = NULL;
    grove_buf again;
    grove_buf_init(&again, q->env);
    require(grove_doc_parse_json(q->env, answer->data, (size_t)answer->len, GROVE_PARSE_STRICT,
                                 &doc, NULL) == GROVE_OK,
            "an answer is not JSON");
    require(grove_node_write_json(grove_doc_root(doc), 0, &again, NULL) == GROVE_OK &&
                again.len == answer->len &&
                memcmp(again.data, answer->data, (size_t)again.len) == 0,
            "an answer reads back to something else");
    grove_buf_fini(&again);
    grove_doc_unref(doc);
}

static grove_status ask(question *q, ask_fn question_asked, grove_buf *out) {
    grove_doc *answer = NULL;
    q->err = (grove_error)GROVE_ERROR_INIT;
    grove_status status = question_asked(q, &answer);
    if (status < 0) {
        require(answer == NULL, "a refusal with an answer");
        require(status != GROVE_E_INTERNAL, q->err.message);
        require(q->err.message[0] != '\0', "a refusal without words");
        return status;
    }
    if (answer != NULL) {
        require(grove_node_write_json(grove_doc_root(answer), 0, out, NULL) == GROVE_OK,
                "an answer that cannot be written");
    }
    grove_doc_unref(answer);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    question q = {.len = size > 0 ? size - 1 : 0, .text = (const char *)data + 1};
    grove_limits limits = {.size = sizeof limits, .search_steps = 20000, .document_nodes = 20000};
    grove_env_options options = {.size = sizeof options, .limits = &limits};
    if (size < 1) {
        return 0;
    }
    require(grove_env_new(&options, &q.env) == GROVE_OK &&
                grove_config_new(q.env, &q.config) == GROVE_OK,
            "no environment");
    ask_fn asked = questions[data[0] % (sizeof questions / sizeof questions[0])];
    grove_buf first, second;
    grove_buf_init(&first, q.env);
    grove_buf_init(&second, q.env);
    grove_status status = ask(&q, asked, &first);
    require(status == ask(&q, asked, &second) && first.len == second.len &&
                (first.len == 0 || memcmp(first.data, second.data, (size_t)first.len) == 0),
            "two answers to one question");
    if (first.len > 0) {
        check_reads_back(&q, &first);
    }
    grove_buf_fini(&first);
    grove_buf_fini(&second);
    grove_config_unref(q.config);
    grove_env_unref(q.env);
    return 0;
}
