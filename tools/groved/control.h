/* SPDX-License-Identifier: Apache-2.0 */
/* A UNIX socket on which a running daemon can be asked things; one line in, text out, closed. */
#ifndef GROVED_CONTROL_H
#define GROVED_CONTROL_H

#include "live.h"

/* NULL when it cannot listen there; has logged why. */
struct control *control_listen(live *d, const char *path);
void control_free(struct control *c);

/* For grove_backend_record, with a live as context: writes while recording is on. */
grove_status control_record(void *ctx, const char *bytes, size_t len);

#endif
