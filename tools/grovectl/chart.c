/* SPDX-License-Identifier: Apache-2.0 */
/* What a chart shows, gathered piece by piece. */
#include "chart.h"

#include "io.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *room_for_one(void *list, size_t n, size_t *cap, size_t size) {
    if (n < *cap) {
        return list;
    }
    size_t more = *cap ? *cap * 2 : 256;
    void *grown = realloc(list, more * size);
    *cap = grown ? more : *cap;
    return grown;
}

/* The copy of a text; NULL for NULL and when out of memory. */
static const char *keep(chart *c, const char *text) {
    if (!text) {
        return NULL;
    }
    if (c->n_texts > 0 && strcmp(c->texts[c->n_texts - 1], text) == 0) {
        return c->texts[c->n_texts - 1];
    }
    char **v = room_for_one(c->texts, c->n_texts, &c->cap_texts, sizeof *v);
    size_t size = strlen(text) + 1;
    char *copy = v ? malloc(size) : NULL;
    c->texts = v ? v : c->texts;
    if (copy) {
        memcpy(copy, text, size);
        c->texts[c->n_texts++] = copy;
    }
    return copy;
}

void chart_add_level(chart *c, const char *name) {
    if (c->n_levels < CHART_LEVELS) {
        const char *kept = keep(c, name);
        c->level_names[c->n_levels++] = kept ? kept : "";
    }
}

uint32_t chart_add_node(chart *c, const chart_node *node) {
    chart_node *v = room_for_one(c->nodes, c->n_nodes, &c->cap_nodes, sizeof *v);
    if (!v) {
        return UINT32_MAX;
    }
    c->nodes = v;
    chart_node copy = *node;
    for (uint32_t l = 0; l < CHART_LEVELS; l++) {
        const chart_node *last = c->n_nodes ? &v[c->n_nodes - 1] : NULL;
        int same = last && last->path[l] && copy.path[l] &&
                   strcmp(last->path[l], copy.path[l]) == 0;
        copy.path[l] = same ? last->path[l] : keep(c, copy.path[l]);
    }
    copy.name = keep(c, node->name);
    v[c->n_nodes] = copy;
    return copy.name ? c->n_nodes++ : UINT32_MAX;
}

uint32_t chart_add_gang(chart *c, const char *name, const char *why) {
    chart_gang *v = room_for_one(c->gangs, c->n_gangs, &c->cap_gangs, sizeof *v);
    if (!v) {
        return UINT32_MAX;
    }
    c->gangs = v;
    v[c->n_gangs] = (chart_gang){.name = keep(c, name), .why = keep(c, why)};
    return v[c->n_gangs].name ? c->n_gangs++ : UINT32_MAX;
}

uint32_t chart_add_pods(chart *c, const chart_pods *pods) {
    for (uint32_t i = c->n_pods; i-- > 0 && i + 64 > c->n_pods;) {
        chart_pods *p = &c->pods[i];
        if (p->node == pods->node && p->gang == pods->gang && strcmp(p->what, pods->what) == 0) {
            p->count += pods->count;
            p->devices += pods->devices;
            return i;
        }
    }
    chart_pods *v = room_for_one(c->pods, c->n_pods, &c->cap_pods, sizeof *v);
    if (!v) {
        return UINT32_MAX;
    }
    c->pods = v;
    v[c->n_pods] = *pods;
    v[c->n_pods].what = keep(c, pods->what);
    return v[c->n_pods].what ? c->n_pods++ : UINT32_MAX;
}

void chart_free(chart *c) {
    for (size_t i = 0; i < c->n_texts; i++) {
        free(c->texts[i]);
    }
    free(c->texts);
    free(c->nodes);
    free(c->pods);
    free(c->gangs);
    memset(c, 0, sizeof *c);
}

/* ---- counting ---- */

static int by_gang_and_place(const void *a, const void *b) {
    const chart_pods *x = *(chart_pods *const *)a, *y = *(chart_pods *const *)b;
    if (x->gang != y->gang) {
        return x->gang < y->gang ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

static int same_domain(const chart *c, uint32_t a, uint32_t b) {
    for (uint32_t l = 0; l < c->n_levels; l++) {
        const char *x = c->nodes[a].path[l], *y = c->nodes[b].path[l];
        if (strcmp(x ? x : "", y ? y : "") != 0) {
            return 0;
        }
    }
    return 1;
}

void chart_count(chart *c) {
    chart_pods **sorted = malloc((c->n_pods + 1) * sizeof(chart_pods *));
    if (!sorted) {
        return; /* the picture lacks figures */
    }
    for (uint32_t i = 0; i < c->n_pods; i++) {
        sorted[i] = &c->pods[i];
    }
    qsort(sorted, c->n_pods, sizeof *sorted, by_gang_and_place);
    for (uint32_t i = 0; i < c->n_pods && sorted[i]->gang != CHART_NO_GANG; i++) {
        const chart_pods *p = sorted[i], *last = i ? sorted[i - 1] : NULL;
        chart_gang *g = &c->gangs[p->gang];
        g->pods += p->count;
        g->devices += p->devices;
        int same = last && last->gang == p->gang;
        g->hosts += !same || last->node != p->node;
        g->domains += !same || !same_domain(c, last->node, p->node);
    }
    free(sorted);
}

int chart_save(grove_env *env, chart *c, const char *path) {
    const char *ending = strrchr(path, '.');
    grove_buf out;
    grove_buf_init(&out, env);
    if (chart_write(c, ending && strcmp(ending, ".html") == 0, &out) < 0) {
        grove_buf_fini(&out);
        fputs("grovectl: out of memory\n", stderr);
        return EXIT_USAGE;
    }
    FILE *f = fopen(path, "wb");
    int ok = f && fwrite(out.data, 1, (size_t)out.len, f) == (size_t)out.len;
    ok = f && fclose(f) == 0 && ok;
    grove_buf_fini(&out);
    if (!ok) {
        fprintf(stderr, "grovectl: cannot write %s\n", path);
    }
    return ok ? EXIT_OK : EXIT_USAGE;
}
