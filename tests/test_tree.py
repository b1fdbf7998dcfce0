#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tree keeps its layers and names only files that it has; ci/check-layers and ci/check-mentions
find each way not to, planted in a copy."""

import os
import shutil
import subprocess
import sys
import tempfile

from support.tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# what is planted: (check, file, text added to it, words of the complaint)
PLANTED = {
    "a back edge": ("layers", "reference/oracle/oracle.c", '#include "certify/judge/judge.h"\n',
                    "reference/oracle may not use certify/judge"),
    "a cycle of folders, though allowed": (
        "layers", "ci/layers.txt reference/problem/mask.c",
        '#include "reference/kernel/row.h"\n', "a cycle of folders: "),
    "a cycle of modules": ("layers", "certify/host/process.h", '#include "certify/host/host.h"\n',
                           "a cycle of modules: "),
    "an include from beside": ("layers", "certify/plan/plan.c", '#include "space.h"\n',
                               '"space.h" is not a file of the tree'),
    "a second file of a name": ("layers", "bench/frame.h", "", "has the same name"),
    "a folder without a layer": ("layers", "extra/new.c", "", "its folder is not in"),
    "an allowed edge that nothing uses": ("layers", "ci/layers.txt", "extra: spec\n",
                                          "extra does not use spec"),
    "a comment on a file that is gone": ("mentions", "impl/frame/frame.c",
                                         "/* see impl/gone.c */\n", "there is no impl/gone.c"),
    "attributes of a file that is gone": ("mentions", ".gitattributes",
                                          "spec/gone.md linguist-generated\n", "there is no spec/gone.md"),
    "a page on a folder that is gone": ("mentions", "README.md", "`impl/gone/`\n",
                                        "there is no impl/gone/"),
    "a comment on a header that is gone": ("mentions", "fuzz/run", "# gone.h has it\n",
                                           "there is no gone.h"),
    "an exception that nothing needs": ("mentions", "ci/mentions.txt", "gone.h a library's\n",
                                        "nothing names gone.h"),
}
ALLOWED = "reference/problem:", "reference/problem: reference/kernel"


def run(check, root):
    return subprocess.run([os.path.join(ROOT, "ci", f"check-{check}"), root], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def copy_tree(folder):
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "--", ".",
                              ":!fuzz/corpus", ":!vectors/data"],
                             stdout=subprocess.PIPE, text=True, check=True)
    for path in listing.stdout.splitlines():
        source, target = os.path.join(ROOT, path), os.path.join(folder, path)
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    for gone in ("fuzz/corpus/flash", "vectors/data"):  # pages name them
        os.makedirs(os.path.join(folder, gone))
        with open(os.path.join(folder, gone, "kept"), "w", encoding="utf-8"):
            pass


def plant(folder, files, text):
    """Adds a text to the last of the files; the list of layers before it is made to allow it."""
    kept = {}
    for name in files.split():
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                kept[path] = file.read()
        else:
            kept[path] = None
            os.makedirs(os.path.dirname(path), exist_ok=True)
        last = name == files.split()[-1]
        with open(path, "w", encoding="utf-8") as file:
            old = kept[path] or ""
            file.write(old + text if last else old.replace(*ALLOWED))
    return kept


def restore(kept):
    for path, text in kept.items():
        if text is None:
            os.remove(path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        copy_tree(folder)
        for check in ("layers", "mentions"):
            done = run(check, ROOT)
            tap.report(done.returncode == 0, f"ci/check-{check} passes", done.stdout)
            done = run(check, folder)
            tap.report(done.returncode == 0, f"ci/check-{check} passes on a copy", done.stdout)
        for name, (check, files, text, wanted) in PLANTED.items():
            kept = plant(folder, files, text)
            done = run(check, folder)
            tap.report(done.returncode == 1 and wanted in done.stdout, f"{name} is found", done.stdout)
            restore(kept)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
