/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole questions, documents in and documents out: what a binding of another language, or a service, needs and no more.
 *
 *     answers place    request.json           where do these gangs go?
 *     answers diff     old.yaml new.yaml      what becomes of the children?
 *     answers simulate set.yaml 2x2x4x8       what is there after a while?
 *     answers explain  cluster.json pcs/NAME  why does it wait?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/grove.h>

static grove_doc *read_document(grove_env *env, const char *path, grove_error *err) {
    grove_doc *doc = NULL;
    char *text = NULL;
    size_t len = 0;
    FILE *f = fopen(path, "rb");
    if (f && fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        rewind(f);
        text = malloc((size_t)size + 1);
        len = text ? fread(text, 1, (size_t)size, f) : 0;
    }
    if (f) {
        fclose(f);
    }
    /* JSON is YAML, too; a library without YAML reads JSON only */
    if (text && grove_doc_parse_yaml(env, text, len, 0, &doc, err) == GROVE_E_UNSUPPORTED) {
        (void)grove_doc_parse_json(env, text, len, 0, &doc, err);
    }
    free(text);
    return doc;
}

/* As a cluster stores it: what grove_diff compares. */
static grove_doc *read_set(grove_env *env, const char *path, grove_error *err) {
    grove_doc *doc = read_document(env, path, err), *stored = NULL;
    if (doc) {
        (void)grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &stored, err);
    }
    grove_doc_unref(doc);
    return stored;
}

static grove_doc *explain(grove_env *env, const char *path, const char *object, grove_error *err) {
    grove_doc *cluster = read_document(env, path, err), *answer = NULL;
    const char *slash = strchr(object, '/');
    if (cluster && slash) {
        grove_kind kind = grove_kind_find(object, (size_t)(slash - object));
        (void)grove_explain(env, cluster, NULL, kind, NULL, slash + 1, 0, &answer, err);
    }
    grove_doc_unref(cluster);
    return answer;
}

static grove_doc *answer_to(grove_env *env, char **words, grove_error *err) {
    grove_doc *one = NULL, *two = NULL, *answer = NULL;
    if (strcmp(words[0], "explain") == 0) {
        return explain(env, words[1], words[2], err);
    }
    if (strcmp(words[0], "place") == 0) {
        one = read_document(env, words[1], err);
        (void)(one && grove_place(env, one, &answer, err));
    } else if (strcmp(words[0], "simulate") == 0) {
        grove_simulate_options options = {(uint32_t)sizeof options};
        options.nodes = words[2];
        one = read_document(env, words[1], err);
        (void)(one && grove_simulate(env, one, NULL, &options, &answer, err));
    } else {
        one = read_set(env, words[1], err);
        two = read_set(env, words[2], err);
        (void)(one && two && grove_diff(env, one, two, NULL, &answer, err));
    }
    grove_doc_unref(two);
    grove_doc_unref(one);
    return answer;
}

int main(int argc, char **argv) {
    grove_env *env = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf out;
    if (argc < 3 || (argc < 4 && strcmp(argv[1], "place") != 0) || grove_env_new(NULL, &env) < 0) {
        fprintf(stderr, "usage: answers place|diff|simulate|explain FILE [WHAT]\n");
        return 2;
    }
    grove_doc *answer = answer_to(env, argv + 1, &err);
    int code = answer ? 0 : 1;
    grove_buf_init(&out, env);
    if (answer &&
        grove_node_write_json(grove_doc_root(answer), GROVE_WRITE_PRETTY, &out, &err) == 0) {
        printf("%s\n", out.data);
    } else {
        fprintf(stderr, "%u:%u: %s%s%s\n", err.line, err.column, err.path, err.path[0] ? ": " : "",
                err.message);
    }
    grove_buf_fini(&out);
    grove_doc_unref(answer);
    grove_env_unref(env);
    return code;
}
