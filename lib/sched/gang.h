/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a gang as the caller gave it, with the tree of its groups. */
#ifndef GV_SCHED_GANG_H
#define GV_SCHED_GANG_H

#include "sched/state.h"

#define GV_LEVEL_UNKNOWN UINT32_MAX /* internal form of a level that the topology lacks; 0: none */

typedef struct gv_podgroup {
    uint32_t name; /* offset into texts */
    uint32_t class_id, min, count;
    uint32_t required, preferred; /* internal levels */
    uint32_t parent;              /* innermost group, or GV_NONE: the gang */
    uint32_t members;             /* how many have their place already */
} gv_podgroup;

typedef struct gv_group {
    uint32_t name;
    uint32_t first, n; /* range of gv_gang.group_members */
    uint32_t required, preferred;
    uint32_t parent;
} gv_group;

typedef struct gv_member {
    uint32_t podgroup, node;
} gv_member;

typedef struct gv_sticky {
    uint32_t podgroup, index, node;
} gv_sticky;

struct grove_gang {
    grove_sched *sched;
    uint32_t topology;
    uint32_t name;
    uint32_t required, preferred;
    int32_t priority;
    uint32_t queue;   /* 0: none */
    uint32_t flags;   /* GROVE_GANG_* */
    uint32_t base;    /* the committed gang it goes with; GV_NONE: none */
    uint32_t blocked; /* how often it was passed over at the head of its queue */
    int64_t since;    /* the smaller, the longer it waits */
    GV_VEC(char) texts;
    GV_VEC(gv_podgroup) podgroups;
    GV_VEC(gv_group) groups;
    GV_VEC(uint32_t) group_members;
    GV_VEC(uint32_t) group_order; /* parents before children, once linked */
    GV_VEC(uint32_t) owner;       /* scratch of linking */
    GV_VEC(gv_member) members;
    GV_VEC(gv_sticky) sticky;
    uint32_t anchor_level, anchor_node;
    grove_strength anchor;
    uint32_t spread_level, spread_skew;
    grove_strength spread;
    GV_VEC(uint32_t) spread_nodes;
    bool linked;
};

/* Builds the tree of groups. GROVE_E_INVALID when two groups cross. */
grove_status gv_gang_link(grove_gang *gang, grove_error *err);

static inline const char *gv_gang_text(const grove_gang *g, uint32_t offset) {
    return g->texts.v + offset;
}

#endif
