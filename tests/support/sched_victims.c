/* SPDX-License-Identifier: Apache-2.0 */
/* Naive on purpose: all subsets, each judged from the definitions. */
#include "support/sched_victims.h"

#include <string.h>

static int goes_with(const sv_case *v, int32_t gang, int32_t base) {
    while (gang >= 0 && gang != base) {
        gang = v->gangs[gang].base;
    }
    return gang == base;
}

/* Queues of `queue`'s branch that do not hold the asking gang's queue. */
static int on_branch(const sv_case *v, int32_t queue, int32_t at) {
    for (int32_t q = v->queue; q > 0; q = v->queues[q].parent) {
        if (q == at) {
            return 0;
        }
    }
    for (int32_t q = queue; q > 0; q = v->queues[q].parent) {
        if (q == at) {
            return 1;
        }
    }
    return 0;
}

static int in_branch_of(const sv_case *v, int32_t queue, int32_t top) {
    for (int32_t q = queue; q > 0; q = v->queues[q].parent) {
        if (q == top) {
            return 1;
        }
    }
    return 0;
}

static int64_t used_by(const sv_case *v, int32_t queue, const int *pod_gone) {
    int64_t sum = 0;
    for (int32_t p = 0; p < v->n_pods; p++) {
        int32_t of = v->pods[p].gang >= 0 ? v->gangs[v->pods[p].gang].queue : v->pods[p].queue;
        sum += !(pod_gone && pod_gone[p]) && in_branch_of(v, of, queue) ? v->pods[p].req[v->scarce]
                                                                        : 0;
    }
    return sum;
}

static int may_lose(const sv_case *v, int32_t queue, int32_t priority) {
    if (v->scarce < 0) {
        return priority < v->priority && (queue == 0 || queue == v->queue);
    }
    if (queue == 0 || in_branch_of(v, queue, v->queue) || in_branch_of(v, v->queue, queue)) {
        return 0;
    }
    if (v->within && !in_branch_of(v, queue, v->within)) {
        return 0;
    }
    for (int32_t q = 1; q <= v->n_queues; q++) {
        if (on_branch(v, queue, q) && used_by(v, q, NULL) <= v->queues[q].share) {
            return 0;
        }
    }
    return 1;
}

/* Marks everything that goes with the given victims; 0 when something may not. */
static int spread_out(const sv_case *v, const int *gang_in, const int *pod_in, int *gang_gone,
                      int *pod_gone) {
    memset(gang_gone, 0, SV_GANGS * sizeof *gang_gone);
    memset(pod_gone, 0, SV_PODS * sizeof *pod_gone);
    for (int32_t g = 0; g < v->n_gangs; g++) {
        for (int32_t base = 0; base < v->n_gangs; base++) {
            gang_gone[g] |= gang_in[base] && goes_with(v, g, base);
        }
        const sv_gang *one = &v->gangs[g];
        if (gang_gone[g] && (one->held || !may_lose(v, one->queue, one->priority))) {
            return 0;
        }
    }
    for (int32_t p = 0; p < v->n_pods; p++) {
        const sv_pod *pod = &v->pods[p];
        const sv_gang *gang = pod->gang >= 0 ? &v->gangs[pod->gang] : NULL;
        if (pod_in[p]) {
            int ok = gang ? pod->surplus && !gang->held && may_lose(v, gang->queue, gang->priority)
                          : may_lose(v, pod->queue, pod->priority);
            if (!ok) {
                return 0;
            }
        }
        pod_gone[p] = pod_in[p] || (gang && gang_gone[pod->gang]);
    }
    return 1;
}

static int within_shares(const sv_case *v, const int *pod_gone) {
    for (int32_t q = 1; v->scarce >= 0 && q <= v->n_queues; q++) {
        int64_t before = used_by(v, q, NULL), after = used_by(v, q, pod_gone);
        if (after < before && !in_branch_of(v, v->queue, q) && after < v->queues[q].share) {
            return 0;
        }
    }
    return 1;
}

static void count_toll(const sv_case *v, const int *gang_gone, const int *pod_gone, sv_toll *out) {
    *out = (sv_toll){INT32_MIN, 0, 0};
    for (int32_t g = 0; g < v->n_gangs; g++) {
        out->gangs += gang_gone[g];
        if (gang_gone[g] && v->gangs[g].priority > out->priority) {
            out->priority = v->gangs[g].priority;
        }
    }
    for (int32_t p = 0; p < v->n_pods; p++) {
        int32_t priority = v->pods[p].gang >= 0 ? v->gangs[v->pods[p].gang].priority
                                                : v->pods[p].priority;
        out->pods += pod_gone[p];
        if (pod_gone[p] && priority > out->priority) {
            out->priority = priority;
        }
    }
}

int sv_judge(const sv_case *v, const int *gang_in, const int *pod_in, sv_toll *out) {
    int gang_gone[SV_GANGS], pod_gone[SV_PODS];
    if (!spread_out(v, gang_in, pod_in, gang_gone, pod_gone) || !within_shares(v, pod_gone)) {
        return -1;
    }
    count_toll(v, gang_gone, pod_gone, out);
    return 1;
}

static int better(const sv_toll *a, const sv_toll *b) {
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    return a->gangs != b->gangs ? a->gangs < b->gangs : a->pods < b->pods;
}

static int fits_without(sv_case *v, const int *pod_gone) {
    for (int32_t p = 0; p < v->n_pods; p++) {
        for (int r = 0; pod_gone[p] && r < SC_RESOURCES; r++) {
            v->nodes[v->pods[p].node].free[r] += v->pods[p].req[r];
        }
    }
    int fits = sc_feasible(v->c, 200000);
    for (int32_t p = 0; p < v->n_pods; p++) {
        for (int r = 0; pod_gone[p] && r < SC_RESOURCES; r++) {
            v->nodes[v->pods[p].node].free[r] -= v->pods[p].req[r];
        }
    }
    return fits;
}

int sv_best(sv_case *v, sv_toll *out) {
    int32_t pods[SV_PODS], n_single = 0;
    for (int32_t p = 0; p < v->n_pods; p++) {
        if (v->pods[p].gang < 0 || v->pods[p].surplus) {
            pods[n_single++] = p;
        }
    }
    int found = 0;
    if (n_single + v->n_gangs > SV_UNITS) {
        return -1;
    }
    for (uint32_t set = 0; set < 1u << (n_single + v->n_gangs); set++) {
        int gang_in[SV_GANGS] = {0}, pod_in[SV_PODS] = {0}, gang_gone[SV_GANGS], pod_gone[SV_PODS];
        for (int32_t i = 0; i < n_single; i++) {
            pod_in[pods[i]] = set >> i & 1;
        }
        for (int32_t g = 0; g < v->n_gangs; g++) {
            gang_in[g] = set >> (n_single + g) & 1;
        }
        sv_toll toll;
        if (!spread_out(v, gang_in, pod_in, gang_gone, pod_gone)) {
            continue;
        }
        count_toll(v, gang_gone, pod_gone, &toll);
        if ((found && !better(&toll, out)) || !within_shares(v, pod_gone)) {
            continue;
        }
        int fits = fits_without(v, pod_gone);
        if (fits < 0) {
            return -1;
        }
        if (fits) {
            *out = toll;
            found = 1;
        }
    }
    return found;
}
