/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * discover.h - looks for the lengths at which a kernel takes another path, before anything is
 * planned. It judges nothing: it calls the kernel on problems whose right answer is one and the
 * same number in every element and at every length, and notes where bits, status or survival
 * change. It depends on the level and the kernel alone, so each shard, job and seed finds the same.
 */
#ifndef ATTEST_DISCOVER_H
#define ATTEST_DISCOVER_H

#include "certify/plan/boundary.h"
#include "certify/run/run.h"

/* Calls the kernel in a worker of its own, until that time of attest_clock() (0: as long as it
 * takes), or with `first_failure` until it crashes. Finds nothing in a kernel that hangs or cannot
 * be loaded, and on an axis where the same length does not give the same bits twice. */
void attest_discover(const attest_setup *setup, attest_level level, double until, int first_failure,
                     attest_boundaries *found);

#endif
