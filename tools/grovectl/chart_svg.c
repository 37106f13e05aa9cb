/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a chart; see chart.h. */
#include "chart_box.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 20
#define TITLE_H 54
#define LEGEND_COLUMN 290
#define LEGEND_ROW 17
#define LEGEND_MOST 60u /* gangs listed */
#define UNPLACED_MOST 24u

typedef struct pen {
    chart *c;
    chart_sizes s;
    grove_buf *out;
    grove_status st;
    uint32_t *first; /* by node: its pods in `order` */
    uint32_t *order;
} pen;

static void put_bytes(pen *p, const char *text, size_t n) {
    if (p->st == GROVE_OK) {
        p->st = grove_buf_append(p->out, text, n);
    }
}

static void put(pen *p, const char *text) {
    put_bytes(p, text, strlen(text));
}

/* Short pieces only: numbers and fixed words. */
static void putf(pen *p, const char *fmt, ...) GROVE_PRINTF(2, 3);
static void putf(pen *p, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put_bytes(p, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* At most `most` bytes of a text, escaped; cut texts end in three dots. */
static void put_text(pen *p, const char *text, size_t most) {
    size_t n = strlen(text), end = n > most ? most - 3 : n;
    while (n > most && end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) {
        end--; /* not within a character */
    }
    for (size_t i = 0; i < end; i++) {
        switch (text[i]) {
        case '<':
            put(p, "&lt;");
            break;
        case '>':
            put(p, "&gt;");
            break;
        case '&':
            put(p, "&amp;");
            break;
        case '"':
            put(p, "&quot;");
            break;
        default:
            put_bytes(p, (unsigned char)text[i] < 0x20 ? " " : text + i, 1);
        }
    }
    put(p, n > most ? "..." : "");
}

/* ---- colours ---- */

static int channel(int hue, int light, int spread) {
    hue = (hue % 360 + 360) % 360;
    int up = hue < 60 ? hue : hue < 180 ? 60 : hue < 240 ? 240 - hue : 0;
    return light - spread + 2 * spread * up / 60;
}

/* Hues a golden angle apart, so that gangs that come one after the other are far from each other. */
static void put_colours(pen *p) {
    static const int lights[3][2] = {{138, 84}, {104, 76}, {176, 56}}; /* lightness, spread */
    for (uint32_t i = 0; i < p->c->n_gangs; i++) {
        if (!p->c->gangs[i].why) {
            int hue = (int)((210 + (uint64_t)i * 137508 / 1000) % 360);
            const int *l = lights[i / 11 % 3];
            putf(p, ".g%u{fill:#%02x%02x%02x}", i, (unsigned)channel(hue + 120, l[0], l[1]),
                 (unsigned)channel(hue, l[0], l[1]), (unsigned)channel(hue - 120, l[0], l[1]));
        }
    }
}

static const char style[] =
    "text{font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2328}"
    ".q{fill:#656d76}.l0{fill:#eef1f5;stroke:#c8cfd8}.l1{fill:#fff;stroke:#c8cfd8}"
    ".l2{fill:#f6f8fa;stroke:#d8dee4}.n{fill:transparent}.f{fill:#fff;stroke:#b6bfc9;stroke-width:."
    "6}"
    ".o{fill:#8c959f}.d{fill:#ffd8d3;stroke:#cf5b4d;stroke-width:.6}"
    ".hot .g{opacity:.13}.hot .on{opacity:1}";

/* ---- nodes ---- */

static void put_square(pen *p, int x, int y, int k) {
    int side = p->s.cell - (p->s.cell > 5 ? 2 : 1);
    putf(p, "M%d %dh%dv%dh-%dz", x + k % p->s.a_row * p->s.cell, y + k / p->s.a_row * p->s.cell,
         side, side, side);
}

static void put_pods_title(pen *p, const chart_pods *q) {
    const chart *c = p->c;
    put(p, "<title>");
    put_text(p, q->gang == CHART_NO_GANG ? "other pods" : c->gangs[q->gang].name, 200);
    put(p, ": ");
    put_text(p, q->what, 200);
    putf(p, " x%u, %u %s on ", q->count, q->devices, c->device);
    put_text(p, c->nodes[q->node].name, 200);
    put(p, "</title>");
}

static void put_class(pen *p, uint32_t gang) {
    if (gang == CHART_NO_GANG) {
        put(p, "o");
    } else {
        putf(p, "g g%u", gang);
    }
}

/* Pods without devices: a dot for each kind, as many as there is room for. */
static void put_dots(pen *p, uint32_t node, int x, int y) {
    int n = 0, r = p->s.cell >= 11 ? 3 : 2;
    x += p->s.a_row * p->s.cell + r;
    for (uint32_t i = p->first[node]; i < p->first[node + 1] && n < 3; i++) {
        const chart_pods *q = &p->c->pods[p->order[i]];
        if (q->devices == 0) {
            put(p, "<circle class=\"");
            put_class(p, q->gang);
            putf(p, "\" cx=\"%d\" cy=\"%d\" r=\"%d\">", x + n * (r + 2), y + p->s.cell / 2, r - 1);
            put_pods_title(p, q);
            put(p, "</circle>");
            n++;
        }
    }
}

static void put_node_title(pen *p, uint32_t node, uint32_t used) {
    const chart_node *v = &p->c->nodes[node];
    put(p, "<title>");
    put_text(p, v->name, 200);
    putf(p, ": %u of %u %s in use%s", used, v->devices, p->c->device,
         v->down ? ", not available" : "");
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        const chart_pods *q = &p->c->pods[p->order[i]];
        put(p, "\n");
        put_text(p, q->gang == CHART_NO_GANG ? "other pods" : p->c->gangs[q->gang].name, 200);
        put(p, ": ");
        put_text(p, q->what, 200);
        putf(p, " x%u", q->count);
    }
    put(p, "</title>");
}

static void put_node(pen *p, uint32_t node, int x, int y) {
    const chart_node *v = &p->c->nodes[node];
    uint32_t used = 0;
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        used += p->c->pods[p->order[i]].devices;
    }
    putf(p, "<rect class=\"n\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">", x, y,
         p->s.node_w - 1, p->s.node_h);
    put_node_title(p, node, used);
    put(p, "</rect>");
    if (p->s.label) {
        putf(p, "<text class=\"q\" x=\"%d\" y=\"%d\" font-size=\"%d\">", x, y + p->s.cell - 4,
             p->s.font - 1);
        put_text(p, v->name, 64);
        put(p, "</text>");
        x += p->s.label;
    }
    int k = 0;
    for (uint32_t i = p->first[node]; i < p->first[node + 1]; i++) {
        const chart_pods *q = &p->c->pods[p->order[i]];
        if (q->devices == 0) {
            continue;
        }
        put(p, "<path class=\"");
        put_class(p, q->gang);
        put(p, "\" d=\"");
        for (uint32_t n = 0; n < q->devices && k < (int)v->devices; n++) {
            put_square(p, x, y, k++);
        }
        put(p, "\">");
        put_pods_title(p, q);
        put(p, "</path>");
    }
    if (k < (int)v->devices) {
        putf(p, "<path class=\"%s\" d=\"", v->down ? "d" : "f");
        while (k < (int)v->devices) {
            put_square(p, x, y, k++);
        }
        put(p, "\"/>");
    }
    put_dots(p, node, x, y);
}

