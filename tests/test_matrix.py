#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The matrix of other people's kernels: its runner, on a folder of adapters made here, and what the tree
holds of it. Needs no network, and of the frameworks NumPy alone."""

import json
import os
import re
import subprocess
import sys
import tempfile

from support.tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ADAPTERS = os.path.join(ROOT, "impl/adapters")
sys.path.insert(0, ADAPTERS)
import matrix_files  # noqa: E402
import matrix_page  # noqa: E402

BUILD = os.environ.get("BUILD", "build/default")
PYTHON = os.environ.get("PYTHON", sys.executable)
MOST_LINES = 10  # of a reproducer, without its licence line

KERNEL = """
import numpy as np
from attest_attention import kernel
import shared

@kernel("{name}", features=["mask-bool", "scale"], types=["f32"], shapes=["strides"], finite_only=True,
        isolation="extreme")
def attention(q, k, v, mask=None, scale=None):
    score = shared.scores(q, k) * np.float32({scale})
    score = score if mask is None else np.where(np.broadcast_to(mask, score.shape), score, -np.inf)
    top = np.maximum(score.max(3, keepdims=True, initial=-np.inf), np.finfo(np.float32).min)
    weight = np.exp(score - top)
    total = weight.sum(3, keepdims=True)
    return weight @ v / np.where(total > 0, total, 1)
