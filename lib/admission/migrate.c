/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects written for older releases of Grove in today's form (grove-api 7.2). What was renamed is
 * renamed, with a warning; what has no equivalent any more stays, with an error, so that it is refused
 * and never lost in silence. Everything else is linked, not copied.
 */
#include "admission/migrate.h"
#include "base/mem.h"
#include "model/schema_walk.h"
#include "value/build.h"
#include "value/doc.h"

#define AUTO_MNNVL "grove.io/auto-mnnvl"
#define MNNVL_GROUP "grove.io/mnnvl-group"
#define ONLY_TOPOLOGY "grove-topology" /* the one object of the releases that had no names */

typedef struct migration {
    gv_check c;
    grove_builder *out;
    grove_doc *doc;
    bool set_has_topology; /* the set's constraint names one */
} migration;

static void keep(migration *m, const grove_node *member) {
    gv_build_link(m->out, gv_node_key(member), m->doc, member);
}

static void begin(migration *m, gv_str key, const grove_node *at, grove_type type) {
    grove_builder_position(m->out, at, 0);
    gv_build_open(m->out, key, type);
}

static void lost(migration *m, gv_code code, const gv_path *path, const grove_node *at,
                 const char *what) {
    gv_check_error(&m->c, code, "Forbidden", path, at, "%s", what);
}

/* ---- topology constraints ---- */

static void write_pack(migration *m, gv_str key, const grove_node *pack,
                       const grove_node *old_domain) {
    const grove_node *at = pack ? pack : old_domain;
    begin(m, key, at, GROVE_OBJECT);
    GV_EACH(member, pack) {
        keep(m, member);
    }
    if (!grove_node_get(pack, "required")) {
        gv_build_link(m->out, GV_STR("required"), m->doc, old_domain);
    }
    grove_builder_close(m->out);
}

static void write_constraint(migration *m, const grove_node *constraint, bool named,
                             const gv_path *path) {
    const grove_node *domain = grove_node_get(constraint, "packDomain");
    const grove_node *pack = grove_node_get(constraint, "pack");
    const grove_node *required = grove_node_get(pack, "required");
    gv_path here = gv_path_key(path, "packDomain", 10);
    gv_path name = gv_path_key(path, "topologyName", 12);
    bool both = domain && required && !grove_node_equal(domain, required);
    if (!named && gv_node_get_str(constraint, "topologyName").n == 0) {
        lost(m, GV_CODE_LEGACY_TOPOLOGY, &name, constraint,
             "add topologyName: releases without it used the object " ONLY_TOPOLOGY);
    }
    if (both) {
        lost(m, GV_CODE_LEGACY_PACK_DOMAIN, &here, domain,
             "differs from pack.required: keep one of them");
    }
    if (!domain || both) {
        keep(m, constraint);
        return;
    }
    gv_check_warning(&m->c, GV_CODE_LEGACY_PACK_DOMAIN, &here, domain,
                     required ? "dropped: pack.required says the same" : "moved to pack.required");
    begin(m, gv_node_key(constraint), constraint, GROVE_OBJECT);
    GV_EACH(member, constraint) {
        gv_str key = gv_node_key(member);
        if (gv_str_is(key, "pack")) {
            write_pack(m, key, pack, domain);
        } else if (!gv_str_is(key, "packDomain")) {
            keep(m, member);
        }
    }
    if (!pack) {
        write_pack(m, GV_STR("pack"), NULL, domain);
    }
    grove_builder_close(m->out);
}

/* ---- annotations ---- */

static void write_annotations(migration *m, const grove_node *annotations, const gv_path *path) {
    const grove_node *old = grove_node_get(annotations, AUTO_MNNVL);
    gv_path here = gv_path_key(path, AUTO_MNNVL, strlen(AUTO_MNNVL));
    bool off = gv_str_is(gv_node_str(old), "disabled");
    if (!old || grove_node_get(annotations, MNNVL_GROUP)) {
        keep(m, annotations);
        return;
    }
    gv_check_warning(&m->c, GV_CODE_LEGACY_MNNVL, &here, old,
                     off ? "became " MNNVL_GROUP ": none"
                         : "is not read any more: name a group with " MNNVL_GROUP);
    begin(m, gv_node_key(annotations), annotations, GROVE_OBJECT);
    GV_EACH(member, annotations) {
        if (member != old) {
            keep(m, member);
        } else if (off) {
            grove_builder_position(m->out, old, 0);
            gv_build_string(m->out, GV_STR(MNNVL_GROUP), GV_STR("none"));
        }
    }
    grove_builder_close(m->out);
}

