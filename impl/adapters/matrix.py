#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The matrix: what attest says of the attention kernels that people ship.

usage: matrix.py install [--only FAMILY]...   an environment for each impl/adapters/FAMILY.toml
       matrix.py run [--only KERNEL]...       certify them, run the reproducers of the findings
       matrix.py record                       what was run becomes results.json and spec/matrix.md
       matrix.py page                         the pages from results.json

A result that was measured on the same files and packages is not measured again, an error is. Results
are in build/matrix/matrix.json; a run of everything without an error is recorded at its end.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import matrix_page
from matrix_files import (HERE, ROOT, adapter_digest, digest, finding_digest, group_of, interpreter,
                          load_json, packages, read_families, read_findings, requirements, seconds_of, write)
from matrix_install import install_all

LIMIT_SECONDS = 280    # of certify, where no budget is given
WHOLE_SECONDS = 300    # of a kernel: what is left is for its arithmetic model
MODEL_SECONDS = 90
FINDING_SECONDS = 120
GRACE_SECONDS = 120    # for ending: attest looks at failed cases once more
ROUNDING = {"NUM-01", "NUM-05", "NUM-07"}  # what a model decides (certify/cli/model_command.c)
RUNGS = ("threads", "position", "batch", "chunk", "decode", "prefix")
ISOLATION = ("none", "finite", "extreme", "bad-keys", "full")
BAD = ("FAIL", "CRASH", "TIMEOUT", "ERROR", "UNSUPPORTED")
DECLARED = ("profile", "model", "features", "types", "finite_only")
running = set()        # processes that an interrupt has to end


class Failed(Exception):
    """It could not be run: the reason."""


def output_of(words, seconds, **options):
    """What a command printed, and its exit status; 124 after the time."""
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", stdin=subprocess.DEVNULL, **options)
    running.add(child)
    try:
        return child.communicate(timeout=seconds)[0], child.returncode
    except subprocess.TimeoutExpired:
        child.kill()
        return child.communicate()[0], 124
    finally:
        running.discard(child)


def stop(*_):
    """Nothing is lost: what is finished has been written."""
    for child in list(running):
        child.send_signal(signal.SIGINT)
    os._exit(130)


class Memory:
    """As many kernels at once as their limits leave room for; one always runs."""
    def __init__(self):
        with open("/proc/meminfo", encoding="ascii") as file:
            self.free = int(re.search(r"MemAvailable: +(\d+)", file.read()).group(1)) // 1024
        self.users, self.changed = 0, threading.Condition()

    @contextlib.contextmanager
    def of(self, megabytes):
        with self.changed:
            self.changed.wait_for(lambda: self.users == 0 or megabytes <= self.free)
            self.free, self.users = self.free - megabytes, self.users + 1
        try:
            yield
        finally:
            with self.changed:
                self.free, self.users = self.free + megabytes, self.users - 1
                self.changed.notify_all()


# --- what is kept of a report

def states(report):
    """Requirement group -> state -> ids; what the report does not name was not run."""
    said, found = report["certificate"]["requirements"], {}
    for one in requirements():
        found.setdefault(group_of(one), {}).setdefault(said.get(one, "not run"), []).append(one)
    return found


def evidence(report):
    """Failed requirement -> the smallest of the cases that break it."""
    bad, found = [case for case in report["cases"] if case["verdict"] in BAD], {}
    for one, state in report["certificate"]["requirements"].items():
        cases = [case for case in bad if case.get("broken") == one] or \
            [case for case in bad if one in case.get("explanation", {}).get("requirements", ())]
        if state != "failed" or not cases:
            continue
        least = min(cases, key=lambda case: ("value" not in case, case.get("work", 0), case["line"]))
        found[one] = {key: least[key] for key in ("verdict", "line", "what") if key in least}
        found[one]["cases"] = len(cases)
        if "value" in least:
            value = least["value"]
            found[one]["place"] = f"{value['tensor']}{value['place']}"
            for key in ("expected", "actual"):
                found[one][key] = f"{value[key]} ({float.fromhex(value[key]):.9g})"
    return found


def rungs(report):
    """Rungs of determinism that held; "(found)" where the kernel does not claim them."""
    ladder = [(int(re.search(r" p0=(\d+)", case["line"]).group(1)), case) for case in report["cases"]
              if case["check"] == "ladder" and " p0=" in case["line"]]
    held = {rung for rung, case in ladder if case["verdict"] == "PASS"} - \
        {rung for rung, case in ladder if case.get("label") == "other bits"}
    return [name + ("" if report["kernel"]["determinism"] >> i & 1 else " (found)")
            for i, name in enumerate(RUNGS) if i in held]


