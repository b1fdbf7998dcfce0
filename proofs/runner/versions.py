# SPDX-License-Identifier: Apache-2.0
"""Which tools a part's result rests on, and which versions of them are installed.

A result keeps the versions it was made with. They are no part of its digest: a page that turned
stale wherever a tool differs would be of no use elsewhere. proofs/run asks instead: what another
version has proved is stale to it, and what a tool that is not here has proved is not run."""

import functools
import re
import subprocess

import claims as book

WP = ["frama-c", "why3", "alt-ergo", "cvc4", "z3", "gappa"]
ASK = {"frama-c": "-version", "alt-ergo": "-version"}
VERSION = re.compile(r"\b(?:sc)?\d[\w.-]*")


def names(part):
    """CBMC holds MiniSat; a program says itself what it calls ("tools" in claim.json)."""
    if part["tool"] == "cbmc":
        return ["cbmc"] + [solver for solver in part["solvers"] if solver != "minisat"]
    return WP if part["tool"] == "wp" else part.get("tools", [])


@functools.lru_cache(maxsize=None)
def installed(tool):
    """None where the tool is not there."""
    try:
        done = subprocess.run([tool, ASK.get(tool, "--version")], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
    except OSError:
        return None
    found = VERSION.search(done.stdout)
    return found.group() if found else None


def of_part(part):
    return {tool: installed(tool) for tool in names(part)}


def differ(part, recorded):
    """Tools that are not installed in the version on record: another is, or none."""
    return [tool for tool in names(part)
            if installed(tool) != recorded.get("tools", {}).get(tool)]


def here(part, result):
    """A result as far as the tools of this machine could give it again."""
    others = differ(part, result)
    if result["status"] == "not run" or not others:
        return result
    return {**result, "status": "stale" if all(map(installed, others)) else book.MISSING}
