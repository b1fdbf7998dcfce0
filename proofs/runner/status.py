# SPDX-License-Identifier: Apache-2.0
"""What a claim is worth: its own parts, and everything that they rest on.

A part rests on parts of other claims: what it assumes, they prove. claim.json says so ("rests": of
the claim or of one run, "C5" or "C2/wp"). For WP it is derived: the clauses and lemmas that a proof
may use are those of the claims in "assumes" (proofs/wp/wp takes all others out of the text before
Frama-C reads it), and the unlabelled ones; so a dependency that is not named cannot be used."""

import functools

import claims as book
import records

BAD = ("failed", book.MISSING, "stale", "not run")
ELEMENTARY = "elementary.h"


@functools.lru_cache(maxsize=None)
def closure(path):
    return {name.rsplit("/", 1)[-1] for name in records.with_includes([path])}


def wp_rests(claims, claim, part):
    entry = part["pinned"]
    found = [f"{other}/wp" for other in entry.get("assumes", [])]
    if "file" not in entry:
        return found
    reads = closure(book.path_of(claim, entry["file"]))
    for other in claims:  # the unlabelled clauses of what it includes
        for theirs in book.parts(other):
            pinned = theirs.get("pinned", {})
            header = pinned.get("file", "").rsplit("/", 1)[-1].replace(".c", ".h")
            if pinned.get("rest") and other is not claim and header in reads:
                found.append(f"{other['id']}/wp")
    return found + (["C5/sweep"] if ELEMENTARY in reads else [])


def rests(claims, claim, part):
    """Names of what one part rests on."""
    found = claim.get("rests", []) + part.get("rests", [])
    return found + (wp_rests(claims, claim, part) if part["tool"] == "wp" else [])


def nodes(claims, name):
    """The parts that a name stands for."""
    claim_id, _, part_name = name.partition("/")
    found = [(claim["id"], part["name"]) for claim in claims if claim["id"] == claim_id
             for part in book.parts(claim) if part_name in ("", part["name"])]
    if not found:
        raise book.Unknown(f"nothing is called {name}")
    return found


def graph(claims):
    """(claim, part) -> the set of those that it rests on."""
    return {(claim["id"], part["name"]): {node for name in rests(claims, claim, part)
                                          for node in nodes(claims, name)}
            for claim in claims for part in book.parts(claim)}


def below(edges, start):
    """Everything that some parts rest on, they themselves left out."""
    found, todo = set(), list(start)
    while todo:
        new = edges[todo.pop()] - found
        found |= new
        todo += new
    return found - set(start)


def own_status(claim, verdicts):
    """The worst of its parts, or what the claim is worth if all are as they should be."""
    found = {verdicts[claim["id"], part["name"]] for part in book.parts(claim)}
    for bad in BAD:
        if bad in found:
            return bad
    return claim["status"] if found else "open"


def of_claims(claims, verdicts):
    """claim id -> status, from the status of every part."""
    edges, answers = graph(claims), {}
    for claim in claims:
        own = own_status(claim, verdicts)
        start = [(claim["id"], part["name"]) for part in book.parts(claim)]
        weak = sorted({node[0] for node in below(edges, start) if verdicts[node] in BAD},
                      key=book.number)
        answers[claim["id"]] = (own if own in BAD or not weak
                                else f"not proved: rests on {', '.join(weak)}")
    return answers


def on_record(claims, results):
    return {(claim["id"], part["name"]): records.part_result(claim, part, results)["status"]
            for claim in claims for part in book.parts(claim)}
