#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From measured results to spec/power.md.

usage: power.py collect [--build DIR]   take DIR/mutants/kill-matrix.json into results.json
       power.py page                    write spec/power.md from results.json

The page says by itself when the results were measured on other sources than those beside it.
"""

import argparse
import os
import sys

import matrix

sys.path.insert(0, os.path.join(matrix.ROOT, "certify/plan"))
import classes  # noqa: E402

RESULTS = os.path.join(matrix.ROOT, "impl/wrong/power/results.json")
PAGE = os.path.join(matrix.ROOT, "spec/power.md")
RULE_TEXT = {
    "allclose-2": "allclose, 1e-2 + 1e-2·\\|y\\|, five seeds, one shape, plain and causal",
    "allclose-4": "allclose, 1e-4 + 1e-4·\\|y\\|, the same",
    "twice-baseline": "twice the error of a plain version, FlashAttention's lengths up to 512",
    "nmse": "NMSE ≤ 5e-4, ggml's lengths and options",
    "onnx": "the ONNX vectors at 1e-7 + 1e-3·\\|y\\|",
}


def level_data(measured, level, names):
    """What killed each mutant at a level. A full run says more than one to the first kill."""
    found = {}
    for kind in ("first", "full"):
        for name, result in measured.level_results(kind, level, names).items():
            found[name] = {"killed": result["killed"], "check": result["check"],
                           "checks": sorted(result["checks"]) if kind == "full" else None,
                           "class": result["class"] if kind == "full" else None,
                           "second": result.get("second") if kind == "full" else None,
                           "without": result.get("without") if kind == "full" else None}
    return found


def collect(build):
    measured = matrix.Matrix(build)
    data = measured.data
    names = [mutant["id"] for mutant in matrix.table()["mutants"]]
    results = {
        "measured_on": {name: matrix.source_hash(name) for name in matrix.SOURCES},
        "levels": {level: level_data(measured, level, names) for level in ("smoke", "quick")},
        "rules": {rule: sorted(name for name, result in found.items() if result["rejects"])
                  for rule, found in data.get("rules", {}).items()},
        "right_kernels": sorted({key.split()[-1] for key in measured.current_alarms()}),
        "alarms": {},
    }
    for key, result in measured.current_alarms().items():
        entry = results["alarms"].setdefault(key.split()[1], {"runs": 0, "alarms": []})
        entry["runs"] += 1
        if not result["certified"]:
            entry["alarms"].append(key)
    matrix.save_json(RESULTS, results)


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "–"


def check_names():
    """The certifier's checks, from its list."""
    with open(os.path.join(matrix.ROOT, "certify/plan/checks.def"), encoding="utf-8") as file:
        return [line.split("(")[1].split(")")[0].split(",")[0].strip().strip('"').replace("_", "-")
                for line in file if "(" in line and not line.lstrip().startswith(("/", "*", "#"))]


def class_order(name):
    return (0, int(name), "") if name.isdigit() else (1, 0, name)


# What mutants are for that are of no bug class.
OTHER_KINDS = {"cheat": "made to pass without the work", "interface": "the kernel ABI"}


def by_class(table, levels):
    titles = {str(one.number): one.title
              for one in classes.read(os.path.join(matrix.ROOT, "spec/classes.md"))}
    titles.update(OTHER_KINDS)
    lines = ["| class | | mutants | smoke | quick |", "|---|---|---|---|---|"]
    for number in sorted({mutant["class"] for mutant in table["mutants"]}, key=class_order):
        names = [mutant["id"] for mutant in table["mutants"] if mutant["class"] == number]
        cells = []
        for level in ("smoke", "quick"):
            known = [name for name in names if name in levels[level]]
            killed = sum(levels[level][name]["killed"] for name in known)
            all_run = len(known) == len(names)
            cells.append(f"{killed}" if all_run else f"{killed} of {len(known)} run")
        lines.append(f"| {number} | {titles[number]} | {len(names)} | "
                     f"{' | '.join(cells)} |")
    return lines


# The golden vectors are published and the same in every run, so a kernel can be made for them: what
# they find as well still has to be found by something else.
PUBLISHED = "vectors"


def needs(mutant, result):
    """The checks this mutant needs: the only one that kills it, or without which it is misnamed."""
    checks, right = result["checks"], (mutant["class"], *mutant.get("also", []))
    others = [check for check in checks if check != PUBLISHED]
    if len(checks) == 1 or len(others) == 1:
        return checks if len(checks) == 1 else others
    if result["class"] not in right:
        return []
    without = result.get("without") or {}
    return [check for check in checks if without.get(check, right[0]) not in right]


def needed_by(table, levels):
    """For each check the mutants that would be lost, or get another class, without it."""
    found = {check: [] for check in check_names()}
    for mutant in table["mutants"]:
        for level in levels:
            result = levels[level].get(mutant["id"], {})
            if result.get("checks") is not None:
                for check in needs(mutant, result):
                    if mutant["id"] not in found.setdefault(check, []):
                        found[check].append(mutant["id"])
    return found


