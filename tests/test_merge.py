#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shards that do not belong together are not merged, and the error names the field; diff says what is
other."""

import copy
import hashlib
import json
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.abspath(os.path.join(BUILD, "attest"))


def attest(*words):
    return subprocess.run([ATTEST, *words], capture_output=True, text=True, check=False)


def remove(report):
    report["cases"].pop()


def copy_over(report):
    report["cases"][1]["line"] = report["cases"][0]["line"]


def copy_whole(report):
    report["cases"][1] = dict(report["cases"][0])


def invent(report):
    report["cases"][0]["id"] = "0123456789abcdef"


def add(report):
    report["cases"].append(dict(report["cases"][0]))


def plan_less(report):
    report["planned"] -= 1


def set_field(*path, value):
    def change(report):
        for name in path[:-1]:
            report = report[name]
        report[path[-1]] = value
    return change


# what is done to the second of two shards: the field that the error names
DAMAGES = {
    "another file": (set_field("blake2b", value="0" * 64), "blake2b:"),
    "another suite": (set_field("suite", "version", value="0.0.9"), "suite:"),
    "another specification": (set_field("suite", "specification", value="0.9"), "specification:"),
    "another level": (set_field("level", value="quick"), "level:"),
    "another seed": (set_field("seed", value="2"), "seed:"),
    "other options": (set_field("options", value="--call-time 1"), "options:"),
    "other limits": (set_field("kernel", "max_keys", value=10), "kernel:"),
    "another isolation": (set_field("kernel", "isolation", value=1), "kernel:"),
    "another sandbox": (set_field("sandbox", value="relaxed"), "sandbox:"),
    "another target": (set_field("target", value="builtin:flash"), "target:"),
    "shard 0": (set_field("shard", value=0), "shard:"),
    "the first again": (set_field("shard", value=1), "shard:"),
    "more shards": (set_field("shards", value=3), "shards:"),
    "a smaller plan": (plan_less, "planned:"),
    "a case less": (remove, "cases:"),
    "a case more": (add, "cases:"),
    "a case under another's id": (copy_over, "cases:"),
    "a case twice": (copy_whole, "cases:"),
    "an invented id": (invent, "cases:"),
}


def damaged(shards, change, words, folder):
    first, second = os.path.join(folder, "first.json"), os.path.join(folder, "second.json")
    changed = copy.deepcopy(shards[1])
    change(changed)
    for path, report in (first, shards[0]), (second, changed):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(report, file)
    done = attest("merge", first, second)
    assert done.returncode == 2 and words in done.stderr and "certified" not in done.stdout, done


def both_alone(shards, folder):
    """What is wrong in all shards alike is held against the plan."""
    paths = [os.path.join(folder, f"{i}.json") for i in range(2)]
    for path, report in zip(paths, copy.deepcopy(shards)):
        report["planned"] -= 2
        report["cases"].pop()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(report, file)
    done = attest("merge", *paths)
    assert done.returncode == 2 and "planned:" in done.stderr, done


def whole(paths, shards, folder):
    merged = os.path.join(folder, "merged.json")
    done = attest("merge", *paths, "--json", merged)
    assert done.returncode == 0, done
    with open(merged, encoding="utf-8") as file:
        report = json.load(file)
    assert report["protections"] == shards[0]["protections"]
    with open(os.path.join(BUILD, "impl", "libnaive.so"), "rb") as file:
        assert report["blake2b"] == hashlib.blake2b(file.read(), digest_size=32).hexdigest()


def protections(shards, folder):
    """Of a merged report those that held in every shard."""
    path, merged = os.path.join(folder, "second.json"), os.path.join(folder, "merged.json")
    first = os.path.join(folder, "first.json")
    weaker = copy.deepcopy(shards[1])
    weaker["protections"].remove("calls")
    for to, report in (first, shards[0]), (path, weaker):
        with open(to, "w", encoding="utf-8") as file:
            json.dump(report, file)
    assert attest("merge", first, path, "--json", merged).returncode == 0
    with open(merged, encoding="utf-8") as file:
        assert "calls" in json.load(file)["unprotected"]


def diff(shards, folder):
    """Says what explains other results besides another kernel."""
    old, new = os.path.join(folder, "first.json"), os.path.join(folder, "second.json")
    changed = copy.deepcopy(shards[0])
    changed["suite"]["version"], changed["seed"] = "0.0.9", "2"
    for to, report in (old, shards[0]), (new, changed):
        with open(to, "w", encoding="utf-8") as file:
            json.dump(report, file)
    said = attest("diff", old, new).stdout
    assert "0.0.9" in said and "seed: 1 -> 2" in said and "file is the same" in said, said


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        paths, shards = [os.path.join(folder, f"shard{i}.json") for i in (1, 2)], []
        for i, path in enumerate(paths):
            attest("certify", "builtin:naive", "--level", "smoke", "--quiet", "--shard", f"{i + 1}/2",
                   "--json", path)
            with open(path, encoding="utf-8") as file:
                shards.append(json.load(file))
        tap.run("two shards", whole, paths, shards, folder)
        tap.run("what held everywhere", protections, shards, folder)
        tap.run("both with a case less", both_alone, shards, folder)
        tap.run("diff", diff, shards, folder)
        for name, (change, words) in DAMAGES.items():
            tap.run(name, damaged, shards, change, words, folder)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
