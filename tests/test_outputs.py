#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What attest writes: whole or not at all, and with no command in it that a kernel or a damaged
file chose."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.abspath(os.path.join(BUILD, "attest"))
HOSTILE = os.path.join(BUILD, "hostile", "refuse_all.so")
CASE = "check=oracle seed=1"
VIEWS = ["--json", "--junit", "--html", "--sarif", "--markdown", "--badge"]
ESCAPES = "\x1b[31m\x07\x7f\x9b2J\u202e\u2066\u2028"


def attest(*words, **more):
    return subprocess.run([ATTEST, *words], capture_output=True, check=False, **more)


def plain(done):
    text = (done.stdout + done.stderr).decode()
    return all(c == "\n" or c.isprintable() for c in text)


def no_code_in_comments(folder):
    program = os.path.join(folder, "failure.c")
    done = attest("shrink", CASE, HOSTILE, "--output", program)
    assert done.returncode == 1, done
    with open(program, encoding="utf-8") as file:
        assert "this kernel is hostile" in file.read()
    code = subprocess.run(["gcc", "-E", "-P", "-Ispec", program], capture_output=True, text=True,
                          check=True).stdout
    assert "main" in code and "injected" not in code, code[:500]


def no_commands_from_reports(folder, report):
    damaged = dict(report, target="x" + ESCAPES, incomplete=ESCAPES, profile=ESCAPES)
    damaged["cases"] = [dict(damaged["cases"][0], verdict="FAIL", what=ESCAPES,
                             picture=f"a{ESCAPES}\nb{ESCAPES}")]
    damaged["conventions"] = [{"question": ESCAPES, "answer": ESCAPES}]
    path = os.path.join(folder, "damaged.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(damaged, file)
    done = attest("report", path)
    assert done.returncode == 1 and b"FAIL" in done.stdout and plain(done), done.stdout
    assert plain(attest("diff", path, path))
    with open(path, "wb") as file:
        file.write(b'{"a": \x1b[31m\x07}')
    done = attest("report", path)
    assert done.returncode == 2 and plain(done), done
    assert plain(attest("replay", ESCAPES, "builtin:naive"))


def small():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def whole_or_not(folder, path):
    """No room: what was there stays, and nothing lies beside it."""
    for option in VIEWS:
        inside = os.path.join(folder, option.strip("-"))
        os.mkdir(inside)
        to = os.path.join(inside, "view")
        with open(to, "w", encoding="ascii") as file:
            file.write("before")
        done = attest("report", path, option, to, preexec_fn=small)
        assert done.returncode == 2 and b"cannot be written" in done.stderr, done.stderr
        with open(to, encoding="ascii") as file:
            assert file.read() == "before", option
        assert os.listdir(inside) == ["view"], os.listdir(inside)
        assert attest("report", path, option, to).returncode == 0
        assert os.listdir(inside) == ["view"] and os.path.getsize(to) > 100
    link = os.path.join(folder, "link")
    os.symlink(to, link)
    os.chmod(to, 0o640)
    assert attest("report", path, "--json", link).returncode == 0
    assert os.path.islink(link) and os.stat(to).st_mode & 0o777 == 0o640
    done = attest("report", path, "--json", "/dev/stderr")
    assert done.returncode == 0 and json.loads(done.stderr)["schema"]


def closed():
    for words in (["--version"], ["--help"], ["list"], ["explain", "MASK-01"]):
        done = subprocess.run([ATTEST, *words], stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1),
                              check=False)
        assert done.returncode == 2 and b"standard output" in done.stderr, (words, done)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([ATTEST, *words], stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 2, (words, done)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        attest("certify", "builtin:naive", "--level", "smoke", "--quiet", "--json", path)
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        tap.run("a message of a kernel is no code", no_code_in_comments, folder)
        tap.run("a file commands no terminal", no_commands_from_reports, folder, report)
        tap.run("files are whole, or as they were", whole_or_not, folder, path)
        tap.run("standard output is closed, or full", closed)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
