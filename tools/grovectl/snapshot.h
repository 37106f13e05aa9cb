/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster as a file: what `kubectl get nodes,pods,pcs,pclq,pcsg,pg -A -o json` prints, or `grovectl sim -o
 * json`. An engine is shown it as if it were watching; nothing is ever written back.
 */
#ifndef GROVECTL_SNAPSHOT_H
#define GROVECTL_SNAPSHOT_H

#include "io.h"

#include <grove/engine.h>

/* An engine that has seen all objects of the file and made its plans. EXIT_OK, or EXIT_USAGE after a
 * message. *out_now: the newest time in the file, for ages and deadlines. */
int snapshot_engine(grove_env *env, grove_config *config, const char *binders,
                    const io_objects *objects, int64_t now, grove_engine **out_engine);

#endif
