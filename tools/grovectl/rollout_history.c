/* SPDX-License-Identifier: Apache-2.0 */
/* grovectl rollout history, diff, undo: the ControllerRevisions of a set. */
#include "rollout.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct revision {
    const io_object *object;
    int64_t number;
} revision;

typedef struct history {
    revision *v; /* by number */
    size_t n;
} history;

static const grove_node *template_of(const revision *r) {
    return grove_node_at_path(r->object->node, "/data/spec/template");
}

/* ---- the revisions of a set ---- */

static int is_revision_of(const rollout_request *q, const grove_node *o, const grove_node *set) {
    if (strcmp(io_member(o, "kind"), "ControllerRevision") != 0 || !rollout_is_in(q, o)) {
        return 0;
    }
    const char *uid = io_text_at(set, "/metadata/uid");
    const grove_node *owners = grove_node_at_path(o, "/metadata/ownerReferences"), *r;
    for (r = grove_node_first(owners); r; r = grove_node_next(owners, r)) {
        const char *theirs = io_member(r, "uid");
        if (strcmp(io_member(r, "kind"), "PodCliqueSet") == 0 &&
            strcmp(io_member(r, "name"), io_name(set)) == 0 &&
            (!uid[0] || !theirs[0] || strcmp(uid, theirs) == 0)) {
            return 1;
        }
    }
    return 0;
}

static int by_number(const void *a, const void *b) {
    const revision *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* EXIT_OK with at least one; otherwise it has said why not. */
static int read_history(const rollout_request *q, const grove_node *set, history *h) {
    h->n = 0;
    h->v = calloc(q->objects.n, sizeof *h->v);
    if (!h->v) {
        fprintf(stderr, "grovectl: out of memory\n");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < q->objects.n; i++) {
        const io_object *o = &q->objects.v[i];
        if (is_revision_of(q, o->node, set)) {
            h->v[h->n++] = (revision){o, rollout_number_at(o->node, "/revision", 0)};
        }
    }
    if (h->n == 0) {
        fprintf(stderr,
                "grovectl rollout: %s has no history: it is kept with "
                "updateStrategy.revisionHistoryLimit, and with Coherent\n",
                io_name(set));
        return EXIT_REFUSED;
    }
    qsort(h->v, h->n, sizeof *h->v, by_number);
    return EXIT_OK;
}

/* The one that was asked for, else the one before the newest; NULL: it has said that there is none. */
static const revision *chosen(const rollout_request *q, const history *h, const grove_node *set) {
    for (size_t i = 0; q->revision && i < h->n; i++) {
        if (h->v[i].number == q->revision) {
            return &h->v[i];
        }
    }
    if (!q->revision && h->n > 1) {
        return &h->v[h->n - 2];
    }
    if (q->revision) {
        fprintf(stderr, "grovectl rollout: %s has no revision %lld\n", io_name(set),
                (long long)q->revision);
    } else {
        fprintf(stderr, "grovectl rollout: %s has no revision before this one\n", io_name(set));
    }
    return NULL;
}

/* ---- history ---- */

static const char *hash_of(const revision *r, const char *clique) {
    const char *text = r ? grove_node_text(grove_node_get(
                               grove_node_at_path(r->object->node, "/data/hashes"), clique))
                         : NULL;
    return text ? text : "";
}

/* The cliques that this template brought, or made otherwise than the one before. */
static void print_changed_cliques(const revision *r, const revision *before) {
    const grove_node *hashes = grove_node_at_path(r->object->node, "/data/hashes"), *m;
    const char *comma = "";
    for (m = grove_node_first(hashes); m; m = grove_node_next(hashes, m)) {
        const char *clique = grove_node_key(m, NULL);
        if (strcmp(hash_of(r, clique), hash_of(before, clique)) != 0) {
            printf("%s%s", comma, clique);
            comma = ", ";
        }
    }
    printf("\n");
}

static int print_template(const rollout_request *q, const revision *r) {
    grove_error err = GROVE_ERROR_INIT;
    grove_buf out;
    grove_buf_init(&out, q->env);
    int code = EXIT_USAGE;
    if (grove_node_write_yaml(template_of(r), 0, &out, &err) < 0) {
        io_print_error(r->object->file, &err);
    } else {
        code = io_write(&out);
    }
    grove_buf_fini(&out);
    return code;
}

int rollout_history(const rollout_request *q, const io_object *set) {
    history h;
    int code = read_history(q, set->node, &h);
    if (code == EXIT_OK && q->revision) {
        const revision *r = chosen(q, &h, set->node);
        code = r ? print_template(q, r) : EXIT_REFUSED;
    } else if (code == EXIT_OK) {
        printf("REVISION  %-40s  %-20s  CHANGED\n", "NAME", "MADE");
        for (size_t i = 0; i < h.n; i++) {
            printf("%-8lld  %-40s  %-20s  ", (long long)h.v[i].number, io_name(h.v[i].object->node),
                   io_text_at(h.v[i].object->node, "/metadata/creationTimestamp"));
            print_changed_cliques(&h.v[i], i > 0 ? &h.v[i - 1] : NULL);
        }
    }
    free(h.v);
    return code;
}

/* ---- diff ---- */

typedef struct differ {
    grove_buf path;
    int differs, failed;
} differ;

static void compare(differ *d, const grove_node *from, const grove_node *to);

static void print_value(differ *d, const grove_node *value, const char *end) {
    grove_buf text;
    grove_buf_init(&text, d->path.env);
    if (grove_node_write_json(value, 0, &text, NULL) == GROVE_OK) {
        printf("%s%s", text.data, end);
    } else {
        d->failed = 1;
    }
    grove_buf_fini(&text);
}

/* One member or element below the path; either side may be missing. */
static void descend(differ *d, const char *before, const char *name, const char *after,
                    const grove_node *from, const grove_node *to) {
    uint64_t keep = d->path.len;
    const char *parts[] = {before, name, after};
    for (size_t i = 0; i < 3; i++) {
        d->failed |= grove_buf_append(&d->path, parts[i], strlen(parts[i])) < 0;
    }
    if (!d->failed) {
        compare(d, from, to);
    }
    d->path.len = keep;
}

static void compare_objects(differ *d, const grove_node *from, const grove_node *to) {
    const char *dot = d->path.len ? "." : "";
    const grove_node *m;
    for (m = grove_node_first(from); m; m = grove_node_next(from, m)) {
        const char *key = grove_node_key(m, NULL);
        descend(d, dot, key, "", m, grove_node_get(to, key));
    }
    for (m = grove_node_first(to); m; m = grove_node_next(to, m)) {
        const char *key = grove_node_key(m, NULL);
        if (!grove_node_get(from, key)) {
            descend(d, dot, key, "", NULL, m);
        }
    }
}

/* The element of that name; NULL: there is none. */
static const grove_node *named(const grove_node *list, const char *name) {
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        if (strcmp(io_member(e, "name"), name) == 0) {
            return e;
        }
    }
    return NULL;
}

