/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a script of faults. */
#include "front/faults_script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/doc.h>
#include <grove/sys/util.h>

grove_status gv_fault_wrong(const grove_doc *doc, const grove_node *at, grove_error *err,
                            const char *fmt, ...) {
    char what[300], message[400];
    uint32_t line = 0, column = 0;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    grove_node_position(doc, at, &line, &column);
    (void)snprintf(message, sizeof message, "line %u: %s", line, what);
    return grove_error_set(err, GROVE_E_INVALID, message);
}

typedef struct word {
    const char *text;
    uint32_t value;
} word;

static bool find_word(const word *words, const char *text, uint32_t *out) {
    for (; text && words->text; words++) {
        if (strcmp(words->text, text) == 0) {
            *out = words->value;
            return true;
        }
    }
    return false;
}

static const word verbs[] = {{"any", GV_VERB_ANY},
                             {"get", GV_VERB_GET},
                             {"list", GV_VERB_LIST},
                             {"watch", GV_VERB_WATCH},
                             {"create", GV_VERB_CREATE},
                             {"update", GV_VERB_UPDATE},
                             {"patch", GV_VERB_PATCH},
                             {"delete", GV_VERB_DELETE},
                             {"deletecollection", GV_VERB_DELETECOLLECTION},
                             {"connect", GV_VERB_CONNECT},
                             {NULL, 0}};
static const word acts[] = {{"drop", GV_FAULT_DROP},
                            {"answer", GV_FAULT_ANSWER},
                            {"cut", GV_FAULT_CUT},
                            {"hang", GV_FAULT_HANG},
                            {"slow", GV_FAULT_SLOW},
                            {"delay", GV_FAULT_DELAY},
                            {"no-bookmarks", GV_FAULT_NO_BOOKMARKS},
                            {"stale", GV_FAULT_STALE},
                            {"restart", GV_FAULT_RESTART},
                            {"certificate", GV_FAULT_CERTIFICATE},
                            {NULL, 0}};
static const word bodies[] = {{"status", GV_BODY_STATUS}, {"event", GV_BODY_EVENT},
                              {"html", GV_BODY_HTML},     {"text", GV_BODY_TEXT},
                              {"empty", GV_BODY_EMPTY},   {NULL, 0}};
static const word certificates[] = {{"good", GV_CERT_GOOD},
                                    {"expired", GV_CERT_EXPIRED},
                                    {"not-yet-valid", GV_CERT_NOT_YET_VALID},
                                    {"other-host", GV_CERT_OTHER_HOST},
                                    {"other-authority", GV_CERT_OTHER_AUTHORITY},
                                    {"renewed", GV_CERT_RENEWED},
                                    {NULL, 0}};
static const word ends[] = {{"close", 0}, {"reset", 1}, {NULL, 0}};
static const word moments[] = {{"before", 0}, {"after", 1}, {NULL, 0}};
static const word truth[] = {{"false", 0}, {"true", 1}, {NULL, 0}};

/* ---- values ---- */

typedef struct place {
    const grove_doc *doc;
    const grove_node *node;
    const char *key;
    gv_fault *fault;
    grove_error *err;
} place;

static grove_status take_number(const place *at, uint64_t most, uint64_t *out) {
    int64_t value = 0;
    if (grove_node_int64(at->node, &value) < 0 || value < 0 || (uint64_t)value > most) {
        return gv_fault_wrong(at->doc, at->node, at->err, "%s must be a number from 0 to %llu",
                              at->key, (unsigned long long)most);
    }
    *out = (uint64_t)value;
    return GROVE_OK;
}

static grove_status take_u32(const place *at, uint32_t most, uint32_t *out) {
    uint64_t value = 0;
    grove_status st = take_number(at, most, &value);
    *out = st < 0 ? *out : (uint32_t)value;
    return st;
}

static grove_status take_word(const place *at, const word *words, uint32_t *out) {
    char known[200] = "";
    const char *text = grove_node_type(at->node) == GROVE_BOOL
                           ? (grove_node_is_true(at->node) ? "true" : "false")
                           : grove_node_text(at->node);
    if (find_word(words, text, out)) {
        return GROVE_OK;
    }
    for (const word *w = words; w->text; w++) {
        size_t n = strlen(known);
        (void)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", w->text);
    }
    return gv_fault_wrong(at->doc, at->node, at->err, "%s is one of %s", at->key, known);
}

static grove_status take_bool(const place *at, const word *words, bool *out) {
    uint32_t value = *out;
    grove_status st = take_word(at, words, &value);
    *out = value != 0;
    return st;
}

