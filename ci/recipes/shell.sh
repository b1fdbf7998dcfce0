#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shell.sh KERNEL [BASELINE]: certify and, with a baseline report, gate on what got worse. Reports go
# to $OUT (default attest-report). Tried: dash and bash on Debian 12.
set -eu
kernel=$1 baseline=${2:-} out=${OUT:-attest-report} attest=${ATTEST:-attest}
mkdir -p "$out"
status=0
"$attest" certify "$kernel" --level "${LEVEL:-quick}" --quiet --json "$out/report.json" \
    --html "$out/report.html" --junit "$out/junit.xml" --sarif "$out/report.sarif" \
    --markdown "$out/summary.md" --badge "$out/badge.svg" --bundle "$out/run.attest" || status=$?
if [ -n "$baseline" ] && [ "$status" -lt 2 ]; then
    status=0
    "$attest" diff --gate "$baseline" "$out/report.json" || status=$?
fi
exit "$status"
