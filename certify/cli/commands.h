/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands.h - the commands of attest; each returns the exit code. */
#ifndef ATTEST_COMMANDS_H
#define ATTEST_COMMANDS_H

#include "certify/evidence/bundle.h"
#include "certify/report/print.h"
#include "certify/run/run.h"
#include "certify/run/settings.h"

enum { ATTEST_EXIT_CERTIFIED = 0, ATTEST_EXIT_NOT_CERTIFIED = 1, ATTEST_EXIT_TROUBLE = 2 };

int attest_command_certify(const attest_settings *settings);
int attest_command_fingerprint(const attest_settings *settings);
int attest_command_model(const attest_settings *settings);
int attest_command_replay(const attest_settings *settings);
int attest_command_fuzz(const attest_settings *settings);
int attest_command_shrink(const attest_settings *settings);
int attest_command_list(const attest_settings *settings);
int attest_command_explain(const attest_settings *settings);
int attest_command_diff(const attest_settings *settings);
int attest_command_merge(const attest_settings *settings);
int attest_command_report(const attest_settings *settings);
int attest_command_verify(const attest_settings *settings);
int attest_command_vectors(const attest_settings *settings);

/* Before a command: reads the waivers, and sees whether what it writes at its end can be written.
 * 1, or 0 with a reason. */
int attest_files_ready(attest_settings *settings, char why[ATTEST_MESSAGE_BYTES]);

/* fingerprint.c: notes in the report which conventions the kernel follows; returns them too. */
attn_profile attest_fingerprint(attest_setup *setup, const attest_settings *settings,
                                attest_report *report);

/* verify_command.c: writes what the settings ask for beside the views. 1, or 0 with a reason. */
int attest_evidence_begin(attest_setup *setup, const attest_settings *settings,
                          attest_recorder **recorder, char why[ATTEST_MESSAGE_BYTES]);
int attest_evidence_end(const attest_setup *setup, const attest_settings *settings,
                        attest_recorder *recorder, const attest_report *report,
                        char why[ATTEST_MESSAGE_BYTES]);

/* Prints the reason and returns ATTEST_EXIT_TROUBLE. */
int attest_trouble(const char *why);

/* Prints and writes the report as the settings ask; returns the exit code. */
int attest_deliver(attest_report *report, const attest_settings *settings);

/* shrink_command.c: makes a failing case smaller while it fails the same requirement, for so many
 * seconds (0: as long as it takes), prints it with the command that shows it again, and writes the
 * program that the settings ask for. ATTEST_EXIT_CERTIFIED: it did not fail. */
int attest_shrink_and_tell(const attest_setup *setup, const attest_settings *settings,
                           const attest_report *report, const attest_check *check, double seconds,
                           attest_case *c);

/* The case a word names: a line, or an id among the cases planned for the kernel. */
int attest_case_named(const char *word, const attest_settings *settings, const attest_setup *setup,
                      attest_case *c, char why[ATTEST_MESSAGE_BYTES]);

#endif