/* ---- boxes ---- */

static void put_box(pen *p, const chart_box *box) {
    if (box->name) {
        uint32_t depth = p->c->n_levels - 1 - box->level; /* 0: narrowest */
        putf(p, "<rect class=\"l%u\" rx=\"4\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
             depth == 0       ? 2
             : depth % 2 == 1 ? 1u
                              : 0u,
             box->x, box->y, box->w, box->h);
        putf(p, "<text x=\"%d\" y=\"%d\" font-size=\"%d\"%s>", box->x + CHART_GAP,
             box->y + CHART_HEAD + p->s.font - 1, p->s.font,
             depth > 0 ? " font-weight=\"600\"" : "");
        put(p, "<title>");
        put_text(p, p->c->level_names[box->level], 64);
        put(p, " ");
        put_text(p, box->name, 200);
        putf(p, ": %u of %u %s in use, %u nodes</title>", box->used, box->devices, p->c->device,
             box->n_nodes);
        put_text(p, box->name, 64);
        int room = box->w - 2 * CHART_GAP - (int)strlen(box->name) * p->s.font * 6 / 10;
        if (room > 12 * p->s.font * 6 / 10) {
            putf(p, "<tspan class=\"q\" font-weight=\"400\" dx=\"6\">%u/%u</tspan>", box->used,
                 box->devices);
        }
        put(p, "</text>\n");
    }
    for (uint32_t i = 0; i < box->n_in; i++) {
        put_box(p, box->in[i]);
    }
    for (uint32_t k = 0; box->n_in == 0 && k < box->n_nodes; k++) {
        int x, y;
        chart_node_place(box, &p->s, k, &x, &y);
        put_node(p, box->nodes[k], x, y);
        put(p, "\n");
    }
}

