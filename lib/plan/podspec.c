/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a podSpec with Grove's edits: see podspec.h. */
#include "plan/podspec.h"

#include "model/labels.h"
#include "plan/body.h"

typedef struct writer {
    grove_builder *b;
    grove_doc *doc;
    const gv_podspec_edit *edit;
    bool mnnvl; /* the claim is to be injected */
    gv_arena *a;
} writer;

static void link_all(writer *w, const grove_node *list) {
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        grove_builder_link(w->b, NULL, w->doc, e);
    }
}

/* ---- containers ---- */

static void write_env_var(grove_builder *b, const gv_env_var *v) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", v->name);
    if (v->field) {
        grove_builder_open_object(b, "valueFrom");
        grove_builder_open_object(b, "fieldRef");
        grove_builder_string(b, "fieldPath", v->field);
        grove_builder_close(b);
        grove_builder_close(b);
    } else {
        gv_write_str(b, "value", v->value);
    }
    grove_builder_close(b);
}

static void write_env(writer *w, const grove_node *own) {
    grove_builder_open_array(w->b, "env");
    for (uint32_t i = 0; i < w->edit->n_env; i++) {
        write_env_var(w->b, &w->edit->env[i]);
    }
    for (const grove_node *e = grove_node_first(own); e; e = grove_node_next(own, e)) {
        bool taken = false;
        for (uint32_t i = 0; !taken && i < w->edit->n_env; i++) {
            taken = gv_str_is(gv_get_str(e, "name"), w->edit->env[i].name);
        }
        if (!taken) {
            grove_builder_link(w->b, NULL, w->doc, e);
        }
    }
    grove_builder_close(w->b);
}

static bool lists_name(const grove_node *list, const char *name) {
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        if (gv_str_is(gv_get_str(e, "name"), name)) {
            return true;
        }
    }
    return false;
}

static void write_name(grove_builder *b, gv_str name) {
    grove_builder_open_object(b, NULL);
    gv_write_str(b, "name", name);
    grove_builder_close(b);
}

static void write_resources(writer *w, const grove_node *own, bool mnnvl) {
    const grove_node *claims = grove_node_get(own, "claims");
    grove_builder_open_object(w->b, "resources");
    for (const grove_node *m = grove_node_first(own); m; m = grove_node_next(own, m)) {
        if (!gv_member_is(m, "claims")) {
            grove_builder_link(w->b, grove_node_key(m, NULL), w->doc, m);
        }
    }
    grove_builder_open_array(w->b, "claims");
    link_all(w, claims);
    if (mnnvl && !lists_name(claims, GV_CLAIM_MNNVL)) {
        write_name(w->b, GV_STR(GV_CLAIM_MNNVL));
    }
    for (uint32_t i = 0; i < w->edit->n_claims; i++) {
        write_name(w->b, w->edit->claims[i]);
    }
    grove_builder_close(w->b);
    grove_builder_close(w->b);
}

static void write_container(writer *w, const grove_node *container) {
    bool mnnvl = w->mnnvl && gv_container_wants_gpu(container);
    bool env = w->edit->n_env > 0, claims = mnnvl || w->edit->n_claims > 0;
    if (!env && !claims) {
        grove_builder_link(w->b, NULL, w->doc, container);
        return;
    }
    grove_builder_open_object(w->b, NULL);
    const grove_node *m = grove_node_first(container);
    for (; m; m = grove_node_next(container, m)) {
        if (env && gv_member_is(m, "env")) {
            write_env(w, m);
            env = false;
        } else if (claims && gv_member_is(m, "resources")) {
            write_resources(w, m, mnnvl);
            claims = false;
        } else {
            grove_builder_link(w->b, grove_node_key(m, NULL), w->doc, m);
        }
    }
    if (env) {
        write_env(w, NULL);
    }
    if (claims) {
        write_resources(w, NULL, mnnvl);
    }
    grove_builder_close(w->b);
}

static void write_containers(writer *w, const char *key, const grove_node *list) {
    grove_builder_open_array(w->b, key);
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        write_container(w, c);
    }
}

/* ---- the waiting init container ---- */

static void write_mount(grove_builder *b, const char *volume, const char *path) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", volume);
    grove_builder_string(b, "mountPath", path);
    grove_builder_bool(b, "readOnly", 1);
    grove_builder_close(b);
}

static void write_waiter(writer *w) {
    const gv_waiter *waiter = w->edit->waiter;
    grove_builder *b = w->b;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", GV_WAITER_CONTAINER);
    gv_write_str(b, "image", waiter->image);
    grove_builder_open_array(b, "args");
    for (uint32_t i = 0; i < waiter->n_parents; i++) {
        const gv_want_parent *p = &waiter->parents[i];
        gv_write_made(b, NULL,
                      gv_arena_fmt(w->a, "--podcliques=%.*s:%lld", (int)p->name.n, p->name.p,
                                   (long long)p->ready));
    }
    grove_builder_close(b);
    grove_builder_open_array(b, "volumeMounts");
    write_mount(b, GV_WAITER_INFO_VOLUME, GV_WAITER_INFO_PATH);
    write_mount(b, GV_WAITER_TOKEN_VOLUME, GV_WAITER_TOKEN_PATH);
    grove_builder_close(b);
    grove_builder_close(b);
}

