#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program or a Python kernel tries against the machine is refused, also where the system lacks
something; what then gets through is named in the certificate."""

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import termios

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.abspath(os.path.join(BUILD, "attest"))
WITHOUT = os.path.abspath(os.path.join(BUILD, "tests", "support", "without"))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOSTILE = os.path.join(ROOT, "impl/wrong/hostile")
ATTACKS = os.path.join(HOSTILE, "attacks.py")
WORKER = os.path.abspath(os.path.join(BUILD, "python", "attest_attention", "worker.py"))

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable

ALWAYS = {"session", "privileges", "limits", "calls"}
# what is taken away: protections that are gone (perhaps more, if the machine itself lacks them), attacks
# that get through then
SYSTEMS = {
    "": (set(), set()),
    "landlock-6": ({"signals"}, set()),
    "landlock-4,namespaces": ({"signals", "namespaces"}, set()),
    "landlock": ({"signals", "files"}, {"zero_file", "reading", "listing"}),
}


class Terminal:
    """A terminal that is attest's own, as a user's is."""

    def __enter__(self):
        self.user, self.end = os.openpty()
        os.set_blocking(self.user, False)
        return self

    def own(self):
        os.setsid()
        fcntl.ioctl(self.end, termios.TIOCSCTTY, 0)

    def typed(self):
        """What was put into its input comes back as echo."""
        try:
            return os.read(self.user, 1 << 16)
        except BlockingIOError:
            return b""

    def __exit__(self, *_):
        os.close(self.user)
        os.close(self.end)


def become(user, terminal):
    terminal.own()
    if user:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def target(way, folder):
    if way == "py":
        return f"py:{ATTACKS}:attention"
    program = os.path.join(folder, "program")
    with open(program, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\nexec {PYTHON} -B {WORKER} {ATTACKS} attention\n")
    os.chmod(program, 0o755)
    return f"exec:{program}"


def certify(what, folder, lacking, user, *more):
    report = os.path.join(folder, "report.json")
    granted = [word for path in (HOSTILE, os.path.dirname(os.path.dirname(WORKER)),
                                 os.path.dirname(os.path.dirname(PYTHON)))
               for word in ("--read", path)]
    with Terminal() as terminal:
        done = subprocess.run(
            [*([WITHOUT, lacking] if lacking else []), ATTEST, "certify", what, "--level", "smoke", "--only",
             "mask-readback", "--jobs", "1", "--quiet", "--json", report, "--env", "HOSTILE_FOLDER", *granted,
             *more],
            stdin=terminal.end, capture_output=True, timeout=120, check=False,
            env={**os.environ, "HOSTILE_FOLDER": folder, "HOSTILE_SECRET": "a key", "TMPDIR": folder},
            preexec_fn=lambda: become(user, terminal))
        typed = terminal.typed()
    with open(report, encoding="utf-8") as file:
        return done, json.load(file), typed


def sysv():
    lines = 0
    for kind in ("shm", "msg", "sem"):
        with open(f"/proc/sysvipc/{kind}", encoding="ascii") as file:
            lines += len(file.readlines())
    return lines


def attacked(way, lacking, user):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        victim = os.path.join(folder, "victim")
        with open(victim, "w", encoding="ascii") as file:
            file.write("must stay as it is\n")
        os.chmod(victim, 0o644)
        if user:
            os.chown(victim, user, user)
        before, objects = os.stat(victim), sysv()
        done, report, typed = certify(target(way, folder), folder, lacking, user)
        after = os.stat(victim)
        gone, through = SYSTEMS[lacking]
        held = set(report["protections"])
        failed = {c.get("what", "") for c in report["cases"] if c["verdict"] == "FAIL"}
        if "files" not in held:  # also where the machine itself has no Landlock
            through = SYSTEMS["landlock"][1]
        assert typed == b"", f"somebody typed {typed}"
        assert sysv() == objects, "System V objects are left"
        assert not os.path.exists("/dev/shm/attest-attacked")
        assert (before.st_mode, before.st_uid, before.st_size, before.st_mtime_ns) == \
               (after.st_mode, after.st_uid, after.st_size, after.st_mtime_ns), "the victim changed"
        assert held >= ALWAYS and not held & gone, report["protections"]
        assert set(report["unprotected"]) >= gone
        for name in gone:
            assert name in done.stdout.decode().split("; without ")[1], done.stdout
        assert done.returncode == 1 and report["cases"], done
        if through:
            assert failed and all(" ".join(sorted(through, reverse=True)) in what for what in failed), failed
        else:
            assert not failed, failed


def forged():
    """A program cannot write what the certificate says about the sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        with open(program, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nread x\n"
                       """echo '{"protocol":1,"message":"\\u001b[31mstrict; nothing is missing"}'\n"""
                       "read x\necho '{}'\n")
        os.chmod(program, 0o755)
        done, report, _ = certify(f"exec:{program}", folder, "landlock", 0)
        assert "nothing is missing" not in done.stdout.decode() + json.dumps(report)
        assert b"\33" not in done.stdout


def outputs():
    """A report overwrites neither the other nor the kernel; who cannot have the verdict is told so."""
    kernel = os.path.join(BUILD, "impl", "libnaive.so")
    with tempfile.TemporaryDirectory() as folder:
        one, waivers = os.path.join(folder, "x.out"), os.path.join(folder, "waivers.json")
        with open(waivers, "w", encoding="ascii") as file:
            file.write("[]")
        for more in (["--json", one, "--junit", one], ["--json", one, "--junit", f"{folder}/./x.out"],
                     ["--json", kernel], ["--json", waivers, "--waivers", waivers]):
            done = subprocess.run([ATTEST, "certify", kernel, "--level", "smoke", "--only", "errors", *more],
                                  capture_output=True, check=False)
            said = b"one file" in done.stderr or b"overwritten" in done.stderr
            assert done.returncode == 2 and said, done
        with open(waivers, encoding="ascii") as file:
            assert file.read() == "[]"
    with open("/dev/full", "wb") as full:
        done = subprocess.run([ATTEST, "list"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2, done


def main():
    tap = Tap()
    users = [0, 65534] if os.geteuid() == 0 else [0]
    for lacking in SYSTEMS:
        for way in ("py", "exec"):
            for user in users:
                name = f"{way}{' without ' + lacking if lacking else ''}{' as a plain user' if user else ''}"
                tap.run(name, attacked, way, lacking, user)
    tap.run("the certificate's words are attest's", forged)
    tap.run("what is written, and where it cannot be", outputs)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
