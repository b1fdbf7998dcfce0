#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# AFL++: a target of each kind is built and runs for some executions, one with the own mutator.
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
if ! command -v afl-clang-fast >/dev/null || ! command -v afl-fuzz >/dev/null; then
    echo "ok 1 - AFL++ # SKIP not on this machine (ci/deps fuzz)"
    echo "1..1"
    exit 0
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if make -s fuzz-afl AFL_TARGETS="naive profile" >"$out/log" 2>&1; then
    echo "ok 1 - targets build for AFL++"
else
    echo "not ok 1 - targets build for AFL++"
    sed 's/^/# /' "$out/log" | tail -n 20
fi
export AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_FAST_CAL=1 \
    AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
n=1
run() { # target, environment
    n=$((n + 1))
    mkdir "$out/in-$1"
    find "fuzz/corpus/$1" -type f | head -n 3 | xargs -I{} cp {} "$out/in-$1"
    env $2 afl-fuzz -E 400 -t 5000 -m none -i "$out/in-$1" -o "$out/$1" \
        -- "build/fuzz-afl/fuzz/$1" >"$out/log" 2>&1
    runs=$(sed -n 's/^execs_done *: //p' "$out/$1/default/fuzzer_stats" 2>/dev/null)
    saved=$(sed -n 's/^saved_crashes *: //p' "$out/$1/default/fuzzer_stats" 2>/dev/null)
    if [ "${runs:-0}" -ge 400 ] && [ "$saved" = 0 ]; then
        echo "ok $n - $1: $runs executions under AFL++ find nothing"
    else
        echo "not ok $n - $1: ${runs:-0} executions under AFL++, ${saved:-no} crashes"
        sed 's/^/# /' "$out/log" | tail -n 20
    fi
}
run naive "AFL_CUSTOM_MUTATOR_LIBRARY=$PWD/build/fuzz-afl/afl_mutator.so"
run profile ""
echo "1..$n"
