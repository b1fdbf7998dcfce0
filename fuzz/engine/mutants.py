# SPDX-License-Identifier: Apache-2.0
"""How long the fuzzer alone needs for each kernel that is wrong on purpose."""

import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile

from engine import FUZZ, HARNESS, ROOT, commit, finding_of, fuzz_once
from digest import digest

RECORDS = os.path.join(ROOT, "build/fuzz-mutants.jsonl")
DATA = os.path.join(ROOT, "fuzz/mutants.json")
WAIT = 1500  # seconds for one input: the process may be halted meanwhile


def all_mutants():
    with open(os.path.join(ROOT, "impl/wrong/mutants/mutants.json"), encoding="utf-8") as file:
        return [mutant["id"] for mutant in json.load(file)["mutants"]]


def kernel_of(name):
    return os.path.join(os.path.dirname(FUZZ), "mutants", name.replace("/", "-") + ".so")


def sources_of(name):
    headers = glob.glob(os.path.join(ROOT, "impl/wrong/mutants/*.h"))
    return [f"impl/wrong/mutants/{name.split('/')[0]}_mutants.c",
            *(os.path.relpath(path, ROOT) for path in headers)]


def digest_of(name):
    return digest([*sources_of(name), *HARNESS])


def built(name):
    """Whether the kernel is there and not older than its sources."""
    newest = max(os.path.getmtime(os.path.join(ROOT, source)) for source in sources_of(name))
    return os.path.exists(kernel_of(name)) and os.path.getmtime(kernel_of(name)) >= newest


def known_records():
    """What was measured already: (mutant, seed, hash of its sources) -> record."""
    known = {}
    if os.path.exists(RECORDS):
        with open(RECORDS, encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                known[record["mutant"], record["seed"], record["hash"]] = record
    return known


def measure(name, seed, seconds):
    """From an empty corpus until something is found, for so many CPU seconds at most."""
    if not built(name):
        raise RuntimeError(f"{name} is not built from these sources: make fuzz-mutants does it all")
    with tempfile.TemporaryDirectory() as artifacts:
        result = fuzz_once("any", seed, [f"-timeout={WAIT}"], artifacts, cpu=seconds,
                           env={**os.environ, "ATTEST_KERNEL": kernel_of(name)})
    finding = finding_of(result["output"])
    if result["code"] == -signal.SIGKILL:
        finding = "no answer"
    elif (result["code"] != 0) != bool(finding) or "no kernel to fuzz" in result["output"]:
        raise RuntimeError(f"{name}: {result['output'][-500:]}")
    return {"mutant": name, "seed": seed, "hash": digest_of(name), "found": bool(finding),
            "cpu": round(result["cpu"], 2), "executions": result["runs"], "finding": finding[:160]}


def recall(known, name, seed, seconds):
    """A record of an earlier run on the same sources, or a new one: (record, whether it is new)."""
    record = known.get((name, seed, digest_of(name)))
    if record is not None:
        return record, False
    record = {**measure(name, seed, seconds), "commit": commit()}
    with open(RECORDS, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    return record, True


def right_kernels(known, seconds):
    """The kernels that the mutants are made from: 1 if something is found in one of them."""
    for family in sorted({name.split("/")[0] for name in all_mutants()}):
        record, _ = recall(known, f"{family}/correct", 1, seconds)
        print(f"{family + ' without a defect':44} {record['finding'] or 'nothing found'}",
              flush=True)
        if record["found"]:
            return 1
    return 0


def control():
    """A wrong kernel must be found, and its problem shown by a program: (fine, what was said)."""
    name = "mask/window-left-exclusive"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ATTEST_KERNEL": kernel_of(name)}
        result = fuzz_once("any", 1, ["-runs=4000"], folder, env=environment)
        inputs = os.listdir(folder)
        if not finding_of(result["output"]) or len(inputs) != 1:
            return False, result["output"]
        source, program = os.path.join(folder, "shown.c"), os.path.join(folder, "shown")
        again = fuzz_once("any", 1, [os.path.join(folder, inputs[0])], folder,
                          env={**environment, "ATTEST_FUZZ_OUTPUT": source})
        said = again["output"]
        for command in (["clang-19" if shutil.which("clang-19") else "clang", "-fsanitize=address",
                         f"-I{ROOT}/spec", source, "-ldl", "-o", program],
                        [program, kernel_of(name)]):
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
            said += done.stdout + done.stderr
        return "status 0" in said and "o[0] is" in said, said


def collect(seeds=3):
    """What was measured here on these sources goes into the data in the tree, if anything was."""
    known, lines = known_records(), []
    keys = ("hash", "commit", "seed", "found", "cpu", "executions", "finding")
    for name in all_mutants():
        now = digest_of(name)
        runs = [known[name, seed, now] for seed in range(1, seeds + 1)
                if (name, seed, now) in known]
        if runs:
            shown = ("  " + json.dumps({key: run[key] for key in keys}) for run in runs)
            lines.append(f" {json.dumps(name)}: [\n" + ",\n".join(shown) + "\n ]")
    if lines:
        with open(DATA, "w", encoding="utf-8") as file:
            file.write(f'{{"all": {len(all_mutants())}, "mutants": {{\n' + ",\n".join(lines) +
                       "\n}}\n")


def command_mutants(options):
    """Every mutant, three seeds, from an empty corpus; resumes where it stopped."""
    known = known_records()
    if right_kernels(known, min(options.time, 10)):
        return 1
    names, found = all_mutants()[::options.every], set()
    # One seed of all before the second of any: what is measured by then is a fair part.
    for seed in range(1, options.seeds + 1):
        for name in names:
            record, new = recall(known, name, seed, options.time)
            found |= {name} if record["found"] else set()
            if new:
                print(f"{name:44} {seed} {record['cpu'] if record['found'] else '-':>6}  "
                      f"{record['finding'][:60]}", flush=True)
    print(f"{len(found)} of {len(names)} mutants found by the fuzzer alone, from an empty corpus")
    return 0 if len(found) >= 0.8 * len(names) else 1
