/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.h - runs a plan: one worker a job, results in the order of the plan whatever the order of
 * work. */
#ifndef ATTEST_RUN_H
#define ATTEST_RUN_H

#include "certify/host/bench.h"
#include "certify/result/report.h"
#include "certify/run/settings.h"

typedef struct attest_setup {
    attest_target target;
    attest_host_options host;
    attn_profile profile;
    attn_model model, wide_model;
    char worker[ATTEST_PATH_BYTES];
    char temporary[64]; /* removed by attest_setup_close */
    attest_kernel_info kernel;
    attest_bench *first; /* the bench that introduced the kernel */
} attest_setup;

/*
 * Finds worker, profile and model, loads the kernel once and fills the report's head. Returns 1 if
 * cases can be run; 0 with a reason in `why` for a usage or infrastructure error; -1 if the kernel
 * itself could not be loaded, which the report then says.
 */
int attest_setup_open(attest_setup *setup, const attest_settings *settings, const char *target,
                      attest_report *report, char why[ATTEST_MESSAGE_BYTES]);
void attest_setup_close(attest_setup *setup);

/* Runs the cases of the settings' shard. 1, or 0 with a reason. */
int attest_run(attest_setup *setup, const attest_settings *settings, const attest_plan *plan,
               attest_report *report, char why[ATTEST_MESSAGE_BYTES]);

#endif
