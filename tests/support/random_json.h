/* SPDX-License-Identifier: Apache-2.0 */
/* Random JSON texts for properties: awkward keys, numbers and strings, small objects and large ones. */
#ifndef TESTS_SUPPORT_RANDOM_JSON_H
#define TESTS_SUPPORT_RANDOM_JSON_H

#include "base/prng.h"
#include "base/text.h"

/* Appends one value nested at most `depth` deep. Keys of an object are unique. */
void random_json(gv_prng *r, unsigned depth, grove_buf *out);

#endif
