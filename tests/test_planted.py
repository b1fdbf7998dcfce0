#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in impl/template.c: odd triggers are found whatever the seed, named, and shrunk to a
program that shows them without attest. Those beyond every length of the plan are found because the
length at which the kernel takes another path is found first."""

import json
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")
LOOP = "for (int64_t j = 0; j < count; j++) {"
PLANTED = {
    "lengths of 5 mod 48": (LOOP, "for (int64_t j = 0; j < count - (count % 48 == 5); j++) {", 23),
    "only beyond 700 keys": (LOOP, "for (int64_t j = 0; j < count - (count > 700); j++) {", 23),
    "only head 11 of 13": ("one_row(p, b, h, i, seen);",
                           "one_row(p, b, h, i, heads == 13 && h == 11 && seen > 1 ? seen - 1 : seen);",
                           None),
    "tail of a tile of 64": (LOOP, "for (int64_t j = 0; j < count - (count > 1 && count % 64 == 1); "
                                   "j++) {", 23),
}
CALL = "one_row(p, b, h, i, seen);"
BEYOND = {  # where no landmark is: axis and first length that is wrong
    "only beyond 5000 keys": (LOOP, "for (int64_t j = 0; j < count - (count > 5000); j++) {",
                              "keys", 5001),
    "only beyond 150 entries": (CALL, "one_row(p, b, h, i, seen - (p->q.shape[0] > 150 && seen > 1));",
                                "batch", 151),
    "only beyond 100 heads": (CALL, "one_row(p, b, h, i, seen - (heads > 100 && seen > 1));",
                              "heads", 101),
}
tap = Tap()
report = tap.report


def plant(name, directory):
    before, after = (PLANTED.get(name) or BEYOND[name])[:2]
    with open("impl/template.c", encoding="utf-8") as file:
        text = file.read()
    assert before in text, name
    source = os.path.join(directory, "planted.c")
    kernel = os.path.join(directory, name.replace(" ", "-") + ".so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text.replace(before, after))
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-Ispec", source, "-lm", "-o", kernel], check=True)
    return kernel


def attest(*words):
    done = subprocess.run([ATTEST, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace")


def find(name, directory):
    kernel = plant(name, directory)
    for seed in range(1, 6):
        out = os.path.join(directory, f"{seed}.json")
        code, text = attest("certify", kernel, "--only", "sizes", "--seed", str(seed), "--quiet",
                            "--json", out)
        with open(out, encoding="utf-8") as file:
            result = json.load(file)
        found = code == 1 and any(c["verdict"] == "FAIL" for c in result["cases"])
        named = PLANTED[name][2] in (None, *[d["class"] for d in result["diagnosis"][:1]])
        report(found and named, f"{name}: found with seed {seed}", text)


def find_beyond(name, directory):
    kernel, out = plant(name, directory), os.path.join(directory, "b.json")
    axis, length = BEYOND[name][2:]
    attest("certify", kernel, "--only", "sizes", "--quiet", "--json", out)
    with open(out, encoding="utf-8") as file:
        result = json.load(file)
    found = [b["at"] for b in result["boundaries"] if b["axis"] == axis]
    failed = [c["line"] for c in result["cases"] if c["verdict"] == "FAIL"]
    field = {"keys": "sk", "batch": "b", "heads": "hq"}[axis]
    report(length in found and any(f" {field}={length} " in line for line in failed) and
           not any(f" {field}={length - 1} " in line for line in failed),
           f"{name}: the boundary is found, and what is wrong from there on",
           f"{result['boundaries']} {failed}")


def no_boundaries(directory):
    """A kernel that does the same at every length gives none, and the plan has no more cases."""
    out = os.path.join(directory, "none.json")
    attest("certify", "builtin:naive", "--only", "descriptor", "--quiet", "--json", out)
    with open(out, encoding="utf-8") as file:
        result = json.load(file)
    report(result["boundaries"] == [] and result["probes"] > 1000, "a plain loop has no boundary",
           str(result["boundaries"]))


def waived(directory):
    """Known failures can be waived; the certificate then says so, and is not a full one."""
    kernel, out = plant("only head 11 of 13", directory), os.path.join(directory, "w.json")
    waivers = os.path.join(directory, "waivers.json")
    certify = ["certify", kernel, "--level", "smoke", "--quiet", "--json", out]
    attest(*certify)
    with open(out, encoding="utf-8") as file:
        bad = [c["id"] for c in json.load(file)["cases"] if c["verdict"] == "FAIL"]
    with open(waivers, "w", encoding="utf-8") as file:
        json.dump([{"case": case, "reason": "head 11, see there"} for case in bad], file)
    code, text = attest(*certify, "--waivers", waivers)
    with open(out, encoding="utf-8") as file:
        certificate = json.load(file)["certificate"]
    words = f"{len(bad)} cases waived"
    report(bad and code == 0 and certificate["certified"] and words in certificate["restricted"] and
           f"certified (restricted: {words}" in text and
           all(f", case {case}: head 11, see there" in text for case in bad),
           "waived failures are named in the certificate", text)
    code, text = attest(*certify, "--waivers", waivers, "--require", "full")
    report(code == 1, "a certificate with waivers is not a full one", text)


def shrink(directory):
    kernel, out = plant("tail of a tile of 64", directory), os.path.join(directory, "r.json")
    program, binary = os.path.join(directory, "shown.c"), os.path.join(directory, "shown")
    attest("certify", kernel, "--only", "sizes", "--quiet", "--json", out)
    with open(out, encoding="utf-8") as file:
        failed = [c for c in json.load(file)["cases"] if c["verdict"] == "FAIL"]
    long_row = [c for c in failed if "sk=4097 " in c["line"]]
    code, text = attest("shrink", long_row[0]["id"], kernel, "--output", program)
    report(code == 1 and "sk=65 qk=zero v=unit" in text and "sq=" not in text,
           "a tail bug at 4097 keys shrinks to 65 keys, q and k zero, one 1 a row of V", text)
    with open(program, encoding="utf-8") as file:
        lines = file.read().count("\n")
    subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Ispec", program, "-ldl", "-o",
                    binary], check=True)
    shown = subprocess.run([binary, kernel], stdout=subprocess.PIPE, check=True).stdout.decode()
    words = shown.split("is ")[1].replace(",", " ").split()
    actual, expected = float.fromhex(words[0]), float.fromhex(words[3])
    report(lines <= 40 and abs(actual - expected) > 1e-5,
           f"the program of {lines} lines shows it without attest", shown)


def main():
    with tempfile.TemporaryDirectory() as directory:
        for name in list(PLANTED)[:3]:
            find(name, directory)
        for name in BEYOND:
            find_beyond(name, directory)
        no_boundaries(directory)
        waived(directory)
        shrink(directory)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
