/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the OperatorConfiguration, with the defaults of Grove's own operator. */
#include "settings.h"

#include "../grovectl/io.h"
#include "groved.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static const struct {
    const char *name;
    int64_t ns;
} units[] = {{"ns", 1},          {"us", 1000},         {"ms", 1000000},    {"s", SECOND},
             {"m", 60 * SECOND}, {"h", 3600 * SECOND}, {"\xc2\xb5s", 1000}};

/* One "1.5h" at *p; moves on. */
static int64_t one_duration(const char **p) {
    int64_t whole = 0, fraction = 0, scale = 1;
    const char *begin = *p;
    for (; **p >= '0' && **p <= '9' && whole < INT32_MAX; (*p)++) {
        whole = whole * 10 + (**p - '0');
    }
    if (**p == '.') {
        for ((*p)++; **p >= '0' && **p <= '9'; (*p)++) {
            if (scale < 1000000) {
                fraction = fraction * 10 + (**p - '0');
                scale *= 10;
            }
        }
    }
    size_t n = strcspn(*p, "0123456789.");
    for (size_t i = 0; *p != begin && i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == n && strncmp(*p, units[i].name, n) == 0 &&
            whole <= INT64_MAX / 2 / units[i].ns) {
            *p += n;
            return whole * units[i].ns + fraction * units[i].ns / scale;
        }
    }
    return -1;
}

int64_t settings_duration(const char *text) {
    int64_t sum = 0;
    if (strcmp(text, "0") == 0) {
        return 0;
    }
    do {
        int64_t part = one_duration(&text);
        if (part < 0 || sum > INT64_MAX / 2 - part) {
            return -1;
        }
        sum += part;
    } while (*text);
    return sum;
}

static const grove_node *at(const settings *s, const char *pointer) {
    return s->doc ? grove_node_at_path(grove_doc_root(s->doc), pointer) : NULL;
}

static const char *text_at(const settings *s, const char *pointer, const char *otherwise) {
    const char *text = grove_node_text(at(s, pointer));
    return text && text[0] ? text : otherwise;
}

static int64_t time_at(const settings *s, const char *pointer, int64_t otherwise) {
    const char *text = text_at(s, pointer, NULL);
    int64_t ns = text ? settings_duration(text) : -1;
    return ns < 0 ? otherwise : ns;
}

static settings_address address_at(const settings *s, const char *host, const char *port,
                                   int64_t otherwise) {
    settings_address a = {text_at(s, host, ""), 0};
    if (grove_node_int64(at(s, port), &a.port) < 0 || a.port == 0) {
        a.port = otherwise; /* a Go operator cannot tell 0 from nothing */
    }
    return a;
}

static void take(settings *s) {
    s->leader_election = grove_node_is_true(at(s, "/leaderElection/enabled"));
    s->lease_ns = time_at(s, "/leaderElection/leaseDuration", 15 * SECOND);
    s->renew_ns = time_at(s, "/leaderElection/renewDeadline", 10 * SECOND);
    s->retry_ns = time_at(s, "/leaderElection/retryPeriod", 2 * SECOND);
    s->lease_name = text_at(s, "/leaderElection/resourceName", "grove-operator-leader-election");
    s->lease_namespace = text_at(s, "/leaderElection/resourceNamespace", "");
    s->webhooks = address_at(s, "/server/webhooks/bindAddress", "/server/webhooks/port", 2750);
    s->probes = address_at(s, "/server/healthProbes/bindAddress", "/server/healthProbes/port",
                           2751);
    s->metrics = address_at(s, "/server/metrics/bindAddress", "/server/metrics/port", 2752);
    s->cert_dir = text_at(s, "/server/webhooks/serverCertDir", "/etc/grove-operator/webhook-certs");
    s->cert_secret = text_at(s, "/server/webhooks/secretName", "grove-webhook-server-cert");
    s->log_level = text_at(s, "/logLevel", "info");
    s->log_format = text_at(s, "/logFormat", "json");
    s->authorizer = grove_node_is_true(at(s, "/authorizer/enabled"));
    s->guard_scale = strcmp(text_at(s, "/guardScale", "Allow"), "Deny") == 0;
    s->exempt = at(s, "/authorizer/exemptServiceAccountUserNames");
    s->topology = !s->doc || grove_node_is_true(at(s, "/topologyAwareScheduling/enabled"));
    s->mnnvl = grove_node_is_true(at(s, "/network/autoMNNVLEnabled"));
    s->profiles = at(s, "/scheduler/profiles");
}

static int check(settings *s, const char *path) {
    const char *mode = text_at(s, "/server/webhooks/certProvisionMode", "auto");
    s->manual_certs = strcmp(mode, "manual") == 0;
    if (!s->manual_certs && strcmp(mode, "auto") != 0) {
        groved_say("%s: server.webhooks.certProvisionMode: must be auto or manual, not '%s'", path,
                   mode);
        return EXIT_WRONG_USAGE;
    }
    return EXIT_DONE;
}

/* The operator's part of the file: the object of that kind, or one without any kind. */
static int find_operator(grove_env *env, const char *path, settings *s) {
    io_objects objects = {0};
    int code = io_read_objects(env, path, GROVE_PARSE_STRICT, &objects);
    for (size_t i = 0; code == EXIT_DONE && !s->doc && i < objects.n; i++) {
        const char *kind = io_member(objects.v[i].node, "kind");
        if (kind[0] && strcmp(kind, "OperatorConfiguration") != 0) {
            continue;
        }
        grove_builder *b = NULL; /* a document whose root is the object */
        grove_error err = GROVE_ERROR_INIT;
        if (grove_builder_new(env, &b) < 0) {
            code = EXIT_FAILED;
            break;
        }
        grove_builder_link(b, NULL, objects.v[i].doc, objects.v[i].node);
        if (grove_builder_finish(b, &s->doc, &err) < 0) {
            groved_say("%s: %s", path, err.message);
            code = EXIT_FAILED;
        }
        grove_builder_free(b);
    }
    io_free_objects(&objects);
    return code;
}

int settings_read(grove_env *env, const char *path, settings *out) {
    *out = (settings){0};
    int code = io_read_config(env, path, &out->config);
    if (code == EXIT_DONE && path) {
        code = find_operator(env, path, out);
    }
    take(out);
    return code == EXIT_DONE ? check(out, path ? path : "configuration") : code;
}

void settings_fini(settings *s) {
    grove_doc_unref(s->doc);
    grove_config_unref(s->config);
}

int settings_has_profile(const settings *s, const char *name) {
    const grove_node *p;
    if (!s->doc) { /* the built-in setting */
        return strcmp(name, "default-scheduler") == 0 || strcmp(name, "kai-scheduler") == 0;
    }
    for (p = grove_node_first(s->profiles); p; p = grove_node_next(s->profiles, p)) {
        const char *has = grove_node_text(grove_node_get(p, "name"));
        if (has && strcmp(has, name) == 0) {
            return 1;
        }
    }
    return strcmp(name, "default-scheduler") == 0;
}

int settings_binds(const settings *s) {
    const grove_node *p;
    if (settings_has_profile(s, "grove-scheduler")) {
        return 1;
    }
    for (p = grove_node_first(s->profiles); p; p = grove_node_next(s->profiles, p)) {
        if (grove_node_is_true(grove_node_at_path(p, "/config/gangScheduling"))) {
            return 1; /* released to places that the engine found */
        }
    }
    return 0;
}