/* ---- words around it ---- */

static uint32_t count_gangs(const chart *c, int placed) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_gangs; i++) {
        n += (c->gangs[i].why == NULL) == placed;
    }
    return n;
}

static void put_header(pen *p, const chart_box *all) {
    const chart *c = p->c;
    uint32_t placed = count_gangs(c, 1), tenths = 0;
    if (all->devices) {
        tenths = (uint32_t)((uint64_t)all->used * 1000 / all->devices);
    }
    putf(p, "<text x=\"%d\" y=\"34\" font-size=\"18\" font-weight=\"600\">", MARGIN);
    put_text(p, c->title, 120);
    putf(p, "</text>\n<text class=\"q\" x=\"%d\" y=\"52\" font-size=\"12\">", MARGIN);
    putf(p, "%u nodes, %u %ss, %u in use (%u.%u %%); %u gangs placed", c->n_nodes, all->devices,
         c->device, all->used, tenths / 10, tenths % 10, placed);
    if (placed < c->n_gangs) {
        putf(p, ", %u not", c->n_gangs - placed);
    }
    put(p, "</text>\n");
}

/* What the squares mean that belong to no gang. */
static int put_key(pen *p, int y) {
    static const char *const words[] = {"free", "other pods", "node not available"};
    static const char *const classes[] = {"f", "o", "d"};
    for (int i = 0, x = MARGIN; i < 3; i++, x += 130) {
        putf(p, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"11\" height=\"11\"/>", classes[i], x,
             y);
        putf(p, "<text x=\"%d\" y=\"%d\" font-size=\"11\">%s</text>\n", x + 17, y + 10, words[i]);
    }
    return y + 2 * LEGEND_ROW;
}

static int put_placed(pen *p, int y, int columns) {
    const chart *c = p->c;
    uint32_t n = 0, total = count_gangs(c, 1);
    for (uint32_t i = 0; i < c->n_gangs && n < LEGEND_MOST; i++) {
        const chart_gang *g = &c->gangs[i];
        if (g->why) {
            continue;
        }
        int x = MARGIN + (int)n % columns * LEGEND_COLUMN, at = y + (int)n / columns * LEGEND_ROW;
        putf(p,
             "<g class=\"k\" data-g=\"%u\"><rect class=\"g g%u\" x=\"%d\" y=\"%d\" width=\"11\" "
             "height=\"11\"/><text x=\"%d\" y=\"%d\" font-size=\"11\"><title>",
             i, i, x, at, x + 17, at + 10);
        put_text(p, g->name, 200);
        putf(p, ": %u pods, %u %s, %u hosts, %u %s</title>", g->pods, g->devices, c->device,
             g->hosts, g->domains, c->n_levels ? c->level_names[c->n_levels - 1] : "cluster");
        put_text(p, g->name, 28);
        putf(p, "<tspan class=\"q\" dx=\"6\">%u pods, %u %s</tspan></text></g>\n", g->pods,
             g->devices, c->device);
        n++;
    }
    y += ((int)n + columns - 1) / columns * LEGEND_ROW;
    if (n < total) {
        putf(p,
             "<text class=\"q\" x=\"%d\" y=\"%d\" font-size=\"11\">and %u more; hover over a "
             "square for its gang</text>\n",
             MARGIN, y + 10, total - n);
        y += LEGEND_ROW;
    }
    return y;
}

static int put_unplaced(pen *p, int y, int width) {
    const chart *c = p->c;
    uint32_t n = 0, total = count_gangs(c, 0);
    if (total == 0) {
        return y;
    }
    y += LEGEND_ROW;
    putf(p, "<text x=\"%d\" y=\"%d\" font-size=\"12\" font-weight=\"600\">Not placed</text>\n",
         MARGIN, y);
    y += 6;
    for (uint32_t i = 0; i < c->n_gangs && n < UNPLACED_MOST; i++) {
        const chart_gang *g = &c->gangs[i];
        if (!g->why) {
            continue;
        }
        putf(p, "<rect class=\"f\" x=\"%d\" y=\"%d\" width=\"11\" height=\"11\"/>", MARGIN, y);
        putf(p, "<text x=\"%d\" y=\"%d\" font-size=\"11\"><title>", MARGIN + 17, y + 10);
        put_text(p, g->why, 2000);
        put(p, "</title>");
        put_text(p, g->name, 60);
        put(p, "<tspan class=\"q\" dx=\"6\">");
        put_text(p, g->why, (size_t)(width > 700 ? (width - 400) / 6 : 50));
        put(p, "</tspan></text>\n");
        y += LEGEND_ROW;
        n++;
    }
    if (n < total) {
        putf(p, "<text class=\"q\" x=\"%d\" y=\"%d\" font-size=\"11\">and %u more</text>\n", MARGIN,
             y + 10, total - n);
        y += LEGEND_ROW;
    }
    return y;
}

