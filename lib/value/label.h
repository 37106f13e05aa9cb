/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of label keys and label values, which selectors must keep to as well. */
#ifndef GV_VALUE_LABEL_H
#define GV_VALUE_LABEL_H

#include <stdbool.h>

#include "base/text.h"

/* "app", "grove.io/podgang": [prefix/]name, name at most 63 bytes, prefix a DNS subdomain of at most 253. */
bool gv_label_key_ok(gv_str key);
/* At most 63 letters, digits, '-', '_', '.', beginning and ending with a letter or digit; may be empty. */
bool gv_label_value_ok(gv_str value);

#endif
