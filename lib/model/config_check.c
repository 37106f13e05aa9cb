/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's own checks of an OperatorConfiguration (grove-api section 6), after its defaults. */
#include "model/config.h"
#include "model/config_queues.h"
#include "model/schema_walk.h"
#include "model/syntax.h"
#include "value/doc.h"
#include "value/scalar.h"

#define DEFAULT_SCHEDULER "default-scheduler"

bool gv_config_knows_scheduler(gv_str name) {
    static const char *const known[] = {DEFAULT_SCHEDULER, "kai-scheduler", "volcano",
                                        "lpx-scheduler", "grove-scheduler"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (gv_str_is(name, known[i])) {
            return true;
        }
    }
    return false;
}

/* A path given as dotted text. */
static void found(gv_check *c, gv_code code, const char *type, const char *path,
                  const grove_node *at, const char *what) {
    gv_path here = gv_path_key(NULL, path, strlen(path));
    gv_check_error(c, code, type, &here, at, "%s", what);
}

static void check_word(gv_check *c, const grove_node *config, const char *key,
                       const char *const *words, size_t n) {
    const grove_node *node = grove_node_get(config, key);
    gv_str text = gv_node_str(node);
    for (size_t i = 0; i < n; i++) {
        if (gv_syntax_blank(text) || gv_str_is(text, words[i])) {
            return;
        }
    }
    gv_path here = gv_path_key(NULL, key, strlen(key));
    gv_check_error(c, GV_CODE_NOT_SUPPORTED, "NotSupported", &here, node,
                   "%s is not one of %s, %s%s%s", gv_show(node).text, words[0], words[1],
                   n > 2 ? ", " : "", n > 2 ? words[2] : "");
}

/* One of two words, or nothing. */
static void check_choice(gv_check *c, const gv_path *entry, const grove_node *config,
                         const char *key, const char *one, const char *other) {
    const grove_node *node = grove_node_get(config, key);
    gv_str word = gv_node_str(node);
    if (!gv_node_is_nothing(node) && !gv_str_is(word, one) && !gv_str_is(word, other)) {
        gv_path above = gv_path_key(entry, "config", 6);
        gv_path here = gv_path_key(&above, key, strlen(key));
        gv_check_error(c, GV_CODE_NOT_SUPPORTED, "NotSupported", &here, node,
                       "%s is not one of %s, %s", gv_show(node).text, one, other);
    }
}

/* What is ours in a profile's config; the rest belongs to the scheduler. */
static void check_profile_config(gv_check *c, const gv_path *entry, const grove_node *profile,
                                 bool *queues_seen) {
    const grove_node *config = grove_node_get(profile, "config");
    gv_path above = gv_path_key(entry, "config", 6);
    check_choice(c, entry, config, "preemptionPolicy", "PreemptLowerPriority", "Never");
    check_choice(c, entry, config, "onNoFit", "Wait", "ReleaseForAutoscaler");
    const grove_node *guard = grove_node_get(config, "starvationGuard");
    int64_t ns = 0;
    if (!gv_node_is_nothing(guard) &&
        (!gv_node_is(guard, GROVE_STRING) || gv_duration_parse(gv_node_str(guard), &ns, NULL) < 0 ||
         ns <= 0)) {
        gv_path here = gv_path_key(&above, "starvationGuard", 15);
        gv_check_error(c, GV_CODE_CONFIG_INVALID, "Invalid", &here, guard,
                       "must be a duration above 0");
    }
    gv_config_queues_check(c, &above, grove_node_get(config, "queues"), queues_seen);
}

static void check_profiles(gv_check *c, const grove_node *profiles, bool *default_seen,
                           gv_str default_name) {
    gv_path scheduler = gv_path_key(NULL, "scheduler", 9);
    gv_path list = gv_path_key(&scheduler, "profiles", 8);
    uint32_t i = 0;
    bool queues_seen = false;
    GV_EACH(p, profiles) {
        gv_path entry = gv_path_index(&list, i++), here = gv_path_key(&entry, "name", 4);
        const grove_node *node = grove_node_get(p, "name");
        gv_str name = gv_node_str(node);
        const grove_node *at = node ? node : p;
        bool twice = false;
        check_profile_config(c, &entry, p, &queues_seen);
        GV_EACH(b, profiles) {
            if (b == p) {
                break;
            }
            twice = twice || gv_str_eq(gv_node_get_str(b, "name"), name);
        }
        if (gv_syntax_blank(name)) {
            gv_check_error(c, GV_CODE_REQUIRED, "Required", &here, at, "a profile needs a name");
        } else if (!gv_config_knows_scheduler(name)) {
            gv_check_error(c, GV_CODE_NOT_SUPPORTED, "NotSupported", &here, at,
                           "%s is no scheduler this library knows", gv_show(node).text);
        } else if (twice) {
            gv_check_error(c, GV_CODE_DUPLICATE, "Duplicate", &here, at, "%s is given twice",
                           gv_show(node).text);
        } else {
            *default_seen = *default_seen || gv_str_eq(name, default_name);
        }
    }
}

/* With the defaults: default-scheduler is always among the profiles, and the default of the default. */
static void check_scheduler(gv_check *c, const grove_node *config) {
    const grove_node *scheduler = grove_node_get(config, "scheduler");
    const grove_node *profiles = grove_node_get(scheduler, "profiles");
    const grove_node *node = grove_node_get(scheduler, "defaultProfileName");
    gv_str name = gv_node_str(node);
    if (grove_node_size(profiles) == 0) {
        return; /* the default is forced then */
    }
    bool seen = name.n == 0 || gv_str_is(name, DEFAULT_SCHEDULER);
    check_profiles(c, profiles, &seen, name);
    if (name.n > 0 && gv_syntax_blank(name)) {
        found(c, GV_CODE_REQUIRED, "Required", "scheduler.defaultProfileName", node,
              "the default profile needs a name");
    } else if (!seen) {
        gv_path here = gv_path_key(NULL, "scheduler.defaultProfileName", 28);
        gv_check_error(c, GV_CODE_CONFIG_INVALID, "Invalid", &here, node,
                       "%s is not among the profiles", gv_show(node).text);
    }
}

