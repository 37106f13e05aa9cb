/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholder until the layer's first file stands. */
typedef int gv_store_layer;
