/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP front below its sockets, on any requests. An input is a few requests, each ended by a record
 * separator (1E), with tabs between method, target, Accept, Content-Type and body. Oracles: every request has an answer with a code
 * that HTTP knows; what is called JSON reads back, and an error is a Status that says its own code; lines
 * of watches read back as events.
 */
#include <stdlib.h>
#include <string.h>

#include <grove/sys/sim.h>

#include "front/front.h"

#define REQUESTS_MAX 8
#define LINE_MAX_BYTES 4096
#define FIELDS 5
#define RECORD_END 0x1E

static void require(int holds) {
    if (!holds) {
        abort();
    }
}

static grove_env *the_env;

static grove_doc *read_back(const char *text, size_t len) {
    grove_doc *doc = NULL;
    require(grove_doc_parse_json(the_env, text, len, GROVE_PARSE_STRICT, &doc, NULL) == GROVE_OK);
    return doc;
}

static void check_answer(const gv_front_response *r) {
    require(r->http >= 200 && r->http < 600);
    if (r->watch || strncmp(r->content_type, "application/json", 16) != 0) {
        return;
    }
    grove_doc *doc = read_back(r->body.data, (size_t)r->body.len);
    if (r->http >= 400) {
        int64_t code = 0;
        const char *kind = grove_node_text(grove_node_get(grove_doc_root(doc), "kind"));
        require(kind && strcmp(kind, "Status") == 0);
        require(grove_node_int64(grove_node_get(grove_doc_root(doc), "code"), &code) == GROVE_OK);
        require(code == r->http);
    }
    grove_doc_unref(doc);
}

static void on_line(void *ctx, uint64_t watch, const char *bytes, size_t len) {
    (void)ctx;
    require(watch != 0 && len > 0 && bytes[len - 1] == '\n');
    grove_doc *doc = read_back(bytes, len);
    require(grove_node_text(grove_node_get(grove_doc_root(doc), "type")) != NULL);
    require(grove_node_type(grove_node_get(grove_doc_root(doc), "object")) == GROVE_OBJECT);
    grove_doc_unref(doc);
}

static void on_end(void *ctx, uint64_t watch) {
    (void)ctx;
    require(watch != 0);
}

/* Cuts a line at its tabs; what is missing is empty. */
static void ask(gv_front *front, char *line, size_t len) {
    const char *end = line + len;
    const char *field[FIELDS] = {"", "", "", "", ""};
    gv_front_response out;
    for (int i = 0; i < FIELDS; i++) {
        field[i] = line;
        char *tab = i + 1 < FIELDS ? strchr(line, '\t') : NULL;
        if (!tab) {
            break;
        }
        *tab = '\0';
        line = tab + 1;
    }
    gv_front_request in = {.method = field[0],
                           .target = field[1],
                           .accept = field[2],
                           .content_type = field[3],
                           .body = field[4],
                           .body_len = field[4][0] ? (size_t)(end - field[4]) : 0,
                           .agent = "fuzz/1"};
    gv_front_response_init(&out, the_env);
    require(gv_front_handle(front, &in, &out) == GROVE_OK);
    check_answer(&out);
    gv_front_response_fini(&out);
}

static void ask_all(gv_front *front, grove_sim *sim, const char *data, size_t size) {
    gv_front_sink sink = {NULL, on_line, on_end};
    for (int n = 0; n < REQUESTS_MAX && size > 0; n++) {
        const char *end = memchr(data, RECORD_END, size);
        size_t len = end ? (size_t)(end - data) : size, used = len + (end ? 1 : 0);
        char *line = len <= LINE_MAX_BYTES ? malloc(len + 1) : NULL;
        if (line) {
            memcpy(line, data, len);
            line[len] = '\0';
            ask(front, line, len);
            free(line);
        }
        require(grove_sim_advance(sim, grove_sim_now(sim) + 1000000000, NULL) == GROVE_OK);
        require(gv_front_pump(front, &sink, NULL) == GROVE_OK);
        data += used;
        size -= used;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_sim *sim = NULL;
    gv_front *front = NULL;
    require(grove_env_new(NULL, &the_env) == GROVE_OK);
    grove_sim_options options = {.size = (uint32_t)sizeof options,
                                 .flags = GROVE_SIM_MANAGED_FIELDS | GROVE_SIM_LONE_PODS};
    require(grove_sim_new(the_env, &options, &sim, NULL) == GROVE_OK);
    require(grove_sim_add_nodes(sim, "nodes=2", NULL) == GROVE_OK);
    require(gv_front_new(the_env, sim, &front, NULL) == GROVE_OK);
    ask_all(front, sim, (const char *)data, size);
    gv_front_free(front);
    grove_sim_free(sim);
    grove_env_unref(the_env);
    return 0;
}
