/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml behind one call: events, places in bytes, errors in plain words. */
#include "base/mem.h"
#include "value/yaml_read.h"

static bool continues_character(char c) {
    return ((unsigned char)c & 0xC0) == 0x80;
}

void gv_yaml_place_to(gv_yaml_place *place, size_t index) {
    const char *at = place->at;
    while (place->index < index && at < place->end) {
        char c = *at++;
        while (at < place->end && continues_character(*at)) {
            at++;
        }
        place->index++;
        if (c == '\n') {
            place->line++;
            place->line_start = at;
        }
    }
    place->at = at;
}

uint32_t gv_yaml_place_column(const gv_yaml_place *place) {
    return (uint32_t)(place->at - place->line_start) + 1;
}

/* libyaml's complaints that manifests meet often, said for those who wrote them. */
static const struct {
    const char *problem;
    const char *words;
} problem_words[] = {
    {"mapping values are not allowed in this context",
     "a ':' is not allowed here; quote the value or mend the indentation"},
    {"did not find expected key", "a key is expected here; mend the indentation"},
    {"did not find expected '-' indicator", "a '-' is expected here; mend the indentation"},
    {"block sequence entries are not allowed in this context", "a '-' is not allowed here"},
    {"could not find expected ':'", "a ':' is expected behind the key"},
    {"found unexpected end of stream", "the text ends within a quoted value"},
    {"did not find expected ',' or ']'", "',' or ']' is expected here"},
    {"did not find expected ',' or '}'", "',' or '}' is expected here"},
    {"did not find expected <document start>", "the document should end here; is a '---' missing?"},
    {"did not find expected node content", "a value is expected here"},
    {"found undefined tag handle", "the tag's handle is not defined"},
    {"found a tab character where an indentation space is expected",
     "a tab may not be indentation; use spaces"},
    {"found character that cannot start any token",
     "this character may not begin a value; quote it"},
    {"control characters are not allowed", "a control character is not allowed here"},
};

static const char *words_for(const yaml_parser_t *p, const gv_yaml_place *place) {
    const char *problem = p->problem ? p->problem : "not well-formed";
    if (p->error == YAML_SCANNER_ERROR && place->at < place->end && *place->at == '\t') {
        return "a tab may not be indentation; use spaces";
    }
    for (size_t i = 0; i < sizeof problem_words / sizeof problem_words[0]; i++) {
        if (strcmp(problem, problem_words[i].problem) == 0) {
            return problem_words[i].words;
        }
    }
    return problem;
}

/* "list", "mapping", ... for errors that tell where the unfinished thing began; NULL otherwise. */
static const char *context_name(const char *context) {
    static const struct {
        const char *part;
        const char *name;
    } names[] = {{"flow sequence", "list"},    {"flow mapping", "mapping"},
                 {"block sequence", "list"},   {"block mapping", "mapping"},
                 {"block collection", "list"}, {"quoted scalar", "quoted value"},
                 {"simple key", "key"}};
    for (size_t i = 0; context && i < sizeof names / sizeof names[0]; i++) {
        if (strstr(context, names[i].part)) {
            return names[i].name;
        }
    }
    return NULL;
}

static grove_status syntax_error(const gv_yaml_reader *r, grove_error *err) {
    const yaml_parser_t *p = &r->parser;
    gv_yaml_place place = r->begin;
    if (p->error == YAML_MEMORY_ERROR || p->error == YAML_NO_ERROR) {
        return gv_error_nomem(err); /* some of libyaml's failed allocations set no error at all */
    }
    if (p->error == YAML_READER_ERROR) {
        const char *stop = place.at + p->problem_offset;
        while (place.at < stop && place.at < place.end) {
            gv_yaml_place_to(&place, place.index + 1);
        }
        return gv_error_at(err, GROVE_E_PARSE, place.line, gv_yaml_place_column(&place), NULL, "%s",
                           words_for(p, &place));
    }
    gv_yaml_place_to(&place, p->problem_mark.index);
    const char *words = words_for(p, &place);
    const char *what = context_name(p->context);
    if (what && p->context_mark.line != p->problem_mark.line) {
        gv_yaml_place from = r->begin;
        gv_yaml_place_to(&from, p->context_mark.index);
        return gv_error_at(err, GROVE_E_PARSE, place.line, gv_yaml_place_column(&place), NULL,
                           "%s (in the %s that begins in line %u)", words, what, from.line);
    }
    return gv_error_at(err, GROVE_E_PARSE, place.line, gv_yaml_place_column(&place), NULL, "%s",
                       words);
}

grove_status gv_yaml_scan(gv_yaml_reader *r, yaml_event_t *event, grove_error *err) {
    if (yaml_parser_parse(&r->parser, event)) {
        return GROVE_OK;
    }
    r->ended = true;
    return syntax_error(r, err);
}