/* ---- cliques and groups ---- */

/* An entry of a list of the template: its constraint, its annotations, and for groups the old key. */
static void write_entry(migration *m, const grove_node *entry, bool group, bool named,
                        const gv_path *path) {
    bool rename = group && !grove_node_get(entry, "cliqueNames") &&
                  gv_node_is(grove_node_get(entry, "cliques"), GROVE_ARRAY);
    begin(m, GV_NO_KEY, entry, GROVE_OBJECT);
    GV_EACH(member, entry) {
        gv_path here = gv_path_member(path, member);
        bool object = gv_node_is(member, GROVE_OBJECT);
        if (object && gv_str_is(here.key, "topologyConstraint")) {
            write_constraint(m, member, named, &here);
        } else if (object && gv_str_is(here.key, "annotations")) {
            write_annotations(m, member, &here);
        } else if (rename && gv_str_is(here.key, "cliques")) {
            gv_check_warning(&m->c, GV_CODE_LEGACY_RENAMED, &here, member,
                             "renamed to cliqueNames");
            gv_build_link(m->out, GV_STR("cliqueNames"), m->doc, member);
        } else {
            keep(m, member);
        }
    }
    grove_builder_close(m->out);
}

/* True when a group that lists the clique names a topology. */
static bool named_by_group(const grove_node *tmpl, gv_str clique) {
    GV_EACH(group, grove_node_get(tmpl, "podCliqueScalingGroups")) {
        const grove_node *names = grove_node_get(group, "cliqueNames");
        names = names ? names : grove_node_get(group, "cliques");
        bool named = gv_node_str(gv_node_path(group, "topologyConstraint.topologyName")).n > 0;
        GV_EACH(name, names) {
            if (named && gv_str_eq(gv_node_str(name), clique)) {
                return true;
            }
        }
    }
    return false;
}

static void write_entries(migration *m, const grove_node *tmpl, const grove_node *list, bool group,
                          const gv_path *path) {
    uint32_t i = 0;
    begin(m, gv_node_key(list), list, GROVE_ARRAY);
    GV_EACH(entry, list) {
        gv_path here = gv_path_index(path, i++);
        bool named = m->set_has_topology ||
                     (!group && named_by_group(tmpl, gv_node_get_str(entry, "name")));
        if (gv_node_is(entry, GROVE_OBJECT)) {
            write_entry(m, entry, group, named, &here);
        } else {
            gv_build_link(m->out, GV_NO_KEY, m->doc, entry);
        }
    }
    grove_builder_close(m->out);
}

/* ---- from the root down ---- */

static void write_template(migration *m, const grove_node *tmpl, const gv_path *path) {
    m->set_has_topology = gv_node_str(gv_node_path(tmpl, "topologyConstraint.topologyName")).n > 0;
    begin(m, gv_node_key(tmpl), tmpl, GROVE_OBJECT);
    GV_EACH(member, tmpl) {
        gv_path here = gv_path_member(path, member);
        bool list = gv_node_is(member, GROVE_ARRAY);
        bool group = gv_str_is(here.key, "podCliqueScalingGroups");
        if (list && (group || gv_str_is(here.key, "cliques"))) {
            write_entries(m, tmpl, member, group, &here);
        } else if (gv_node_is(member, GROVE_OBJECT) && gv_str_is(here.key, "topologyConstraint")) {
            write_constraint(m, member, false, &here);
        } else {
            if (gv_str_is(here.key, "schedulingPolicyConfig")) {
                lost(m, GV_CODE_LEGACY_REMOVED, &here, member,
                     "removed: give each group that was packed a topologyConstraint");
            }
            keep(m, member);
        }
    }
    grove_builder_close(m->out);
}

