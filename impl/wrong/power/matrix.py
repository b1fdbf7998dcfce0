#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the certifier over the mutants and over kernels that are right, and writes what it found.

usage: matrix.py first   [--build DIR] [--jobs N]   until the first kill: smoke, then quick
       matrix.py first   [--build DIR] [--jobs N] --level LEVEL   the same at one level
       matrix.py full    [--build DIR] [--jobs N] --level LEVEL   every check of a level
       matrix.py alarms  [--build DIR] [--jobs N] [--level LEVEL] [--seeds FROM-TO] [KERNEL...]
       matrix.py rules   [--build DIR]   the rules in use elsewhere, on the same kernels

All take up an interrupted run: a result that was measured on the same files is not measured again.
Results are in DIR/mutants/kill-matrix.json; `make power` turns them into spec/power.md.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "ci"))
from digest import digest  # noqa: E402

SOURCES = {
    "certifier": ["certify/*/*.[ch]", "certify/*/*.def", "reference/*/*.[ch]",
                  "vectors/*/*.[ch]", "vectors/manifest.b2"],
    "mutants": [f"impl/wrong/mutants/{name}" for name in (
        "base.h", "mutant_entry.h", "kept.h", "*_mutants.c")],
}


# They read reports back, for merge and diff, write a case as a program, or are an example of a
# reader: no part of a run.
AFTERWARDS = {"certify/report/report_load.c", "certify/cli/compare.c",
              "reference/problem/program.c", "reference/problem/program.h",
              "vectors/examples/check_kernel.c"}


def sources(name):
    """The files that decide a result."""
    found = {os.path.relpath(path, ROOT) for pattern in SOURCES[name]
             for path in glob.glob(os.path.join(ROOT, pattern))}
    return found - AFTERWARDS


def source_hash(name):
    return digest(sources(name))


def load_json(path, otherwise):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return otherwise


def save_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, sort_keys=True)
        file.write("\n")
    os.replace(path + ".new", path)


BAD = ("FAIL", "CRASH", "TIMEOUT", "ERROR", "UNSUPPORTED")


def named_class(report, rank=0):
    """The class that a report names first, or None; with rank 1 the second one."""
    diagnosis = report["diagnosis"]
    return str(diagnosis[rank]["class"]) if len(diagnosis) > rank else None


