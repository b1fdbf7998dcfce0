# SPDX-License-Identifier: Apache-2.0
"""Ten minutes of each target, in parts: a run that is interrupted goes on where it stopped.

Time is CPU time, so that a busy machine changes nothing but the hour at which it ends. Several may
run at once: a target belongs to the one that has its lock. The programs are copied first, so that
a build meanwhile changes nothing.
"""

import fcntl
import glob
import json
import os
import shutil

from engine import FUZZ, HARNESS, ROOT, commit, corpus_of, finding_of, fuzz_once, read_floors
from digest import digest

PART = 60    # CPU seconds
WAIT = 1500  # seconds after which an input counts as endless: the process may be halted meanwhile
SCRATCH = os.path.join(ROOT, "build/fuzz-long")
PARTS = os.path.join(ROOT, "build/fuzz-long.jsonl")
DATA = os.path.join(ROOT, "fuzz/long.json")
# What a mistake in would cost most comes first.
ORDER = ["flash", "tiled", "flash64", "naive", "safetensors", "onnx", "oracles", "reference",
         "wire", "protocol", "manifest", "check", "profile", "arguments", "reports"]


def sources_of(target):
    """The code under test, as floors.txt names it, and what asks the questions."""
    names = list(read_floors()[target]["files"])
    own = os.path.join("fuzz/targets", f"{target}_target.c")
    if os.path.exists(os.path.join(ROOT, "impl/kernels", f"{target}.c")):
        names += [f"impl/kernels/{target}.c", "fuzz/targets/kernel_target.c"]
    if "impl/frame/frame.c" in names:
        names += ["impl/kernels/engine_*.c", "impl/micro/*.[ch]", "impl/micro/*/*.[ch]", "impl/frame/pool.c",
                  "impl/frame/*.h"]
    names += [own] if os.path.exists(os.path.join(ROOT, own)) else []
    structured = "fuzz/targets/kernel_target.c" in names or target in ("reference", "oracles", "check")
    names += HARNESS if structured else []
    return {os.path.relpath(path, ROOT) for name in names
            for path in glob.glob(os.path.join(ROOT, name))}


def copy_of(target, sources):
    """The program as it is now, with its kernel beside it."""
    place = os.path.join(SCRATCH, sources)
    program = os.path.join(place, "fuzz", target)
    if not os.path.exists(program):
        os.makedirs(os.path.dirname(program), exist_ok=True)
        os.makedirs(os.path.join(place, "impl"), exist_ok=True)
        kernel = os.path.join(os.path.dirname(FUZZ), "impl", f"lib{target}.so")
        if os.path.exists(kernel):
            shutil.copy(kernel, os.path.join(place, "impl"))
        shutil.copy(os.path.join(FUZZ, target), program + ".part")
        os.rename(program + ".part", program)
    return program


def parts_of(target, sources=None):
    """The parts measured on these sources; without a digest, on those measured last."""
    if not os.path.exists(PARTS):
        return []
    with open(PARTS, encoding="utf-8") as file:
        records = [r for r in map(json.loads, file) if r["target"] == target]
    sources = sources or (records[-1]["hash"] if records else None)
    return [r for r in records if r["hash"] == sources]


def total_of(parts):
    return {"hash": parts[0]["hash"], "commit": parts[0]["commit"],
            "seconds": round(sum(p["seconds"] for p in parts)),
            "executions": sum(p["executions"] for p in parts),
            "edges": max(p["edges"] for p in parts), "features": max(p["features"] for p in parts),
            "findings": [p["finding"] for p in parts if p["finding"]]}


def collect():
    """What was measured here goes into the data in the tree; what was not stays as it is."""
    data = load()
    for target in ORDER:
        parts = parts_of(target, digest(sources_of(target))) or parts_of(target)
        if parts:
            data[target] = total_of(parts)
    with open(DATA, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)
        file.write("\n")


def load():
    if not os.path.exists(DATA):
        return {}
    with open(DATA, encoding="utf-8") as file:
        return json.load(file)


def one_part(target, program, sources, head, number):
    grown = os.path.join(SCRATCH, "corpus", target)
    found = os.path.join(ROOT, "build/fuzz-found", target)
    os.makedirs(grown, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    result = fuzz_once(target, 1000 + number, [f"-timeout={WAIT}", grown, corpus_of(target)], found,
                       program, cpu=PART)
    finding = finding_of(result["output"]) if result["code"] else ""
    if result["code"] and not finding:
        finding = f"ended with {result['code']}"
    with open(os.path.join(SCRATCH, f"{target}.log"), "a", encoding="utf-8") as file:
        file.write(result["output"][-4000:] if finding else "")
    return {"target": target, "hash": sources, "commit": head, "part": number,
            "seconds": round(result["cpu"], 1), "executions": result["runs"],
            "edges": result["edges"], "features": result["features"], "finding": finding}


def one_target(target, program, sources, head, seconds):
    """1 if something was found."""
    parts = parts_of(target, sources)
    while sum(p["seconds"] for p in parts) < seconds and not any(p["finding"] for p in parts):
        parts.append(one_part(target, program, sources, head, len(parts)))
        with open(PARTS, "a", encoding="utf-8") as file:
            file.write(json.dumps(parts[-1]) + "\n")
    total = total_of(parts)
    print(f"{target:12} {total['executions']:9} executions in {total['seconds']} CPU seconds  "
          f"{'; '.join(total['findings']) or 'nothing found'}", flush=True)
    return bool(total["findings"])


def command_long(options):
    """Each target for ten minutes of CPU time, what matters most first; `tables` collects."""
    os.makedirs(SCRATCH, exist_ok=True)
    todo = []
    for target in sorted(options.targets, key=ORDER.index):
        sources = digest(sources_of(target))
        todo.append((target, copy_of(target, sources), sources))
    bad, head = 0, commit()
    for target, program, sources in todo:
        with open(os.path.join(SCRATCH, f"{target}.lock"), "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            bad |= one_target(target, program, sources, head, options.time)
    return int(bad)