/* Cliques, containers, volumes, variables: what moved in its list is still the same one. */
static int all_named(const grove_node *list) {
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        const char *name = io_member(e, "name");
        if (!name[0] || named(list, name) != e) {
            return 0;
        }
    }
    return 1;
}

static void compare_lists(differ *d, const grove_node *from, const grove_node *to) {
    const grove_node *e, *other;
    if (all_named(from) && all_named(to)) {
        for (e = grove_node_first(from); e; e = grove_node_next(from, e)) {
            descend(d, "[", io_member(e, "name"), "]", e, named(to, io_member(e, "name")));
        }
        for (e = grove_node_first(to); e; e = grove_node_next(to, e)) {
            if (!named(from, io_member(e, "name"))) {
                descend(d, "[", io_member(e, "name"), "]", NULL, e);
            }
        }
        return;
    }
    e = grove_node_first(from);
    other = grove_node_first(to);
    for (unsigned i = 0; e || other; i++) {
        char at[16];
        (void)snprintf(at, sizeof at, "%u", i);
        descend(d, "[", at, "]", e, other);
        e = e ? grove_node_next(from, e) : NULL;
        other = other ? grove_node_next(to, other) : NULL;
    }
}

static void compare(differ *d, const grove_node *from, const grove_node *to) {
    if (from && to && grove_node_equal(from, to)) {
        return;
    }
    int32_t type = from && to ? grove_node_type(from) : GROVE_NULL_NODE;
    if (from && to && type == grove_node_type(to) && type == GROVE_OBJECT) {
        compare_objects(d, from, to);
        return;
    }
    if (from && to && type == grove_node_type(to) && type == GROVE_ARRAY) {
        compare_lists(d, from, to);
        return;
    }
    d->differs = 1;
    printf("%c %.*s: ",
           !from ? '+'
           : !to ? '-'
                 : '~',
           (int)d->path.len, d->path.len ? d->path.data : "");
    if (from) {
        print_value(d, from, to ? " -> " : "\n");
    }
    if (to) {
        print_value(d, to, "\n");
    }
}

int rollout_diff(const rollout_request *q, const io_object *set) {
    history h;
    int code = read_history(q, set->node, &h);
    const revision *r = code == EXIT_OK ? chosen(q, &h, set->node) : NULL;
    if (r) {
        const revision *newest = &h.v[h.n - 1];
        differ d = {.differs = 0};
        grove_buf_init(&d.path, q->env);
        printf("revision %lld -> revision %lld\n", (long long)r->number, (long long)newest->number);
        compare(&d, template_of(r), template_of(newest));
        code = d.failed ? EXIT_USAGE : d.differs ? EXIT_REFUSED : EXIT_OK;
        grove_buf_fini(&d.path);
    } else if (code == EXIT_OK) {
        code = EXIT_REFUSED;
    }
    free(h.v);
    return code;
}