/* ---- all of it ---- */

static int index_pods(pen *p) {
    const chart *c = p->c;
    p->first = calloc(c->n_nodes + 2, sizeof *p->first);
    p->order = malloc((c->n_pods + 1) * sizeof *p->order);
    if (!p->first || !p->order) {
        return 0;
    }
    for (uint32_t i = 0; i < c->n_pods; i++) {
        p->first[c->pods[i].node + 2]++;
    }
    for (uint32_t n = 2; n <= c->n_nodes + 1; n++) {
        p->first[n] += p->first[n - 1];
    }
    for (uint32_t i = 0; i < c->n_pods; i++) {
        p->order[p->first[c->pods[i].node + 1]++] = i;
    }
    return 1;
}

/* The body is written first, as only then the height is known. */
static void put_svg(pen *p, const chart_box *all, grove_buf *body) {
    grove_buf *whole = p->out;
    int width = all->w + 2 * MARGIN, columns;
    width = width < 640 ? 640 : width;
    columns = (width - 2 * MARGIN) / LEGEND_COLUMN;
    p->out = body;
    put_header(p, all);
    put_box(p, all);
    int y = put_key(p, all->y + all->h + LEGEND_ROW);
    y = put_placed(p, y, columns);
    y = put_unplaced(p, y, width) + MARGIN;
    p->out = whole;
    putf(p,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
         "height=\"%d\"><title>",
         width, y, width, y);
    put_text(p, p->c->title, 120);
    put(p, "</title><style>");
    put(p, style);
    put_colours(p);
    put(p, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    if (body->len > 0) {
        put_bytes(p, body->data, (size_t)body->len);
    }
    put(p, "</svg>\n");
}

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>";
static const char page_style[] =
    "</title><style>body{margin:0;background:#fff}svg{max-width:100%;height:auto;display:block;"
    "margin:0 auto}.k{cursor:pointer}</style></head><body>\n";
/* The gang under the pointer stays as it is, the others fade; a click keeps it so. */
static const char page_script[] =
    "<script>\n"
    "const svg=document.querySelector('svg');let kept=null;\n"
    "const of=e=>{const t=e.target.closest('[data-g],.g');if(!t)return null;\n"
    "  const k=t.closest('[data-g]');return "
    "k?k.dataset.g:(/\\bg(\\d+)/.exec(t.getAttribute('class'))||[])[1]};\n"
    "const show=g=>{svg.querySelectorAll('.on').forEach(e=>e.classList.remove('on'));\n"
    "  svg.classList.toggle('hot',g!=null);\n"
    "  if(g!=null)svg.querySelectorAll('.g'+g).forEach(e=>e.classList.add('on'))};\n"
    "svg.addEventListener('mouseover',e=>{if(kept==null)show(of(e))});\n"
    "svg.addEventListener('click',e=>{const g=of(e);kept=g===kept?null:g;show(kept)});\n"
    "</script></body></html>\n";

grove_status chart_write(chart *c, int html, grove_buf *out) {
    pen p = {.c = c, .out = out, .s = chart_sizes_of(c)};
    grove_buf body;
    chart_count(c);
    grove_buf_init(&body, out->env);
    chart_box *all = chart_lay_out(c, &p.s, MARGIN - CHART_GAP, TITLE_H + 4);
    p.st = all && index_pods(&p) ? GROVE_OK : GROVE_E_NOMEM;
    if (p.st == GROVE_OK) {
        if (html) {
            put(&p, page_head);
            put_text(&p, c->title, 120);
            put(&p, page_style);
        }
        put_svg(&p, all, &body);
        put(&p, html ? page_script : "");
    }
    chart_box_free(all);
    free(p.first);
    free(p.order);
    grove_buf_fini(&body);
    return p.st;
}
