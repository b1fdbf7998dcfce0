#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The other builds: clang without a warning, and the fast unit tests under ASan and UBSan.
set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
number=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

step() { # NAME COMMAND...
    number=$((number + 1))
    name=$1
    shift
    if "$@" >"$log" 2>&1; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        sed 's/^/# /' "$log" | tail -n 40
    fi
}

step "clang builds everything without a warning" make -s CC=clang-19 all

san=build/default-san-address-undefined
for test in reference check convert micro safetensors template onnx; do
    step "test_$test builds under ASan and UBSan" \
        make -s SAN=address,undefined "$san/tests/test_$test"
    step "test_$test passes under ASan and UBSan" "$san/tests/test_$test"
done
echo "1..$number"
