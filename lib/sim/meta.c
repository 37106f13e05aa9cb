/* SPDX-License-Identifier: Apache-2.0 */
/* Object metadata in and out. */
#include "sim/meta.h"

#include "value/doc.h"
#include "value/scalar.h"

static int64_t time_of(const grove_node *object, const char *key) {
    gv_str text = gv_node_get_str(object, key);
    int64_t ns = 0;
    return text.n > 0 && gv_time_parse(text, &ns, NULL) == GROVE_OK ? ns : GV_SIM_NO_TIME;
}

static const grove_node *filled(const grove_node *object, const char *key, grove_type type) {
    const grove_node *n = grove_node_get(object, key);
    return grove_node_type(n) == type && grove_node_size(n) > 0 ? n : NULL;
}

void gv_sim_meta_read(const grove_node *object, gv_sim_meta *out_meta) {
    const grove_node *m = grove_node_get(object, "metadata");
    gv_sim_meta meta = {0};
    meta.name = gv_node_get_str(m, "name");
    meta.generate_name = gv_node_get_str(m, "generateName");
    meta.ns = gv_node_get_str(m, "namespace");
    meta.uid = gv_node_get_str(m, "uid");
    if (grove_node_int64(grove_node_get(m, "generation"), &meta.generation) < 0) {
        meta.generation = 0;
    }
    meta.created_ns = time_of(m, "creationTimestamp");
    meta.deleted_ns = time_of(m, "deletionTimestamp");
    if (grove_node_int64(grove_node_get(m, "deletionGracePeriodSeconds"), &meta.grace) < 0) {
        meta.grace = -1;
    }
    meta.labels = filled(m, "labels", GROVE_OBJECT);
    meta.annotations = filled(m, "annotations", GROVE_OBJECT);
    meta.owners = filled(m, "ownerReferences", GROVE_ARRAY);
    meta.finalizers = filled(m, "finalizers", GROVE_ARRAY);
    meta.managed = filled(m, "managedFields", GROVE_ARRAY);
    *out_meta = meta;
}

bool gv_sim_has_finalizer(const gv_sim_meta *meta, const char *finalizer) {
    const grove_node *list = meta->finalizers;
    for (const grove_node *f = grove_node_first(list); f; f = grove_node_next(list, f)) {
        const char *text = grove_node_text(f);
        if (text && strcmp(text, finalizer) == 0) {
            return true;
        }
    }
    return false;
}

bool gv_sim_meta_same(const gv_sim_meta *a, const gv_sim_meta *b) {
    return gv_str_eq(a->generate_name, b->generate_name) && a->generation == b->generation &&
           a->deleted_ns == b->deleted_ns && a->grace == b->grace &&
           gv_sim_node_same(a->labels, b->labels) &&
           gv_sim_node_same(a->annotations, b->annotations) &&
           gv_sim_node_same(a->owners, b->owners) &&
           gv_sim_node_same(a->finalizers, b->finalizers) &&
           gv_sim_node_same(a->managed, b->managed);
}

bool gv_sim_node_same(const grove_node *a, const grove_node *b) {
    return a == b || (a && b && grove_node_equal(a, b));
}

void gv_sim_build_time(grove_sim *sim, grove_builder *b, const char *key, int64_t ns) {
    /* The scratch buffer is roomy from birth: this cannot fail. */
    grove_buf_clear(&sim->scratch);
    (void)gv_time_format(ns, &sim->scratch);
    grove_builder_stringn(b, key, sim->scratch.data, (size_t)sim->scratch.len);
}

void gv_sim_meta_build(grove_sim *sim, grove_builder *b, const gv_sim_meta *m, uint64_t rv) {
    char number[24];
    grove_builder_open_object(b, "metadata");
    grove_builder_stringn(b, "name", m->name.p, m->name.n);
    if (m->generate_name.n > 0) {
        grove_builder_stringn(b, "generateName", m->generate_name.p, m->generate_name.n);
    }
    if (m->ns.n > 0) {
        grove_builder_stringn(b, "namespace", m->ns.p, m->ns.n);
    }
    grove_builder_stringn(b, "uid", m->uid.p, m->uid.n);
    if (rv > 0) {
        (void)gv_fmt(number, sizeof number, "%llu", (unsigned long long)rv);
        grove_builder_string(b, "resourceVersion", number);
    }
    if (m->generation > 0) {
        grove_builder_int64(b, "generation", m->generation);
    }
    gv_sim_build_time(sim, b, "creationTimestamp", m->created_ns);
    if (m->deleted_ns != GV_SIM_NO_TIME) {
        gv_sim_build_time(sim, b, "deletionTimestamp", m->deleted_ns);
    }
    if (m->grace >= 0) {
        grove_builder_int64(b, "deletionGracePeriodSeconds", m->grace);
    }
    if (m->labels) {
        grove_builder_copy(b, "labels", m->labels);
    }
    if (m->annotations) {
        grove_builder_copy(b, "annotations", m->annotations);
    }
    if (m->owners) {
        grove_builder_copy(b, "ownerReferences", m->owners);
    }
    if (m->finalizers) {
        grove_builder_copy(b, "finalizers", m->finalizers);
    }
    if (m->managed) {
        grove_builder_copy(b, "managedFields", m->managed);
    }
    grove_builder_close(b);
}
