#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The readers of vector files under the address and undefined-behaviour sanitizers: every hostile and
# damaged file of their tests, no byte outside, no leak.
set -u
cd "$(dirname "$0")/.." || exit 1
variant=$(make -s --no-print-directory print-build SAN=address,undefined CC="${CC:-gcc}")
n=0
for name in test_safetensors test_vectors; do
    n=$((n + 1))
    if make -s --no-print-directory SAN=address,undefined CC="${CC:-gcc}" \
            "$variant/tests/$name" >"$variant.log" 2>&1 &&
        CMOCKA_MESSAGE_OUTPUT=TAP "$variant/tests/$name" >>"$variant.log" 2>&1; then
        echo "ok $n - $name under the sanitizers"
    else
        sed 's/^/# /' "$variant.log"
        echo "not ok $n - $name under the sanitizers"
    fi
done
echo "1..$n"
