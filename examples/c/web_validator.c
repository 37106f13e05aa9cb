/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grove's admission webhooks in a web service of one's own, as a CGI program: the body on standard input, the
 * URL's path in PATH_INFO, the answer on standard output. Any server that speaks CGI can run it; a server in C
 * calls grove_admission_review from its handler.
 */
#include <stdio.h>
#include <stdlib.h>

#include <grove/grove.h>

#define LARGEST_BODY (4u << 20)

static int answer(const char *status, const char *type, const char *body, size_t len) {
    printf("Status: %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", status, type, len);
    return fwrite(body, 1, len, stdout) == len ? 0 : 1;
}

static int refuse(const char *status, const char *text) {
    int n = snprintf(NULL, 0, "%s", text);
    return answer(status, "text/plain", text, (size_t)n);
}

int main(void) {
    const char *path = getenv("PATH_INFO");
    char *body = malloc(LARGEST_BODY);
    if (!path || !body) {
        free(body);
        return refuse("500 Internal Server Error", "no PATH_INFO, or no memory\n");
    }
    size_t len = fread(body, 1, LARGEST_BODY, stdin);
    int status = 1;
    grove_env *env = NULL;
    grove_config *config = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (len == LARGEST_BODY) {
        status = refuse("413 Content Too Large", "at most 4 MiB\n");
    } else if (grove_env_new(NULL, &env) < 0 || grove_config_new(env, &config) < 0) {
        status = refuse("500 Internal Server Error", "no memory\n");
    } else {
        grove_buf out;
        grove_buf_init(&out, env);
        if (grove_admission_review(env, config, path, body, len, &out, &err) == GROVE_OK) {
            status = answer("200 OK", "application/json", out.data, (size_t)out.len);
        } else {
            status = refuse("400 Bad Request", err.message);
        }
        grove_buf_fini(&out);
    }
    grove_config_unref(config);
    grove_env_unref(env);
    free(body);
    return status;
}
