/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for new pods: containers, names, probes of init containers, resources, mounts. */
#include "sim/podcheck.h"

#include <grove/quantity.h>

#include "model/syntax.h"
#include "value/doc.h"

/* The first finding; text NULL: none. */
typedef struct finding {
    char field[160];
    const char *cause; /* Kubernetes' word */
    const char *text;
} finding;

static bool found(finding *f, const char *path, const char *member, const char *cause,
                  const char *text) {
    if (!f->text) {
        (void)gv_fmt(f->field, sizeof f->field, "%s%s", path, member);
        f->cause = cause;
        f->text = text;
    }
    return true;
}

static const char required[] = "FieldValueRequired", invalid[] = "FieldValueInvalid",
                  forbidden[] = "FieldValueForbidden", duplicate[] = "FieldValueDuplicate",
                  unsupported[] = "FieldValueNotSupported", missing[] = "FieldValueNotFound";

/* ---- resources ---- */

static bool read_quantity(const grove_node *value, grove_quantity *out) {
    gv_str text = gv_node_str(value);
    return text.n > 0 && grove_quantity_parse(text.p, text.n, out, NULL) == GROVE_OK;
}

/* Extended resources cannot be overcommitted: where both stand they must be equal. */
static bool is_extended(gv_str name) {
    return memchr(name.p, '/', name.n) != NULL && !gv_str_starts(name, GV_STR("kubernetes.io/"));
}

static bool bad_amounts(finding *f, const char *path, const char *member, const grove_node *list) {
    GV_EACH(value, list) {
        grove_quantity q;
        if (!read_quantity(value, &q)) {
            return found(f, path, member, invalid, "Invalid value: not a quantity");
        }
        if (q.hi < 0) {
            return found(f, path, member, invalid,
                         "Invalid value: must be greater than or equal to 0");
        }
    }
    return false;
}

static bool bad_resources(finding *f, const char *path, const grove_node *resources) {
    const grove_node *limits = grove_node_get(resources, "limits");
    const grove_node *requests = grove_node_get(resources, "requests");
    if (bad_amounts(f, path, ".resources.limits", limits) ||
        bad_amounts(f, path, ".resources.requests", requests)) {
        return true;
    }
    GV_EACH(r, requests) {
        gv_str name = gv_node_key(r);
        const grove_node *l = gv_node_get(limits, name);
        grove_quantity want, most;
        if (!l) {
            if (is_extended(name)) {
                return found(f, path, ".resources.limits", required,
                             "Required value: limit must be set for non overcommitable resources");
            }
            continue;
        }
        (void)(read_quantity(r, &want) && read_quantity(l, &most));
        int32_t order = grove_quantity_compare(&want, &most);
        if (order > 0 || (order != 0 && is_extended(name))) {
            return found(f, path, ".resources.requests", invalid,
                         "Invalid value: must be less than or equal to the limit");
        }
    }
    return false;
}

/* ---- containers ---- */

static bool bad_mounts(finding *f, const char *path, const grove_node *container,
                       const grove_node *spec) {
    GV_EACH(mount, grove_node_get(container, "volumeMounts")) {
        gv_str name = gv_node_get_str(mount, "name");
        bool known = false;
        GV_EACH(volume, grove_node_get(spec, "volumes")) {
            known = known || gv_str_eq(gv_node_get_str(volume, "name"), name);
        }
        if (!known) {
            return found(f, path, ".volumeMounts.name", missing, "Not found");
        }
        if (gv_node_get_str(mount, "mountPath").n == 0) {
            return found(f, path, ".volumeMounts.mountPath", required, "Required value");
        }
    }
    return false;
}

static bool bad_ports(finding *f, const char *path, const grove_node *container) {
    GV_EACH(port, grove_node_get(container, "ports")) {
        int64_t n = gv_node_get_int(port, "containerPort", 0);
        if (n < 1 || n > 65535) {
            return found(f, path, ".ports.containerPort", invalid,
                         "Invalid value: must be between 1 and 65535, inclusive");
        }
    }
    return false;
}