def not_reached(report):
    checks = [case["check"] for case in report["cases"] if case["verdict"] == "NOT_RUN"]
    return {check: checks.count(check) for check in sorted(set(checks))}


def summary(report, text):
    """What the pages show of a report. What varies by size and spelling stands in its text alone."""
    certificate, kernel = report["certificate"], report["kernel"]
    if certificate["certified"]:
        verdict = "restricted" if certificate["restricted"] else "certified"
    else:
        verdict = "failed" if "failed" in certificate["requirements"].values() else "not certified"
    varies = re.search(r"\nby size and spelling\n((?:  .+\n)+)", text)
    return {"verdict": verdict, "says": certificate["restricted" if certificate["certified"] else "reason"],
            "declared": {key: kernel[key] for key in DECLARED}, "isolation": ISOLATION[kernel["isolation"]],
            "groups": states(report), "evidence": evidence(report), "rungs": rungs(report),
            "varies": [line.strip() for line in varies.group(1).splitlines()] if varies else [],
            "classes": [f"class {one['class']}, {one['title']}" for one in report["diagnosis"]],
            "conventions": {one["question"]: one["answer"] for one in report["conventions"]},
            "fits": report.get("fitting_profiles", ""), "tried": report["tried"]["largest"],
            "cases": {name: count for name, count in certificate["verdicts"].items() if count},
            "not_tried": report["tried"]["presets_not_tried"], "not_reached": not_reached(report)}


# --- running

