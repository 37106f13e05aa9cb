/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs that wait together, in queues: the order of service decides, not the order of the file. */
#ifndef GROVECTL_PLACE_BATCH_H
#define GROVECTL_PLACE_BATCH_H

#include "place_io.h"

typedef struct place_batch place_batch;

/* Room for the gangs of one batch; `o` is kept. NULL: out of memory. */
place_batch *place_batch_new(place_world *w, const grove_serve_options *o);
void place_batch_free(place_batch *b);

/* Declares the queues of a file of JSON lines; an exit code. */
int place_read_queues(place_world *w, const char *path);

/* One more gang that waits: its description, queue, priority and the like. */
int place_batch_add(place_batch *b, const grove_node *gang, const char *where);
uint32_t place_batch_size(const place_batch *b);
/* Serves those that wait, prints a line each in the order of service, and forgets them. With one, `each` is
 * called with the world showing the gang and its decision. */
int place_batch_serve(place_batch *b, void (*each)(place_world *w, void *ctx), void *ctx);

#endif
