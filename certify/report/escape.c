/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/report/escape.h"

#include <string.h>

void attest_put_xml(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        case '\n':
            fputc('\n', out);
            break;
        default: /* anything XML 1.0 does not allow has no place in a report */
            fputc(*text < ' ' || *text > '~' ? '?' : *text, out);
        }
    }
}

void attest_put_markdown(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '<' || *text == '>' || *text == '&') {
            fputs(*text == '<' ? "&lt;" : *text == '>' ? "&gt;" : "&amp;", out);
        } else if (strchr("\\`*_[]|#~!@:", *text) !=
                   NULL) { /* @ and : would make mentions, links */
            fprintf(out, "&#%d;", *text);
        } else {
            fputc(*text < ' ' || *text > '~' ? ' ' : *text, out);
        }
    }
}
