#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kill rate of the certifier on kernels drawn from a seed.

usage: measure.py --seed SEED [--count N] [--build DIR] [--jobs N] [--level LEVEL] [--rules N]
                  [--publish]
       measure.py --page      write spec/power-generated.md from impl/wrong/generated/results.json

Each kernel is drawn (defects.py), shown to be wrong on some problem without the certifier (search.py,
show.c), then certified up to its first failure. One that could not be shown wrong is listed as
equivalent and not counted. Results are in DIR/generated/SEED.json, the table in SEED.md beside it; a
run that was interrupted is taken up, and a result of other sources is not reused. --publish writes the
data and the page that are committed.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import defects  # noqa: E402
import page  # noqa: E402
import search  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "ci"))
from digest import digest  # noqa: E402

SOURCES = [f"certify/{folder}/*.{kind}" for kind in ("c", "h", "def")
           for folder in ("plan", "memory", "host", "worker", "checks", "judge", "run")]
SOURCES += ["reference/*/*.[ch]", "vectors/read/*.[ch]", "vectors/write/*.[ch]", "vectors/manifest.b2",
            "impl/wrong/generated/*.[ch]", "impl/wrong/generated/*.def", "impl/wrong/mutants/trial.[ch]",
            "impl/wrong/generated/defects.py", "impl/wrong/generated/search.py"]
RESULTS = os.path.join(ROOT, "impl/wrong/generated/results.json")
RULES = ("allclose-2", "allclose-4", "twice-baseline", "nmse", "onnx")
MOST_AT_ONCE = 500

# No generated kernel hangs: a time-out is the machine's, and no kill.
BAD = ("FAIL", "CRASH", "ERROR", "UNSUPPORTED")
WRONG = ("value", "repeat", "stray", "fault")
SAVE_EVERY = 5


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


def sources():
    """The files that decide whether a kernel is killed; how a report is printed does not."""
    found = {os.path.relpath(path, ROOT) for pattern in SOURCES
             for path in glob.glob(os.path.join(ROOT, pattern))}
    return sorted(found)


def measured_on(level):
    return digest(sources(), level)


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
    programs = measured_on(arguments.level)
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


def rules(arguments, kernels):
    """Which of the kernels each rule in use elsewhere rejects: of the first so many shown wrong."""
    chosen = [i for i in sorted(kernels, key=int) if kernels[i]["shown"]][:arguments.rules]
    program = f"{arguments.build}/tests/support/common_rules"
    names = [rule for rule in RULES if rule != "onnx" or os.environ.get("ATTEST_ONNX_DIR")]
    if len(names) < len(RULES):
        print("rule onnx is left out: ATTEST_ONNX_DIR names no folder of vectors", file=sys.stderr)
    for start in range(0, len(chosen), MOST_AT_ONCE):
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for i in chosen[start:start + MOST_AT_ONCE]:
                if set(kernels[i].get("rules", {})) != set(names):
                    paths[os.path.join(folder, f"{i}.so")] = kernels[i]
                    defects.write(defects.draw(arguments.seed, int(i)),
                                  f"{arguments.build}/generated/kernel.so",
                                  os.path.join(folder, f"{i}.so"))
            for rule in names if paths else ():
                done = subprocess.run([program, rule, *paths], capture_output=True, text=True,
                                      check=False)
                if done.returncode != 0:
                    raise RuntimeError(f"common_rules: {done.stderr}")
                for line in done.stdout.splitlines():
                    path, verdict = line.split("\t")[:2]
                    paths[path].setdefault("rules", {})[rule] = verdict == "rejects"


def published(arguments, kernels):
    """What the page needs, a line a kernel."""
    requirement = {e.name: e.requirement for e in defects.tables()[0]}
    classes = {e.name: e.classes for e in defects.tables()[0]}
    lines = []
    for i in sorted(kernels, key=int):
        k = kernels[i]
        line = {"words": k["words"], "effect": k["effect"], "subjects": k["subjects"],
                "bits": k["bits"], "conditions": k["conditions"], "shown": k["shown"]}
        if k["shown"]:
            named = [name in classes[k["effect"]] for name in k["classes"]]
            needs = requirement[k["effect"]]
            line.update(killed=k["killed"], check=k["check"], named_first=any(named[:1]),
                        named=any(named), rules=k.get("rules", {}), requirement="failed" if
                        needs in k["failed"] else "passed" if needs in k["passed"] else "open")
        lines.append(line)
    return {"seed": arguments.seed, "level": arguments.level,
            "measured_on": measured_on(arguments.level), "kernels": lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--build", default="build/default")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--level", default="quick")
    parser.add_argument("--rules", type=int, default=0, help="rules in use elsewhere, on so many")
    parser.add_argument("--publish", action="store_true", help="write the data and the page")
    parser.add_argument("--page", action="store_true", help="write the page from the data at hand")
    arguments = parser.parse_args()
    if arguments.page:
        with open(RESULTS, encoding="utf-8") as file:
            results = json.load(file)
        page.write(results, results["measured_on"] != measured_on(results["level"]))
        return 0
    if not arguments.seed:
        parser.error("--seed is needed")
    path = os.path.join(arguments.build, "generated", f"{arguments.seed}.json")
    kernels = measure(arguments, path)
    if arguments.rules:
        rules(arguments, kernels)
        save(path, {"seed": arguments.seed, "level": arguments.level,
                    "programs": measured_on(arguments.level), "kernels": kernels})
    results = published(arguments, kernels)
    text = page.text(results, False)
    with open(path[:-5] + ".md", "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")
    print(page.times(kernels), end="")
    if arguments.publish:
        with open(RESULTS, "w", encoding="utf-8") as file:
            head = {name: results[name] for name in ("seed", "level", "measured_on")}
            lines = ",\n".join(json.dumps(k, sort_keys=True) for k in results["kernels"])
            file.write(json.dumps(head)[:-1] + f', "kernels": [\n{lines}\n]}}\n')
        page.write(results, False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
