/* SPDX-License-Identifier: GPL-3.0-or-later */
/* escape.h - texts that others chose, made harmless: one function a medium. JSON is Jansson's. */
#ifndef ATTEST_ESCAPE_H
#define ATTEST_ESCAPE_H

#include <stdio.h>

/* For text and for attributes of XML and HTML; what is not printable ASCII becomes '?'. */
void attest_put_xml(FILE *out, const char *text);

/* For running text and table cells of Markdown, on one line. */
void attest_put_markdown(FILE *out, const char *text);

#endif
