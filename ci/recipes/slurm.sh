#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#SBATCH --job-name=attest
#SBATCH --array=1-4
#SBATCH --cpus-per-task=1
# One shard a task: sbatch --wait slurm.sh KERNEL, then attest merge OUT/*.json. The number of shards
# is that of the array. Tried: Slurm 22.05 with one node (ci/recipes/test.sh).
set -eu
kernel=$1 out=${OUT:-attest-report} attest=${ATTEST:-attest}
mkdir -p "$out"
"$attest" certify "$kernel" --level "${LEVEL:-full}" --jobs 1 --quiet \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
    --json "$out/$SLURM_ARRAY_TASK_ID.json" || test $? -lt 2
