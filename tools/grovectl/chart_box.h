/* SPDX-License-Identifier: Apache-2.0 */
/* Where everything of a chart lies: a tree of boxes, sizes from inside out, then places from outside in. */
#ifndef GROVECTL_CHART_BOX_H
#define GROVECTL_CHART_BOX_H

#include "chart.h"

typedef struct chart_sizes {
    int cell;  /* side of a square, gap included */
    int a_row; /* squares in a row */
    int rows;  /* rows of squares of a node */
    int label; /* width of node names; 0: not shown */
    int dots;  /* width for pods without devices; 0: there are none */
    int font;  /* of names */
    int node_w, node_h;
} chart_sizes;

typedef struct chart_box {
    const char *name; /* NULL: the whole */
    uint32_t level;   /* index into level_names */
    int x, y, w, h;
    struct chart_box **in; /* domains; none when it shows its nodes */
    uint32_t n_in;
    uint32_t *nodes; /* all below it */
    uint32_t n_nodes;
    uint32_t devices, used;
} chart_box;

#define CHART_GAP 6
#define CHART_HEAD 4 /* above a box's name, in addition to the font */

chart_sizes chart_sizes_of(const chart *c);
/* The tree, laid out from (x, y) on; NULL: out of memory. */
chart_box *chart_lay_out(const chart *c, const chart_sizes *s, int x, int y);
void chart_box_free(chart_box *box);
/* Where the k-th node of a box without boxes lies. */
void chart_node_place(const chart_box *box, const chart_sizes *s, uint32_t k, int *out_x,
                      int *out_y);

#endif
