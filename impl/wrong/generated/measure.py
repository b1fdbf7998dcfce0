#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kill rate of the certifier on kernels drawn from a seed.

usage: measure.py --seed SEED [--count N] [--build DIR] [--jobs N] [--level LEVEL] [--table]

Each kernel is drawn (defects.py), shown to be wrong on some problem without the certifier (search.py,
show.c), then certified up to its first failure. One that could not be shown wrong is listed as
equivalent and not counted. Results are in DIR/generated/SEED.json, the table in SEED.md beside it; a
run that was interrupted is taken up, and a result of other programs is not reused.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import defects  # noqa: E402
import search  # noqa: E402

# No generated kernel hangs: a time-out is the machine's, and no kill.
BAD = ("FAIL", "CRASH", "ERROR", "UNSUPPORTED")
WRONG = ("value", "repeat", "stray", "fault")
RARITIES = ((0, 2), (2, 4), (4, 6), (6, 8), (8, 12), (12, 99))
SAVE_EVERY = 20


def show(build, kernel, defect):
    """(word, problem) of the first problem on which the kernel is wrong, or (None, None)."""
    for lines in search.candidates(defect, 1):
        done = subprocess.run([f"{build}/generated/show", f"{build}/generated/kernel.so", kernel],
                              input="\n".join(lines) + "\n", capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError(f"show: {done.stderr}")
        for word, line in zip(done.stdout.split(), lines):
            if word in WRONG:
                return word, line
    return None, None


def named_classes(text):
    return [line.split("class ")[1].split(",")[0] for line in text.splitlines()
            if line.startswith(("most likely: class ", "or: class "))]


def certify(build, kernel, level, folder):
    """Up to the first failure: what failed, how long it took, what was named."""
    path = os.path.join(folder, "report.json")
    start = time.monotonic()
    done = subprocess.run([f"{build}/attest", "certify", kernel, "--level", level, "--quiet", "--jobs",
                           "1", "--call-time", "300", "--first-failure", "--json", path],
                          capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode not in (0, 1):
        raise RuntimeError(f"certify ended with {done.returncode}: {done.stderr}")
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    if report["incomplete"] == "the run was interrupted":
        raise KeyboardInterrupt
    bad = [case for case in report["cases"] if case["verdict"] in BAD]
    requirements = report["certificate"].get("requirements", {})
    return {"killed": bool(bad) or bool(report["load_error"]),
            "certified": report["certificate"]["certified"],
            "check": bad[0]["check"] if bad else None, "case": bad[0]["line"] if bad else None,
            "seconds": round(sum(case["seconds"] for case in report["cases"]), 3),
            "run_seconds": round(seconds, 2),
            "classes": named_classes(done.stdout),
            "failed": sorted(name for name, state in requirements.items() if state == "failed"),
            "passed": sorted(name for name, state in requirements.items() if state == "passed")}


def one(build, level, seed, index):
    defect = defects.draw(seed, index)
    with tempfile.TemporaryDirectory() as folder:
        kernel = os.path.join(folder, "kernel.so")
        defects.write(defect, f"{build}/generated/kernel.so", kernel)
        word, line = show(build, kernel, defect)
        result = {"effect": defect.effect.name, "words": defect.words(), "bits": round(defect.bits(), 2),
                  "conditions": len(defect.conditions), "shown": word, "problem": line,
                  "subjects": [c.subject.name for c in defect.conditions]}
        return {**result, **certify(build, kernel, level, folder)} if word else result


def programs_hash(build, level):
    digest = hashlib.blake2b(level.encode(), digest_size=8)
    for name in ("attest", "attest-worker", "generated/kernel.so", "generated/show"):
        with open(f"{build}/{name}", "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def save(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=0, sort_keys=True)
        file.write("\n")
    os.replace(path + ".new", path)


def load(path, programs):
    try:
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
    except FileNotFoundError:
        return {}
    return kept["kernels"] if kept["programs"] == programs else {}


def measure(arguments, path):
    programs = programs_hash(arguments.build, arguments.level)
    kernels = load(path, programs)
    missing = [i for i in range(arguments.count) if str(i) not in kernels]

    def keep():
        save(path, {"seed": arguments.seed, "level": arguments.level, "programs": programs,
                    "kernels": kernels})
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {pool.submit(one, arguments.build, arguments.level, arguments.seed, i): i
                   for i in missing}
        try:
            for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
                kernels[str(futures[future])] = future.result()
                if number % SAVE_EVERY == 0 or number == len(missing):
                    keep()
                    counted = [k for k in kernels.values() if k["shown"]]
                    print(f"{len(kernels)} of {arguments.count} kernels, "
                          f"{sum(k['killed'] for k in counted)} of {len(counted)} killed",
                          file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            keep()
            raise
    return {name: k for name, k in kernels.items() if int(name) < arguments.count}


def wilson(killed, total):
    """95 % interval of a share."""
    if total == 0:
        return 0.0, 1.0
    z, share = 1.959964, killed / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total
                                               + z * z / (4 * total * total))
    return max(0.0, centre - half), min(1.0, centre + half)


def line_of(name, kernels):
    killed = sum(k["killed"] for k in kernels)
    low, high = wilson(killed, len(kernels))
    share = f"{100 * killed / len(kernels):.1f} %" if kernels else "–"
    return f"| {name} | {killed} of {len(kernels)} | {share} | {100 * low:.1f} – {100 * high:.1f} % |"


def grouped(kernels, key):
    groups = collections.defaultdict(list)
    for kernel in kernels:
        for name in key(kernel):
            groups[name].append(kernel)
    return groups


def naming(killed):
    by_name = {e.name: e for e in defects.tables()[0]}
    first = sum(bool(k["classes"]) and k["classes"][0] in by_name[k["effect"]].classes for k in killed)
    either = sum(bool(set(k["classes"]) & set(by_name[k["effect"]].classes)) for k in killed)
    failed = sum(by_name[k["effect"]].requirement in k["failed"] for k in killed)
    passed = sum(by_name[k["effect"]].requirement in k["passed"] for k in killed)
    return first, either, failed, passed


def page(arguments, kernels):
    counted = [k for k in kernels.values() if k["shown"]]
    killed = [k for k in counted if k["killed"]]
    heads = ["| | killed | | 95 % interval |", "|---|---|---|---|"]
    lines = [f"Seed `{arguments.seed}`, level {arguments.level}: {len(kernels)} kernels drawn, "
             f"{len(counted)} shown wrong, {len(kernels) - len(counted)} not (equivalent, not counted).",
             "", *heads, line_of("all", counted)]
    by_count = grouped(counted, lambda k: [k["conditions"]])
    lines += [line_of(f"{n} condition{'s' if n > 1 else ''}", by_count[n]) for n in sorted(by_count)]
    lines += ["", "By rarity of the trigger in bits:", "", *heads]
    for low, high in RARITIES:
        some = [k for k in counted if low <= k["bits"] < high]
        lines.append(line_of(f"{low} to {high}" if high < 99 else f"{low} and more", some))
    lines += ["", "By subject of a condition:", "", *heads]
    by_subject = grouped(counted, lambda k: set(k["subjects"]))
    lines += [line_of(name, by_subject[name]) for name in sorted(by_subject)]
    lines += ["", "By effect:", "", *heads]
    by_effect = grouped(counted, lambda k: [k["effect"]])
    lines += [line_of(name, by_effect[name]) for name in sorted(by_effect)]
    if killed:
        times = sorted(k["seconds"] for k in killed)
        runs = sorted(k["run_seconds"] for k in killed)
        first, either, failed, passed = naming(killed)
        lines += ["", f"Time to kill: cases alone median {statistics.median(times):.2f} s, 90 % within "
                  f"{times[int(0.9 * (len(times) - 1))]:.2f} s; whole run median "
                  f"{statistics.median(runs):.2f} s.",
                  f"Class named first right for {first} of {len(killed)}, among two for {either}. The"
                  f" requirement that is broken: failed for {failed}, passed for {passed} (of a run that"
                  " ends at its first failure)."]
    lines += ["", "Survivors:", ""]
    lines += sorted(f"- {k['words']}" for k in counted if not k["killed"]) or ["None."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--build", default="build/default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--level", default="quick")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    arguments = parser.parse_args()
    path = os.path.join(arguments.build, "generated", f"{arguments.seed}.json")
    if arguments.table:
        with open(path, encoding="utf-8") as file:
            kernels = json.load(file)["kernels"]
    else:
        kernels = measure(arguments, path)
    text = page(arguments, kernels)
    with open(path[:-5] + ".md", "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
