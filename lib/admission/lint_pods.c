/* SPDX-License-Identifier: Apache-2.0 */
/* Pods: secrets in plain sight, images that move, fields and names that Grove overwrites. */
#include "admission/lint.h"

#include "model/labels.h"

/* Environment names that promise a secret. */
static bool is_secret_name(gv_str name) {
    static const char *const words[] = {"PASSWORD",   "PASSWD",      "SECRET",
                                        "TOKEN",      "API_KEY",     "APIKEY",
                                        "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        size_t n = strlen(words[w]);
        for (size_t i = 0; i + n <= name.n; i++) {
            size_t k = 0;
            while (k < n) {
                char c = name.p[i + k];
                c = c >= 'a' && c <= 'z' ? (char)(c - 32) : c == '-' ? '_' : c;
                if (c != words[w][k]) {
                    break;
                }
                k++;
            }
            /* the end of a word: TOKEN, but not TOKENIZER or MAX_TOKENS */
            bool ends = i + n == name.n || name.p[i + n] == '_' || name.p[i + n] == '-';
            if (k == n && ends) {
                return true;
            }
        }
    }
    return false;
}

static void check_env(gv_lint *l, const grove_node *container, const gv_path *path) {
    gv_path list = gv_path_key(path, "env", 3);
    uint32_t i = 0;
    GV_EACH(e, grove_node_get(container, "env")) {
        gv_path entry = gv_path_index(&list, i++);
        gv_path name = gv_path_key(&entry, "name", 4), value = gv_path_key(&entry, "value", 5);
        gv_str text = gv_node_get_str(e, "name"), literal = gv_node_get_str(e, "value");
        bool reference = gv_str_starts(literal, GV_STR("$("));
        if (literal.n > 0 && !reference && is_secret_name(text)) {
            GV_LINT(l, GV_CODE_LINT_SECRET, &value, grove_node_get(e, "value"),
                    "a secret in plain text: everyone who may read the set can read it");
        }
        if (gv_str_starts(text, GV_STR("GROVE_"))) {
            GV_LINT(l, GV_CODE_LINT_OVERWRITTEN, &name, grove_node_get(e, "name"),
                    "variables that begin with GROVE_ are Grove's; this one is dropped where it "
                    "sets one of the same name");
        }
    }
}

/* A tag that does not say what runs: none, or latest. A digest does. */
static void check_image(gv_lint *l, const grove_node *container, const gv_path *path) {
    gv_path here = gv_path_key(path, "image", 5);
    const grove_node *node = grove_node_get(container, "image");
    gv_str image = gv_node_str(node);
    size_t slash = 0, colon = 0;
    bool digest = false;
    for (size_t i = 0; i < image.n; i++) {
        slash = image.p[i] == '/' ? i + 1 : slash;
        colon = image.p[i] == ':' ? i + 1 : colon;
        digest = digest || image.p[i] == '@';
    }
    gv_str tag = {image.p + colon, image.n - colon};
    if (image.n > 0 && !digest && (colon <= slash || gv_str_is(tag, "latest"))) {
        GV_LINT(l, GV_CODE_LINT_IMAGE, &here, node,
                "the tag may stand for another image tomorrow: pods of one gang can differ");
    }
}

static void check_pod(gv_lint *l, const grove_node *pod, const gv_path *path) {
    static const char *const replaced[] = {"schedulingGates", "hostname", "subdomain"};
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t i = 0; i < sizeof replaced / sizeof replaced[0]; i++) {
        gv_path here = gv_path_key(path, replaced[i], strlen(replaced[i]));
        const grove_node *node = grove_node_get(pod, replaced[i]);
        if (node) {
            GV_LINT(l, GV_CODE_LINT_OVERWRITTEN, &here, node, "Grove writes this field itself");
        }
    }
    for (size_t i = 0; i < 2; i++) {
        gv_path list = gv_path_key(path, lists[i], strlen(lists[i]));
        uint32_t n = 0;
        GV_EACH(container, grove_node_get(pod, lists[i])) {
            gv_path entry = gv_path_index(&list, n++);
            check_env(l, container, &entry);
            check_image(l, container, &entry);
        }
    }
}

static void check_labels(gv_lint *l, const grove_node *clique, const gv_path *path) {
    gv_path list = gv_path_key(path, "labels", 6);
    GV_EACH(label, grove_node_get(clique, "labels")) {
        gv_path here = gv_path_member(&list, label);
        if (gv_str_starts(here.key, GV_STR(GV_OWN_PREFIX))) {
            GV_LINT(l, GV_CODE_LINT_OVERWRITTEN, &here, label,
                    "labels of " GV_OWN_PREFIX " are Grove's and win over this one");
        }
    }
}

/* Claim templates of the set that nothing shares. */
static bool shares(const grove_node *owner, gv_str name) {
    GV_EACH(r, grove_node_get(owner, "resourceSharing")) {
        if (gv_str_eq(gv_node_get_str(r, "name"), name)) {
            return true;
        }
    }
    return false;
}

static void check_claims(gv_lint *l) {
    gv_path list = gv_path_key(&l->tmpl_path, "resourceClaimTemplates", 22);
    uint32_t i = 0;
    GV_EACH(claim, grove_node_get(l->tmpl, "resourceClaimTemplates")) {
        gv_path here = gv_path_index(&list, i++);
        gv_str name = gv_node_get_str(claim, "name");
        bool used = shares(l->tmpl, name);
        GV_EACH(clique, l->cliques) {
            used = used || shares(clique, name);
        }
        GV_EACH(group, l->groups) {
            used = used || shares(group, name);
        }
        if (!used) {
            GV_LINT(l, GV_CODE_LINT_NOTHING, &here, claim, "no resourceSharing uses this template");
        }
    }
}

void gv_lint_pods(gv_lint *l) {
    uint32_t i = 0;
    GV_EACH(clique, l->cliques) {
        gv_path entry = gv_path_index(&l->cliques_path, i++);
        gv_path spec = gv_path_key(&entry, "spec", 4), pod = gv_path_key(&spec, "podSpec", 7);
        check_labels(l, clique, &entry);
        check_pod(l, gv_node_path(clique, "spec.podSpec"), &pod);
    }
    check_claims(l);
}
