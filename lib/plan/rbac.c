/* SPDX-License-Identifier: Apache-2.0 */
/* ServiceAccount, Role and RoleBinding: what the waiting init container needs to look at pods. */
#include "model/labels.h"
#include "plan/body.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

static void write_words(grove_builder *b, const char *key, const char *const *words, size_t n) {
    grove_builder_open_array(b, key);
    for (size_t i = 0; i < n; i++) {
        grove_builder_string(b, NULL, words[i]);
    }
    grove_builder_close(b);
}
#define WRITE_WORDS(b, key, words) write_words((b), (key), (words), sizeof(words) / sizeof *(words))

void gv_build_serviceaccount(gv_body *body) {
    gv_body_open(body, NULL);
    grove_builder_bool(body->b, "automountServiceAccountToken", 1);
}

void gv_build_role(gv_body *body) {
    static const char *const groups[] = {""};
    static const char *const resources[] = {"pods", "pods/status"};
    static const char *const verbs[] = {"get", "list", "watch"};
    gv_body_open(body, NULL);
    grove_builder_open_array(body->b, "rules");
    grove_builder_open_object(body->b, NULL);
    WRITE_WORDS(body->b, "apiGroups", groups);
    WRITE_WORDS(body->b, "resources", resources);
    WRITE_WORDS(body->b, "verbs", verbs);
    grove_builder_close(body->b);
    grove_builder_close(body->b);
}

void gv_build_rolebinding(gv_body *body) {
    grove_builder *b = body->b;
    gv_body_open(body, NULL);
    grove_builder_open_object(b, "roleRef");
    grove_builder_string(b, "apiGroup", RBAC_GROUP);
    grove_builder_string(b, "kind", gv_kind_get(GV_KIND_ROLE)->name);
    gv_write_str(b, "name", body->o->name); /* Role and RoleBinding share their name */
    grove_builder_close(b);
    grove_builder_open_array(b, "subjects");
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", gv_kind_get(GV_KIND_SERVICEACCOUNT)->name);
    gv_write_str(b, "name", body->w->set);
    gv_write_str(b, "namespace", body->w->ns);
    grove_builder_close(b);
    grove_builder_close(b);
}
