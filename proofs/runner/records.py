# SPDX-License-Identifier: Apache-2.0
"""Committed results (proofs/results.json), each bound to a digest of all that it depends on: what
the part reads, its definition, and the code that asks and judges. Where one of them has changed the
result is `stale` until the part has been run again. The digest is of contents and base names: where
a file lies does not matter. Versions of tools stand beside the digest (versions.py)."""

import fcntl
import json
import os
import re
import sys

import claims as book

sys.path.insert(0, os.path.join(book.ROOT, "ci"))
import digest as contents  # noqa: E402

RESULTS = "proofs/results.json"
JUDGES = ["proofs/run", "proofs/runner/claims.py", "proofs/runner/tools.py",
          "proofs/runner/versions.py"]
COSMETIC = ("cost", "group", "tools", "rests")  # may change without a new run
FILE_KEYS = ("files", "sources", "source", "file", "lemmas", "command", "flags")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
FLAG = re.compile(r"(?<![\w-])-(?!I)[A-Za-z][\w=,.+-]*")


def with_includes(paths):
    found, todo = set(), list(paths)
    while todo:
        path = os.path.normpath(todo.pop())
        if path in found:
            continue
        found.add(path)
        if path.endswith((".c", ".h", ".def")):
            for name in INCLUDE.findall(book.read(path)):
                for directory in [os.path.dirname(path)] + book.include_dirs():
                    candidate = os.path.join(directory, name)
                    if os.path.exists(os.path.join(book.ROOT, candidate)):
                        todo.append(candidate)
                        break
    return sorted(found)


def wp_sources(claim, entry):
    """The files of the entry, what the claim adds to WP, and what all claims share."""
    names = [entry["file"]] if "file" in entry else []
    paths = [book.path_of(claim, name) for name in names + entry.get("lemmas", [])]
    own = [path for path in book.files_below(claim["directory"])
           if path.endswith((".mlw", ".driver"))]
    shared = [path for path in book.files_below("proofs/wp") if not path.endswith("theories.json")]
    return paths + own + shared + ["proofs/runner/strip.py"]


def sources(claim, part):
    names = claim.get("sources", []) + part.get("sources", []) + part.get("files", [])
    names += [part["source"]] if "source" in part else []
    paths = [book.path_of(claim, name) for name in names]
    if "reading" in part:
        paths.append("proofs/readings/" + part["reading"])
    if part["tool"] == "wp":
        paths += wp_sources(claim, part["pinned"])
    return with_includes(paths + JUDGES)


def by_base_name(value, key=None):
    """A definition with the folders of its file names left out."""
    if isinstance(value, dict):
        return {k: by_base_name(v, k) for k, v in value.items() if k not in COSMETIC}
    if isinstance(value, list):
        return [by_base_name(v, key) for v in value]
    return os.path.basename(value) if key in FILE_KEYS and isinstance(value, str) else value


def settings(part):
    """What decides beside files: compiler flags, and how WP's provers are set up."""
    for name in part.get("flags", []):
        yield " ".join(sorted(set(FLAG.findall(book.read(book.find(name))))))
    if part["tool"] == "wp":
        script = book.read("ci/deps-private.sh")
        start = script.index("configure_why3() {")
        yield script[start:script.index("\n}\n", start)]


def digest(claim, part):
    """One number for all that a part's result depends on."""
    words = [json.dumps(by_base_name(run), sort_keys=True)
             for run in [part] + book.twins(claim, part)]
    return contents.digest(sources(claim, part), *words, *settings(part))


def read_results():
    path = os.path.join(book.ROOT, RESULTS)
    return json.loads(book.read(RESULTS)) if os.path.exists(path) else {}


def record(claim, part, result):
    """Puts one result in its place, beside those that other runners may be writing."""
    with open(os.path.join(book.ROOT, RESULTS), "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        results = json.loads(file.read() or "{}")
        results.setdefault(claim["id"], {})[part["name"]] = result
        order = {c["id"]: [p["name"] for p in book.parts(c)] for c in book.load()}
        results = {claim_id: {name: results[claim_id][name] for name in order[claim_id]
                              if name in results[claim_id]}
                   for claim_id in sorted(results, key=book.number) if claim_id in order}
        file.truncate(0)
        json.dump(results, file, indent=1)
        file.write("\n")


def part_result(claim, part, results):
    """What is on record for a part as its sources are now."""
    result = results.get(claim["id"], {}).get(part["name"])
    if result is None:
        return {"status": "not run"}
    return result if result["inputs"] == digest(claim, part) else {**result, "status": "stale"}
