/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a set's children get once everything is scaled to its most. */
#ifndef GROVECTL_NAMES_H
#define GROVECTL_NAMES_H

#include "io.h"

/* Appends "KIND NAMESPACE/NAME" a line for each child of a PodCliqueSet; nothing for other kinds. Returns an
 * exit code, having said why on failure. */
int names_of_set(grove_env *env, const io_object *object, grove_config *config, grove_buf *out);

#endif
