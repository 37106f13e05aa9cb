/* SPDX-License-Identifier: Apache-2.0 */
/* Deaths of engines, and those who follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "mortal.h"

/* ---- the stand-by ---- */

static grove_status ignore(void *ctx, const grove_completion *completion) {
    (void)ctx;
    (void)completion;
    return GROVE_OK;
}

static grove_status feed(void *ctx, const grove_event *event) {
    mortal *m = ctx;
    return grove_engine_feed(m->standby, event, cluster_now(m->w.c) + m->w.c->skew_ns, NULL);
}

/* It only listens. */
static void standby_listen(mortal *m) {
    const grove_backend *b = &m->standby_backend;
    grove_sink sink = {(uint32_t)sizeof sink, 0, m, ignore, feed};
    bool again = true;
    while (again) { /* a watch that ended with GONE is begun anew */
        const grove_watch *watch = NULL;
        int64_t deadline = 0;
        again = false;
        while (grove_engine_next_watch(m->standby, &watch, NULL) == GROVE_OK && watch) {
            assert_int_equal(b->ops->watch(b->impl, watch, NULL), GROVE_OK);
            again = true;
        }
        assert_int_equal(b->ops->process(b->impl, cluster_now(m->w.c) + m->w.c->skew_ns, 0, &sink,
                                         &deadline, NULL),
                         GROVE_OK);
    }
}

static void standby_start(mortal *m) {
    grove_engine_options options = {
        .size = (uint32_t)sizeof options,
        .flags = GROVE_ENGINE_CHECK,
        .config = m->w.c->config,
        .bind_schedulers = "default-scheduler,kai-scheduler,grove-scheduler,lpx-scheduler,volcano"};
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_engine_new(m->w.env, &options, &m->standby, &err), GROVE_OK);
    assert_int_equal(grove_sim_backend(m->w.c->sim, &m->standby_backend, &err), GROVE_OK);
    assert_int_equal(interrupt_wrap(&m->lagging, m->w.env, &m->standby_backend, &err), GROVE_OK);
    standby_listen(m); /* it has synced long ago: only what happens from here on comes late */
    m->lagging.lag_ns = MORTAL_LAG;
}

static void standby_takes_over(mortal *m) {
    cluster *c = m->w.c;
    grove_engine_free(c->engine);
    c->backend.ops->destroy(c->backend.impl);
    c->engine = m->standby;
    c->backend = m->standby_backend;
    m->standby = NULL;
    m->takeovers++;
    m->in_charge = &m->lagging;
    m->fresh_again = cluster_now(c) + MORTAL_LAG + MORTAL_LAG / 2;
}

/* ---- life ---- */

static grove_status wrap(void *ctx, grove_env *env, grove_backend *backend, grove_error *err) {
    mortal *m = ctx;
    grove_status st = m->inner.wrap ? m->inner.wrap(m->inner.wrap_ctx, env, backend, err)
                                    : GROVE_OK;
    return st < 0 ? st : interrupt_wrap(&m->active, env, backend, err);
}

void mortal_start(mortal *m, grove_env *env, cluster_options options, bool with_standby) {
    memset(m, 0, sizeof *m);
    m->inner = options;
    m->in_charge = &m->active;
    options.wrap = wrap;
    options.wrap_ctx = m;
    world_start(&m->w, env, options);
    m->active.skew_ns = m->lagging.skew_ns = &m->w.c->skew_ns;
    if (with_standby) {
        standby_start(m);
    }
}

void mortal_end(mortal *m) {
    if (m->standby) {
        grove_engine_free(m->standby);
        m->standby_backend.ops->destroy(m->standby_backend.impl);
    }
    world_end(&m->w);
}

void mortal_arm(mortal *m, uint64_t writes, bool after) {
    m->in_charge->crash_at = m->in_charge->writes + writes;
    m->in_charge->after = after;
}

void mortal_restart(mortal *m) {
    grove_error err = GROVE_ERROR_INIT;
    m->active = (interrupt){.writes = m->in_charge->writes, .skew_ns = &m->w.c->skew_ns};
    m->in_charge = &m->active;
    m->fresh_again = 0;
    assert_int_equal(cluster_restart_engine(m->w.c, &err), GROVE_OK);
}

static void die(mortal *m) {
    m->deaths++;
    if (m->standby) {
        standby_takes_over(m);
    } else {
        mortal_restart(m);
    }
}

/* After each instant. */
static int moment(void *ctx, cluster *c) {
    mortal *m = ctx;
    world_check_moment(&m->w);
    if (m->standby) {
        standby_listen(m);
    }
    if (m->fresh_again && cluster_now(c) >= m->fresh_again) {
        m->lagging.lag_ns = 0;
    }
    if (m->in_charge->crashed) {
        die(m);
        c->deadline = cluster_now(c);
    }
    return 0;
}

void mortal_run(mortal *m, int64_t ns) {
    grove_error err = GROVE_ERROR_INIT;
    cluster *c = m->w.c;
    if (cluster_run(c, cluster_now(c) + ns, moment, m, &err) < 0) {
        fail_msg("run: %s", err.message);
    }
}

void mortal_settle(mortal *m) {
    m->in_charge->crash_at = 0;
    if (!m->standby) {
        m->lagging.lag_ns = 0;
    }
    mortal_run(m, 0);
    world_settle(&m->w);
}
