/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a YAML scalar means: YAML 1.1 as Kubernetes tools (sigs.k8s.io/yaml) read it. Needs no YAML
 * library. docs/reference/yaml.md tells the same rules to users.
 */
#ifndef GV_VALUE_YAML_SCALAR_H
#define GV_VALUE_YAML_SCALAR_H

#include <grove/doc.h>

#include "base/text.h"

/* Tags of the core set, by their short names ("!!str"). */
typedef enum gv_yaml_tag {
    GV_YAML_TAG_NONE,
    GV_YAML_TAG_STR,
    GV_YAML_TAG_INT,
    GV_YAML_TAG_FLOAT,
    GV_YAML_TAG_BOOL,
    GV_YAML_TAG_NULL,
    GV_YAML_TAG_BINARY,
    GV_YAML_TAG_TIMESTAMP,
    GV_YAML_TAG_MERGE,
    GV_YAML_TAG_MAP,
    GV_YAML_TAG_SEQ,
    GV_YAML_TAG_UNKNOWN,
} gv_yaml_tag;

typedef enum gv_yaml_type {
    GV_YAML_STRING,
    GV_YAML_NULL,
    GV_YAML_FALSE,
    GV_YAML_TRUE,
    GV_YAML_INT,
    GV_YAML_FLOAT,
    GV_YAML_INFINITY,
    GV_YAML_MINUS_INFINITY,
    GV_YAML_NAN,
} gv_yaml_type;

/* A resolved scalar. Text of a string; of INT and FLOAT a JSON number: as written where JSON allows it. */
typedef struct gv_yaml_value {
    gv_yaml_type type;
    gv_str text;
} gv_yaml_value;

/* One entry of the table of words that are no strings when written plain. */
typedef struct gv_yaml_word {
    const char *text;
    size_t n;
    gv_yaml_type type;
} gv_yaml_word;
extern const gv_yaml_word gv_yaml_words[];
extern const size_t gv_yaml_n_words;

/* "tag:yaml.org,2002:str" and so on; NULL and "!" are GV_YAML_TAG_NONE. */
gv_yaml_tag gv_yaml_tag_of(const char *tag);

/*
 * Resolves a scalar. `plain`: written without quotes and not as a block; only then, or with a tag, it can
 * be something else than a string. out->text borrows from `text` or from `scratch`, which is overwritten.
 * GROVE_E_PARSE when the tag does not fit; *out_why (static) then tells why.
 */
grove_status gv_yaml_resolve(gv_str text, gv_yaml_tag tag, bool plain, grove_buf *scratch,
                             gv_yaml_value *out, const char **out_why);

/* The string that the scalar becomes as a key. GROVE_E_TYPE: null, and integers beyond int64. May
 * rewrite `scratch`. */
grove_status gv_yaml_key(const gv_yaml_value *value, grove_buf *scratch, gv_str *out_key);

/* True when some reader of YAML 1.1 or 1.2 would not take a plain `text` for the string `text`: words,
 * numbers, sexagesimals, dates. Overwrites `scratch`. */
grove_status gv_yaml_is_ambiguous(gv_str text, grove_buf *scratch, bool *out);

#endif
