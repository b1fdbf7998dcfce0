# SPDX-License-Identifier: Apache-2.0
"""The edits: what a programmer could get wrong, drawn up from the sources and not from the proofs.
edits.json names for each a file, the exact substitution, what it breaks, the claims that speak of it
and, where one is known, the test that would notice."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "runner"))
import claims as book  # noqa: E402
import records  # noqa: E402
import tools  # noqa: E402

RESULTS = "proofs/sabotage/results.json"
AREAS = {"text": "text of proved files", "row": "row functions", "shell": "shell",
         "normal": "normal form", "mask": "mask predicates",
         "check": "check of a problem", "frame": "tile frame", "merge": "merge",
         "micro": "portable micro-kernels", "drive": "walk over blocks", "exp": "elementary functions",
         "log": "elementary functions", "tanh": "elementary functions", "convert": "conversion",
         "judge": "judge"}


def load():
    return json.loads(book.read("proofs/sabotage/edits.json"))


def area(edit):
    return AREAS[edit["id"].split("-")[0]]


def applied(edit):
    """The text of the edited file; the substitution must fit exactly one place."""
    before, body, after = tools.within(book.read(book.find(edit["file"])), edit.get("in"))
    if body.count(edit["from"]) != 1 or edit["from"] == edit["to"]:
        raise tools.Broken(f"{edit['id']} fits {body.count(edit['from'])} places, not one")
    return before + body.replace(edit["from"], edit["to"]) + after


def reads(claim, part, path):
    """Whether a part can be asked about an edit of this file."""
    if part["tool"] == "wp":
        return "file" in part["pinned"] and book.path_of(claim, part["pinned"]["file"]) == path
    names = part.get("files", []) + [part[key] for key in ("source",) if key in part]
    names += claim.get("sources", []) if part["tool"] == "program" else []
    return path in [book.path_of(claim, name) for name in names]


def twins_near(edit, claim, part):
    """How many twins of a part change the same function, and the same file."""
    path, body = book.find(edit["file"]), tools.within(book.read(book.find(edit["file"])), edit.get("in"))[1]
    here = [twin["patch"]["from"] for twin in book.twins(claim, part) if "patch" in twin and
            book.path_of(claim, twin["patch"]["file"]) == path]
    return len([text for text in here if text in body]), len(here)


def candidates(edit, claims):
    """The parts to ask: those of the claims that speak of the edit first; of these, those whose twins
    are nearest to it, then the cheapest. Parts of other claims are asked where they are quick."""
    path = book.find(edit["file"])
    claims = [] if "check" in edit else claims
    found = [(claim, part) for claim in claims for part in book.parts(claim)
             if claim["id"].startswith("C") and reads(claim, part, path) and
             part["group"] in (["quick", "full"] if claim["id"] in edit["claims"] else ["quick"])]
    order = {name: place for place, name in enumerate(edit["claims"])}

    def place(item):
        near, same_file = twins_near(edit, *item)
        return order.get(item[0]["id"], len(order)), -near, -same_file, item[1].get("cost", 60)

    return sorted(found, key=place)


def digest(edit, asked):
    """What an answer depends on: the edited file, the edit, the parts or the check that were asked, in
    whatever order."""
    checks = [edit["check"]] if "check" in edit else []
    return records.contents.digest([book.find(edit["file"])] + checks, json.dumps(edit, sort_keys=True),
                                   *sorted(records.digest(claim, part) for claim, part in asked))


def read_results():
    path = os.path.join(book.ROOT, RESULTS)
    return json.loads(book.read(RESULTS)) if os.path.exists(path) else {}


def asked_of(result, claims):
    """The parts behind an answer, as they are now."""
    return [(claim, part) for claim in claims for part in book.parts(claim)
            if f"{claim['id']}/{part['name']}" in result["asked"]]


def fresh(edit, result, claims):
    """A refutation stands while what it was found with is the same; a gap also while no part has
    come that could be asked."""
    if not result or result["inputs"] != digest(edit, asked_of(result, claims)):
        return False
    names = {f"{claim['id']}/{part['name']}" for claim, part in candidates(edit, claims)}
    return bool(result.get("by")) or names == set(result["asked"])
