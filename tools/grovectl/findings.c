/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts in the forms that people and machines read. */
#include "findings.h"

#include "io.h"

#include <grove/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct findings {
    grove_env *env;
    findings_format format;
    grove_buf *out;
    grove_builder *b; /* JSON and SARIF */
};

static void put_diag(grove_builder *b, const grove_diag *d) {
    char code[16];
    snprintf(code, sizeof code, "GRV%04u", (unsigned)d->code);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "code", code);
    grove_builder_string(b, "type", d->type);
    grove_builder_string(b, "path", d->path);
    grove_builder_string(b, "message", d->message);
    grove_builder_int64(b, "line", d->line);
    grove_builder_int64(b, "column", d->column);
    grove_builder_close(b);
}

static void put_diags(grove_builder *b, const char *key, const grove_diags *diags, int errors) {
    grove_builder_open_array(b, key);
    for (uint32_t i = 0; i < grove_diags_count(diags); i++) {
        const grove_diag *d = grove_diags_at(diags, i);
        if ((d->severity == GROVE_SEVERITY_ERROR) == errors) {
            put_diag(b, d);
        }
    }
    grove_builder_close(b);
}

static void put_verdict(grove_builder *b, const finding *one) {
    grove_builder_bool(b, "allowed", one->verdict->allowed);
    if (one->verdict->allowed) {
        grove_builder_null(b, "stage");
    } else {
        grove_builder_string(b, "stage", grove_stage_name(one->verdict->stage));
    }
    put_diags(b, "errors", one->diags, 1);
    put_diags(b, "warnings", one->diags, 0);
}

/* ---- SARIF 2.1.0 ---- */

static void open_sarif(grove_builder *b) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "version", "2.1.0");
    grove_builder_string(
        b, "$schema",
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json");
    grove_builder_open_array(b, "runs");
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "tool");
    grove_builder_open_object(b, "driver");
    grove_builder_string(b, "name", "grovectl");
    grove_builder_string(b, "version", GROVE_VERSION_STRING);
    grove_builder_open_array(b, "rules");
    for (uint32_t i = 0; grove_code_at(i); i++) {
        const grove_code_info *info = grove_code_at(i);
        char id[16];
        snprintf(id, sizeof id, "GRV%04u", (unsigned)info->code);
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "id", id);
        grove_builder_open_object(b, "shortDescription");
        grove_builder_string(b, "text", info->title);
        grove_builder_close(b);
        grove_builder_open_object(b, "help");
        grove_builder_string(b, "text", info->cure);
        grove_builder_close(b);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_open_array(b, "results");
}

static void close_sarif(grove_builder *b) {
    grove_builder_close(b); /* results */
    grove_builder_close(b); /* run */
    grove_builder_close(b); /* runs */
    grove_builder_close(b);
}

static const char *sarif_level(const grove_diag *d) {
    return d->severity == GROVE_SEVERITY_ERROR     ? "error"
           : d->severity == GROVE_SEVERITY_WARNING ? "warning"
                                                   : "note";
}

static void put_sarif_result(grove_builder *b, const char *file, const grove_diag *d) {
    char id[16], text[1024];
    snprintf(id, sizeof id, "GRV%04u", (unsigned)d->code);
    snprintf(text, sizeof text, "%s%s%s", d->path, d->path[0] ? ": " : "", d->message);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "ruleId", id);
    grove_builder_string(b, "level", sarif_level(d));
    grove_builder_open_object(b, "message");
    grove_builder_string(b, "text", text);
    grove_builder_close(b);
    grove_builder_open_array(b, "locations");
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "physicalLocation");
    grove_builder_open_object(b, "artifactLocation");
    grove_builder_string(b, "uri", strcmp(file, "-") == 0 ? "stdin" : file);
    grove_builder_close(b);
    if (d->line) { /* SARIF counts from 1: a place that is unknown is left out */
        grove_builder_open_object(b, "region");
        grove_builder_int64(b, "startLine", d->line);
        grove_builder_int64(b, "startColumn", d->column ? d->column : 1);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
}

/* ---- GitHub workflow commands: one line a finding, with the line's own escapes ---- */

static grove_status put_escaped(grove_buf *out, const char *text, int property) {
    grove_status st = GROVE_OK;
    for (const char *p = text; *p && st == GROVE_OK; p++) {
        const char *code = *p == '%'               ? "%25"
                           : *p == '\r'            ? "%0D"
                           : *p == '\n'            ? "%0A"
                           : property && *p == ':' ? "%3A"
                           : property && *p == ',' ? "%2C"
                                                   : NULL;
        st = code ? grove_buf_append(out, code, 3) : grove_buf_append(out, p, 1);
    }
    return st;
}

static grove_status put_text(grove_buf *out, const char *text) {
    return grove_buf_append(out, text, strlen(text));
}

