#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Builds every target for the engine and sanitizer that OSS-Fuzz asks for ($CC, $CFLAGS,
# $LIB_FUZZING_ENGINE), with corpus and dictionary beside it in $OUT.
cd "$SRC/attest"
case ${CXXFLAGS:-} in *libc++*) runtime=-lc++ ;; *) runtime=-lstdc++ ;; esac # of the engine
flags="-O1 -fno-omit-frame-pointer ${CFLAGS:-}"
make -j"$(nproc)" B=build/oss-fuzz CC="$CC" OPT="$flags" \
    WARNINGS= fuzz_engine="$LIB_FUZZING_ENGINE $runtime" fuzz_rpath='$$ORIGIN' fuzz-programs
while read -r target _; do
    case $target in '' | '#'*) continue ;; esac
    cp "build/oss-fuzz/fuzz/$target" "$OUT/"
    if [ -f "build/oss-fuzz/impl/lib$target.so" ]; then
        cp "build/oss-fuzz/impl/lib$target.so" "$OUT/"
    fi
    if [ -d "fuzz/corpus/$target" ]; then
        zip -qj "$OUT/${target}_seed_corpus.zip" fuzz/corpus/"$target"/*
    fi
    if [ -f "fuzz/dict/$target.dict" ]; then
        cp "fuzz/dict/$target.dict" "$OUT/"
    fi
    printf '[libfuzzer]\nmax_len = 2500\ntimeout = 20\n' >"$OUT/$target.options"
done <fuzz/floors.txt
# Shared libraries are not in the image that runs the targets.
for target in "$OUT"/*; do
    if [ -x "$target" ] && [ -f "$target" ]; then
        ldd "$target" | awk '/\/(libgsl|libgslcblas|libjansson|libmpfr|libgmp|libsodium|libprotobuf-c)/ { print $3 }'
    fi
done | sort -u | xargs -r cp -t "$OUT"
