/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.h - runs a plan: one worker a job, results in the order of the plan whatever the order of
 * work. */
#ifndef ATTEST_RUN_H
#define ATTEST_RUN_H

#include "certify/host/workbench.h"
#include "certify/result/report.h"
#include "certify/run/temporary.h"
#include "certify/run/settings.h"

typedef struct attest_setup {
    attest_target target;
    attest_host_options host;
    attn_profile profile;
    attn_model model, wide_model;
    char worker[ATTEST_PATH_BYTES];
    attest_temporary temporary;
    attest_kernel_info kernel;
    attest_tape *tape;       /* records what cases get for an answer; or NULL */
    attest_workbench *first; /* the bench that introduced the kernel */
} attest_setup;

/*
 * Finds worker, profile and model, loads the kernel once and fills the report's head. Returns 1 if
 * cases can be run; 0 with a reason in `why` for a usage or infrastructure error; -1 if the kernel
 * itself could not be loaded, which the report then says.
 */
int attest_setup_open(attest_setup *setup, const attest_settings *settings, const char *target,
                      attest_report *report, char why[ATTEST_MESSAGE_BYTES]);
void attest_setup_close(attest_setup *setup);

/* The models a kernel is judged by: the one of that name with its claims, and one for problems in
 * binary64. 0 if there is no such model; then they are those of f32-strict. */
int attest_models_for(const attest_kernel_info *kernel, const char *name, attn_model *model,
                      attn_model *wide_model);

/* On attest_clock(), when the whole run is cut: --time, or what its level may take at most. 0: by
 * --budget alone. */
double attest_run_until(const attest_settings *settings);

/* Runs the cases of the settings' shard. 1, or 0 with a reason. */
int attest_run(attest_setup *setup, const attest_settings *settings, const attest_plan *plan,
               attest_report *report, char why[ATTEST_MESSAGE_BYTES]);

#endif
