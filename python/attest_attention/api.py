# SPDX-License-Identifier: Apache-2.0
"""certify, fingerprint, fuzz and replay, for functions and other targets."""

import json
import os
import re
import sys
import tempfile

from . import program
from .report import Report
from .sent import Sent


class AttestError(RuntimeError):
    """The run could not be made: wrong usage, or no worker."""


OWN = {"level": "--level", "profile": "--profile", "model": "--model", "seed": "--seed", "jobs": "--jobs",
       "only": "--only", "skip": "--skip", "waivers": "--waivers", "call_time": "--call-time",
       "load_time": "--load-time", "memory": "--memory", "time": "--time", "cases": "--cases"}


def split(arguments):
    """Options for the command line, and fields of the declaration."""
    words = []
    for name in [name for name in arguments if name in OWN]:
        value = arguments.pop(name)
        if value is not None:
            joined = ",".join(value) if isinstance(value, (list, tuple)) else str(value)
            words += [OWN[name], joined]
    return words, {key: value for key, value in arguments.items() if value is not None}


def show_progress(stream, progress):
    """Passes lines of progress on; in a notebook they move a bar. Returns what was no progress."""
    handle, other = None, []
    if progress and "IPython" in sys.modules:
        from IPython import get_ipython
        from IPython.display import HTML, display
        if get_ipython() is not None:
            handle = display(HTML("<progress></progress>"), display_id=True)
    for line in stream:
        found = re.match(r"attest: (\d+) of (\d+) cases, (\d+) bad", line)
        if not found:
            other.append(line)
        elif handle is not None:
            done, count, bad = found.groups()
            handle.update(HTML(f"<progress value={done} max={count}></progress> {done} of {count} cases, "
                               f"{bad} bad"))
    return "".join(other)


def run(words, progress):
    """The exit status and standard output of attest. A terminal sees its own progress line."""
    terminal = progress and sys.stderr is not None and getattr(sys.stderr, "isatty", lambda: False)()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out:
        import subprocess
        with program.start(words, stdout=out, stderr=None if terminal else subprocess.PIPE) as process:
            try:
                said = "" if terminal else show_progress(process.stderr, progress)
                status = process.wait()
            except BaseException:
                process.terminate()
                raise
        out.seek(0)
        text = out.read()
    if status == 2:
        raise AttestError(said.strip() or text.strip() or "attest could not run")
    return status, text


def certify(function, level="quick", *, profile=None, budget=None, progress=True, **options):
    """Certifies a function on arrays, or any target of `attest certify`.

    level     "smoke" (seconds), "quick" (about a minute), "full" (an hour)
    profile   conventions of defaults, such as "pytorch-sdpa"; see fingerprint()
    budget    "60s", "2m": a level by time, for functions that take long; such a run never certifies
    progress  a line on terminals, a bar in notebooks
    jobs, seed, only, skip, model, waivers, call_time, load_time, memory
              as the options of the command
    features, shapes, types, isolation, finite_only, arrays, supports ...
              as the arguments of @kernel, over what the function declares itself

    >>> import attest_attention
    >>> report = attest_attention.certify("builtin:naive", level="smoke", only="heads")
    >>> report.failures
    []
    >>> report.requirements["SEM-11"]
    'passed'
    """
    words, fields = split({"profile": profile, **options})
    if budget is not None:
        words += ["--budget", str(budget)]
    sent = Sent(function, fields)
    with tempfile.TemporaryDirectory(prefix="attest-") as folder:
        path = os.path.join(folder, "report.json")
        _, text = run(["certify", sent.target, "--level", level, "--json", path, *sent.words, *words],
                      progress)
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    # The file that it was sent in will be gone.
    data["target"], text = sent.shown, text.replace(sent.target, sent.shown)
    kept = [word for name in ("--profile", "--model", "--call-time", "--load-time", "--memory")
            if name in words for word in (name, words[words.index(name) + 1])]
    return Report(data, text, sent.target, sent.words + kept, sent)


def fingerprint(function, **options):
    """Which conventions a function follows, found by calling it.

    >>> import attest_attention
    >>> found = attest_attention.fingerprint("builtin:naive")
    >>> found["conventions"]["causal corner"]
    'bottom right'
    >>> "attest" in found["profiles"]
    True
    """
    words, fields = split(options)
    sent = Sent(function, fields)
    _, text = run(["fingerprint", sent.target, *sent.words, *words], False)
    rows = re.findall(r"^  (\S.*?) {2,}(\S.*)$", text, re.MULTILINE)
    profiles = re.search(r"^profiles that fit:(.*)$", text, re.MULTILINE)
    return {"conventions": dict(rows),
            "profiles": [name for name in profiles.group(1).split() if name != "none"]}


def fuzz(function, seconds=60, *, progress=True, **options):
    """Draws cases until one fails. None, or what is known of the failure, shrunk, as a text.

    >>> import attest_attention
    >>> attest_attention.fuzz("builtin:naive", seconds=10, progress=False)
    """
    words, fields = split({"time": seconds, **options})
    sent = Sent(function, fields)
    status, text = run(["fuzz", sent.target, *sent.words, *words], progress)
    return text if status == 1 else None


def replay(case, function, **options):
    """Runs one case again: a line, an id, or a Failure. (whether it holds, what is known about it)

    >>> import attest_attention
    >>> holds, text = attest_attention.replay(
    ...     "check=heads hq=4 hkv=2 sq=3 sk=5 d=4 dv=4 seed=1", "builtin:naive")
    >>> holds
    True
    """
    words, fields = split(options)
    sent = Sent(function, fields)
    status, text = run(["replay", getattr(case, "case", case), sent.target, *sent.words, *words], False)
    return status == 0, text
