/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds a whole set up: what the engine itself waits for, as the plan says what the set waits for. Told
 * with whatever object of the set is asked about.
 */
#include "engine/engine.h"

static grove_wait hold(const gv_set *set, const char *reason, const char *text) {
    gv_kind kind = set->ns[0] ? GV_KIND_PODCLIQUESET : GV_KIND_CLUSTERTOPOLOGYBINDING;
    return (grove_wait){.size = (uint32_t)sizeof(grove_wait),
                        .kind = (grove_kind)kind,
                        .name = set->name,
                        .reason = reason,
                        .for_kind = (grove_kind)kind,
                        .for_name = set->name,
                        .text = text,
                        .since_ns = INT64_MIN,
                        .deadline_ns = GROVE_NEVER};
}

static int64_t next_try(const grove_engine *e, const gv_set *set) {
    return set->not_before > e->now ? set->not_before : GROVE_NEVER;
}

static grove_wait survey(const grove_engine *e, const gv_set *set) {
    const gv_survey *s = &set->survey;
    bool lacks = s->lack.len > 0;
    grove_wait w = hold(set, "AwaitPodList",
                        s->asked ? "pods of the set may exist that are not known here: they are "
                                   "listed before the first one is made"
                        : lacks  ? "this pod exists and no event has told of it: it is waited for "
                                   "before the first one is made"
                        : s->failed < 0
                            ? "the pods of the set could not be listed; none is made before that"
                            : "pods of the set are still being listed; none is made before that");
    w.for_kind = GROVE_KIND_POD;
    w.for_name = lacks ? s->lack.data : "";
    w.since_ns = s->since;
    w.deadline_ns = s->asked ? gv_survey_deadline(set) : next_try(e, set);
    return w;
}

/* Nothing that the set needs now waits for it unless a pod is to be made. */
static bool is_surveyed(const gv_set *set) {
    const grove_action *next = set->plan ? grove_plan_action(set->plan, set->next) : NULL;
    return set->survey.since != INT64_MIN &&
           (set->survey.asked || set->dropped || (next && gv_engine_awaits_survey(set, next)));
}

uint32_t gv_engine_holds(const grove_engine *e, const gv_set *set, grove_wait out[GV_HOLDS]) {
    uint32_t n = 0;
    gv_kind kind;
    const char *name;
    bool surveyed = is_surveyed(set);
    if (surveyed) {
        out[n++] = survey(e, set);
    }
    if (gv_store_uncertain_of_set(e->store, gv_str_c(set->ns), gv_str_c(set->name), e->now, &kind,
                                  &name)) {
        out[n] = hold(set, "AwaitReadBack",
                      "a write to this object was answered and no event has shown it for 30 s: it "
                      "is read before the set is planned again");
        out[n].for_kind = (grove_kind)kind;
        out[n].for_name = name;
        out[n++].deadline_ns = e->read_back_at > e->now ? e->read_back_at : GROVE_NEVER;
    }
    if (set->fault.len > 0) {
        out[n] = hold(set, "PlanFailed", set->fault.data);
        out[n++].deadline_ns = next_try(e, set);
    } else if (set->not_before > e->now && !surveyed) {
        out[n] = hold(set, "BackOff",
                      "the last writes failed, or came from a view that was behind: the set is "
                      "planned again after a pause");
        out[n++].deadline_ns = set->not_before;
    }
    return n;
}
