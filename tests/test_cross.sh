#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernels, built for AArch64 and run under an emulator, give the bits they give here.
cross=aarch64-linux-gnu-gcc
build=${BUILD:-build/default}
kernels='naive tiled flash flash64'

echo 1..2
if ! command -v $cross >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    echo 'ok 1 - same bits on AArch64 # SKIP no cross compiler or emulator (ci/deps cross)'
    echo 'ok 2 - same bits without vector instructions # SKIP'
    exit 0
fi

case $build in *-san-*)
    echo 'ok 1 - same bits on AArch64 # SKIP sanitizers have their own run'
    echo 'ok 2 - same bits without vector instructions # SKIP'
    exit 0 ;;
esac

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

there=build/$cross-O2
objects='validate normal mask convert profile'
for b in "$there $cross" "$build ${CC:-gcc}"; do
    set -- $b
    MAKEFLAGS='' make -s CC="$2" kernels $(printf "$1/reference/problem/%s.o " $objects) >"$folder/log" 2>&1 ||
        { cat "$folder/log"; echo "not ok 1 - $1 does not build"; exit 1; }
    "$2" -std=c11 -O2 -I. tests/support/cross_kernels.c \
        $(printf "$1/reference/problem/%s.o " $objects) -lm -ldl -o "$folder/$(basename "$2")" || exit 1
done
paths() { for k in $kernels; do echo "$1/impl/lib$k.so"; done; }

"$folder/$(basename "${CC:-gcc}")" $(paths "$build") >"$folder/here" || exit 1
ATTEST_SIMD=none "$folder/$(basename "${CC:-gcc}")" $(paths "$build") >"$folder/plain" || exit 1
qemu-aarch64 -L /usr/aarch64-linux-gnu "$folder/$cross" $(paths "$there") >"$folder/there" ||
    echo failed >>"$folder/there"

report() { # number, name, two files
    if [ "$(wc -l <"$3")" -gt 100 ] && cmp -s "$3" "$4"; then
        echo "ok $1 - $2"
    else
        diff "$3" "$4" | head -5 | sed 's/^/# /'
        echo "not ok $1 - $2"
    fi
}
report 1 'same bits on AArch64' "$folder/here" "$folder/there"
report 2 'same bits without vector instructions' "$folder/here" "$folder/plain"