def classes_without(build, report, checks):
    """For each check that failed: the class that the same report names without its cases."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        for check in checks:
            merged = os.path.join(folder, f"without-{check}.json")
            rest = [case for case in report["cases"] if case["check"] != check]
            save_json(path, {**report, "cases": rest, "incomplete": f"without check {check}"})
            subprocess.run([f"{build}/attest", "merge", path, "--json", merged],
                           stdout=subprocess.DEVNULL, check=False)
            found[check] = named_class(load_json(merged, None))
    return found


def certify(build, kernel, level, seed=1, options=()):
    """The report of one run, cut down to what is kept, and how long it took."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        start = time.monotonic()
        done = subprocess.run([f"{build}/attest", "certify", kernel, "--level", level, "--quiet",
                               "--jobs", "1", "--seed", str(seed), "--json", path, *options],
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
        if done.returncode not in (0, 1) or not os.path.exists(path):
            raise RuntimeError(f"{kernel}: certify ended with {done.returncode}: {done.stderr}")
        report = load_json(path, None)
        if report["incomplete"] == "the run was interrupted":
            raise KeyboardInterrupt  # half a run is no result
    bad = [case for case in report["cases"] if case["verdict"] in BAD]
    checks = {}
    for case in bad:
        checks[case["check"]] = checks.get(case["check"], 0) + 1
    # Checks take turns: only a run that ends at its first failure tells how long that took.
    until = sum(case["seconds"] for case in report["cases"]) if bad and "--first-failure" in options else None
    return {
        "killed": bool(bad) or bool(report["load_error"]),
        "certified": report["certificate"]["certified"],
        "checks": checks,
        "class": named_class(report),
        "second": named_class(report, 1),
        "without": {} if "--first-failure" in options else classes_without(build, report, checks),
        "check": bad[0]["check"] if bad else None,
        "case": bad[0]["line"] if bad else None,
        "seconds": None if until is None else round(until, 3),
        "run_seconds": round(seconds, 3),
    }


def each(jobs, items, work):
    """Results of work(item), several at a time; progress on a terminal."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(work, item): item for item in items}
        try:
            for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
                if sys.stderr.isatty():
                    print(f"\r\033[K{number}/{len(items)} {futures[future]}", end="",
                          file=sys.stderr)
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what is not begun can wait
            raise
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def mutant_path(build, mutant):
    return f"{build}/mutants/{mutant.replace('/', '-')}.so"


class Matrix:
    """build/.../mutants/kill-matrix.json, saved after each result."""

    def __init__(self, build):
        self.build = build
        self.path = f"{build}/mutants/kill-matrix.json"
        self.certifier = [digest([f"{build}/attest"]), digest([f"{build}/attest-worker"])]
        self.data = load_json(self.path, {"results": {}, "alarms": {}})
        self.saved = time.monotonic()

    def stamp(self, kernel):
        return "-".join([*self.certifier, digest([kernel])])

    def measure(self, kind, name, kernel, level, seed=1, options=()):
        key = f"{kind} {level} {seed} {name}"
        group = self.data["alarms" if kind == "alarm" else "results"]
        stamp = self.stamp(kernel)
        if group.get(key, {}).get("stamp") != stamp:
            group[key] = dict(certify(self.build, kernel, level, seed, options), stamp=stamp)
        return group[key]

    def level_results(self, kind, level, names):
        """Results of the certifier and the mutants as they are now."""
        found = {}
        for name in names:
            result = self.data["results"].get(f"{kind} {level} 1 {name}")
            if result and result["stamp"] == self.stamp(mutant_path(self.build, name)):
                found[name] = result
        return found

    def current_alarms(self):
        return {key: result for key, result in self.data["alarms"].items()
                if result["stamp"].startswith("-".join(self.certifier))}

    def save(self, force=False):
        if force or time.monotonic() - self.saved > 10:
            self.saved = time.monotonic()
            save_json(self.path, self.data)


def table():
    return load_json(os.path.join(ROOT, "impl/wrong/mutants/mutants.json"), None)


def summarise(results, alarms):
    killed = [result for result in results.values() if result["killed"]]
    times = sorted(result["seconds"] for result in killed if result["seconds"] is not None)
    return {
        "mutants": len(results),
        "killed": len(killed),
        "median_seconds": statistics.median(times) if times else None,
        "worst_seconds": times[-1] if times else None,
        "false_alarms": sum(result["killed"] for result in alarms.values()),
        "runs": len(alarms),
    }


def summaries(matrix):
    """Per level; a full run counts before one to the first kill."""
    names = [mutant["id"] for mutant in table()["mutants"]]
    summary = {}
    for level in ("smoke", "quick"):
        alarms = {key: result for key, result in matrix.current_alarms().items()
                  if key.startswith(f"alarm {level} ")}
        results = {**matrix.level_results("first", level, names),
                   **matrix.level_results("full", level, names)}
        if results:
            summary[level] = summarise(results, alarms)
    return summary


def run_first(matrix, jobs, levels):
    """Each mutant until its first kill, what survives a level at the next one."""
    names = [mutant["id"] for mutant in table()["mutants"]]
    for level in levels:
        def work(name, level=level):
            return matrix.measure("first", name, mutant_path(matrix.build, name), level,
                                  options=["--first-failure"])
        survivors = []
        for name, result in each(jobs, names, work):
            matrix.save()
            if not result["killed"]:
                survivors.append(name)
        print(f"{level}: {len(names) - len(survivors)} of {len(names)} killed")
        names = sorted(survivors)
        for name in names:
            print(f"  survives {level}: {name}")
    return len(names)


def run_full(matrix, jobs, level):
    """Every check on every mutant."""
    def work(name):
        return matrix.measure("full", name, mutant_path(matrix.build, name), level)
    names = [mutant["id"] for mutant in table()["mutants"]]
    survivors = []
    for name, result in each(jobs, names, work):
        matrix.save()
        if not result["killed"]:
            survivors.append(name)
    print(f"{level}, every check: {len(names) - len(survivors)} of {len(names)} killed")
    for name in sorted(survivors):
        print(f"  survives {level}: {name}")
    return len(survivors)


def right_kernels(build):
    """Every kernel in the tree that is meant to be right."""
    return sorted(glob.glob(f"{build}/impl/lib*.so") + glob.glob(f"{build}/mutants/*-correct.so")
                  + glob.glob(f"{build}/emulators/*.so"))


def looser_models():
    """For each model those that it implies: the arrows of spec/error-model.md."""
    with open("spec/error-model.md", encoding="utf-8") as file:
        chains = [line.split() for line in file if line.startswith("    ") and " → " in line]
    below = {}
    for chain in chains:
        names = chain[::2]
        for stricter, looser in zip(names, names[1:]):
            below.setdefault(stricter, set()).add(looser)

    def closure(name):
        return set().union(*({next_} | closure(next_) for next_ in below.get(name, ())))

    return {name: sorted(closure(name)) for name in below}


def right_otherwise(build, seeds):
    """impl/right under its own model and every looser one: (kernel, seed, model, shard) to run. A
    looser model, under which only a failure counts, gets a quarter of the cases, another each seed."""
    looser, items = looser_models(), []
    for kernel in sorted(glob.glob(f"{build}/right/*.so")):
        own = subprocess.run([f"{build}/attest", "certify", kernel, "--only", "descriptor", "--quiet"],
                             capture_output=True, text=True, check=False).stdout
        own = own.split(", model ")[1].split()[0]
        items += [(kernel, seed, own, None) for seed in seeds]
        items += [(kernel, seed, model, f"{1 + (seed + at) % PARTS}/{PARTS}") for seed in seeds
                  for at, model in enumerate(looser.get(own, ()))]
    return items


def run_alarms(matrix, jobs, level, seeds, kernels):
    def work(item):
        kernel, seed, model, shard = item
        name = os.path.basename(kernel) + (f",{model}" if model else "")
        options = (["--model", model] if model else []) + (["--shard", shard] if shard else [])
        return matrix.measure("alarm", name, kernel, level, seed, options)
    items = [(kernel, seed, None, None) for seed in seeds for kernel in kernels]
    if kernels == right_kernels(matrix.build):
        items += right_otherwise(matrix.build, seeds)
    alarms = 0
    for (kernel, seed, model, _), result in each(jobs, items, work):
        matrix.save()
        # Under a looser model than its own a right kernel may leave the domain: no certificate then.
        if result["killed"] if model else not result["certified"]:
            alarms += 1
            print(f"  false alarm: {kernel} {model or ''} seed {seed}: {result['checks']} "
                  f"{result['case']}")
    print(f"{level}: {alarms} false alarms in {len(items)} runs")
    return alarms


PARTS = 4
RULES = ["allclose-2", "allclose-4", "twice-baseline", "nmse", "onnx"]


def run_rules(matrix):
    names = {mutant_path(matrix.build, mutant["id"]): mutant["id"] for mutant in table()["mutants"]}
    right = {kernel: os.path.basename(kernel) for kernel in right_kernels(matrix.build)}
    matrix.data["rules"] = {}
    for rule in RULES:
        done = subprocess.run([f"{matrix.build}/tests/support/common_rules", rule, *names, *right],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        found = {}
        for line in done.stdout.splitlines():
            path, verdict, where, seconds = line.split("\t")
            found[{**names, **right}[path]] = {"rejects": verdict == "rejects", "where": where,
                                               "seconds": float(seconds)}
        matrix.data["rules"][rule] = found
        matrix.save(force=True)
        rejected = sum(found[name]["rejects"] for name in names.values())
        alarms = sum(found[name]["rejects"] for name in right.values())
        print(f"{rule}: rejects {rejected} of {len(names)} mutants, "
              f"{alarms} of {len(right)} right kernels")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["first", "full", "alarms", "rules"])
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--build", default="build/default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--level")
    parser.add_argument("--seeds", default="1-1")
    arguments = parser.parse_args()
    matrix = Matrix(arguments.build)
    try:
        if arguments.command == "first":
            levels = [arguments.level] if arguments.level else ["smoke", "quick"]
            failures = run_first(matrix, arguments.jobs, levels)
        elif arguments.command == "full":
            failures = run_full(matrix, arguments.jobs, arguments.level or "smoke")
        elif arguments.command == "rules":
            failures = 0
            run_rules(matrix)
        else:
            low, high = map(int, arguments.seeds.split("-"))
            failures = run_alarms(matrix, arguments.jobs, arguments.level or "smoke",
                                  range(low, high + 1),
                                  arguments.kernels or right_kernels(arguments.build))
    finally:
        matrix.data["summary"] = summaries(matrix)
        matrix.save(force=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
