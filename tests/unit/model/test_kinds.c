/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds: found by apiVersion and kind, by resource word, and whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/kinds.h"

static void every_row_finds_itself(void **state) {
    (void)state;
    for (int k = 1; k < GV_KIND_COUNT; k++) {
        const gv_kind_info *info = gv_kind_get((gv_kind)k);
        assert_non_null(info);
        assert_int_equal(info->kind, k);
        char api_version[96];
        gv_kind_api_version((gv_kind)k, api_version, sizeof api_version);
        assert_int_equal(gv_kind_find(gv_str_c(api_version), gv_str_c(info->name)), k);
        char word[160];
        gv_fmt(word, sizeof word, "%s.%s", info->plural, info->group);
        if (info->group[0]) {
            assert_int_equal(gv_kind_by_word(gv_str_c(word)), k);
        }
    }
    assert_null(gv_kind_get(GV_KIND_NONE));
    assert_null(gv_kind_get(GV_KIND_COUNT));
}

static void words_as_kubectl_takes_them(void **state) {
    (void)state;
    static const struct {
        const char *word;
        gv_kind kind;
    } rows[] = {
        {"pcs", GV_KIND_PODCLIQUESET},
        {"PodCliqueSets", GV_KIND_PODCLIQUESET},
        {"podclique", GV_KIND_PODCLIQUE},
        {"pclq", GV_KIND_PODCLIQUE},
        {"pcsg", GV_KIND_PODCLIQUESCALINGGROUP},
        {"ct", GV_KIND_CLUSTERTOPOLOGYBINDING},
        {"ctb", GV_KIND_NONE},
        {"pg", GV_KIND_PODGANG},
        {"podgroups.scheduling.volcano.sh", GV_KIND_VOLCANO_PODGROUP},
        {"podgroups.scheduling.run.ai", GV_KIND_KAI_PODGROUP},
        {"podgroups.example.com", GV_KIND_NONE},
        {"", GV_KIND_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(gv_kind_by_word(gv_str_c(rows[i].word)), rows[i].kind);
    }
}

static void api_version_must_match_whole(void **state) {
    (void)state;
    assert_int_equal(gv_kind_find(GV_STR("grove.io/v1"), GV_STR("PodCliqueSet")), GV_KIND_NONE);
    assert_int_equal(gv_kind_find(GV_STR("v1alpha1"), GV_STR("PodCliqueSet")), GV_KIND_NONE);
    assert_int_equal(gv_kind_find(GV_STR("grove.io/v1alpha1"), GV_STR("PodGang")), GV_KIND_NONE);
    assert_int_equal(gv_kind_find(GV_STR("grove.io/v1alpha1"), GV_STR("podcliqueset")),
                     GV_KIND_NONE);
    assert_int_equal(gv_kind_find(GV_STR("v1"), GV_STR("Pod")), GV_KIND_POD);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_finds_itself),
        cmocka_unit_test(words_as_kubectl_takes_them),
        cmocka_unit_test(api_version_must_match_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
