/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for what dies as one. With -Ddebug_arena=true each object is a malloc of its own. */
#ifndef GV_BASE_ARENA_H
#define GV_BASE_ARENA_H

#include "base/mem.h"
#include "base/text.h"

typedef struct gv_arena_block gv_arena_block;
typedef struct gv_arena {
    grove_env *env; /* borrowed */
    gv_arena_block *blocks;
    char *at, *end;
    size_t next_size;
    size_t bytes; /* reserved in all blocks */
} gv_arena;

void gv_arena_init(gv_arena *a, grove_env *env);
void gv_arena_fini(gv_arena *a);  /* frees everything */
void gv_arena_reset(gv_arena *a); /* forgets everything, keeps one block: no allocation when warm */
void *gv_arena_alloc(gv_arena *a, size_t n); /* aligned to 8; NULL: out of memory */
void *gv_arena_zalloc(gv_arena *a, size_t n);
char *gv_arena_dup(gv_arena *a, gv_str s); /* NUL-terminated copy; NULL: out of memory */
char *gv_arena_fmt(gv_arena *a, const char *fmt, ...) GROVE_PRINTF(2, 3);

#define gv_arena_new(a, type) ((type *)gv_arena_zalloc((a), sizeof(type)))
#define gv_arena_array(a, type, n) ((type *)gv_arena_zalloc((a), sizeof(type) * (size_t)(n)))

#endif
