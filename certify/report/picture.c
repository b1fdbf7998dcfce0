/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/report/picture.h"

#include <math.h>

enum { WIDEST = 192, LARGEST_CELL = 18 };

static int cell_size(int rows, int columns) {
    const int longer = rows > columns ? rows : columns;
    const int size = WIDEST / (longer > 0 ? longer : 1);
    return size > LARGEST_CELL ? LARGEST_CELL : size < 3 ? 3 : size;
}

/* Class of a cell; neighbours of one class in a row become one rectangle. */
typedef const char *cell_class(const attest_map *map, int row, int column);

static const char *as_specified(const attest_map *m, int row, int column) {
    const char cell = m->mask[row * m->keys + column];
    return cell == ATTEST_CELL_SEEN || cell == ATTEST_CELL_LOST ? "seen" : "hidden";
}

static const char *as_used(const attest_map *m, int row, int column) {
    switch (m->mask[row * m->keys + column]) {
    case ATTEST_CELL_SEEN:
        return "seen";
    case ATTEST_CELL_ADDED:
        return "added";
    case ATTEST_CELL_LOST:
        return "lost";
    default:
        return "hidden";
    }
}

static const char *as_ratio(const attest_map *m, int row, int column) {
    const double ratio = (double)m->ratio[row * m->columns + column];
    return ratio < 0       ? "r-none"
           : ratio <= 0.25 ? "r0"
           : ratio <= 1    ? "r1"
           : ratio <= 16   ? "r2"
           : ratio <= 4096 ? "r3"
                           : "r4";
}

/* Lines between the cells. */
static void rules(FILE *out, int rows, int columns, int size) {
    fprintf(out, "<path class=\"rules\" d=\"");
    for (int row = 1; row < rows; row++) {
        fprintf(out, "M0 %dH%d", row * size, columns * size);
    }
    for (int column = 1; column < columns; column++) {
        fprintf(out, "M%d 0V%d", column * size, rows * size);
    }
    fprintf(out, "\"/>");
}

static void grid(FILE *out, const attest_map *m, int columns, cell_class *class_of,
                 const char *caption) {
    const int size = cell_size(m->rows, columns);
    fprintf(
        out,
        "<figure><svg role=\"img\" aria-label=\"%s, batch entry %lld, head %lld, %d rows by %d\" "
        "viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" class=\"grid\">",
        caption, (long long)m->entry, (long long)m->head, m->rows, columns, columns * size,
        m->rows * size, columns * size, m->rows * size);
    for (int row = 0; row < m->rows; row++) {
        for (int column = 0; column < columns;) {
            const char *name = class_of(m, row, column);
            int end = column + 1;
            while (end < columns && class_of(m, row, end) == name) {
                end++;
            }
            fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", name,
                    column * size, row * size, (end - column) * size, size);
            column = end;
        }
    }
    if (size > 6) {
        rules(out, m->rows, columns, size);
    }
    fprintf(out, "</svg><figcaption>%s</figcaption></figure>\n", caption);
}

void attest_draw_map(FILE *out, const attest_map *m, int mask_known) {
    int judged = 0;
    for (int at = 0; at < m->rows * m->columns; at++) {
        judged = judged || m->ratio[at] >= 0;
    }
    fprintf(out, "<div class=\"maps\"><h4>batch entry %lld, head %lld</h4>\n", (long long)m->entry,
            (long long)m->head);
    if (m->rows > 0 && m->keys > 0) {
        grid(out, m, m->keys, as_specified, "mask as specified");
        if (mask_known) {
            grid(out, m, m->keys, as_used, "mask in use");
        }
    }
    if (m->rows > 0 && m->columns > 0 && judged) {
        grid(out, m, m->columns, as_ratio, "error / radius of the output");
    }
    fprintf(out, "</div>\n");
}

void attest_draw_histogram(FILE *out, const attest_report *report) {
    enum { WIDTH = 44, HEIGHT = 120, BASE = 140 };
    int64_t bins[ATTEST_RATIO_BINS], most = 1;
    attest_ratio_bins(report, bins);
    for (int i = 0; i < ATTEST_RATIO_BINS; i++) {
        most = bins[i] > most ? bins[i] : most;
    }
    fprintf(out,
            "<svg role=\"img\" aria-label=\"cases that passed, by error over radius\" "
            "class=\"histogram\" viewBox=\"0 0 %d %d\">",
            ATTEST_RATIO_BINS * WIDTH, BASE + 18);
    for (int i = 0; i < ATTEST_RATIO_BINS; i++) {
        const double height = (double)HEIGHT * sqrt((double)bins[i] / (double)most);
        const int half = ATTEST_RATIO_BINS - 1 - i;
        fprintf(out, "<rect class=\"bar\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
                i * WIDTH + 3, (double)BASE - height, WIDTH - 6, height);
        fprintf(out, "<text x=\"%d\" y=\"%.1f\">%lld</text>", i * WIDTH + WIDTH / 2,
                (double)BASE - height - 3, (long long)bins[i]);
        if (i == 0) {
            fprintf(out, "<text x=\"%d\" y=\"%d\">0</text>", WIDTH / 2, BASE + 14);
        } else if (half == 0) {
            fprintf(out, "<text x=\"%d\" y=\"%d\">&#8804; 1</text>", i * WIDTH + WIDTH / 2,
                    BASE + 14);
        } else {
            fprintf(out, "<text x=\"%d\" y=\"%d\">&#8804; 1/%d</text>", i * WIDTH + WIDTH / 2,
                    BASE + 14, 1 << half);
        }
    }
    fprintf(out, "</svg>\n");
}