class Matrix:
    def __init__(self, options):
        self.options, self.memory, self.lock = options, Memory(), threading.Lock()
        self.families, self.problems = read_families(options.adapters)
        self.kernels = {kernel.row: kernel for family in self.families for kernel in family.kernels}
        self.said = read_findings(options.adapters)
        self.packages = {name: packages(options.environments, name)
                         for family in self.families for name in family.environments}
        self.attest = os.path.abspath(os.path.join(options.build, "attest"))
        worker = glob.glob(os.path.join(options.build, "python/attest_attention/*.py"))
        self.suite = digest(os.path.abspath(path) for path in [self.attest, self.attest + "-worker", *worker])
        self.results = load_json(self.file("matrix.json"), {})
        for part, known in (("kernels", self.kernels), ("findings", self.said)):
            old = self.results.get(part, {})
            self.results[part] = {name: old[name] for name in old if name in known}
        self.done, self.total, self.broken = 0, 0, False

    def file(self, name):
        return os.path.abspath(os.path.join(self.options.out, name))

    def given(self, kernel):
        """attest's options for a kernel."""
        words = ["--level", self.options.level or kernel.level, "--memory", str(kernel.memory), "--jobs", "1"]
        words += ["--budget", kernel.budget] if kernel.budget else ["--time", str(LIMIT_SECONDS)]
        words += ["--load-time", str(kernel.load_time)] if kernel.load_time else []
        words += ["--read", os.path.relpath(self.options.adapters, ROOT)]  # what the adapter imports
        for name in kernel.read:
            inside = os.path.join(self.options.environments, kernel.environment, name)
            words += ["--read", inside if os.path.exists(inside) else name]
        return words

    def attest_on(self, kernel, verb, seconds, *words):
        target = "py:" + os.path.relpath(os.path.join(self.options.adapters, kernel.target), ROOT)
        python = interpreter(self.options.environments, kernel.environment)
        text, code = output_of([self.attest, verb, target, *self.given(kernel), "--quiet", *words], seconds,
                               cwd=ROOT, env=dict(os.environ, ATTEST_PYTHON=python))
        with open(self.file(kernel.row + ".log"), "w" if verb == "certify" else "a",
                  encoding="utf-8") as file:
            file.write(text)
        return text, code

    def certify(self, kernel):
        why = os.path.join(self.options.environments, kernel.environment + ".failed")
        if os.path.exists(why):
            with open(why, encoding="utf-8") as file:
                raise Failed("not installed: " + file.read())
        if self.packages[kernel.environment] is None:
            raise Failed("not installed: make matrix-install")
        path = self.file(kernel.row + ".json")
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        limit = GRACE_SECONDS + (seconds_of(kernel.budget) if kernel.budget else LIMIT_SECONDS)
        text, code = self.attest_on(kernel, "certify", limit, "--json", path, "--html",
                                    self.file(kernel.row + ".html"))
        report = load_json(path)
        if report is None or code not in (0, 1) or report["incomplete"] == "the run was interrupted":
            raise Failed(f"exit status {code}: " + " | ".join(text.strip().splitlines()[-5:]))
        if report["load_error"]:
            raise Failed(report["load_error"])
        return report, text

    def model(self, kernel, record, seconds):
        """The tightest arithmetic models it passes under, and why tighter ones fail; or a reason."""
        if set(record["evidence"]) - ROUNDING:
            return {"reason": "not asked: what fails is no matter of rounding"}
        if kernel.budget:
            return {"reason": "not asked: its calls take too long"}
        limit = max(20, min(MODEL_SECONDS, WHOLE_SECONDS - seconds))
        text, code = self.attest_on(kernel, "model", limit, "--level", "smoke")
        found = re.search(r"^declare \.model = (.+);", text, re.MULTILINE)
        if found is None:
            return {"reason": "not found in time" if code == 124 else text.strip().splitlines()[-1]}
        return {"fits": re.findall(r'"(.+?)"', found.group(1)),
                "tighter": dict(re.findall(r"^  (\S+) +fails  (.+)$", text, re.MULTILINE))}

    def kernel(self, kernel):
        """Its record and what to print, from an earlier run if nothing that it depends on has changed."""
        adapter, here = adapter_digest(self.options.adapters, kernel), self.packages[kernel.environment] or {}
        key = digest([], self.suite, adapter, json.dumps(here), *self.given(kernel))
        old = self.results["kernels"].get(kernel.row)
        if old and old["key"] == key and old["verdict"] != "ERROR":
            return old, f"{old['verdict']}, as before"
        record = {"key": key, "adapter": adapter, **dataclasses.asdict(kernel),
                  "level": self.options.level or kernel.level, "version": here.get(kernel.shows.lower(), "")}
        start = time.monotonic()
        with self.memory.of(kernel.memory):
            try:
                record.update(summary(*self.certify(kernel)))
                record["tightest"] = self.model(kernel, record, time.monotonic() - start)
            except Failed as why:
                record.update(verdict="ERROR", says=str(why))
        record["seconds"] = round(time.monotonic() - start, 1)
        said = record["says"][:200] if record["verdict"] == "ERROR" else " ".join(sorted(record["evidence"]))
        return record, f"{record['verdict']}{said and f' ({said})'}, {record['seconds']:.0f} s"

    def finding(self, name):
        """Whether the reproducer shows what is claimed, and what to print."""
        said, now = self.said[name], finding_digest(self.options.adapters, name)
        here = self.packages.get(said["environment"])
        key, old = digest([], now, json.dumps(here)), self.results["findings"].get(name)
        if old and old["key"] == key and old["shown"]:
            return old, "shown, as before"
        text, code = "not installed", 0
        if here is not None:
            with tempfile.TemporaryDirectory() as folder:
                place = os.path.abspath(self.options.adapters)
                text, code = output_of(
                    [interpreter(self.options.environments, said["environment"]), "-B",
                     os.path.join(place, "findings", name + ".py")],
                    FINDING_SECONDS, cwd=folder, env=dict(os.environ, PYTHONPATH=place))
        text += f"exit status {code}\n" if code else ""
        record = {"id": name, "key": key, "digest": now, "output": text[-2000:],
                  **{word: said[word] for word in said if word != "shows"},
                  "shown": re.search(said["shows"], text) is not None}
        return record, "shown" if record["shown"] else f"NOT shown: {' | '.join(text.splitlines()[-4:])}"

    def task(self, part, name, work, what):
        record, text = work(what)
        with self.lock:
            self.done += 1
            self.results[part][name] = record
            self.broken |= record.get("verdict") == "ERROR" or not record.get("shown", True)
            self.save()
            print(f"matrix: {self.done}/{self.total} {name}: {text}", flush=True)

    def save(self):
        write(self.file("matrix.json"), json.dumps(self.results, indent=1, sort_keys=True) + "\n")

    def changes(self):
        """What became of each kernel since its older versions: the table of attest diff."""
        found, kernels = [], self.results["kernels"]
        for row, old in sorted(kernels.items()):
            new = kernels.get(old["name"])
            if not old["older"] or new is None or "ERROR" in (old["verdict"], new["verdict"]):
                continue
            text, _ = output_of([self.attest, "diff", self.file(row + ".json"),
                                 self.file(old["name"] + ".json")], 60)
            write(self.file(row + ".diff"), text)
            lines = re.search(r"^requirement +.+\n(?:\S.*\n)+", text, re.MULTILINE).group().splitlines()
            words = lines.pop(0).split()[1:]
            counts = {line.rsplit(None, len(words))[0]: dict(zip(words, map(int, line.split()[-len(words):])))
                      for line in lines}
            found.append({"name": old["name"], "from": old["version"], "to": new["version"],
                          "verdicts": [old["verdict"], new["verdict"]], "cases": counts})
        return found

    def run(self):
        only = set(self.options.only)
        chosen = [one for one in self.kernels.values() if not only or {one.name, one.row} & only]
        unknown = only - {name for one in chosen for name in (one.name, one.row)}
        if unknown:
            raise SystemExit(f"matrix: no kernel {', '.join(sorted(unknown))}")
        findings = [name for name, one in self.said.items() if not only or only & set(one["kernels"])]
        self.total = len(chosen) + len(findings)
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            tasks = [pool.submit(self.task, "kernels", one.row, self.kernel, one) for one in chosen]
            tasks += [pool.submit(self.task, "findings", name, self.finding, name) for name in findings]
            for task in tasks:
                task.result()
        self.results.update(changes=self.changes(), measured_on=matrix_page.measured_on())
        self.save()
        matrix_page.write_html(self.compact(), self.options.out)

    def missing(self):
        """Why the results are not those of the whole matrix; empty if they are."""
        kernels, findings = self.results["kernels"], self.results["findings"]
        found = [f"{row} was not run" for row in self.kernels if row not in kernels]
        found += [f"{row} is an error" for row, one in kernels.items() if one["verdict"] == "ERROR"]
        found += [f"{row} ran at another level" for row, one in kernels.items()
                  if one["level"] != self.kernels[row].level]
        found += [f"{name} is not shown" for name in self.said if not findings.get(name, {}).get("shown")]
        return self.problems + found

    def compact(self):
        """What the pages read: lists in order, each kernel with its findings."""
        findings = [one for _, one in sorted(self.results["findings"].items())]
        kernels = [{**one, "row": row} for row, one in sorted(self.results["kernels"].items())]
        for one in kernels:
            one["findings"] = [found["id"] for found in findings if one["name"] in found["kernels"]]
        return {"measured_on": self.results["measured_on"], "kernels": kernels, "findings": findings,
                "changes": self.results["changes"]}

    def record(self):
        """results.json: a line a kernel, without what is other in every run or on every machine."""
        data = self.compact()
        parts = [f'"measured_on": {json.dumps(data.pop("measured_on"), sort_keys=True)}']
        for name, rows in data.items():
            kept = [{key: one[key] for key in one if key not in ("key", "seconds", "output")} for one in rows]
            lines = ",\n".join(json.dumps(one, sort_keys=True) for one in kept)
            parts.append(f'"{name}": [\n{lines}\n]')
        text = "{" + ",\n".join(parts) + "}\n"
        write(os.path.join(self.options.adapters, "results.json"), text.replace(ROOT + "/", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    tools = os.path.abspath(os.environ.get("ATTEST_TOOLS") or os.path.join(ROOT, ".tools"))
    parser.add_argument("verb", choices=["install", "run", "record", "page"])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--level", help="for all, in place of their own; such a run is not recorded")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/default"))
    parser.add_argument("--adapters", default=HERE)
    parser.add_argument("--environments", default=os.path.join(tools, "matrix"))
    parser.add_argument("--out", default=os.path.join(ROOT, "build/matrix"))
    parser.add_argument("--page", default=os.path.join(ROOT, "spec/matrix.md"))
    options = parser.parse_args()
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    if options.verb == "install":
        families, problems = read_families(options.adapters)
        print("".join(f"matrix-install: {one}\n" for one in problems), end="")
        install_all([family for family in families if not options.only or family.name in options.only],
                    options.environments, options.jobs)
        return 0  # what is missing is an error of its kernels
    os.makedirs(options.out, exist_ok=True)
    if options.verb != "page":
        matrix = Matrix(options)
        if options.verb == "run":
            matrix.run()
            print(f"matrix: {options.out}/index.html")
        missing = matrix.missing()
        for why in missing if options.verb == "record" or not options.only else ():
            print(f"matrix: {why}")
        if missing and options.verb == "run":
            print("matrix: not recorded, since it is not the whole")
            return 1 if matrix.broken else 0
        matrix.record()
    data = load_json(os.path.join(options.adapters, "results.json"))
    write(options.page, matrix_page.markdown(data, options.adapters))
    if options.verb == "page":
        matrix_page.write_html(data, options.out)
    print(f"matrix: {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
