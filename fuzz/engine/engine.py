# SPDX-License-Identifier: Apache-2.0
"""One run of one target: the programs, their arguments, and what a run says.

Builds lie in build/fuzz (libFuzzer), build/fuzz-alone (no engine) and build/fuzz-cover (coverage).
"""

import os
import re
import select
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "ci"))  # for digest.py

FUZZ, ALONE, COVER = (os.path.join(ROOT, "build", name, "fuzz")
                      for name in ("fuzz", "fuzz-alone", "fuzz-cover"))
MOST_BYTES = {"safetensors": 1500, "manifest": 2500, "onnx": 1200, "wire": 1600, "protocol": 1500,
              "profile": 600, "arguments": 500, "reports": 1600}
# What turns bytes into a question to a kernel, and what judges the answer.
HARNESS = [f"fuzz/core/{name}.c" for name in ("decode", "fill", "examine", "relations", "poison")] + [
    f"reference/oracle/{name}.c" for name in ("bound", "oracle_finish", "oracle_load", "oracle_weigh")]
MEMORY = ["-rss_limit_mb=2048", "-malloc_limit_mb=1024"]


def read_floors():
    """Target -> {"speed": executions per CPU second, "cover": % of lines, "files": [names]}."""
    floors = {}
    with open(os.path.join(ROOT, "fuzz/floors.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                floors[words[0]] = {"speed": float(words[1]), "cover": float(words[2]),
                                    "files": words[3:]}
    return floors


def commit():
    return subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, check=False,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


def corpus_of(target):
    return os.path.join(ROOT, "fuzz/corpus", target)


def engine_arguments(target, seed, program=None):
    arguments = [program or os.path.join(FUZZ, target), "-print_final_stats=1",
                 f"-max_len={MOST_BYTES.get(target, 300)}", f"-seed={seed}", *MEMORY]
    dictionary = os.path.join(ROOT, "fuzz/dict", f"{target}.dict")
    return arguments + ([f"-dict={dictionary}"] if os.path.exists(dictionary) else [])


def cpu_of(pid):
    """CPU seconds that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def stop_after(child, cpu):
    """Waits until it ends; asks it to end once it has used so many CPU seconds."""
    handle = os.pidfd_open(child.pid)
    limit, ask = cpu, signal.SIGUSR1  # libFuzzer then ends in good order after the current input
    while not select.select([handle], [], [], max(0.1, limit - cpu_of(child.pid)))[0]:
        if cpu_of(child.pid) >= limit:
            child.send_signal(ask)
            limit, ask = limit + 30, signal.SIGKILL
    os.close(handle)


def measured(command, cpu=None, **options):
    """Runs a command, for so many CPU seconds at most: (exit code, output, CPU seconds)."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL, **options)
        if cpu:
            stop_after(child, cpu)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read().decode(errors="replace")
        return child.returncode, output, usage.ru_utime + usage.ru_stime


def fuzz_once(target, seed, more, artifacts, program=None, **options):
    command = engine_arguments(target, seed, program) + [f"-artifact_prefix={artifacts}/"] + more
    code, output, cpu = measured(command, **options)
    runs = re.search(r"number_of_executed_units:\s*(\d+)", output)
    cover = re.findall(r"cov: (\d+) ft: (\d+)", output)
    return {"target": target, "code": code, "output": output, "cpu": cpu,
            "runs": int(runs.group(1)) if runs else 0,
            "edges": int(cover[-1][0]) if cover else 0,
            "features": int(cover[-1][1]) if cover else 0}


def speed_of(result):
    return result["runs"] / result["cpu"] if result["cpu"] else 0.0


def finding_of(output):
    found = re.search(r"^MISMATCH .*|ERROR: \w*Sanitizer: \S+.*|.*runtime error: .*|"
                      r"ERROR: libFuzzer: .*", output, re.MULTILINE)
    return found.group(0).strip()[:300] if found else ""
