#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What level quick promises of its cases, counted on the cases themselves: every pair of options, sizes,
layouts, types, data and threads; every triple of two options and a size; how far sizes reach."""

import itertools
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build/default"))
OPTIONS = ["causal", "offsets", "window", "lengths", "mask", "scale", "softcap", "sinks", "alibi", "lse"]
# Where a band ends; the last is what models use.
BANDS = {"b": (1, 4, 12, 32), "hkv": (1, 4, 12, 64), "group": (1, 3, 8, 16), "sq": (1, 8, 64, 512, 4096),
         "sk": (8, 64, 512, 4096, 32768), "d": (8, 32, 96, 256), "dv": (8, 32, 96, 256)}
# What cannot be together: K of one entry does not repeat, and 64 heads are the most.
IMPOSSIBLE = {(("b", 0), ("layout", "broadcast")), (("hkv", 3), ("group", 3))}


def cases():
    done = subprocess.run([f"{BUILD}/attest", "list", "cases", "builtin:naive", "--level", "quick"],
                          capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        fields = dict(word.split("=", 1) for word in line.split()[1:])
        if fields["check"] == "oracle" and fields.get("p0") == "3":
            yield fields


def levels(fields):
    """The level of each factor that a case has."""
    features = fields.get("features", "")
    found = {name: any(f.startswith(name) for f in features.split(",")) for name in OPTIONS}
    found["offsets"] = "offsets" in features
    sizes = {axis: int(fields.get(axis, 1)) for axis in ("b", "hq", "hkv", "sq", "sk", "d", "dv")}
    sizes["group"] = sizes["hq"] // sizes["hkv"]
    for axis, ends in BANDS.items():
        found[axis] = next(i for i, end in enumerate(ends) if sizes[axis] <= end)
    found["layout"] = fields.get("layout", "dense")
    found["types"] = tuple(fields.get(name, "f32") for name in ("q", "kv", "o"))
    found["data"] = (fields.get("qk", "coarse"), fields.get("v", "coarse"))
    found["threads"] = int(fields.get("threads", 1))
    return found, sizes


def main():
    number = failures = 0

    def report(good, name, why=""):
        nonlocal number, failures
        number += 1
        failures += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}{'' if good else f': {why}'}", flush=True)

    seen = [levels(fields) for fields in cases()]
    values = {name: sorted({found[name] for found, _ in seen}) for name in seen[0][0]}
    report(all(values[name] == [False, True] for name in OPTIONS), "every option is on and off", values)
    report(all(values[axis] == list(range(len(ends))) for axis, ends in BANDS.items()),
           "every size is in every band", values)
    report(set(range(1, 9)) <= set(values["threads"]), "every thread count to eight", values["threads"])
    pairs = {((f, found[f]), (g, found[g])) for found, _ in seen
             for f, g in itertools.combinations(found, 2)}
    missing = [(f, u, g, v) for f, g in itertools.combinations(values, 2)
               for u in values[f] for v in values[g]
               if ((f, u), (g, v)) not in pairs and ((f, u), (g, v)) not in IMPOSSIBLE
               and not ({f, g} == {"types", "data"} and re.search("f16", str((u, v))))]
    report(not missing, "every pair of levels", f"{len(missing)} missing: {missing[:5]}")
    triples = {(f, found[f], g, found[g], axis, found[axis]) for found, _ in seen
               for f, g in itertools.combinations(OPTIONS, 2) for axis in BANDS}
    missing = [t for f, g in itertools.combinations(OPTIONS, 2) for axis in BANDS
               for u in (False, True) for v in (False, True) for w in values[axis]
               if (t := (f, u, g, v, axis, w)) not in triples]
    report(not missing, "every triple of two options and a size", f"{len(missing)}: {missing[:5]}")
    usual = [sizes for found, sizes in seen if sizes["d"] in (64, 128) and sizes["d"] == sizes["dv"]
             and sizes["sq"] > 64 and sizes["sk"] > 64]
    report(len(usual) >= 100, "usual head sizes with several tiles of queries and keys", len(usual))
    report("mixed" in values["layout"], "layouts of each tensor's own", values["layout"])
    most = {axis: max(sizes[axis] for _, sizes in seen) for axis in seen[0][1]}
    report(all(most[axis] >= 0.9 * ends[-1] for axis, ends in BANDS.items()),
           "sizes reach what models use", most)
    print(f"1..{number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
