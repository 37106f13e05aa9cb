/* SPDX-License-Identifier: Apache-2.0 */
/* The table of scheduler adapters. */
#include "plan/adapters/adapters.h"

#include "model/labels.h"

/* Places pods one by one: a gang is only as good as its luck. */
static const gv_adapter kube = {.profile = GV_SCHEDULER_DEFAULT, .caps = 0};
/* The same scheduler, but pods are shown to it only when the whole gang has a place. */
static const gv_adapter kube_gang = {
    .profile = GV_SCHEDULER_DEFAULT,
    .caps = GV_ADAPTER_GANG | GV_ADAPTER_TOPOLOGY | GV_ADAPTER_RELEASER,
};
/* The same where nodes are added for pods that nobody can place. */
static const gv_adapter kube_gang_unplaced = {
    .profile = GV_SCHEDULER_DEFAULT,
    .caps = GV_ADAPTER_GANG | GV_ADAPTER_TOPOLOGY | GV_ADAPTER_RELEASER | GV_ADAPTER_UNPLACED,
};
static const gv_adapter lpx = {.profile = GV_SCHEDULER_LPX, .caps = 0};
static const gv_adapter grove = {
    .profile = GV_SCHEDULER_GROVE,
    .caps = GV_ADAPTER_GANG | GV_ADAPTER_TOPOLOGY | GV_ADAPTER_BINDER,
};

const gv_adapter *gv_adapter_find(gv_str profile, bool gang_scheduling) {
    const gv_adapter *const all[] = {gang_scheduling ? &kube_gang : &kube, gv_adapter_kai(),
                                     gv_adapter_volcano(), &lpx, &grove};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (gv_str_is(profile, all[i]->profile)) {
            return all[i];
        }
    }
    return NULL;
}

const gv_adapter *gv_adapter_of(const grove_config *config, gv_str profile) {
    const gv_scheduler_profile *p = gv_config_scheduler(config, profile);
    const gv_adapter *a = p ? gv_adapter_find(profile, p->gang_scheduling) : NULL;
    return a == &kube_gang && p->unplaced_too ? &kube_gang_unplaced : a;
}

void gv_mark(gv_pair *list, uint32_t *n, gv_str key, gv_str value) {
    list[(*n)++] = (gv_pair){key, value};
}

int64_t gv_gang_minimum(const gv_want *w, uint32_t gang) {
    const gv_want_gang *g = &w->gangs[gang];
    int64_t sum = 0;
    for (uint32_t i = 0; i < g->n_cliques; i++) {
        sum += w->cliques[g->first_clique + i].gang_minimum;
    }
    return sum;
}

void gv_open_gang_object(const gv_want *w, uint32_t gang, gv_kind kind, gv_str owner_uid,
                         gv_pairs *labels, gv_pairs *annotations, grove_builder *b) {
    gv_write_kind(b, kind);
    grove_builder_open_object(b, "metadata");
    gv_write_str(b, "name", w->gangs[gang].name);
    gv_write_str(b, "namespace", w->ns);
    gv_pairs_write(labels, b, "labels");
    gv_pairs_write(annotations, b, "annotations");
    gv_write_owner(b, GV_KIND_PODGANG, w->gangs[gang].name, owner_uid);
    grove_builder_close(b);
}
