/* SPDX-License-Identifier: Apache-2.0 */
/* All public headers live side by side in one unit, and the library is the one they belong to. */
#include <grove/grove.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void version_of_library_is_the_headers(void **state) {
    char text[32];
    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", GROVE_VERSION_MAJOR, GROVE_VERSION_MINOR,
             GROVE_VERSION_PATCH);
    assert_string_equal(grove_version(), text);
    assert_string_equal(grove_version(), GROVE_VERSION_STRING);
    assert_int_equal(grove_version_number(), GROVE_VERSION_NUMBER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_of_library_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
