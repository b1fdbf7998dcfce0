#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The recipes on this machine: make check-recipes. Shards merged must give the verdicts of the run
# in one piece. What is not installed is said and left out; Slurm needs root to be started.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
build=${BUILD:-$root/build/default}
case $build in /*) ;; *) build=$root/$build ;; esac
recipes=$root/ci/recipes
tmp=$(mktemp -d)
chmod 755 "$tmp"
started=
# Only what was started here, by its number.
finish() {
    for process in $started; do kill "$process" 2>/dev/null || :; done
    rm -rf "$tmp"
}
trap finish EXIT
export ATTEST="$build/attest" LEVEL=smoke
kernel=${KERNEL:-$build/mutants/memory-kv-head-0-for-all.so}
failed=0
cd "$tmp"

same() { # of two reports, what decides
    /usr/bin/python3 - "$1" "$2" <<'END'
import json, sys
def said(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return ({c["id"]: (c["verdict"], c.get("broken")) for c in report["cases"]},
            {k: report["certificate"][k] for k in ("certified", "reason", "restricted")})
one, other = said(sys.argv[1]), said(sys.argv[2])
sys.exit(one != other)
END
}
tell() {
    if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; failed=1; fi
}

status=0
OUT=$tmp/whole "$recipes/shell.sh" "$kernel" >whole.txt || status=$?
[ -s whole/report.html ] || status=2
tell "$((status != 1))" shell
status=0
"$recipes/shell.sh" "$kernel" whole/report.json >gate.txt || status=$?
tell "$status" 'shell, gate against itself'

if command -v parallel >/dev/null; then
    OUT=$tmp/parallel "$recipes/parallel.sh" "$kernel" 3 >parallel.txt 2>&1 || :
    status=0
    same whole/report.json parallel/report.json || status=1
    tell "$status" parallel
else
    echo "# no GNU parallel"
fi

start_slurm() {
    mkdir -p slurm/state slurm/spool slurm/munge
    chmod 711 slurm slurm/munge
    dd if=/dev/urandom of=slurm/key bs=1 count=128 2>/dev/null
    chmod 400 slurm/key
    /usr/sbin/munged --force --foreground --key-file="$tmp/slurm/key" \
        --socket="$tmp/slurm/munge/socket" --pid-file="$tmp/slurm/munge.pid" \
        --log-file="$tmp/slurm/munge.log" --seed-file="$tmp/slurm/munge.seed" &
    started="$started $!"
    host=$(hostname -s)
    cat >slurm/slurm.conf <<END
ClusterName=attest
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17817
SlurmdPort=17818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$tmp/slurm/munge/socket
CredType=cred/munge
StateSaveLocation=$tmp/slurm/state
SlurmdSpoolDir=$tmp/slurm/spool
SlurmctldPidFile=$tmp/slurm/slurmctld.pid
SlurmdPidFile=$tmp/slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF="$tmp/slurm/slurm.conf"
    sleep 1
    /usr/sbin/slurmctld -D >slurm/slurmctld.txt 2>&1 &
    started="$started $!"
    /usr/sbin/slurmd -D >slurm/slurmd.txt 2>&1 &
    started="$started $!"
    tries=0
    until sinfo -h -o %T 2>/dev/null | grep -q idle; do
        tries=$((tries + 1))
        [ "$tries" -lt 30 ] || return 1
        sleep 1
    done
}

if [ "$(id -u)" = 0 ] && command -v slurmctld >/dev/null; then
    if start_slurm && OUT=$tmp/array sbatch --wait --output="$tmp/slurm/%a.txt" \
        "$recipes/slurm.sh" "$kernel" >slurm.txt 2>&1; then
        "$ATTEST" merge array/1.json array/2.json array/3.json array/4.json \
            --json array.json >array.txt || :
        status=0
        same whole/report.json array.json || status=1
        tell "$status" slurm
    else
        cat slurm.txt slurm/slurmctld.txt slurm/slurmd.txt 2>/dev/null | tail -n 20 | sed 's/^/# /'
        tell 1 slurm
    fi
else
    echo "# no Slurm, or not root"
fi

if command -v cmake >/dev/null; then
    status=0
    { PATH=$build:$PATH cmake -S "$recipes" -B cmake -DATTEST_INCLUDE="$root/spec" \
        -DKERNEL_SOURCE="$root/impl/template.c" && cmake --build cmake &&
        ctest --test-dir cmake; } >cmake.txt 2>&1 || status=$?
    [ "$status" = 0 ] || tail -n 5 cmake.txt | sed 's/^/# /'
    tell "$status" cmake
else
    echo "# no CMake"
fi
exit "$failed"
