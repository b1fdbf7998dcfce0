# SPDX-License-Identifier: Apache-2.0
"""Where the program `attest` is, and running it."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = ("tree/bin/attest",             # of the wheel
          "../../attest",                # of a build directory
          "../../../../bin/attest")      # of `make install`


def path():
    for place in PLACES:
        found = os.path.normpath(os.path.join(HERE, place))
        if os.access(found, os.X_OK):
            return found
    raise FileNotFoundError(f"the program attest is not at {', '.join(PLACES)} beside {HERE}")


def environment():
    """A py: target runs in the interpreter that asks for it, unless ATTEST_PYTHON says otherwise."""
    return {**os.environ, "ATTEST_PYTHON": os.environ.get("ATTEST_PYTHON") or sys.executable}


def start(words, **streams):
    return subprocess.Popen([path(), *words], stdin=subprocess.DEVNULL, text=True,
                            errors="replace", env=environment(), **streams)


def run(words):
    """(exit status, standard output, standard error)"""
    with start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, errors = process.communicate()
    return process.returncode, out, errors
