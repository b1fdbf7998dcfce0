/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/result/text.h"

#include <stdint.h>
#include <string.h>

/* Characters that command a terminal, end a line, or turn the order in which others are shown. */
static int commands(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Bytes of the character at `at`; 0 if it is none in UTF-8, or one that commands. */
static size_t character(const unsigned char *at) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = at[0] < 0x80                    ? 1
                          : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                          : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                          : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                          : 0;
    uint32_t c = length > 1 ? at[0] & (0x7fu >> length) : at[0];
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | (at[i] & 0x3fu);
    }
    const int valid = c >= least[length] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    return valid && !commands(c) ? length : 0;
}

void attest_text_clean(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at != '\0';) {
        const size_t length = character(at);
        *at = length == 0 ? '?' : *at;
        at += length == 0 ? 1 : length;
    }
}

void attest_text_copy(char *text, size_t size, const char *value) {
    value = value ? value : "";
    size_t length = strlen(value);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)value[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memcpy(text, value, length);
    text[length] = '\0';
    attest_text_clean(text);
}
