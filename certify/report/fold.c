/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/report/fold.h"

#include <stdlib.h>
#include <string.h>

enum { NARROWEST = 40 };

/* Kept whole: what is copied from the terminal, and pictures. */
static int is_whole(const char *line) {
    return strncmp(line, "  reproduce ", 12) == 0 || strncmp(line, "    ", 4) == 0;
}

/* Bytes of an escape sequence that begins here; it takes no column. */
static size_t escape(const char *at) { return at[0] == '\033' ? strcspn(at, "m") + 1 : 0; }

/* Where a line goes on: under the text of "  name   text", else four columns further in. */
static size_t hang(const char *line, size_t length) {
    const size_t lead = strspn(line, " ");
    const char *gap = lead > 0 && lead < length ? strstr(line + lead, "  ") : NULL;
    const size_t name = gap != NULL ? (size_t)(gap - line) : length;
    const size_t column = name < length ? name + strspn(gap, " ") : lead + 4;
    return column <= 16 ? column : lead + 4;
}

static void fold_line(FILE *out, const char *line, size_t length, size_t width) {
    const size_t indent = hang(line, length);
    size_t begin = 0, column = 0, space = 0; /* the last one that a line may end at */
    for (size_t at = 0; at < length;) {
        const size_t skipped = escape(line + at);
        if (skipped > 0) {
            at += skipped;
            continue;
        }
        if (line[at] == ' ' && column > indent) {
            space = at;
        }
        if (column == width) {
            const size_t end = space > begin ? space : at;
            fprintf(out, "%.*s\n%*s", (int)(end - begin), line + begin, (int)indent, "");
            begin = at = end + (line[end] == ' ');
            column = indent;
            space = 0;
            continue;
        }
        at++;
        column++;
    }
    fprintf(out, "%.*s\n", (int)(length - begin), line + begin);
}

FILE *attest_fold_begin(attest_fold *fold, FILE *out, int width) {
    *fold = (attest_fold){.out = out, .width = width};
    FILE *file = width > NARROWEST ? open_memstream(&fold->text, &fold->size) : NULL;
    return file != NULL ? file : out;
}

void attest_fold_end(attest_fold *fold, FILE *file) {
    if (file == fold->out) {
        return;
    }
    const int complete = fclose(file) == 0;
    for (const char *line = fold->text; complete && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        fold_line(fold->out, line, length, is_whole(line) ? length + 1 : (size_t)fold->width);
        line += length + (line[length] == '\n');
    }
    free(fold->text);
}
