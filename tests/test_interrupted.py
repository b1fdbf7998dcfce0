#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attest is interrupted at random times, by whatever ends a program: once the next run has begun there is no
process, mount, shared memory or folder left of those before, whatever their kernel made in it.
INTERRUPTIONS says how many (make check-interrupted: 200)."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.abspath(os.path.join(BUILD, "attest"))
COUNT = int(os.environ.get("INTERRUPTIONS", "10"))
SEED = int(os.environ.get("SEED", "1"))
DEPTH = 3000  # more folders in each other than a process may have files open

KERNEL = f"""
import os
import time
folder = os.environ["TMPDIR"]
if os.environ.get("HOSTILE_TREE") == "deep":
    os.chdir(folder)
    for depth in range({DEPTH}):
        os.mkdir("deeper")
        os.chdir("deeper")
    open("file", "w").close()
    os.mkdir("closed", 0)
else:
    os.mkdir(folder + "/closed")
    os.mkdir(folder + "/closed/inside", 0)
    os.symlink("/", folder + "/link")
    os.mkdir(folder + "/lifted-0")
    open(folder + "/lifted-0/lifted-0", "w").close()
    os.mkfifo(folder + "/pipe")
time.sleep(0.1)
def attention(q, k, v):
    time.sleep(0.05)
    return q
"""

ENDS = [[signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM], [signal.SIGTERM, signal.SIGTERM],
        [signal.SIGHUP], [signal.SIGKILL]]


def heed_interrupts():
    """Who is started in the background of a script ignores SIGINT, and so would attest until it asks."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(words, temporary, tree=""):
    return subprocess.Popen([ATTEST, *words, "--level", "smoke", "--jobs", "2", "--quiet",
                             "--env", "HOSTILE_TREE"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            env={**os.environ, "TMPDIR": temporary, "HOSTILE_TREE": tree},
                            preexec_fn=heed_interrupts)


def processes(temporary):
    """Those whose environment names the folder: a kernel gets its own folder below it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if temporary.encode() in file.read():
                    found.append(pid)
        except OSError:
            pass
    return found


def lines(path, word=""):
    with open(path, encoding="utf-8") as file:
        return {line for line in file if word in line}


def traces(temporary):
    return {*lines("/proc/self/mounts", temporary), *(n for n in os.listdir("/dev/shm") if "attest" in n),
            *(line for kind in ("shm", "msg", "sem")
              for line in lines(f"/proc/sysvipc/{kind}", "1096045617"))}


def interrupt(chance, kernel, temporary):
    process = run(["certify", f"py:{kernel}:attention"], temporary, chance.choice(["deep", "closed"]))
    for number in chance.choice(ENDS):
        time.sleep(chance.random() ** 2 * 1.5)
        process.send_signal(number)
    try:
        return process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        return "does not end"


def interrupted():
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        temporary, kernel = os.path.join(folder, "temporary"), os.path.join(folder, "kernel.py")
        os.mkdir(temporary)
        with open(kernel, "w", encoding="ascii") as file:
            file.write(KERNEL)
        before = traces(temporary)
        statuses = [interrupt(chance, kernel, temporary) for _ in range(COUNT)]
        assert "does not end" not in statuses, statuses
        left = len(os.listdir(temporary))
        print(f"# {COUNT} interruptions with seed {SEED} left {left} folders to the next run", flush=True)
        # one that lives is not swept
        living = run(["certify", f"py:{kernel}:attention"], temporary)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not any(os.path.lexists(os.path.join(temporary, name, "pipe"))
                                                      for name in os.listdir(temporary)):
            time.sleep(0.01)
        its = processes(temporary)
        assert run(["list", "cases", "builtin:naive"], temporary).wait(timeout=60) == 0
        assert len(os.listdir(temporary)) == 1, os.listdir(temporary)
        assert living.poll() is None and its, "a run that lived was harmed"
        living.kill()
        living.wait()
        assert run(["list", "cases", "builtin:naive"], temporary).wait(timeout=60) == 0
        assert not os.listdir(temporary), os.listdir(temporary)
        assert not processes(temporary), processes(temporary)
        assert traces(temporary) <= before, traces(temporary) - before


def main():
    tap = Tap()
    tap.run(f"nothing is left of {COUNT} interrupted runs", interrupted)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