static void write_file(grove_builder *b, const char *path, const char *field) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "path", path);
    grove_builder_open_object(b, "fieldRef");
    grove_builder_string(b, "fieldPath", field);
    grove_builder_close(b);
    grove_builder_close(b);
}

static void write_waiter_volumes(writer *w) {
    grove_builder *b = w->b;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", GV_WAITER_TOKEN_VOLUME);
    grove_builder_open_object(b, "secret");
    gv_write_str(b, "secretName", w->edit->waiter->token_secret);
    grove_builder_int64(b, "defaultMode", 0644);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", GV_WAITER_INFO_VOLUME);
    grove_builder_open_object(b, "downwardAPI");
    grove_builder_open_array(b, "items");
    write_file(b, GV_WAITER_FILE_NAMESPACE, "metadata.namespace");
    write_file(b, GV_WAITER_FILE_GANG, GV_FIELD_OF_LABEL(GV_LABEL_GANG));
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
}

/* ---- the whole ---- */

static void write_pod_claim(grove_builder *b, gv_str name, const char *source, gv_str value) {
    grove_builder_open_object(b, NULL);
    gv_write_str(b, "name", name);
    gv_write_str(b, source, value);
    grove_builder_close(b);
}

static void write_pod_claims(writer *w, const grove_node *own) {
    grove_builder_open_array(w->b, "resourceClaims");
    link_all(w, own);
    if (w->mnnvl) {
        write_pod_claim(w->b, GV_STR(GV_CLAIM_MNNVL), "resourceClaimTemplateName",
                        w->edit->mnnvl_template);
    }
    for (uint32_t i = 0; i < w->edit->n_claims; i++) {
        write_pod_claim(w->b, w->edit->claims[i], "resourceClaimName", w->edit->claims[i]);
    }
    grove_builder_close(w->b);
}

/* What a pod has beside its template; written once, in front. */
static void write_pod_fields(writer *w) {
    gv_write_str(w->b, "hostname", w->edit->hostname);
    gv_write_str(w->b, "subdomain", w->edit->subdomain);
    gv_write_str(w->b, "schedulerName", w->edit->scheduler);
    if (w->edit->gated) {
        grove_builder_open_array(w->b, "schedulingGates");
        write_name(w->b, GV_STR(GV_GATE));
        grove_builder_close(w->b);
    }
}

static bool is_pod_field(const grove_node *m) {
    return gv_member_is(m, "hostname") || gv_member_is(m, "subdomain") ||
           gv_member_is(m, "schedulerName") || gv_member_is(m, "schedulingGates");
}

static void write_init_containers(writer *w, const grove_node *own) {
    write_containers(w, "initContainers", own);
    if (w->edit->waiter) {
        write_waiter(w);
    }
    grove_builder_close(w->b);
}

static void write_volumes(writer *w, const grove_node *own) {
    grove_builder_open_array(w->b, "volumes");
    link_all(w, own);
    write_waiter_volumes(w);
    grove_builder_close(w->b);
}

void gv_write_podspec(grove_builder *b, const char *key, grove_doc *doc, const grove_node *pod_spec,
                      const gv_podspec_edit *edit, gv_arena *scratch) {
    writer w = {b, doc, edit, false, scratch};
    const grove_node *own_claims = grove_node_get(pod_spec, "resourceClaims");
    w.mnnvl = edit->mnnvl_template.n > 0 && !lists_name(own_claims, GV_CLAIM_MNNVL) &&
              gv_pod_spec_wants_gpu(pod_spec);
    bool claims = w.mnnvl || edit->n_claims > 0;
    bool waiter = edit->waiter != NULL, volumes = waiter;
    grove_builder_open_object(b, key);
    if (edit->pod) {
        write_pod_fields(&w);
    }
    const grove_node *m = grove_node_first(pod_spec);
    for (; m; m = grove_node_next(pod_spec, m)) {
        if (gv_member_is(m, "containers")) {
            write_containers(&w, "containers", m);
            grove_builder_close(b);
        } else if (gv_member_is(m, "initContainers")) {
            write_init_containers(&w, m);
            waiter = false;
        } else if (claims && gv_member_is(m, "resourceClaims")) {
            write_pod_claims(&w, m);
            claims = false;
        } else if (volumes && gv_member_is(m, "volumes")) {
            write_volumes(&w, m);
            volumes = false;
        } else if (!edit->pod || !is_pod_field(m)) {
            grove_builder_link(b, grove_node_key(m, NULL), doc, m);
        }
    }
    if (waiter) {
        write_init_containers(&w, NULL);
    }
    if (claims) {
        write_pod_claims(&w, NULL);
    }
    if (volumes) {
        write_volumes(&w, NULL);
    }
    grove_builder_close(b);
}
