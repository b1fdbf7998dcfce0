/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "certify/report/print.h"

attest_style attest_style_of_terminal(void) {
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM"), *columns = getenv("COLUMNS");
    attest_style style = {0};
    struct winsize size;
    if (!isatty(STDOUT_FILENO)) {
        return style;
    }
    style.color = (none == NULL || none[0] == '\0') && kind != NULL && strcmp(kind, "dumb") != 0;
    if (columns != NULL && atoi(columns) > 0) {
        style.width = atoi(columns);
    } else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        style.width = size.ws_col;
    }
    return style;
}
