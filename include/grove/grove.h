/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/grove.h - every stable header at once, for those who do not count includes.
 *
 * grove/cjson.h (needs cJSON) and grove/sys/ (for those who implement a backend) are included by name.
 * The list is kept by build-aux/check-headers.py --fix.
 */
#ifndef GROVE_GROVE_H
#define GROVE_GROVE_H

#include <grove/admission.h>
#include <grove/answer.h>
#include <grove/buf.h>
#include <grove/config.h>
#include <grove/diag.h>
#include <grove/doc.h>
#include <grove/engine.h>
#include <grove/env.h>
#include <grove/export.h>
#include <grove/kinds.h>
#include <grove/plan.h>
#include <grove/quantity.h>
#include <grove/render.h>
#include <grove/runner.h>
#include <grove/sched.h>
#include <grove/status.h>
#include <grove/store.h>
#include <grove/verbs.h>
#include <grove/version.h>

#endif
