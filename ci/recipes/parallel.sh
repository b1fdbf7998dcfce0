#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parallel.sh KERNEL SHARDS [HOSTS]: the shards of a run by GNU parallel, here or over ssh on hosts
# that share this folder (HOSTS as parallel --sshlogin takes them), merged into one verdict.
# Tried: parallel 20221122 on one machine; over ssh not.
set -eu
kernel=$1 shards=$2 hosts=${3:-:} out=${OUT:-attest-report} attest=${ATTEST:-attest}
mkdir -p "$out"
# A shard that is not certified is no reason to stop the others: merge decides.
seq "$shards" | parallel --will-cite --sshlogin "$hosts" --workdir "$PWD" --jobs "${JOBS:-1}" \
    "$attest certify '$kernel' --level ${LEVEL:-full} --jobs 1 --quiet --shard {}/$shards" \
    "--json $out/{}.json >$out/{}.txt 2>&1 || test \$? -lt 2"
set --
i=0
while [ $((i += 1)) -le "$shards" ]; do set -- "$@" "$out/$i.json"; done
exec "$attest" merge "$@" --json "$out/report.json" --html "$out/report.html"
