/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/result/text.h"

#include <string.h>

void attest_text_copy(char *text, size_t size, const char *value) {
    size_t length = value ? strlen(value) : 0;
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)value[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memcpy(text, value ? value : "", length);
    text[length] = '\0';
}
