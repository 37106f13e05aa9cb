/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds this library reads or writes, and how a cluster names them. */
#ifndef GV_MODEL_KINDS_H
#define GV_MODEL_KINDS_H

#include <stdbool.h>

#include <grove/doc.h>

#include "base/text.h"

typedef enum gv_kind {
    GV_KIND_NONE = 0,
    GV_KIND_PODCLIQUESET,
    GV_KIND_PODCLIQUE,
    GV_KIND_PODCLIQUESCALINGGROUP,
    GV_KIND_CLUSTERTOPOLOGYBINDING,
    GV_KIND_PODGANG,
    GV_KIND_POD,
    GV_KIND_NODE,
    GV_KIND_SERVICE,
    GV_KIND_SERVICEACCOUNT,
    GV_KIND_SECRET,
    GV_KIND_ROLE,
    GV_KIND_ROLEBINDING,
    GV_KIND_HPA,
    GV_KIND_RESOURCECLAIM,
    GV_KIND_RESOURCECLAIMTEMPLATE,
    GV_KIND_COMPUTEDOMAIN,
    GV_KIND_KAI_PODGROUP,
    GV_KIND_KAI_TOPOLOGY,
    GV_KIND_VOLCANO_PODGROUP,
    GV_KIND_VOLCANO_QUEUE,
    GV_KIND_PRIORITYCLASS,
    GV_KIND_EVENT,
    GV_KIND_PDB,
    GV_KIND_NAMESPACE,
    GV_KIND_LEASE,
    GV_KIND_CONFIGMAP,
    GV_KIND_CRD,
    GV_KIND_MUTATING_WEBHOOK,
    GV_KIND_VALIDATING_WEBHOOK,
    GV_KIND_CONTROLLERREVISION,
    GV_KIND_COUNT
} gv_kind;

typedef struct gv_kind_info {
    gv_kind kind;
    const char *group;   /* "" for core */
    const char *version; /* "v1alpha1" */
    const char *name;    /* "PodCliqueSet" */
    const char *plural;  /* "podcliquesets" */
    const char *singular;
    const char *short_names; /* comma-separated, may be "" */
    bool namespaced;
    bool has_status; /* status is a subresource */
    bool has_scale;
    bool custom; /* served from a CRD: no strategic merge patch */
} gv_kind_info;

/* Never NULL for a valid kind; NULL for GV_KIND_NONE and out of range. */
const gv_kind_info *gv_kind_get(gv_kind kind);
/* By apiVersion ("grove.io/v1alpha1", "v1") and kind; GV_KIND_NONE when unknown. */
gv_kind gv_kind_find(gv_str api_version, gv_str kind);
gv_kind gv_kind_of(const grove_node *object); /* from its apiVersion and kind members */
/* By resource word as kubectl takes it: plural, singular, short name, any case. */
gv_kind gv_kind_by_word(gv_str word);
/* "grove.io/v1alpha1" into a caller's array of at least 96 bytes. */
const char *gv_kind_api_version(gv_kind kind, char *out, size_t cap);

#endif