/* ---- undo ---- */

/* The members of an object but for these. */
static void link_but(grove_builder *b, grove_doc *doc, const grove_node *object,
                     const char *const *without) {
    for (const grove_node *m = grove_node_first(object); m; m = grove_node_next(object, m)) {
        const char *key = grove_node_key(m, NULL);
        size_t i = 0;
        while (without[i] && strcmp(without[i], key) != 0) {
            i++;
        }
        if (!without[i]) {
            grove_builder_link(b, key, doc, m);
        }
    }
}

static void link_if(grove_builder *b, grove_doc *doc, const grove_node *object, const char *key) {
    const grove_node *value = grove_node_get(object, key);
    if (value) {
        grove_builder_link(b, key, doc, value);
    }
}

static void put_clique(grove_builder *b, const io_object *set, const grove_node *clique,
                       const revision *r) {
    static const char *const of_clique[] = {"labels", "annotations", "spec", NULL};
    static const char *const of_spec[] = {"podSpec", NULL};
    const grove_node *old = named(grove_node_get(template_of(r), "cliques"),
                                  io_member(clique, "name"));
    grove_builder_open_object(b, NULL);
    link_but(b, set->doc, clique, of_clique);
    link_if(b, r->object->doc, old, "labels");
    link_if(b, r->object->doc, old, "annotations");
    grove_builder_open_object(b, "spec");
    link_but(b, set->doc, grove_node_get(clique, "spec"), of_spec);
    link_if(b, r->object->doc, grove_node_get(old, "spec"), "podSpec");
    grove_builder_close(b);
    grove_builder_close(b);
}

/* What pods are made of as it was; how many there are, and where they go, stays as it is. The version of the
 * set that was read goes along, so that a change meanwhile is not overwritten. */
static grove_doc *undo_patch(const rollout_request *q, const io_object *set, const revision *r) {
    const grove_node *t = grove_node_at_path(set->node, "/spec/template");
    const grove_node *cliques = grove_node_get(t, "cliques"), *c;
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    if (grove_builder_new(q->env, &b) < 0) {
        return NULL;
    }
    grove_builder_open_object(b, NULL);
    if (q->access.asked) {
        grove_builder_open_object(b, "metadata");
        grove_builder_string(b, "resourceVersion",
                             io_text_at(set->node, "/metadata/resourceVersion"));
        grove_builder_close(b);
    }
    grove_builder_open_object(b, "spec");
    grove_builder_open_object(b, "template");
    if (grove_node_get(template_of(r), "priorityClassName")) {
        link_if(b, r->object->doc, template_of(r), "priorityClassName");
    } else if (grove_node_get(t, "priorityClassName")) {
        grove_builder_null(b, "priorityClassName");
    }
    grove_builder_open_array(b, "cliques");
    for (c = grove_node_first(cliques); c; c = grove_node_next(cliques, c)) {
        put_clique(b, set, c, r);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    (void)grove_builder_finish(b, &doc, NULL);
    grove_builder_free(b);
    return doc;
}

/* A name that one list has and the other has not; NULL: none. */
static const char *lacks(const grove_node *list, const grove_node *other) {
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        if (!named(other, io_member(e, "name"))) {
            return io_member(e, "name");
        }
    }
    return NULL;
}

/* Whether the set can take the revision's template; says why not. */
static int fits(const revision *r, const io_object *set) {
    const grove_node *old = grove_node_get(template_of(r), "cliques");
    const grove_node *now = grove_node_at_path(set->node, "/spec/template/cliques");
    const char *more = lacks(now, old), *less = lacks(old, now);
    if (more || less) {
        fprintf(stderr,
                "grovectl rollout: clique %s is %s revision %lld: the set has other cliques since "
                "then\n",
                more ? more : less, more ? "not in" : "only in", (long long)r->number);
    }
    return !more && !less;
}

int rollout_undo(const rollout_request *q, const io_object *set) {
    history h;
    int code = read_history(q, set->node, &h);
    if (code == EXIT_OK && rollout_number_at(set->node, "/status/observedGeneration", 0) <
                               rollout_number_at(set->node, "/metadata/generation", 0)) {
        fprintf(stderr, "grovectl rollout: the last change of %s is not observed yet\n",
                io_name(set->node));
        code = EXIT_REFUSED;
    }
    const revision *r = code == EXIT_OK ? chosen(q, &h, set->node) : NULL;
    if (r && fits(r, set)) {
        grove_doc *patch = undo_patch(q, set, r);
        char done[64];
        (void)snprintf(done, sizeof done, "as in revision %lld", (long long)r->number);
        code = rollout_write(q, set, patch, done);
        grove_doc_unref(patch);
    } else if (code == EXIT_OK) {
        code = EXIT_REFUSED;
    }
    free(h.v);
    return code;
}
