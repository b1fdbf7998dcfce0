#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a failed run says is true: which tensor was left, which requirement is broken or in question,
for which keys, and which command shows it again. Mistakes are planted into copies of the template."""

import json
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
CC = os.environ.get("CC", "gcc").split()
VALUE = "*o = before + weight * *at(&p->v, b, g, j, c);"


def attest(*words):
    return subprocess.run([os.path.join(BUILD, "attest"), *words], capture_output=True, text=True,
                          timeout=300, check=False)


def planted(folder, old, new):
    with open("impl/template.c", encoding="ascii") as file:
        text = file.read()
    assert old in text, f"impl/template.c has no {old!r} any more"
    source, kernel = os.path.join(folder, "k.c"), os.path.join(folder, "k.so")
    with open(source, "w", encoding="ascii") as file:
        file.write(text.replace(old, new))
    subprocess.run([*CC, "-O2", "-shared", "-fPIC", "-Ispec", source, "-o", kernel, "-lm"], check=True)
    return kernel


def report(folder, kernel, only):
    path = os.path.join(folder, "report.json")
    done = attest("certify", kernel, "--level", "smoke", "--quiet", "--only", only, "--first-failure",
                  "--jobs", "1", "--json", path)
    with open(path, encoding="utf-8") as file:
        return done, json.load(file)


def an_offset_that_overflows_is_of_its_own_tensor(folder):
    kernel = planted(folder, VALUE, VALUE.replace("*at(&p->v, b, g, j, c)",
                                                  "*(at(&p->v, b, g, j, c) - ((int64_t)1 << 29))"))
    _, found = report(folder, kernel, "oracle")
    said = [case["what"] for case in found["cases"] if case["verdict"] == "CRASH"]
    assert said and "read of v, 21474" in said[0] and "before its first" in said[0], said


def a_replayed_line_is_reproduced_by_its_line(_):
    line = "check=oracle sq=3 sk=5 d=4 dv=4 qk=bell v=bell seed=5"
    done = attest("replay", line, "builtin:naive")
    assert f"reproduce    attest replay '{line}'" in done.stdout, done.stdout


def what_it_is_right_without_is_named(folder):
    kernel = planted(folder, VALUE, VALUE.replace("weight *", "(p->threads > 2 ? 2 : 1) * weight *"))
    _, found = report(folder, kernel, "oracle")
    because = [case.get("explanation", {}).get("because", "") for case in found["cases"]
               if case["verdict"] == "FAIL"]
    assert because and "right without threads" in because[0], because
    assert found["certificate"]["requirements"]["DET-03"] == "failed", found["certificate"]["requirements"]


def keys_from_one_on_are_named(folder):
    kernel = planted(folder, "sum += weight;", "weight *= j >= 5 ? 2 : 1; sum += weight;")
    _, found = report(folder, kernel, "oracle")
    because = [case.get("explanation", {}).get("because", "") for case in found["cases"]
               if case["verdict"] == "FAIL"]
    assert because == ["keys are counted twice, for keys from 5 on"], because
    states = found["certificate"]["requirements"]
    assert states["SEM-06"] == states["SEM-07"] == "failed", states


def what_a_failed_case_needs_is_in_question(folder):
    kernel = planted(folder, "i + keys - p->q.shape[2] + 1;", "i + keys - p->q.shape[2] + 2;")
    done, found = report(folder, kernel, "mask-readback")
    states = found["certificate"]["requirements"]
    assert states["MASK-01"] == "failed", states
    failed = [case for case in found["cases"] if case["verdict"] == "FAIL"]
    for case in failed:
        for name in case["requirements"]:
            assert states[name] in ("failed", "in question"), (name, states[name])
    assert "explained by the causal mask shows one key more" in done.stdout, done.stdout


def main():
    tap = Tap()
    for function in (an_offset_that_overflows_is_of_its_own_tensor,
                     a_replayed_line_is_reproduced_by_its_line, keys_from_one_on_are_named,
                     what_it_is_right_without_is_named,
                     what_a_failed_case_needs_is_in_question):
        with tempfile.TemporaryDirectory() as folder:
            tap.run(function.__name__, function, folder)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
