/* SPDX-License-Identifier: GPL-3.0-or-later */
/* causes.h - failures grouped by the defect they come from, so that a report has a row a defect. */
#ifndef ATTEST_CAUSES_H
#define ATTEST_CAUSES_H

#include "certify/result/report.h"

/* Writes the causes of a report from its entries alone. */
void attest_causes_find(attest_report *report);

#endif
