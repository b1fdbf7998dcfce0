/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certify/diagnose/classes.h"

#include <stdio.h>
#include <string.h>

#include "certify/diagnose/variants.h"

const char *attest_class_title(int number) {
    static const char *const titles[ATTEST_CLASSES + 1] = {
        NULL,
        "causal diagonal in the wrong place",
        "a mask or option that is silently not applied",
        "a mask applied where none was asked for",
        "window or length off by one",
        "window or rows against loop bounds and chunks",
        "cache and step-by-step use",
        "sequences that leak into each other",
        "boolean mask inverted or converted",
        "mask type misread",
        "mask broadcast or mask strides",
        "bit-packed masks",
        "rows that see nothing",
        "tiles that hold nothing visible",
        "a finite stand-in for minus infinity",
        "softmax without, or with a wrong, maximum",
        "scores overflow a narrow type",
        "output sum overflows or drifts",
        "underflow or flushed denormals",
        "fast-math or a coarse exp",
        "hidden values reach the output (0 * NaN)",
        "genuine NaN or infinity swallowed",
        "softcap ignored or in the wrong order",
        "tail of a tile, length not divisible",
        "head size or scale assumptions",
        "strides ignored",
        "KV head mapping",
        "32-bit index overflow",
        "access out of bounds, scratch too small",
        "paged cache",
        "output or scratch not written",
        "empty or single-element inputs",
        "races and non-determinism",
        "result depends on batch or neighbours",
        "LSE output and merging",
        "attention sinks",
        "ALiBi",
        "backward only",
        "paths that disagree",
        "the caller's data overwritten",
    };
    return number > 0 && number <= ATTEST_CLASSES ? titles[number] : NULL;
}
