#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING.md and proofs/README.md can be followed: their worked examples are applied to a copy of
the tree as they stand on the page, built and run. ARCHITECTURE.md has the layers of ci/layers.txt,
CHANGELOG.md the version.

A block "LANGUAGE file=PATH" is a new file, "diff" a patch, "console" commands: each must succeed, or
print the lines that follow it (their beginning, where they end in "...")."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from support.tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = "build/default"
PAGES = ("CONTRIBUTING.md", "proofs/README.md")
LEFT_OUT = ("fuzz/corpus/", "vectors/data/", "proofs/wp/session/")
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read(*words):
    with open(os.path.join(ROOT, *words), encoding="utf-8") as file:
        return file.read()


def examples():
    """(title, blocks) of each section that has something to follow, in the pages' order."""
    for page in PAGES:
        for section in read(page).split("\n## ")[1:]:
            blocks = BLOCK.findall(section)
            if blocks:
                yield f"{page}: {section.split(chr(10), 1)[0].lower()}", blocks


def copy_tree(folder):
    """What is tracked or new, and what is built but for tests and mutants, with its times."""
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                             stdout=subprocess.PIPE, text=True, check=True)
    for path in listing.stdout.splitlines():
        source, target = os.path.join(ROOT, path), os.path.join(folder, path)
        if os.path.isfile(source) and not path.startswith(LEFT_OUT):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target)
    shutil.copytree(os.path.join(ROOT, BUILD), os.path.join(folder, BUILD), symlinks=True,
                    ignore=shutil.ignore_patterns("emulators", "hostile", "*-san-*"))


def run(command, folder, text=None):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(command, cwd=folder, input=text, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, check=False,
                          env=dict(environment, DEPS=""))


def printed(wanted, output):
    lines = [line.strip() for line in output.splitlines()]
    if wanted.endswith("..."):
        return any(line.startswith(wanted[:-3]) for line in lines)
    return wanted in lines


def follow(kind, path, text, folder):
    """What is wrong with a block, or nothing."""
    if path:
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)
    elif kind == "diff":
        done = run(["patch", "-p0", "--no-backup-if-mismatch"], folder, text)
        if done.returncode != 0:
            return done.stdout
    elif kind == "console":
        for step in text.split("$ ")[1:]:
            command, *wanted = step.splitlines()
            done = run(["sh", "-c", command], folder)
            missing = [line for line in wanted if not printed(line, done.stdout)]
            if missing or not wanted and done.returncode != 0:
                return f"$ {command}\n{done.stdout}\nmissing: {missing}, status {done.returncode}"
    return ""


def main():
    tap = Tap()
    if os.environ.get("BUILD", BUILD) != BUILD:
        tap.skip("the pages", "done once, in the default build")
        return tap.end()
    with tempfile.TemporaryDirectory() as folder:
        copy_tree(folder)
        for title, blocks in examples():
            found = next(filter(None, (follow(*block, folder) for block in blocks)), "")
            tap.report(not found, title, found)
    titles = [title for title, _ in examples()]
    tap.report(len(titles) >= 8, f"{len(titles)} examples can be followed")
    done = run([os.path.join(ROOT, "ci/check-layers"), "--page", "ARCHITECTURE.md"], ROOT)
    tap.report(done.returncode == 0, "ARCHITECTURE.md has the layers as they are", done.stdout)
    version = re.search(r'ATTEST_SUITE_VERSION "(.*)"', read("certify/result/report.h")).group(1)
    tap.report(f"\n## {version}" in read("CHANGELOG.md"), f"CHANGELOG.md has version {version}")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