/* A duration's nanoseconds; `otherwise` when it is absent or zero. False: malformed, and reported. */
static bool duration(gv_check *c, const grove_node *section, const char *key, const char *path,
                     int64_t otherwise, int64_t *out) {
    const grove_node *node = grove_node_get(section, key);
    *out = otherwise;
    if (gv_node_is_nothing(node)) {
        return true;
    }
    int64_t ns = 0;
    if (!gv_node_is(node, GROVE_STRING) || gv_duration_parse(gv_node_str(node), &ns, NULL) < 0) {
        found(c, GV_CODE_UNDECODABLE_DURATION, "Invalid", path, node, "must be a duration");
        return false;
    }
    *out = ns != 0 ? ns : otherwise;
    return true;
}

static void check_election(gv_check *c, const grove_node *config) {
    const grove_node *section = grove_node_get(config, "leaderElection");
    static const struct {
        const char *key, *path;
        int64_t seconds;
    } rows[] = {{"leaseDuration", "leaderElection.leaseDuration", 15},
                {"renewDeadline", "leaderElection.renewDeadline", 10},
                {"retryPeriod", "leaderElection.retryPeriod", 2}};
    int64_t ns[3] = {0};
    bool good = true;
    if (!gv_node_get_bool(section, "enabled")) {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        good = duration(c, section, rows[i].key, rows[i].path,
                        rows[i].seconds * INT64_C(1000000000), &ns[i]) &&
               good;
    }
    for (size_t i = 0; i < 3 && good; i++) {
        if (ns[i] <= 0) {
            found(c, GV_CODE_CONFIG_INVALID, "Invalid", rows[i].path, section, "must be positive");
        }
    }
    if (good && ns[0] <= ns[1]) {
        found(c, GV_CODE_CONFIG_INVALID, "Invalid", rows[0].path, section,
              "must be longer than renewDeadline");
    }
}

static void check_syncs(gv_check *c, const grove_node *config) {
    static const struct {
        const char *key, *path;
    } rows[] = {{"podCliqueSet", "controllers.podCliqueSet.concurrentSyncs"},
                {"podCliqueScalingGroup", "controllers.podCliqueScalingGroup.concurrentSyncs"},
                {"podClique", "controllers.podClique.concurrentSyncs"},
                {"podGang", "controllers.podGang.concurrentSyncs"}};
    const grove_node *controllers = grove_node_get(config, "controllers");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const grove_node *node = grove_node_get(grove_node_get(controllers, rows[i].key),
                                                "concurrentSyncs");
        int64_t value = 0;
        if (!gv_node_is_nothing(node) && (grove_node_int64(node, &value) < 0 || value <= 0)) {
            found(c, GV_CODE_CONFIG_INVALID, "Invalid", rows[i].path, node, "must be positive");
        }
    }
}

/* Values whose type decides how everything else is read. */
static void check_types(gv_check *c, const grove_node *config) {
    static const struct {
        const char *path;
        grove_type type;
        const char *what;
    } rows[] = {{"topologyAwareScheduling", GROVE_OBJECT, "must be an object"},
                {"topologyAwareScheduling.enabled", GROVE_BOOL, "must be true or false"},
                {"network", GROVE_OBJECT, "must be an object"},
                {"network.autoMNNVLEnabled", GROVE_BOOL, "must be true or false"},
                {"scheduler", GROVE_OBJECT, "must be an object"},
                {"scheduler.profiles", GROVE_ARRAY, "must be a list"},
                {"scheduler.defaultProfileName", GROVE_STRING, "must be a string"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const grove_node *node = gv_node_path(config, rows[i].path);
        if (!gv_node_is_nothing(node) && !gv_node_is(node, rows[i].type)) {
            found(c, GV_CODE_UNDECODABLE, "TypeInvalid", rows[i].path, node, rows[i].what);
        }
    }
}

grove_status gv_config_check(const grove_doc *doc, const grove_node *object, grove_diags *diags,
                             uint32_t *out_errors) {
    static const char *const levels[] = {"debug", "info", "error"};
    static const char *const formats[] = {"json", "text"};
    static const char *const guards[] = {"Allow", "Deny"};
    const grove_node *burst = grove_node_get(grove_node_get(object, "runtimeClientConnection"),
                                             "burst");
    gv_check c;
    gv_check_init(&c, grove_doc_env(doc), doc, diags);
    check_types(&c, object);
    if (c.errors == 0) {
        check_word(&c, object, "logLevel", levels, 3);
        check_word(&c, object, "logFormat", formats, 2);
        check_word(&c, object, "guardScale", guards, 2);
        check_scheduler(&c, object);
        check_election(&c, object);
        int64_t value = 0;
        if (grove_node_int64(burst, &value) == GROVE_OK && value < 0) {
            found(&c, GV_CODE_CONFIG_INVALID, "Invalid", "clientConnection.burst", burst,
                  "must be at least 0");
        }
        check_syncs(&c, object);
    }
    grove_status status = c.status;
    if (status == GROVE_OK) {
        *out_errors = c.errors;
    }
    gv_check_fini(&c);
    return status;
}
