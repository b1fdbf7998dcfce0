/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict as a badge: an SVG, or the JSON that badge services make one of. */
#include <jansson.h>
#include <string.h>

#include "certify/report/views.h"

typedef struct badge {
    const char *message, *color, *fill;
} badge;

static badge badge_of(const attest_certificate *c) {
    return !c->certified      ? (badge){"not certified", "red", "#b3261e"}
           : c->restricted[0] ? (badge){"certified, restricted", "yellow", "#8a5a00"}
                              : (badge){"certified", "brightgreen", "#1a7f37"};
}

void attest_badge_svg(FILE *out, const attest_report *r, const attest_certificate *c) {
    const badge b = badge_of(c);
    const int left = 48, right = 14 + 7 * (int)strlen(b.message);
    (void)r;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" role=\"img\">\n"
            "<title>attest: %s</title>\n"
            "<rect width=\"%d\" height=\"20\" rx=\"3\" fill=\"#444\"/>\n"
            "<path d=\"M%d 0h%dv20h-%dz\" fill=\"%s\"/>\n"
            "<g fill=\"#fff\" font-family=\"DejaVu Sans,Verdana,sans-serif\" font-size=\"11\" "
            "text-anchor=\"middle\">\n<text x=\"%d\" y=\"14\">attest</text>\n"
            "<text x=\"%d\" y=\"14\">%s</text>\n</g>\n</svg>\n",
            left + right, b.message, left + right, left, right, right, b.fill, left / 2,
            left + right / 2, b.message);
}

void attest_badge_json(FILE *out, const attest_report *r, const attest_certificate *c) {
    const badge b = badge_of(c);
    (void)r;
    json_t *o = json_pack("{s:i,s:s,s:s,s:s}", "schemaVersion", 1, "label", "attest", "message",
                          b.message, "color", b.color);
    json_dumpf(o, out, JSON_INDENT(1));
    json_decref(o);
}
