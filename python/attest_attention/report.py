# SPDX-License-Identifier: Apache-2.0
"""What a run found out."""

import html
import json
import os
import re
import tempfile

from . import declaration, program
from .reproducer import Shown

BAD = ("FAIL", "ERROR", "CRASH", "TIMEOUT")


class Failure:
    """One failed case. `inputs`, `options` and `reproducer` are of the smallest case that still fails
    the same requirement; it is looked for when one of them is first asked for."""

    def __init__(self, found, report):
        self.case, self.id, self.check = found["line"], found["id"], found["check"]
        self.verdict, self.what = found["verdict"], found.get("what", "")
        self.requirement, self.bug_class = found.get("broken", ""), found.get("class")
        value = found.get("value", {})
        self.tensor, self.place = value.get("tensor"), tuple(value.get("place", ()))
        self.expected, self.actual, self.radius = (
            float.fromhex(value[key]) if key in value and value[key] != "nan" else
            float("nan") if key in value else None for key in ("expected", "actual", "radius"))
        self._report, self._shrunk = report, None

    def _shrink(self):
        if self._shrunk is None:
            with tempfile.TemporaryDirectory(prefix="attest-") as folder:
                path = os.path.join(folder, "shown.py")
                status, out, errors = program.run(
                    ["shrink", self.case, self._report.target, "--output", path, "--time", "20",
                     *self._report.options])
                text = ""
                if status == 1 and os.path.exists(path):
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
            found = re.search(r"^  case +(.*)$", out, re.MULTILINE)
            self._shrunk = Shown(text, found.group(1) if found else self.case, self._report.function,
                                 errors.strip() or out.strip())
        return self._shrunk

    @property
    def reproducer(self):
        """A short Python program that calls the function on the shrunk inputs."""
        return self._shrink().program()

    @property
    def inputs(self):
        """Shrunk operands: "q", "k", "v", perhaps "mask" ..., as arrays of NumPy (bfloat16 as float32)."""
        return self._shrink().inputs

    @property
    def options(self):
        """What else the function is called with on them, operands among them."""
        return self._shrink().options

    def __str__(self):
        lines = [f"{self.verdict} {self.check}: {self.what}"]
        if self.requirement:
            lines.append(f"  requirement  {self.requirement}")
        if self.bug_class:
            lines.append(f"  class        {self.bug_class}")
        if self.tensor:
            place = ",".join(map(str, self.place))
            lines.append(f"  {self.tensor}[{place}] is {self.actual!r}, expected {self.expected!r}"
                         + (f" (radius {self.radius:.3g})" if self.radius else ""))
        return "\n".join([*lines, f"  case         {self.case}"])

    def __repr__(self):
        return f"<Failure {self.requirement or self.verdict} of {self.check}>"


class Report:
    """`data` is the whole of spec/report.schema.json; `fingerprint` the conventions found, empty for a
    run that was cut (only, skip, budget)."""

    def __init__(self, data, text, target, options, sent):
        self.data, self.text, self.target, self.options = data, text, target, options
        self._sent = sent  # keeps the function where the worker finds it
        self.function = sent.function
        certificate = data["certificate"]
        self.certified, self.restricted = certificate["certified"], certificate["restricted"]
        self.reason = certificate["reason"]
        self.requirements = dict(certificate["requirements"])
        self.seconds = data["seconds"]
        self.failures = [Failure(case, self) for case in data["cases"] if case["verdict"] in BAD]
        self.fingerprint = {one["question"]: one["answer"] for one in data.get("conventions", [])}

    @property
    def verdict(self):
        if self.certified:
            return f"certified (restricted: {self.restricted})" if self.restricted else "certified"
        return f"not certified: {self.reason}"

    def __bool__(self):
        return self.certified

    @property
    def first_failures(self):
        """One failure of each check and requirement."""
        seen = {}
        for failure in self.failures:
            seen.setdefault((failure.check, failure.requirement), failure)
        return list(seen.values())

    @property
    def declaration(self):
        """The decorator that says what was declared or found."""
        names = {"shapes": ("gqa", "dv", "empty", "strides", "mixed-types"),
                 "determinism": ("threads", "position", "batch", "chunk", "decode", "prefix")}
        found = self.data["kernel"]
        said = dict(declaration.DEFAULTS, types=found["types"], profile=self.data["profile"],
                    model=self.data["model"], finite_only=bool(found["finite_only"]),
                    features=[] if found["features"] == "none" else found["features"].split(","))
        said["isolation"] = ("none", "finite", "extreme", "bad-keys", "full")[found["isolation"]]
        for key, words in names.items():
            said[key] = [word for bit, word in enumerate(words) if found[key] >> bit & 1]
        return declaration.text(said)

    def save(self, path):
        """By the ending of the name: .html, .json, .md, .sarif, .svg (a badge), .txt, .xml (JUnit)."""
        views = {".html": "--html", ".md": "--markdown", ".sarif": "--sarif", ".svg": "--badge",
                 ".xml": "--junit"}
        ending = os.path.splitext(str(path))[1]
        if ending in views:
            with tempfile.TemporaryDirectory(prefix="attest-") as folder:
                report = os.path.join(folder, "report.json")
                self.save(report)
                status, _, errors = program.run(["report", report, views[ending], os.fspath(path)])
            if status == 2:
                raise OSError(errors.strip())
        elif ending in (".json", ".txt"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.text if ending == ".txt" else json.dumps(self.data, indent=1))
        else:
            raise ValueError(f"{path}: a report is saved as .json, .txt, {', '.join(views)}")

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<Report of {self.data['kernel']['name']}: {self.verdict}>"

    def _repr_html_(self):
        rows = "".join(f"<tr><td>{html.escape(key)}<td>{html.escape(state)}"
                       for key, state in sorted(self.requirements.items()) if state != "passed")
        passed = sum(state == "passed" for state in self.requirements.values())
        color = "#2a7d2a" if self.certified else "#b02020"
        shown = "".join(f"<pre>{html.escape(str(failure))}</pre>" for failure in self.first_failures[:10])
        return (f"<div><b>{html.escape(self.data['kernel']['name'])}</b>: "
                f"<b style='color:{color}'>{html.escape(self.verdict)}</b><br>"
                f"{len(self.data['cases'])} cases of level {html.escape(self.data['level'])}, "
                f"{self.seconds:.1f} s; {passed} requirements passed"
                + (f"<table>{rows}</table>" if rows else "") + shown + "</div>")
