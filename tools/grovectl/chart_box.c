/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of a chart; see chart_box.h. */
#include "chart_box.h"

#include <stdlib.h>
#include <string.h>

#define COLUMN 20u /* nodes one above the other */
#define NARROWEST 640
#define WIDEST 1560

static int larger(int a, int b) {
    return a > b ? a : b;
}

static int text_width(const char *text, int font) {
    return (int)strlen(text) * font * 6 / 10;
}

chart_sizes chart_sizes_of(const chart *c) {
    chart_sizes s = {0};
    uint32_t most = 1, longest = 0;
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        uint32_t n = (uint32_t)strlen(c->nodes[i].name);
        most = c->nodes[i].devices > most ? c->nodes[i].devices : most;
        longest = n > longest ? n : longest;
    }
    for (uint32_t i = 0; i < c->n_pods; i++) {
        s.dots = c->pods[i].devices == 0 ? 1 : s.dots;
    }
    s.cell = c->n_nodes <= 48 ? 15 : c->n_nodes <= 240 ? 11 : c->n_nodes <= 1500 ? 7 : 4;
    s.font = s.cell >= 15 ? 12 : s.cell >= 11 ? 10 : s.cell >= 7 ? 9 : 7;
    s.a_row = most > 8 ? 8 : (int)most;
    s.rows = ((int)most + s.a_row - 1) / s.a_row;
    s.label = s.cell >= 11 ? (int)longest * (s.font - 1) * 6 / 10 + 6 : 0;
    s.dots = s.dots ? 2 * s.cell : 0;
    s.node_w = s.label + s.a_row * s.cell + s.dots + 3;
    s.node_h = s.rows * s.cell + (s.cell >= 11 ? 4 : s.cell >= 7 ? 2 : 1);
    return s;
}

void chart_box_free(chart_box *box) {
    for (uint32_t i = 0; box && i < box->n_in; i++) {
        chart_box_free(box->in[i]);
    }
    if (box) {
        free(box->in);
        free(box->nodes);
        free(box);
    }
}

/* ---- the tree ---- */

static chart_box *box_new(const char *name, uint32_t level, uint32_t room) {
    chart_box *box = calloc(1, sizeof *box);
    if (box) {
        box->name = name;
        box->level = level;
        box->nodes = calloc(room ? room : 1, sizeof *box->nodes);
    }
    if (box && !box->nodes) {
        free(box);
        box = NULL;
    }
    return box;
}

static chart_box *inner_of(chart_box *box, const char *name, uint32_t level) {
    for (uint32_t i = box->n_in; i-- > 0;) { /* most often the last */
        if (strcmp(box->in[i]->name, name) == 0) {
            return box->in[i];
        }
    }
    chart_box **grown = realloc(box->in, (box->n_in + 1) * sizeof(chart_box *));
    chart_box *fresh = grown ? box_new(name, level, box->n_nodes) : NULL;
    box->in = grown ? grown : box->in;
    if (fresh) {
        box->in[box->n_in++] = fresh;
    }
    return fresh;
}

/* Puts the nodes of a box into boxes by their domain on the level, and so on inwards. */
static int split(const chart *c, chart_box *box, uint32_t level) {
    if (level == c->n_levels) {
        return 1;
    }
    for (uint32_t i = 0; i < box->n_nodes; i++) {
        const char *name = c->nodes[box->nodes[i]].path[level];
        chart_box *in = inner_of(box, name ? name : "(none)", level);
        if (!in) {
            return 0;
        }
        in->nodes[in->n_nodes++] = box->nodes[i];
    }
    for (uint32_t i = 0; i < box->n_in; i++) {
        if (!split(c, box->in[i], level + 1)) {
            return 0;
        }
    }
    return 1;
}

static void sum_up(const chart *c, chart_box *box, const uint32_t *used) {
    for (uint32_t i = 0; i < box->n_nodes; i++) {
        box->devices += c->nodes[box->nodes[i]].devices;
        box->used += used[box->nodes[i]];
    }
    for (uint32_t i = 0; i < box->n_in; i++) {
        sum_up(c, box->in[i], used);
    }
}

/* ---- sizes and places ---- */

static int head_of(const chart_box *box, const chart_sizes *s) {
    return box->name ? s->font + CHART_HEAD + 2 : 0;
}

/* Sizes from inside out; boxes flow in rows of at most `width`. */
static void measure(chart_box *box, const chart_sizes *s, int width) {
    int head = head_of(box, s);
    if (box->n_in == 0) {
        int columns = (int)((box->n_nodes + COLUMN - 1) / COLUMN);
        int rows = box->n_nodes < COLUMN ? (int)box->n_nodes : (int)COLUMN;
        box->w = 2 * CHART_GAP + columns * s->node_w;
        box->h = head + CHART_GAP + rows * s->node_h + CHART_GAP / 2;
    } else {
        int x = CHART_GAP, y = head + CHART_GAP, row = 0;
        for (uint32_t i = 0; i < box->n_in; i++) {
            chart_box *in = box->in[i];
            measure(in, s, width - 2 * CHART_GAP);
            if (x > CHART_GAP && x + in->w + CHART_GAP > width) {
                x = CHART_GAP;
                y += row + CHART_GAP;
                row = 0;
            }
            in->x = x;
            in->y = y;
            x += in->w + CHART_GAP;
            row = larger(row, in->h);
            box->w = larger(box->w, x);
        }
        box->h = y + row + CHART_GAP;
    }
    if (box->name) { /* room for the name and the figure beside it */
        box->w = larger(box->w, text_width(box->name, s->font) + 2 * CHART_GAP);
    }
}

static void move_by(chart_box *box, int x, int y) {
    box->x += x;
    box->y += y;
    for (uint32_t i = 0; i < box->n_in; i++) {
        move_by(box->in[i], box->x, box->y);
    }
}

/* A width at which the picture is about half as high again as a page is wide. */
static int good_width(const chart *c, const chart_sizes *s) {
    long area = (long)c->n_nodes * s->node_w * s->node_h * 3, width = NARROWEST;
    while (width < WIDEST && width * width < area) {
        width += 40;
    }
    return (int)width;
}

chart_box *chart_lay_out(const chart *c, const chart_sizes *s, int x, int y) {
    chart_box *all = box_new(NULL, 0, c->n_nodes);
    uint32_t *used = calloc(c->n_nodes + 1, sizeof *used);
    if (!all || !used) {
        chart_box_free(all);
        free(used);
        return NULL;
    }
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        all->nodes[all->n_nodes++] = i;
    }
    for (uint32_t i = 0; i < c->n_pods; i++) {
        used[c->pods[i].node] += c->pods[i].devices;
    }
    if (!split(c, all, 0)) {
        chart_box_free(all);
        all = NULL;
    } else {
        sum_up(c, all, used);
        measure(all, s, good_width(c, s));
        move_by(all, x, y);
    }
    free(used);
    return all;
}

void chart_node_place(const chart_box *box, const chart_sizes *s, uint32_t k, int *out_x,
                      int *out_y) {
    *out_x = box->x + CHART_GAP + (int)(k / COLUMN) * s->node_w;
    *out_y = box->y + head_of(box, s) + CHART_GAP + (int)(k % COLUMN) * s->node_h;
}
