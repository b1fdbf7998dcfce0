#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The corpus in the tree is what the generator writes. `everywhere` as argument: with both
# compilers, without and with all optimisation.
set -u
cd "$(dirname "$0")/.." || exit 1
n=0
compare() { # name, arguments of make
    name=$1
    shift
    n=$((n + 1))
    out=$(make -s --no-print-directory print-build "$@")/corpus
    rm -rf "$out"
    mkdir -p "$out"
    if make -s --no-print-directory vectors-fresh "$@" >"$out.log" 2>&1 &&
        diff -r "$out/data" vectors/data >>"$out.log" 2>&1 &&
        diff "$out/manifest.json" vectors/manifest.json >>"$out.log" 2>&1 &&
        diff "$out/manifest.b2" vectors/manifest.b2 >>"$out.log" 2>&1; then
        echo "ok $n - the corpus is what the generator writes ($name)"
    else
        head -c 2000 "$out.log" | sed 's/^/# /'
        echo "not ok $n - the corpus is what the generator writes ($name)"
    fi
}
mkdir -p build
if [ "${1:-}" = everywhere ]; then
    for compiler in gcc clang-19; do
        for level in -O0 -O3; do
            compare "$compiler $level" CC=$compiler OPT=$level
        done
    done
else
    compare "${CC:-gcc}" CC="${CC:-gcc}"
fi
echo "1..$n"
