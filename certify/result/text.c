/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/result/text.h"

#include <string.h>

/* Bytes of the character at `at`; 0 if it is none, or one that commands a terminal. */
static size_t character(const unsigned char *at) {
    const size_t length = at[0] < 0x80                    ? 1
                          : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                          : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                          : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                          : 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const int commands = at[0] < ' ' || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0);
    return commands ? 0 : length;
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
