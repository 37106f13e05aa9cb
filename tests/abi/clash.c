/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with other libraries, linked statically with libgrove.a, cJSON and libyaml. static.sh links a second file
 * to it that has a function of every name that libgrove uses inside; host_names() counts those that were called.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include <grove/cjson.h>
#include <grove/grove.h>

int host_names(void);

static int yaml_of_the_host(void) {
    static const unsigned char text[] = "a: [1, 2]\n";
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser)) {
        return 0;
    }
    yaml_parser_set_input_string(&parser, text, sizeof text - 1);
    int ok = yaml_parser_load(&parser, &document);
    if (ok) {
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return ok;
}

static int documents(void) {
    static const char text[] = "a: {b: 9007199254740993}\n";
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    cJSON *tree = NULL;
    int64_t value = 0;
    int ok = grove_env_new(NULL, &env) == 0 &&
             grove_doc_parse_yaml(env, text, sizeof text - 1, 0, &doc, NULL) == 0 &&
             grove_node_int64(grove_node_at_path(grove_doc_root(doc), "/a/b"), &value) == 0 &&
             value == 9007199254740993 &&
             grove_cjson_from_node(grove_doc_root(doc), GROVE_CJSON_LOSSY, &tree, NULL) == 0 &&
             cJSON_GetObjectItem(tree, "a") != NULL;
    cJSON_Delete(tree);
    grove_doc_unref(doc);
    grove_env_unref(env);
    return ok;
}

int main(void) {
    int before = host_names();
    if (!yaml_of_the_host() || !documents() || host_names() != before) {
        fprintf(stderr, "one took the other's names\n");
        return 1;
    }
    printf("libgrove %s beside cJSON %s and libyaml %s\n", grove_version(), cJSON_Version(),
           yaml_get_version_string());
    return 0;
}
