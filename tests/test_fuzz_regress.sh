#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: the corpus under sanitizers, its coverage, a fixed run of each, and their speed.
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! make -s fuzz-build fuzz-alone fuzz-cover >"$log" 2>&1; then
    echo "not ok 1 - the fuzz targets build"
    sed 's/^/# /' "$log" | tail -n 30
    exit 1
fi
exec "${PYTHON:-python3}" fuzz/run test
