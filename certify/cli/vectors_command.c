/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vectors_command.c - attest vectors import-onnx DIR OUT. */
#include <stdio.h>
#include <string.h>

#include "certify/cli/commands.h"
#include "vectors/onnx/onnx.h"

int attest_command_vectors(const attest_settings *settings) {
    char message[ATTEST_MESSAGE_BYTES] = "";
    if (strcmp(settings->words[0], "import-onnx") != 0) {
        return attest_trouble("vectors import-onnx DIR OUT");
    }
    if (attest_onnx_import(settings->words[1], settings->words[2], message) != 0) {
        return attest_trouble(message);
    }
    return ATTEST_EXIT_CERTIFIED;
}
