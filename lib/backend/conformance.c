/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the checks. */
#include <grove/sys/conformance.h>

#include <string.h>

#include "backend/kit.h"
#include "base/mem.h"

static const gv_check *const groups[] = {gv_checks_objects, gv_checks_patches, gv_checks_deletion,
                                         gv_checks_pods,    gv_checks_watches, gv_checks_contract};

/* Check i over all groups; NULL past the end. Each group ends with a nameless check. */
static const gv_check *check_at(uint32_t i) {
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        for (const gv_check *c = groups[g]; c->name; c++) {
            if (i-- == 0) {
                return c;
            }
        }
    }
    return NULL;
}

uint32_t grove_conformance_count(void) {
    uint32_t n = 0;
    while (check_at(n)) {
        n++;
    }
    return n;
}

const char *grove_conformance_name(uint32_t i) {
    const gv_check *c = check_at(i);
    return c ? c->name : NULL;
}

static void make_namespace(gv_kit *k) {
    grove_op op = gv_kit_op(GROVE_VERB_CREATE, GROVE_KIND_NAMESPACE, NULL);
    op.ns = "";
    op.body_doc = gv_kit_doc(k,
                             "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
                             "\"name\":\"%s\"}}",
                             k->ns);
    if (op.body_doc) {
        (void)gv_kit_run(k, &op); /* it may exist */
    }
    gv_kit_clear(k);
}

static void run_check(gv_kit *k, const gv_check *c, grove_conformance_report *counts) {
    grove_check_result result = GROVE_CHECK_PASSED;
    if ((k->backend.caps & c->caps) != c->caps) {
        gv_kit_skip(k, "the backend does not claim it");
    } else {
        c->run(k);
    }
    if (k->skipped) {
        result = GROVE_CHECK_SKIPPED;
        counts->skipped++;
    } else if (k->failed) {
        result = GROVE_CHECK_FAILED;
        counts->failed++;
    } else {
        counts->passed++;
    }
    if (k->options.report) {
        k->options.report(k->options.report_ctx, c->name, result, k->why);
    }
    gv_kit_clear(k);
}

grove_status grove_conformance_run(grove_env *env, const grove_backend *backend,
                                   const grove_conformance_options *options,
                                   grove_conformance_report *out_report, grove_error *err) {
    gv_kit k = {.env = env, .backend = *backend, .next_token = UINT64_C(1) << 40};
    grove_conformance_report counts = {(uint32_t)sizeof counts, 0, 0, 0};
    if (options) {
        grove_status st = gv_struct_in(&k.options, sizeof k.options, options, options->size,
                                       offsetof(grove_conformance_options, ns));
        if (st < 0) {
            return gv_error(err, st, "grove_conformance_options has an unknown size");
        }
    }
    k.ns = k.options.ns ? k.options.ns : "grove-conformance";
    k.now = k.options.start_ns ? k.options.start_ns : INT64_C(1767225600000000000);
    if (k.options.patience_ns == 0) {
        k.options.patience_ns = INT64_C(10000000000);
    }
    make_namespace(&k);
    const gv_check *c;
    for (; k.broken == GROVE_OK && (c = check_at(k.check)) != NULL; k.check++) {
        if (!k.options.filter || strstr(c->name, k.options.filter)) {
            run_check(&k, c, &counts);
        }
    }
    gv_kit_clear(&k);
    if (k.broken < 0) {
        return gv_error(err, k.broken, "the kit could not go on");
    }
    *out_report = counts;
    return GROVE_OK;
}