static void write_spec(migration *m, const grove_node *spec, const gv_path *path) {
    begin(m, gv_node_key(spec), spec, GROVE_OBJECT);
    GV_EACH(member, spec) {
        gv_path here = gv_path_member(path, member);
        if (gv_node_is(member, GROVE_OBJECT) && gv_str_is(here.key, "template")) {
            write_template(m, member, &here);
        } else if (gv_str_is(here.key, "schedulerTopologyReferences") &&
                   !grove_node_get(spec, "schedulerTopologyBindings")) {
            gv_check_warning(&m->c, GV_CODE_LEGACY_RENAMED, &here, member,
                             "renamed to schedulerTopologyBindings");
            gv_build_link(m->out, GV_STR("schedulerTopologyBindings"), m->doc, member);
        } else {
            if (gv_str_is(here.key, "replicaSpreadConstraints")) {
                lost(m, GV_CODE_LEGACY_REMOVED, &here, member,
                     "removed, with no equivalent: topologyConstraint packs, nothing spreads");
            } else if (gv_str_is(gv_node_get_str(member, "type"), "Coherent")) {
                gv_path type = gv_path_key(&here, "type", 4);
                lost(m, GV_CODE_LEGACY_REMOVED, &type, member,
                     "Coherent was never released: use RollingRecreate or OnDelete");
            }
            keep(m, member);
        }
    }
    grove_builder_close(m->out);
}

/* Fields of a status that are no more: the operator owns them, nothing is lost. */
static void write_status(migration *m, const grove_node *status) {
    static const char *const gone[] = {"lastOperation", "rollingUpdateProgress", "podGangMapping"};
    begin(m, gv_node_key(status), status, GROVE_OBJECT);
    GV_EACH(member, status) {
        bool drop = false;
        for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
            drop = drop || gv_str_is(gv_node_key(member), gone[i]);
        }
        if (!drop) {
            keep(m, member);
        }
    }
    grove_builder_close(m->out);
}

static void write_metadata(migration *m, const grove_node *metadata, const gv_path *path) {
    begin(m, gv_node_key(metadata), metadata, GROVE_OBJECT);
    GV_EACH(member, metadata) {
        gv_path here = gv_path_member(path, member);
        if (gv_node_is(member, GROVE_OBJECT) && gv_str_is(here.key, "annotations")) {
            write_annotations(m, member, &here);
        } else {
            keep(m, member);
        }
    }
    grove_builder_close(m->out);
}

/* Today's name of a kind that was renamed; NULL: it was not. */
static const char *renamed_kind(gv_str kind) {
    return gv_str_is(kind, "PodGangSet")        ? "PodCliqueSet"
           : gv_str_is(kind, "ClusterTopology") ? "ClusterTopologyBinding"
                                                : NULL;
}

const char *gv_migrate_kind(const grove_node *object) {
    bool ours = gv_str_is(gv_node_get_str(object, "apiVersion"), "grove.io/v1alpha1");
    return ours ? renamed_kind(gv_node_get_str(object, "kind")) : NULL;
}

static void write_root(migration *m, const grove_node *object) {
    const char *kind = renamed_kind(gv_node_get_str(object, "kind"));
    begin(m, GV_NO_KEY, object, GROVE_OBJECT);
    GV_EACH(member, object) {
        gv_path here = gv_path_member(NULL, member);
        bool part = gv_node_is(member, GROVE_OBJECT);
        if (kind && gv_str_is(here.key, "kind")) {
            gv_check_warning(&m->c, GV_CODE_LEGACY_KIND, &here, member, "renamed to %s", kind);
            grove_builder_position(m->out, member, 0);
            grove_builder_string(m->out, "kind", kind);
        } else if (part && gv_str_is(here.key, "spec")) {
            write_spec(m, member, &here);
        } else if (part && gv_str_is(here.key, "metadata")) {
            write_metadata(m, member, &here);
        } else if (part && gv_str_is(here.key, "status")) {
            write_status(m, member);
        } else {
            keep(m, member);
        }
    }
    grove_builder_close(m->out);
}

grove_status grove_migrate(grove_env *env, grove_doc *doc, const grove_node *object,
                           grove_diags *diags, grove_doc **out_doc, grove_error *err) {
    migration m = {.doc = doc};
    if (!env || !doc || !object || !diags || !out_doc) {
        return gv_error(err, GROVE_E_INVALID, "grove_migrate: an argument is missing");
    }
    gv_str kind = gv_node_get_str(object, "kind");
    if (!gv_migrate_kind(object) && !gv_schema_has(gv_kind_of(object))) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "\"%.*s\" is and was none of Grove's kinds",
                        (int)kind.n, kind.p);
    }
    grove_status status = grove_builder_new(env, &m.out);
    if (status < 0) {
        return gv_error_nomem(err);
    }
    gv_check_init(&m.c, env, doc, diags);
    write_root(&m, object);
    status = m.c.status < 0 ? gv_error(err, m.c.status, "the object could not be written anew")
                            : grove_builder_finish(m.out, out_doc, err);
    gv_check_fini(&m.c);
    grove_builder_free(m.out);
    return status;
}
