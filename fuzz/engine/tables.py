# SPDX-License-Identifier: Apache-2.0
"""fuzz/measured.md: what long runs and runs on mutants came to, from the data in the tree."""

import json
import os

import long
import mutants
from engine import ROOT, read_floors
from digest import digest

PAGE = os.path.join(ROOT, "fuzz/measured.md")


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def long_lines():
    data, targets, old = long.load(), list(read_floors()), stale()
    done = [t for t in targets if t in data and data[t]["seconds"] >= 600]
    lines = ["## Ten minutes of each target", "",
             f"{len(done)} of {len(targets)} targets have had their 600 CPU seconds, with ASan and "
             "UBSan on one core, from the corpus in the tree;",
             "what was found on the way is fixed in the tree and its input in the corpus.", "",
             row("target", "CPU seconds", "executions", "per second", "edges", "found", "sources",
                 "commit"), "|---|---|---|---|---|---|---|---|"]
    for target in targets:
        entry = data.get(target)
        if entry is None:
            lines.append(row(target, "not yet", "", "", "", "", "", ""))
            continue
        found = "; ".join(text.split(":")[0] for text in entry["findings"]) or "nothing"
        seconds, executions = entry["seconds"], entry["executions"]
        lines.append(row(target, seconds, executions, round(executions / seconds), entry["edges"],
                         found, "**stale**" if target in old else entry["hash"], entry["commit"]))
    return lines


def middle(values):
    return sorted(values)[len(values) // 2]


def mutant_lines():
    if not os.path.exists(mutants.DATA):
        return []
    with open(mutants.DATA, encoding="utf-8") as file:
        data = json.load(file)
    runs = data["mutants"]
    measured = list(runs)
    found = [name for name in measured if any(run["found"] for run in runs[name])]
    always = [name for name in measured if all(run["found"] for run in runs[name])]
    seeds = {len(runs[name]) for name in measured}
    commits = sorted({run["commit"] for name in measured for run in runs[name]})
    share = f"{100 * len(found) / max(len(measured), 1):.0f} %"
    lines = ["", "## Kernels that are wrong on purpose", "",
             "From an empty corpus, at most 60 CPU seconds, seeds: "
             f"{' or '.join(map(str, sorted(seeds)))}. Of {data['all']} mutants {len(measured)} are",
             f"measured: {len(found)} ({share}) are found with one seed or more, {len(always)} with "
             f"every one. Measured at {', '.join(commits)}.", "",
             row("mutant", "found", "median CPU seconds", "median executions", "first finding"),
             "|---|---|---|---|---|"]
    for name in measured:
        hits = [run for run in runs[name] if run["found"]]
        if hits:
            finding = hits[0]["finding"].replace("|", "/")
            finding = finding.split(" on ")[0].split(": o[")[0][:48]
            lines.append(row(name, f"{len(hits)}/{len(runs[name])}",
                             middle([r["cpu"] for r in hits]),
                             middle([r["executions"] for r in hits]), finding))
        else:
            lines.append(row(name, f"0/{len(runs[name])}", "", "", ""))
    return lines


def text():
    head = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "# What fuzzing came to", "",
            "Written by `fuzz/run tables` from `long.json` and `mutants.json`: `make fuzz-long`, "
            "`make fuzz-mutants`.", ""]
    return "\n".join(head + long_lines() + mutant_lines()) + "\n"


def stale():
    """What was measured on other sources than those in the tree."""
    data = long.load()
    return [target for target in data if data[target]["hash"] != digest(long.sources_of(target))]


def command_tables(_options):
    long.collect()
    mutants.collect()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text())
    print("measured on other sources:", " ".join(stale()) or "nothing")
    return 0


def fresh():
    """Whether the page is what the data give."""
    with open(PAGE, encoding="utf-8") as file:
        return file.read() == text()
