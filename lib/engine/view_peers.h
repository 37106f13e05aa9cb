/* SPDX-License-Identifier: Apache-2.0 */
/* Affinity between the pods of one gang, as tokens of hosts and as packs of podgroups. */
#ifndef GV_ENGINE_VIEW_PEERS_H
#define GV_ENGINE_VIEW_PEERS_H

#include "engine/view_sched.h"

/* One podgroup of the gang, in the order of the PodGang. */
typedef struct gv_peer {
    gv_str name;
    const grove_node *clique; /* the PodClique; NULL: it does not exist */
    uint32_t pods;            /* how many the gang may have of it */
    /* found out: */
    grove_sched_token *tokens;
    uint32_t n_tokens;
    grove_level pack; /* its pods share a domain of this level; GROVE_LEVEL_NONE */
} gv_peer;

/* Podgroups that share a domain, beyond what the PodGang says. */
typedef struct gv_peer_pack {
    const uint32_t *peers;
    uint32_t n;
    grove_level level;
} gv_peer_pack;

typedef struct gv_peers {
    gv_peer *v;
    uint32_t n;
    gv_peer_pack *packs;
    uint32_t n_packs;
} gv_peers;

/* `gang`: the PodGang's namespace and name. What cannot be kept exactly is noted. All in the scratch. */
grove_status gv_view_peers(gv_view *v, uint32_t topology, gv_str ns, gv_str gang,
                           const grove_node *podgang, gv_peers *peers, grove_error *err);

#endif