"""
SCALE = "q.shape[3] ** -0.5 if scale is None else scale"
SHARED = "def scores(q, k):\n    return q @ k.swapaxes(2, 3)\n"
FAMILY = """
install = ["numpy"]
shows = "numpy"
[[kernel]]
name = "{name}"
title = "a {name} kernel"
target = "{name}.py:attention"
level = "smoke"
"""
FINDING = """
kernels = ["wrong"]
environment = "wrong"
kind = "defect"
class = 15
requirements = ["NUM-01"]
title = "the scale is forgotten"
seen = ["numpy"]
shows = "got 2"
text = "forgotten"
"""


class Folder:
    """A folder of adapters with an environment for each family: this interpreter."""

    def __init__(self, path):
        self.path = path
        self.put("shared.py", SHARED)
        self.family("right", KERNEL.format(name="right", scale=SCALE))
        self.family("wrong", KERNEL.format(name="wrong", scale="1 if scale is None else scale"))

    def put(self, name, text):
        matrix_files.write(os.path.join(self.path, name), text)

    def remove(self, *names):
        for name in names:
            os.remove(os.path.join(self.path, name))

    def read(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8") as file:
            return file.read()

    def family(self, name, adapter):
        self.put(name + ".py", adapter)
        self.put(name + ".toml", FAMILY.format(name=name))
        place = os.path.join(self.path, "environments", name, "bin")
        os.makedirs(place)
        os.symlink(PYTHON, os.path.join(place, "python"))

    def matrix(self, verb, *more):
        options = {"adapters": self.path, "environments": os.path.join(self.path, "environments"),
                   "out": os.path.join(self.path, "out"), "page": os.path.join(self.path, "matrix.md"),
                   "build": BUILD}
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(ADAPTERS, "matrix.py"), verb, *more,
             *(word for name, value in options.items() for word in ("--" + name, value))],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        return done.returncode, done.stdout

    def kernels(self):
        return json.loads(self.read("out/matrix.json"))["kernels"]


def test_runner(tap, folder):
    folder.family("broken", "import no_such_module\n")
    folder.put("unreadable.toml", "install = [")
    folder.put("misspelt.toml", FAMILY.format(name="misspelt").replace("title", "tilte"))
    code, text = folder.matrix("run")
    found = folder.kernels()
    verdicts = {name: one["verdict"] for name, one in found.items()}
    tap.report(verdicts == {"right": "restricted", "wrong": "failed", "broken": "ERROR"},
               "a right kernel, a wrong one, one that cannot be imported: each its verdict", text)
    tap.report("no_such_module" in found["broken"]["says"], "an error says why", found["broken"]["says"])
    tap.report("NUM-01" in found["wrong"]["evidence"] and
               {"line", "what", "expected", "actual", "place"} <= set(found["wrong"]["evidence"]["NUM-01"]),
               "what failed has its smallest case", json.dumps(found["wrong"]["evidence"]))
    tap.report(found["right"]["tightest"].get("fits") is not None, "a right kernel gets its arithmetic model",
               json.dumps(found["right"]["tightest"]))
    tap.report(found["right"]["version"] != "", "a row names the version of its framework")
    tap.report(all(f"matrix: {name}.toml: " in text for name in ("unreadable", "misspelt")),
               "a family that cannot be read is named, and stops no other", text)
    tap.report(code == 1 and "not recorded" in text and not os.path.exists(folder.path + "/results.json"),
               "what is not the whole is not recorded, and the exit status says so", text)
    code, text = folder.matrix("run")
    tap.report("right: restricted, as before" in text and "wrong: failed, as before" in text and
               "broken: ERROR (" in text, "goes on where it was stopped; an error is tried again", text)


def test_record(tap, folder):
    folder.remove("broken.toml", "broken.py", "unreadable.toml", "misspelt.toml")
    folder.put("findings/forgotten.toml", FINDING)
    folder.put("findings/forgotten.py", "print('got', 1)\n")
    code, text = folder.matrix("run")
    tap.report("forgotten: NOT shown: got 1" in text and "forgotten is not shown" in text and code == 1,
               "a reproducer that does not show its finding is no result", text)
    folder.put("findings/forgotten.py", "print('got', 2)\n")
    code, text = folder.matrix("run")
    tap.report(code == 0 and "forgotten: shown" in text, "all of it without an error is recorded", text)
    page, data = folder.read("matrix.md"), json.loads(folder.read("results.json"))
    tap.report("**Stale**" not in page and "the scale is forgotten" in page and "a wrong kernel" in page,
               "its page has the rows and the findings, and is not stale", page)
    tap.report(ROOT not in folder.read("results.json") and
               not any({"seconds", "key", "output"} & set(one) for one in data["kernels"]),
               "a record holds no path and no time")
    folder.matrix("page")
    tap.report(folder.read("matrix.md") == page, "the page is what results.json says")
    html = folder.read("out/index.html")
    shown = re.search(r'<script type="application/json" id="data">(.+?)</script>', html, re.DOTALL).group(1)
    tap.report({one["row"] for one in json.loads(shown)["kernels"]} == {"right", "wrong"} and
               not re.search(r'(src|href)="(https?:)?//', html), "the other page needs no network")
    folder.put("shared.py", SHARED + "# other\n")
    folder.matrix("page")
    tap.report("**Stale**: measured on other files (right, wrong)" in folder.read("matrix.md"),
               "with another file that adapters import the page says so", folder.read("matrix.md"))
    _, text = folder.matrix("run", "--only", "right")
    tap.report("matrix: 1/1 right: restricted, " in text and "as before" not in text,
               "and the kernel is measured again", text)


def test_tree(tap):
    families, problems = matrix_files.read_families(ADAPTERS)
    kernels = {kernel.row: kernel for family in families for kernel in family.kernels}
    tap.report(not problems, "each family can be read", problems)
    tap.report(not [row for row, one in kernels.items() if not matrix_files.declares(ADAPTERS, one)],
               "each kernel of a family is declared by its adapter")
    findings, bad = matrix_files.read_findings(ADAPTERS), []
    names = {one.name for one in kernels.values()}
    environments = {one.environment for one in kernels.values()}
    for name, said in findings.items():
        with open(os.path.join(ADAPTERS, "findings", name + ".py"), encoding="utf-8") as file:
            lines = [line for line in file if line.strip() and "SPDX" not in line]
        bad += [f"{name}: {len(lines)} lines"] if len(lines) > MOST_LINES else []
        bad += [f"{name}: attest in its reproducer"] if any("attest" in line for line in lines) else []
        bad += [f"{name}: no kernel {one}" for one in set(said["kernels"]) - names]
        bad += [f"{name}: no requirement {one}" for one in
                set(said["requirements"]) - set(matrix_files.requirements())]
        bad += [f"{name}: no environment"] if said["environment"] not in environments else []
    scripts = {name[:-3] for name in os.listdir(os.path.join(ADAPTERS, "findings")) if name.endswith(".py")}
    bad += [f"{name}: no .toml" for name in scripts - set(findings)]
    tap.report(not bad, "each finding has a reproducer of at most ten lines, without attest", bad)
    data = matrix_files.load_json(os.path.join(ADAPTERS, "results.json"))
    errors = [one["row"] for one in data["kernels"] if one["verdict"] == "ERROR"]
    tap.report(len(data["kernels"]) >= 20 and not errors, "the record has twenty kernels, without an error")
    silent = [f"{one['row']}: {name}" for one in data["kernels"] if one["verdict"] == "failed" and
              not one["findings"] for name in one["evidence"]]
    tap.report(not silent, "what failed has a finding", silent)
    with open(os.path.join(ROOT, "spec/matrix.md"), encoding="utf-8") as file:
        page = file.read()
    expected = matrix_page.markdown(data, ADAPTERS)
    tap.report(without_note(page) == without_note(expected),
               "spec/matrix.md is what results.json says (make matrix-page)")


def without_note(page):
    """Whether it is stale changes with every edit of the certifier."""
    return re.sub(r"\*\*Stale\*\*.+\n\n", "", page)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        test_runner(tap, folder)
        test_record(tap, folder)
    test_tree(tap)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