static grove_status take_text(const place *at, char *out, size_t cap) {
    const char *text = grove_node_text(at->node);
    if (grove_node_type(at->node) != GROVE_STRING || strlen(text) >= cap) {
        return gv_fault_wrong(at->doc, at->node, at->err, "%s must be a text below %zu bytes",
                              at->key, cap);
    }
    (void)snprintf(out, cap, "%s", text);
    return GROVE_OK;
}

static grove_status take_verbs(const place *at) {
    place one = *at;
    uint32_t verb = 0;
    if (grove_node_type(at->node) != GROVE_ARRAY) {
        return take_word(at, verbs, &at->fault->verbs);
    }
    grove_status st = GROVE_OK;
    at->fault->verbs = 0;
    for (one.node = grove_node_first(at->node); st == GROVE_OK && one.node;
         one.node = grove_node_next(at->node, one.node)) {
        st = take_word(&one, verbs, &verb);
        at->fault->verbs |= verb;
    }
    return st;
}

static grove_status take_nth(const place *at) {
    gv_fault *f = at->fault;
    place one = *at;
    f->n_nth = 0;
    if (grove_node_type(at->node) != GROVE_ARRAY) {
        return take_number(at, INT64_MAX, &f->nth[f->n_nth++]);
    }
    grove_status st = GROVE_OK;
    for (one.node = grove_node_first(at->node); st == GROVE_OK && one.node;
         one.node = grove_node_next(at->node, one.node)) {
        st = f->n_nth < GV_FAULT_NTH_MAX
                 ? take_number(&one, INT64_MAX, &f->nth[f->n_nth++])
                 : gv_fault_wrong(at->doc, one.node, at->err, "nth takes at most %d numbers",
                                  GV_FAULT_NTH_MAX);
    }
    return st;
}

/* "1/20": whole numbers, so that it means the same on every machine. */
static grove_status take_probability(const place *at) {
    const char *text = grove_node_text(at->node);
    char *slash = NULL, *end = NULL;
    unsigned long of = text ? strtoul(text, &slash, 10) : 0;
    unsigned long from = slash && slash != text && *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (!end || *end || from == 0 || of > from || from > UINT32_MAX) {
        return gv_fault_wrong(at->doc, at->node, at->err, "probability is a fraction such as 1/20");
    }
    at->fault->chance_of = of;
    at->fault->chance_from = from;
    return GROVE_OK;
}

/* ---- members ---- */

static grove_status read_when(const place *at, bool *out_known) {
    gv_fault *f = at->fault;
    const char *key = at->key;
    *out_known = true;
    return strcmp(key, "name") == 0          ? take_text(at, f->name, sizeof f->name)
           : strcmp(key, "path") == 0        ? take_text(at, f->path, sizeof f->path)
           : strcmp(key, "verb") == 0        ? take_verbs(at)
           : strcmp(key, "nth") == 0         ? take_nth(at)
           : strcmp(key, "from") == 0        ? take_number(at, INT64_MAX, &f->from)
           : strcmp(key, "every") == 0       ? take_number(at, INT64_MAX, &f->every)
           : strcmp(key, "times") == 0       ? take_number(at, INT64_MAX, &f->times)
           : strcmp(key, "probability") == 0 ? take_probability(at)
                                             : (*out_known = false, GROVE_OK);
}

/* Which actions a parameter belongs to. */
static uint32_t owners_of(const char *key) {
    static const word owners[] = {{"after", GV_FAULT_CUT | GV_FAULT_HANG | GV_FAULT_ANSWER},
                                  {"how", GV_FAULT_CUT | GV_FAULT_DROP},
                                  {"when", GV_FAULT_DROP | GV_FAULT_ANSWER | GV_FAULT_RESTART},
                                  {"code", GV_FAULT_ANSWER},
                                  {"reason", GV_FAULT_ANSWER},
                                  {"retryAfter", GV_FAULT_ANSWER},
                                  {"body", GV_FAULT_ANSWER},
                                  {"resumable", GV_FAULT_ANSWER},
                                  {"bytesPerSecond", GV_FAULT_SLOW},
                                  {"milliseconds", GV_FAULT_DELAY | GV_FAULT_RESTART},
                                  {"atMostMilliseconds", GV_FAULT_DELAY},
                                  {"forget", GV_FAULT_RESTART},
                                  {"initial", GV_FAULT_NO_BOOKMARKS},
                                  {"certificate", GV_FAULT_CERTIFICATE},
                                  {NULL, 0}};
    uint32_t acts_of = 0;
    return find_word(owners, key, &acts_of) ? acts_of : 0;
}

static grove_status take_after(const place *at) {
    gv_fault_plan *p = &at->fault->plan;
    return take_number(at, INT64_MAX,
                       at->fault->act == GV_FAULT_CUT    ? &p->cut_after
                       : at->fault->act == GV_FAULT_HANG ? &p->hang_after
                                                         : &p->answer_after);
}