static grove_status put_github(grove_buf *out, const char *file, const grove_diag *d) {
    char place[96];
    snprintf(place, sizeof place, ",line=%u,col=%u,title=GRV%04u::", (unsigned)d->line,
             (unsigned)d->column, (unsigned)d->code);
    const char *command = d->severity == GROVE_SEVERITY_ERROR     ? "::error file="
                          : d->severity == GROVE_SEVERITY_WARNING ? "::warning file="
                                                                  : "::notice file=";
    grove_status st = put_text(out, command);
    st = st < 0 ? st : put_escaped(out, file, 1);
    st = st < 0 ? st : put_text(out, place);
    st = st < 0 ? st : put_escaped(out, d->path, 0);
    st = st < 0 || !d->path[0] ? st : put_text(out, ": ");
    st = st < 0 ? st : put_escaped(out, d->message, 0);
    return st < 0 ? st : put_text(out, "\n");
}

/* ---- text ---- */

static void print_text(const finding *one) {
    io_print_diags(one->file, one->text, one->diags);
    printf("%s: %s/%s: %s", one->file, one->kind, one->name,
           one->verdict->allowed ? "allowed\n" : "refused");
    if (!one->verdict->allowed) {
        printf(" (%s)\n", grove_stage_name(one->verdict->stage));
    }
}

static long long number_of(const grove_node *object, const char *key) {
    int64_t n = 0;
    grove_node_int64(grove_node_get(object, key), &n);
    return (long long)n;
}

static void print_names(const grove_doc *names) {
    const grove_node *list = names ? grove_doc_root(names) : NULL;
    const grove_node *entries = grove_node_get(list, "names");
    if (!names) {
        return;
    }
    printf("  %-6s %-6s %-6s %-24s %s\n", "ROOM", "LENGTH", "LIMIT", "KIND", "NAME");
    for (const grove_node *e = grove_node_first(entries); e; e = grove_node_next(entries, e)) {
        printf("  %-6lld %-6lld %-6lld %-24s %s%s\n", number_of(e, "margin"),
               number_of(e, "length"), number_of(e, "limit"), io_member(e, "kind"),
               io_member(e, "name"), grove_node_get(e, "twice") ? "  (twice)" : "");
    }
    printf("  %lld names, least room %lld, %lld too long, %lld given twice\n",
           number_of(list, "count"), number_of(list, "leastMargin"), number_of(list, "overLimit"),
           number_of(list, "twice"));
}

/* ---- the whole ---- */

grove_status findings_begin(grove_env *env, findings_format format, grove_buf *out,
                            findings **out_findings) {
    findings *f = calloc(1, sizeof *f);
    if (!f) {
        return GROVE_E_NOMEM;
    }
    f->env = env;
    f->format = format;
    f->out = out;
    if (format == FINDINGS_JSON || format == FINDINGS_SARIF) {
        if (grove_builder_new(env, &f->b) < 0) {
            free(f);
            return GROVE_E_NOMEM;
        }
        if (format == FINDINGS_SARIF) {
            open_sarif(f->b);
        } else {
            grove_builder_open_object(f->b, NULL);
            grove_builder_open_array(f->b, "results");
        }
    }
    *out_findings = f;
    return GROVE_OK;
}

grove_status findings_add(findings *f, const finding *one) {
    grove_status st = GROVE_OK;
    switch (f->format) {
    case FINDINGS_TEXT:
        print_text(one);
        print_names(one->names);
        break;
    case FINDINGS_JSON:
        grove_builder_open_object(f->b, NULL);
        grove_builder_string(f->b, "file", one->file);
        grove_builder_int64(f->b, "index", one->index);
        grove_builder_string(f->b, "kind", one->kind);
        grove_builder_string(f->b, "name", one->name);
        put_verdict(f->b, one);
        if (one->names) {
            grove_builder_link(f->b, "names", one->names, grove_doc_root(one->names));
        }
        grove_builder_close(f->b);
        break;
    case FINDINGS_SARIF:
    case FINDINGS_GITHUB:
        for (uint32_t i = 0; st == GROVE_OK && i < grove_diags_count(one->diags); i++) {
            const grove_diag *d = grove_diags_at(one->diags, i);
            if (f->format == FINDINGS_SARIF) {
                put_sarif_result(f->b, one->file, d);
            } else {
                st = put_github(f->out, one->file, d);
            }
        }
        break;
    }
    return st;
}

static grove_status write_doc(grove_builder *b, uint32_t flags, grove_buf *out) {
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = grove_node_write_json(grove_doc_root(doc), flags, out, NULL);
    }
    grove_doc_unref(doc);
    return st == GROVE_OK ? put_text(out, "\n") : st;
}

grove_status findings_end(findings *f) {
    grove_status st = GROVE_OK;
    if (f->format == FINDINGS_SARIF) {
        close_sarif(f->b);
        st = write_doc(f->b, GROVE_WRITE_PRETTY, f->out);
    } else if (f->format == FINDINGS_JSON) {
        grove_builder_close(f->b);
        grove_builder_close(f->b);
        st = write_doc(f->b, 0, f->out);
    }
    grove_builder_free(f->b);
    free(f);
    return st;
}

grove_status findings_case_line(grove_env *env, const finding *one, grove_buf *out) {
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", one->name);
    put_verdict(b, one);
    grove_builder_close(b);
    st = write_doc(b, 0, out);
    grove_builder_free(b);
    return st;
}
