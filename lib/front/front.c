/* SPDX-License-Identifier: Apache-2.0 */
/* One request: what it is about, and who answers it. */
#include "front/parts.h"

#include <stdlib.h>
#include <string.h>

grove_status gv_front_new(grove_env *env, grove_sim *sim, gv_front **out_front, grove_error *err) {
    gv_front *front = calloc(1, sizeof *front);
    if (!front) {
        return GROVE_E_NOMEM;
    }
    front->sim = sim;
    grove_status st = grove_sim_backend(sim, &front->backend, err);
    if (st < 0) {
        free(front);
        return st;
    }
    front->env = grove_env_ref(env);
    *out_front = front;
    return GROVE_OK;
}

void gv_front_free(gv_front *front) {
    if (!front) {
        return;
    }
    gv_front_streams_free(front);
    front->backend.ops->destroy(front->backend.impl);
    grove_env_unref(front->env);
    free(front);
}

/* ---- resources ---- */

static bool known_subresource(const gv_front_call *c) {
    static const struct {
        const char *name;
        grove_subresource sub;
    } known[] = {{"status", GROVE_SUBRESOURCE_STATUS},
                 {"scale", GROVE_SUBRESOURCE_SCALE},
                 {"binding", GROVE_SUBRESOURCE_BINDING},
                 {"eviction", GROVE_SUBRESOURCE_EVICTION}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(c->route.sub, known[i].name) == 0) {
            return grove_kind_has_subresource(c->route.kind, known[i].sub) != 0;
        }
    }
    return c->route.sub[0] == '\0';
}

/* What needs a process behind the pod. */
static bool is_of_container(const gv_front_call *c) {
    static const char *const subs[] = {"log", "exec", "attach", "portforward", "proxy"};
    for (size_t i = 0; i < sizeof subs / sizeof *subs; i++) {
        if (c->route.kind == GROVE_KIND_POD && strcmp(c->route.sub, subs[i]) == 0) {
            return true;
        }
    }
    return false;
}

static grove_status resource(gv_front_call *c) {
    const char *method = c->req->method;
    if (is_of_container(c)) {
        return gv_front_refuse(c, 501, "NotImplemented", GV_DETAILS_NONE,
                               "the containers of an embedded cluster are simulated: there is "
                               "nothing to %s",
                               strcmp(c->route.sub, "log") == 0 ? "read" : "connect to");
    }
    if (!known_subresource(c)) {
        return gv_front_no_subresource(c);
    }
    if (strcmp(method, "GET") == 0) {
        return gv_front_read(c);
    }
    if (grove_kind_is_namespaced(c->route.kind) && !c->route.ns[0]) {
        return gv_front_no_method(c); /* all namespaces can only be read */
    }
    if (strcmp(method, "DELETE") == 0) {
        return gv_front_delete(c);
    }
    bool writes = strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
                  strcmp(method, "PATCH") == 0;
    return writes ? gv_front_write(c) : gv_front_no_method(c);
}

static grove_status not_acceptable(gv_front_call *c) {
    c->form = GV_FORM_JSON;
    return gv_front_refuse(c, 406, "NotAcceptable", GV_DETAILS_EMPTY,
                           "406: Not Acceptable\n\nAvailable representations: application/json, "
                           "application/yaml, application/json;stream=watch");
}

static grove_status route(gv_front_call *c) {
    bool done = false;
    grove_status st = strcmp(c->req->method, "GET") == 0    ? gv_front_discover(c, &done)
                      : strcmp(c->req->method, "POST") == 0 ? gv_front_review(c, &done)
                                                            : GROVE_OK;
    if (st < 0 || done) {
        return st;
    }
    if (!gv_front_route_find(&c->path, &c->route)) {
        return gv_front_not_found(c);
    }
    return c->form == GV_FORM_NONE ? not_acceptable(c)
           : gv_front_may(c)       ? resource(c)
                                   : gv_front_forbid(c);
}

grove_status gv_front_handle(gv_front *front, const gv_front_request *request,
                             gv_front_response *response) {
    gv_front_call *c = calloc(1, sizeof *c);
    if (!c) {
        return GROVE_E_NOMEM;
    }
    const char *target = request->target;
    size_t path = strcspn(target, "?#");
    size_t query = path + (target[path] == '?');
    c->front = front;
    c->env = front->env;
    c->sim = front->sim;
    c->req = request;
    c->res = response;
    c->form = gv_front_accept(request->accept);
    grove_status st = gv_front_query_parse(&c->query, c->env, target + query);
    if (st == GROVE_E_INVALID || !gv_front_path_parse(&c->path, target, path)) {
        st = gv_front_refuse(c, 400, "BadRequest", GV_DETAILS_NONE, "the address is malformed");
    } else if (st == GROVE_OK) {
        st = route(c);
    }
    gv_front_query_fini(&c->query);
    free(c);
    return st;
}