static grove_status take_choice(const place *at, const word *words, int *out) {
    uint32_t value = 0;
    grove_status st = take_word(at, words, &value);
    *out = (int)value;
    return st;
}

static grove_status read_what(const place *at) {
    gv_fault_plan *p = &at->fault->plan;
    const char *key = at->key;
    int choice = 0;
    grove_status st = GROVE_OK;
    if (strcmp(key, "after") == 0) {
        st = take_after(at);
    } else if (strcmp(key, "how") == 0) {
        st = take_bool(at, ends, &p->reset);
    } else if (strcmp(key, "when") == 0) {
        st = take_bool(at, moments, &p->carried_out);
    } else if (strcmp(key, "code") == 0) {
        uint32_t code = 0;
        st = take_u32(at, 599, &code);
        p->code = (int32_t)code;
    } else if (strcmp(key, "reason") == 0) {
        st = take_text(at, p->reason, sizeof p->reason);
    } else if (strcmp(key, "retryAfter") == 0) {
        st = take_u32(at, 86400, &p->retry_after_s);
    } else if (strcmp(key, "body") == 0) {
        st = take_choice(at, bodies, &choice);
        p->body = (gv_fault_body)choice;
    } else if (strcmp(key, "resumable") == 0) {
        st = take_bool(at, truth, &p->resumable);
    } else if (strcmp(key, "bytesPerSecond") == 0) {
        st = take_u32(at, INT32_MAX, &p->bytes_per_s);
    } else if (strcmp(key, "milliseconds") == 0) {
        st = take_u32(at, 3600000, at->fault->act == GV_FAULT_RESTART ? &p->down_ms : &p->delay_ms);
    } else if (strcmp(key, "atMostMilliseconds") == 0) {
        st = take_u32(at, 3600000, &p->delay_ms);
        at->fault->delay_drawn = true;
    } else if (strcmp(key, "forget") == 0) {
        st = take_bool(at, truth, &p->forget);
    } else if (strcmp(key, "initial") == 0) {
        st = take_bool(at, truth, &p->initial);
    } else {
        st = take_choice(at, certificates, &choice);
        p->certificate = (gv_fault_certificate)choice;
    }
    return st;
}

/* What cannot be seen member by member. */
static grove_status check_whole(const grove_doc *doc, const grove_node *node, const gv_fault *f,
                                grove_error *err) {
    const gv_fault_plan *p = &f->plan;
    bool connects = f->verbs == GV_VERB_CONNECT;
    if (f->act == GV_FAULT_ANSWER && (p->code < 200 || p->code > 599)) {
        return gv_fault_wrong(doc, node, err, "answer needs a code from 200 to 599");
    }
    if (f->act == GV_FAULT_SLOW && p->bytes_per_s == 0) {
        return gv_fault_wrong(doc, node, err, "slow needs bytesPerSecond");
    }
    if ((f->act == GV_FAULT_CERTIFICATE) != connects) {
        return gv_fault_wrong(doc, node, err, "certificate goes with verb connect, and only it");
    }
    return GROVE_OK;
}

grove_status gv_fault_read(const grove_doc *doc, const grove_node *node, gv_fault *out_fault,
                           grove_error *err) {
    place at = {.doc = doc, .fault = out_fault, .err = err};
    uint32_t act = 0;
    *out_fault = (gv_fault){.verbs = GV_VERB_ANY};
    at.key = "do";
    at.node = grove_node_get(node, "do");
    if (!at.node) {
        return gv_fault_wrong(doc, node, err, "a fault needs a member 'do'");
    }
    grove_status st = take_word(&at, acts, &act);
    out_fault->act = (gv_fault_act)act;
    out_fault->plan.acts = act;
    out_fault->plan.hang_whole = !grove_node_get(node, "after");
    if (st == GROVE_OK) {
        (void)snprintf(out_fault->name, sizeof out_fault->name, "%s", grove_node_text(at.node));
    }
    for (const grove_node *m = grove_node_first(node); st == GROVE_OK && m;
         m = grove_node_next(node, m)) {
        bool known = false;
        at.key = grove_node_key(m, NULL);
        at.node = m;
        if (strcmp(at.key, "do") == 0) {
            continue;
        }
        st = read_when(&at, &known);
        if (st == GROVE_OK && !known) {
            st = owners_of(at.key) & act ? read_what(&at)
                                         : gv_fault_wrong(doc, m, err, "%s has no member '%.60s'",
                                                          out_fault->name, at.key);
        }
    }
    return st < 0 ? st : check_whole(doc, node, out_fault, err);
}
