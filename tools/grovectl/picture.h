/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a cluster as a tree of domains, with the gangs' pods in them. */
#ifndef GROVECTL_PICTURE_H
#define GROVECTL_PICTURE_H

#include <grove/sys/sim.h>

/* Appends the picture; `keys` are label keys from broad to narrow, ended by NULL. */
grove_status picture_write(grove_env *env, grove_sim *sim, const char *const *keys, const char *gpu,
                           grove_buf *out, grove_error *err);

/* The same as a chart, into a file that ends in .svg or .html; EXIT_OK, or EXIT_USAGE after a message. */
int picture_save(grove_env *env, grove_sim *sim, const char *title, const char *path);

#endif
