/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading YAML: libyaml scans (yaml_scan.c), events become items (yaml_items.c), items become a document
 * (yaml_read.c). For the files of value only; without libyaml nothing here exists.
 */
#ifndef GV_VALUE_YAML_READ_H
#define GV_VALUE_YAML_READ_H

#include <yaml.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "value/build.h"
#include "value/yaml_scalar.h"

/* Whatever the environment allows, nesting (aliases followed) ends here, since reading recurses. */
#define GV_YAML_DEPTH_MAX 1000

/* A place in the text that only moves forward: libyaml counts characters, documents count bytes. */
typedef struct gv_yaml_place {
    const char *at, *end;
    const char *line_start; /* its column is 1 */
    size_t index;           /* characters passed */
    uint32_t line;          /* 1-based */
} gv_yaml_place;

typedef enum gv_yaml_kind { GV_YAML_SCALAR, GV_YAML_ALIAS, GV_YAML_MAP, GV_YAML_SEQ } gv_yaml_kind;

/* One event of a document, closing ones left out; contents follow their container. */
typedef struct gv_yaml_item {
    gv_yaml_kind kind;
    gv_yaml_tag tag;
    bool plain; /* a scalar without quotes */
    uint32_t line, column;
    uint32_t next;   /* the item behind this one and its contents; 0: still open */
    uint32_t link;   /* alias: its anchor's item; open container: the container around it */
    uint32_t height; /* nesting of the value, aliases and merges followed */
    uint64_t nodes;  /* nodes that the value becomes, aliases and merges followed */
    uint64_t bytes;  /* the same for text */
    gv_str text;     /* of a scalar */
} gv_yaml_item;

typedef struct gv_yaml_reader {
    grove_env *env; /* referenced */
    yaml_parser_t parser;
    const char *text;
    gv_yaml_place begin; /* where reading began, for places in errors */
    gv_yaml_place place;
    uint32_t flags;   /* GROVE_PARSE_* */
    bool in_document; /* events of a document remain to be passed over */
    bool ended;
    /* the document being read */
    GV_VEC(gv_yaml_item) items;
    gv_arena arena; /* texts of items */
    gv_map anchors; /* name -> item index + 1 */
    uint32_t open;  /* innermost open container; UINT32_MAX: none */
    uint32_t depth;
    bool at_key;          /* the next item of `open` is a key */
    uint32_t twice;       /* the mapping in which a key is there twice; UINT32_MAX: none */
    grove_buf key, value; /* scratch */
    grove_builder *builder;
} gv_yaml_reader;

/* The text must outlive the reader. line and column: those of `at`, which is where reading begins. */
grove_status gv_yaml_reader_new(grove_env *env, const char *text, size_t len, size_t at,
                                uint32_t line, uint32_t column, uint32_t flags,
                                gv_yaml_reader **out, grove_error *err);
void gv_yaml_reader_free(gv_yaml_reader *r);
/* Next document, empty ones included (their root is null); *out_doc NULL at the end. After an error of
 * content the next call goes on behind that document, after one of syntax it finds the end. */
grove_status gv_yaml_reader_next(gv_yaml_reader *r, grove_doc **out_doc, grove_error *err);

/* ---- between the files ---- */

/* Next event; the caller deletes it. Errors of libyaml in our words, with their place. */
grove_status gv_yaml_scan(gv_yaml_reader *r, yaml_event_t *event, grove_error *err);
/* Moves forward to a character. */
void gv_yaml_place_to(gv_yaml_place *place, size_t index);
uint32_t gv_yaml_place_column(const gv_yaml_place *place);
/* Reads the items of the document whose start was seen, up to and with its end. */
grove_status gv_yaml_collect(gv_yaml_reader *r, grove_error *err);

#endif