def by_check(table, levels):
    full = {name: result for name, result in levels["smoke"].items()
            if result["checks"] is not None}
    needed = needed_by(table, levels)
    lines = ["| check | mutants it kills | only it kills | lost or misnamed without it | such as |",
             "|---|---|---|---|---|"]
    for check in check_names():
        kills = [name for name, result in full.items() if check in result["checks"]]
        alone = [name for name in kills if full[name]["checks"] == [check]]
        example = f"`{needed[check][0]}`" if needed[check] else "–"
        lines.append(f"| {check} | {len(kills)} | {len(alone)} | {len(needed[check])} | {example} |")
    return lines, [check for check in check_names() if not needed[check]]


def naming(table, levels):
    """How often a full run names the class of the mutant, or one the table lists beside it: first,
    and among the two it may name."""
    total = first = either = 0
    for mutant in table["mutants"]:
        result = levels["smoke"].get(mutant["id"], {})
        if result.get("killed") and result.get("checks") is not None and mutant["class"].isdigit():
            right = (mutant["class"], *mutant.get("also", []))
            total += 1
            first += result["class"] in right
            either += result["class"] in right or result.get("second") in right
    return first, either, total


def totals(table, levels, level):
    known = [mutant["id"] for mutant in table["mutants"] if mutant["id"] in levels[level]]
    return sum(levels[level][name]["killed"] for name in known), len(known)


def headline(table, levels):
    lines = []
    for level in ("smoke", "quick"):
        killed, known = totals(table, levels, level)
        if known:
            lines.append(f"- level `{level}` kills {killed} of {known} ({percent(killed, known)});")
    first, either, total = naming(table, levels)
    return lines + [
        f"- a failed run at `smoke` names the right class first for {first} of {total} "
        f"({percent(first, total)}), and among",
        f"  the two it may name for {either} ({percent(either, total)}). Two, because bugs of"
        " different classes can do the same",
        "  to results: nothing outside tells a wrong merge of parts from a wrong rescaling of tiles. The",
        "  rules of naming (`certify/diagnose/suspect.c`) were written with these mutants at hand; how"
        " well they",
        "  name other bugs is not measured."]


def survivors(table, levels):
    run = [mutant for mutant in table["mutants"]
           if any(mutant["id"] in levels[level] for level in levels)]
    found = [mutant for mutant in run
             if not any(levels[level].get(mutant["id"], {}).get("killed") for level in levels)]
    lines = [f"- `{mutant['id']}` ({mutant['requirement']}): {mutant['why']}"
             + (f"; needs {mutant['needs']}" if "needs" in mutant else "")
             for mutant in found] or ["None."]
    missing = len(table["mutants"]) - len(run)
    return lines + (["", f"{missing} mutants are newer than these results."] if missing else [])


def comparison(table, results):
    count, levels = len(table["mutants"]), results["levels"]
    lines = ["| rule | mutants rejected | | right kernels rejected |", "|---|---|---|---|"]
    for rule, text in RULE_TEXT.items():
        rejected = results["rules"].get(rule)
        if rejected is not None:
            wrong = [name for name in rejected if "/" in name]
            lines.append(f"| {text} | {len(wrong)} of {count} | {percent(len(wrong), count)} | "
                         f"{len(rejected) - len(wrong)} |")
    for level in levels:
        killed, known = totals(table, levels, level)
        alarms = results["alarms"].get(level, {"runs": 0, "alarms": []})
        if known:
            lines.append(f"| attest, level {level} | {killed} of {known} | "
                         f"{percent(killed, known)} | "
                         f"{len(alarms['alarms'])} in {alarms['runs']} runs |")
    return lines


def page():
    table, results = matrix.table(), matrix.load_json(RESULTS, None)
    levels = results["levels"]
    stale = [name for name in matrix.SOURCES
             if results["measured_on"].get(name) != matrix.source_hash(name)]
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "# How much the suite finds", "",
             "Generated by `make power` from `impl/wrong/power/results.json`; how long things took is",
             "in `build/default/mutants/kill-matrix.json` after `make mutants`.", ""]
    if stale:
        lines += [f"**Stale**: measured on other sources ({', '.join(stale)}) than those in this"
                  " tree.", ""]
    checks, idle = by_check(table, levels)
    lines += ["A mutant is a kernel with one plausible mistake, nearly always one that was",
              f"published. There are {len(table['mutants'])}, in eight families;"
              " `impl/wrong/mutants/mutants.json` has the class,",
              "the requirement broken, where it was seen, and a problem on which it shows.",
              "Each is first shown to be wrong there without the certifier"
              " (`tests/test_mutants.py`).", "",
              *headline(table, levels), "", "## Survivors", "", *survivors(table, levels), "",
              "## By bug class", "", *by_class(table, levels), "",
              "## By check, level smoke", "", *checks, "",
              "A mutant is lost without a check if no other kills it (`vectors` is not counted for the"
              " others: they are",
              "published, so a kernel can be made for them), misnamed if a failed run then names"
              " another class.",
              f"Checks that could be dropped: {', '.join(idle) if idle else 'none'}.", "",
              "## Rules in use elsewhere, same mutants", "", *comparison(table, results), "",
              "Those rules are run much as their projects run them: ordinary memory, a part of their"
              " shapes and",
              "options, no poison, no second call. Most of what they miss they could not see at",
              "any tolerance.", "", "## Not expressible", "",
              *[f"- class {number}: {text}" for number, text in table["not_expressible"].items()]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["collect", "page"])
    parser.add_argument("--build", default="build/default")
    arguments = parser.parse_args()
    if arguments.command == "collect":
        collect(arguments.build)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
