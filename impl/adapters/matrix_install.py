# SPDX-License-Identifier: Apache-2.0
"""An environment of its own for each family of adapters."""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import time

from matrix_files import write

STAMP = "attest-installed"  # inside an environment: what was asked for


def run(log, *command):
    log.write(f"$ {shlex.join(command)}\n")
    log.flush()
    return subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          check=False).returncode


def torch_options(pins):
    """Of ATTEST_TORCH (ci/deps): all of it for the version that it names, for others its options."""
    words = shlex.split(os.environ.get("ATTEST_TORCH", ""))
    pin = next((pin for pin in pins if re.fullmatch(r"torch(==.*)?", pin)), None)
    if pin is None or not words:
        return pins
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    own = words[:first] if pin in [word.partition("+")[0] for word in words[:first]] else [pin]
    return [*own, *(one for one in pins if one != pin), *words[first:]]


def brings_cuda(pip, pins, log):
    """PyTorch's default file is hundreds of megabytes larger: not without being asked for."""
    if os.environ.get("ATTEST_TORCH") or not any(re.match(r"torch\b", pin) for pin in pins):
        return False
    done = subprocess.run([*pip, "install", "-q", "--dry-run", "--report", "-", *pins], text=True,
                          stdout=subprocess.PIPE, stderr=log, check=False)
    wanted = json.loads(done.stdout)["install"] if done.returncode == 0 else []
    return any(one["metadata"]["name"].startswith("nvidia-") for one in wanted)


def last_words(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("$ ")]
    wrong = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["no output"]
    return wrong[-1][:300]


def install(folder, pins):
    """None, or why not. What was begun and not finished is taken up; another list begins anew."""
    asked = json.dumps([sys.version, folder, pins, os.environ.get("ATTEST_TORCH", "")])
    stamp, failed, log = os.path.join(folder, STAMP), folder + ".failed", folder + ".log"
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == asked:
                return None
    print(f"matrix-install: {os.path.basename(folder)}: {' '.join(pins)}", flush=True)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    start, why = time.monotonic(), None
    pip = [os.path.join(folder, "bin", "python"), "-m", "pip"]
    with open(log, "w", encoding="utf-8") as out:
        anew = ["--clear"] if os.path.exists(stamp) else []
        if run(out, sys.executable, "-m", "venv", *anew, folder):
            why = "no environment: "
        elif brings_cuda(pip, pins, out):
            why = "it would bring CUDA libraries along: see ATTEST_TORCH in ci/deps --help; "
        elif run(out, *pip, "install", "--progress-bar", "off", *torch_options(pins)):
            why = "pip: "
    if why is None:
        write(stamp, asked)
        if os.path.exists(failed):
            os.remove(failed)
    else:
        why += last_words(log)
        write(failed, why)
    seconds = round(time.monotonic() - start)
    print(f"matrix-install: {os.path.basename(folder)}: {f'failed: {why}' if why else 'done'} ({seconds} s)",
          flush=True)
    return why


def install_all(families, environments, jobs):
    """0, or 1 if one of them could not be installed; none stops the others."""
    wanted = {name: pins for family in families for name, pins in family.environments.items()}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = {name: pool.submit(install, os.path.join(environments, name), pins)
                 for name, pins in wanted.items()}
    failed = {name: task.result() for name, task in tasks.items() if task.result()}
    print(f"matrix-install: {len(wanted) - len(failed)} of {len(wanted)} environments are there"
          f"{'; not: ' + ', '.join(failed) if failed else ''}")
    return 1 if failed else 0
