/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/cli/fingerprint_sizes.h"

#include <stdio.h>

#include "certify/plan/plan.h"
#include "certify/result/varies.h"

void attest_fingerprint_sizes(attest_setup *setup, const attest_settings *settings,
                              const attn_profile *profile) {
    static const char *const checks[] = {"poison", "special", "empty"};
    attest_settings s = *settings;
    s.only = "poison,special,empty";
    s.level = ATTEST_SMOKE;
    s.jobs = s.shard = s.shards = 1;
    s.first_failure = 0;
    s.quiet = 1;
    s.waivers = NULL;
    setup->profile = setup->first->profile = *profile;
    attest_report report = {0};
    attest_plan plan = {
        .level = s.level, .seed = s.seed, .kernel = &setup->kernel, .profile = *profile};
    int fine = 1;
    for (int i = 0; i < 3 && fine; i++) {
        fine = attest_plan_make(&plan, checks[i]);
    }
    char why[ATTEST_MESSAGE_BYTES] = "";
    attest_variation list[ATTEST_MOST_VARIATIONS];
    if (fine && attest_run(setup, &s, &plan, &report, why)) {
        const int found = attest_varies(&report, list);
        printf("\nby size and spelling, from %zu cases:%s\n", report.count,
               found ? "" : " nothing that is asked changes");
        for (int i = 0; i < found; i++) {
            printf("  %s  %s\n", list[i].requirement, list[i].text);
        }
    } else {
        printf("\nby size and spelling: not asked: %s\n", why[0] ? why : "not enough memory");
    }
    attest_plan_free(&plan);
    attest_report_free(&report);
}
