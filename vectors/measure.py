#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which compiled mutants does each vector kill? Writes vectors/mutants.json; `make vectors` then
puts it into the manifest.

usage: measure.py BUILD    where BUILD holds the mutants and the program of vectors/examples/
"""
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "ci"))
from digest import digest  # noqa: E402

LIMIT_SECONDS = 60
MOST_CRASHES = 20


def run(check, kernel, first):
    """Lines printed, and whether the program went through to the end."""
    command = [check, kernel, "vectors", "", str(first)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=LIMIT_SECONDS, env={"LC_ALL": "C"})
        return done.stdout.decode(errors="replace").splitlines(), done.returncode in (0, 1)
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode(errors="replace").splitlines(), False


def killers(check, kernel, ids):
    """Ids of the vectors that a kernel fails; one at which it dies or hangs counts as well."""
    killed_by, first = [], 0
    for _ in range(MOST_CRASHES):
        lines, ended = run(check, kernel, first)
        killed_by += [line.split()[1] for line in lines if line.startswith("fail ")]
        first += len(lines)
        if ended or first >= len(ids):
            break
        killed_by.append(ids[first])
        first += 1
    return killed_by


def visible(mutant):
    """Does it change a value of a dense problem that is called once, as a vector is?"""
    layouts = ("layout=", "far=")
    return {"value", "lse"} & set(mutant["breaks"].split()) and \
        not any(word in mutant["trigger"] for word in layouts)


def main(build):
    manifest = json.load(open("vectors/manifest.json"))
    ids = [vector["id"] for group in manifest["groups"] for vector in group["vectors"]]
    mutants = json.load(open("impl/wrong/mutants/mutants.json"))["mutants"]
    check = os.path.join(build, "vectors/examples/check")
    kills, killed, survived = {}, [], []
    for family in sorted({mutant["id"].split("/")[0] for mutant in mutants}):
        wrong = killers(check, os.path.join(build, f"mutants/{family}-correct.so"), ids)
        if wrong:
            sys.exit(f"measure: the correct kernel of {family} fails {wrong[:5]}")
    for mutant in mutants:
        name = mutant["id"].replace("/", "-")
        found = killers(check, os.path.join(build, f"mutants/{name}.so"), ids)
        for vector in found:
            kills.setdefault(vector, []).append(name)
        (killed if found else survived).append(mutant)
    value = [m for m in mutants if visible(m)]
    seen = [m for m in killed if visible(m)]
    report = {
        "mutants_digest": digest(glob.glob("impl/wrong/mutants/*.[ch]")),
        "mutants": len(mutants), "killed": len(killed),
        "value_mutants": len(value), "value_killed": len(seen),
        "value_survivors": [m["id"].replace("/", "-") for m in survived if visible(m)],
        "kills": {vector: kills[vector] for vector in ids if vector in kills},
    }
    with open("vectors/mutants.json", "w") as out:
        rows = [f"  {json.dumps(key)}: {json.dumps(by)}" for key, by in report.pop("kills").items()]
        fields = [f" {json.dumps(key)}: {json.dumps(item)}" for key, item in report.items()]
        out.write("{\n" + ",\n".join(fields) + ',\n "kills": {\n' + ",\n".join(rows) + "\n }\n}\n")
    print(f"{len(killed)} of {len(mutants)} mutants killed; of those that change values "
          f"{len(seen)} of {len(value)}")
    print("survivors among these:", *report["value_survivors"])


main(sys.argv[1])
