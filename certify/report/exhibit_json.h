/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exhibit_json.h - the close look at a failing case as a report has it (spec/report.schema.json) */
#ifndef ATTEST_EXHIBIT_JSON_H
#define ATTEST_EXHIBIT_JSON_H

#include <jansson.h>

#include "certify/result/exhibit.h"

json_t *attest_exhibit_json(const attest_exhibit *exhibit);

/* NULL if it makes no sense, or without memory. */
attest_exhibit *attest_exhibit_load(const json_t *object);

#endif
