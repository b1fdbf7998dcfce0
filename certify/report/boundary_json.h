/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boundary_json.h - boundaries as the list that a report has of them (spec/report.schema.json). */
#ifndef ATTEST_BOUNDARY_JSON_H
#define ATTEST_BOUNDARY_JSON_H

#include <jansson.h>

#include "certify/plan/boundary.h"

json_t *attest_boundaries_json(const attest_boundaries *all);

/* Adds those of the list that make sense. */
void attest_boundaries_load(const json_t *list, attest_boundaries *all);

#endif
