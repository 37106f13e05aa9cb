/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of a run of rules: names by index, paths, findings with their place. */
#include "admission/rules.h"

#include "model/syntax.h"
#include "value/doc.h"

/* The API server cuts a generateName to 58 bytes and adds five before anybody checks the name. */
#define GENERATED_PREFIX 58
#define MESSAGE_MAX 1024 /* long lists of names are cut */

static bool put_named(gv_map *map, const grove_node *list, const char *key) {
    GV_EACH(entry, list) {
        gv_str name = gv_node_get_str(entry, key);
        if (!gv_map_has(map, name) && !gv_map_put(map, name, gv_map_value(entry))) {
            return false;
        }
    }
    return true;
}

static bool put_members(gv_rules *r) {
    GV_EACH(group, grove_node_get(r->tmpl, "podCliqueScalingGroups")) {
        GV_EACH(name, grove_node_get(group, "cliqueNames")) {
            gv_str text = gv_node_str(name);
            if (!gv_map_has(&r->member_of, text) &&
                !gv_map_put(&r->member_of, text, gv_map_value(group))) {
                return false;
            }
        }
    }
    return true;
}

static void set_full_name(gv_rules *r) {
    const grove_node *meta = grove_node_get(r->root, "metadata");
    r->set_name = gv_node_get_str(meta, "name");
    gv_str prefix = gv_node_get_str(meta, "generateName");
    if (r->set_name.n == 0 && prefix.n > 0) {
        size_t n = prefix.n < GENERATED_PREFIX ? prefix.n : GENERATED_PREFIX;
        memcpy(r->generated, prefix.p, n);
        memcpy(r->generated + n, "xxxxx", 6);
        r->set_name = (gv_str){r->generated, n + 5};
    }
}

grove_status gv_rules_init(gv_rules *r, grove_env *env, const grove_config *config, grove_doc *doc,
                           const grove_node *root, bool create, grove_diags *diags) {
    memset(r, 0, sizeof *r);
    r->env = env;
    r->config = config;
    r->doc = doc;
    r->root = root;
    r->tmpl = gv_node_path(root, GV_TMPL);
    r->diags = diags;
    r->create = create;
    gv_map_init(&r->cliques, env);
    gv_map_init(&r->groups, env);
    gv_map_init(&r->claims, env);
    gv_map_init(&r->member_of, env);
    set_full_name(r);
    if (!put_named(&r->cliques, grove_node_get(r->tmpl, "cliques"), "name") ||
        !put_named(&r->groups, grove_node_get(r->tmpl, "podCliqueScalingGroups"), "name") ||
        !put_named(&r->claims, grove_node_get(r->tmpl, "resourceClaimTemplates"), "name") ||
        !put_members(r)) {
        gv_rules_fini(r);
        return GROVE_E_NOMEM;
    }
    return GROVE_OK;
}

void gv_rules_fini(gv_rules *r) {
    gv_map_fini(&r->cliques);
    gv_map_fini(&r->groups);
    gv_map_fini(&r->claims);
    gv_map_fini(&r->member_of);
}

gv_path gv_path_fmt(const char *fmt, ...) {
    gv_path path = {""};
    va_list ap;
    va_start(ap, fmt);
    gv_vfmt(path.s, sizeof path.s, fmt, ap);
    va_end(ap);
    return path;
}

gv_path gv_clique_path(uint32_t i, const char *below) {
    return gv_path_fmt(GV_TMPL ".cliques[%u]%s", i, below);
}

gv_path gv_group_path(uint32_t i, const char *below) {
    return gv_path_fmt(GV_TMPL ".podCliqueScalingGroups[%u]%s", i, below);
}

static void report(gv_rules *r, grove_severity severity, gv_code code, const char *type,
                   const grove_node *at, const gv_path *path, const char *fmt, va_list ap) {
    uint32_t line = 0, column = 0;
    if (at) {
        grove_node_position(r->doc, at, &line, &column);
    }
    char message[MESSAGE_MAX];
    gv_vfmt(message, sizeof message, fmt, ap);
    if (!gv_diag_add(r->diags, severity, (uint32_t)code, type, gv_str_c(path->s), line, column,
                     "%s", message)) {
        r->failed = true;
    }
}

void gv_rules_error(gv_rules *r, gv_code code, const char *type, const grove_node *at, gv_path path,
                    const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report(r, GROVE_SEVERITY_ERROR, code, type, at, &path, fmt, ap);
    va_end(ap);
    r->errors++;
}

void gv_rules_warning(gv_rules *r, gv_code code, const grove_node *at, gv_path path,
                      const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report(r, GROVE_SEVERITY_WARNING, code, "", at, &path, fmt, ap);
    va_end(ap);
}

gv_str gv_rules_scheduler(const gv_rules *r, const grove_node *clique) {
    gv_str name = gv_node_str(gv_node_path(clique, "spec.podSpec.schedulerName"));
    return name.n ? name : gv_str_c(r->config->default_scheduler);
}

bool gv_rules_scheduler_enabled(const gv_rules *r, gv_str name) {
    return gv_config_scheduler(r->config, name) != NULL;
}

bool gv_repeated(gv_rules *r, const grove_node *list, const char *key_path, grove_buf *out) {
    gv_map seen;
    bool found = false;
    gv_map_init(&seen, r->env);
    GV_EACH(entry, list) {
        gv_str text = gv_node_str(key_path ? gv_node_path(entry, key_path) : entry);
        intptr_t times = (intptr_t)gv_map_get(&seen, text);
        if (times == 1) { /* named at its second place only, however often it comes */
            if ((found && gv_buf_c(out, ", ") < 0) || gv_buf_str(out, text) < 0) {
                r->failed = true;
            }
            found = true;
        }
        if (times < 2 && !gv_map_put(&seen, text, (void *)(times + 1))) {
            r->failed = true;
        }
    }
    gv_map_fini(&seen);
    return found;
}