static bool bad_env(finding *f, const char *path, const grove_node *container) {
    GV_EACH(e, grove_node_get(container, "env")) {
        if (gv_node_get_str(e, "name").n == 0) {
            return found(f, path, ".env.name", required, "Required value");
        }
    }
    return false;
}

static bool name_taken(const grove_node *spec, const grove_node *self, gv_str name) {
    static const char *const lists[] = {"initContainers", "containers"};
    for (size_t i = 0; i < 2; i++) {
        const grove_node *list = grove_node_get(spec, lists[i]);
        GV_EACH(c, list) {
            if (c == self) {
                return false;
            }
            if (gv_str_eq(gv_node_get_str(c, "name"), name)) {
                return true;
            }
        }
    }
    return false;
}

static bool bad_container(finding *f, const char *path, const grove_node *container,
                          const grove_node *spec) {
    gv_str name = gv_node_get_str(container, "name");
    if (name.n == 0) {
        return found(f, path, ".name", required, "Required value");
    }
    if (!gv_syntax_label(name)) {
        return found(f, path, ".name", invalid, "Invalid value: not a DNS label");
    }
    if (name_taken(spec, container, name)) {
        return found(f, path, ".name", duplicate, "Duplicate value");
    }
    if (gv_node_get_str(container, "image").n == 0) {
        return found(f, path, ".image", required, "Required value");
    }
    return bad_ports(f, path, container) || bad_env(f, path, container) ||
           bad_mounts(f, path, container, spec) ||
           bad_resources(f, path, grove_node_get(container, "resources"));
}

/* Ordinary init containers run to their end: nobody may probe them. */
static bool bad_init(finding *f, const char *path, const grove_node *container) {
    static const char *const probes[] = {"lifecycle", "livenessProbe", "readinessProbe",
                                         "startupProbe"};
    gv_str policy = gv_node_get_str(container, "restartPolicy");
    if (policy.n > 0 && !gv_str_is(policy, "Always")) {
        return found(f, path, ".restartPolicy", unsupported, "Unsupported value");
    }
    for (size_t i = 0; i < 4 && policy.n == 0; i++) {
        if (!gv_node_is_nothing(grove_node_get(container, probes[i]))) {
            char member[32];
            (void)gv_fmt(member, sizeof member, ".%s", probes[i]);
            return found(f, path, member, forbidden,
                         "Forbidden: may not be set for init containers without "
                         "restartPolicy=Always");
        }
    }
    return false;
}

static bool bad_list(finding *f, const grove_node *spec, const char *key, bool init) {
    unsigned i = 0;
    GV_EACH(c, grove_node_get(spec, key)) {
        char path[64];
        (void)gv_fmt(path, sizeof path, "spec.%s[%u]", key, i++);
        if (bad_container(f, path, c, spec) || (init && bad_init(f, path, c))) {
            return true;
        }
    }
    return false;
}

static bool bad_spec(finding *f, const grove_node *spec) {
    gv_str policy = gv_node_get_str(spec, "restartPolicy");
    if (grove_node_size(grove_node_get(spec, "containers")) == 0) {
        return found(f, "spec.containers", "", required, "Required value");
    }
    if (policy.n > 0 && !gv_str_is(policy, "Always") && !gv_str_is(policy, "OnFailure") &&
        !gv_str_is(policy, "Never")) {
        return found(f, "spec.restartPolicy", "", unsupported, "Unsupported value");
    }
    if (gv_node_get_int(spec, "terminationGracePeriodSeconds", 0) < 0) {
        return found(f, "spec.terminationGracePeriodSeconds", "", invalid,
                     "Invalid value: must be greater than or equal to 0");
    }
    if (gv_node_get_str(spec, "nodeName").n > 0 &&
        grove_node_size(grove_node_get(spec, "schedulingGates")) > 0) {
        return found(f, "spec.nodeName", "", forbidden,
                     "Forbidden: cannot be set until all schedulingGates have been cleared");
    }
    return bad_list(f, spec, "initContainers", true) || bad_list(f, spec, "containers", false);
}

grove_status gv_sim_check_pod(gv_sim_call *c, const grove_node *spec) {
    finding f = {.text = NULL};
    return bad_spec(&f, spec) ? gv_sim_invalid(c, f.field, f.cause, f.text) : GROVE_OK;
}
