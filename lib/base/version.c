/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the loaded library, which may differ from the headers a program was compiled with. */
#include <grove/version.h>

const char *grove_version(void) {
    return GROVE_VERSION_STRING;
}

int32_t grove_version_number(void) {
    return GROVE_VERSION_NUMBER;
}
