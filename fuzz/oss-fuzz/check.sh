#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Runs build.sh as OSS-Fuzz does, in a fresh clone and with its variables but without its image, and
# starts every target from where the image would: another directory, another name, its own corpus.
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$root" "$work/src/attest"
mkdir "$work/out"
compiler=$(command -v clang-19 || command -v clang)
export SRC=$work/src OUT=$work/out WORK=$work CC=$compiler CXX=$compiler++ FUZZING_ENGINE=libfuzzer \
    SANITIZER=address LIB_FUZZING_ENGINE=-fsanitize=fuzzer ARCHITECTURE=x86_64
export CFLAGS="-O1 -fno-omit-frame-pointer -gline-tables-only -Wno-error \
-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -fsanitize=address -fsanitize-address-use-after-scope \
-fsanitize=fuzzer-no-link"
export CXXFLAGS=$CFLAGS
bash "$root/fuzz/oss-fuzz/build.sh"
rm -rf "$work/src"
cd /
for options in "$work"/out/*.options; do
    target=${options%.options}
    mkdir "$work/corpus"
    if [ -f "${target}_seed_corpus.zip" ]; then
        python3 -m zipfile -e "${target}_seed_corpus.zip" "$work/corpus"
    fi
    "$target" -runs=200 -seed=1 "$work/corpus" >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log"; echo "$(basename "$target"): failed"; exit 1; }
    echo "$(basename "$target"): $(grep -c . <(ls "$work/corpus")) inputs, runs"
    rm -rf "$work/corpus"
done
