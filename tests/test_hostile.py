#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every hostile or broken kernel gets its right verdict, and attest survives them all."""

import json
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")

# behaviour: (verdicts of which at least one must appear, requirement broken or None, text or None)
EXPECTED = {
    "nothing": ("certified", None, None),
    "chatter": ("certified", None, None),
    "crash": ("CRASH", None, "unmapped address 0x8"),
    "hang": ("TIMEOUT", None, "no answer within"),
    "sleep_long": ("TIMEOUT", None, "no answer within"),
    "exit_0": ("CRASH", None, "ended by itself with status 0"),
    "underscore_exit": ("CRASH", None, "ended by itself with status 0"),
    "abort_": ("CRASH", None, "signal 6"),
    "stack_overflow": ("CRASH", None, None),
    "allocate": ("ERROR CRASH TIMEOUT", None, None),
    "thread_bomb": ("CRASH", None, "threads"),
    "fork_bomb": ("CRASH", None, "not allowed in the sandbox"),
    "fill_shared": ("CRASH", None, "filled the shared memory"),
    "close_all": ("CRASH", None, None),
    "talk_on_the_socket": ("ERROR", None, "wrong size"),
    "takeover": ("CRASH", None, "in its worker's place"),
    "read_memory": ("FAIL", None, None),
    "read_parent": ("CRASH", None, "process_vm_readv"),
    "trace_parent": ("CRASH", None, "ptrace"),
    "network": ("CRASH", None, "socket"),
    "delete_files": ("CRASH", None, "unlink"),
    "write_file": ("certified", None, None),  # refused by the sandbox, and it does not mind
    "kill_parent": ("CRASH", None, "kill"),
    "signal_by_descriptor": ("CRASH", None, "fcntl"),
    "read_neighbour": ("FAIL", None, None),
    "read_environment": ("FAIL", None, None),
    "shared_memory": ("CRASH", None, "mmap"),
    "growing_memory": ("CRASH", None, "mmap"),
    "page_tables": ("CRASH", None, "page tables beyond --memory"),
    "page_tables_by_steps": ("CRASH", None, "page tables beyond --memory"),
    "raise_signal": ("CRASH", None, "signal 10"),
    "stop_itself": ("TIMEOUT", None, None),
    "jump": ("CRASH ERROR TIMEOUT", None, None),
    "rounding": ("FAIL", "DET-08", None),
    "flush_to_zero": ("FAIL", "DET-08", None),
    "write_input": ("CRASH", "MEM-03", "write to the input k"),
    "write_past_end": ("CRASH", "MEM-01", "write to o, 1 bytes past its last"),
    "read_past_end": ("CRASH", "MEM-01", "read of v, 1 bytes past its last"),
    "read_before_start": ("CRASH", "MEM-01", "read of q, 1 bytes before its first"),
    "write_gap": ("FAIL", "MEM-02", None),
    "success_without_writing": ("FAIL", "MEM-06", None),
    "zeros": ("FAIL", None, None),
    "refuse_all": ("FAIL", "CAP-02", None),
    "ten_calls": ("FAIL", None, None),
    "cache_by_pointer": ("FAIL", None, None),
    "cache_by_content": ("FAIL", None, None),
    "right_when_timed": ("FAIL", None, None),
    "write_later": ("FAIL", "MEM-05", None),
    "construct_crash": ("unloadable", None, "while it was loaded"),
    "construct_hang": ("unloadable", None, "while it was loaded"),
    "construct_network": ("unloadable", None, "socket"),
    "construct_fork": ("unloadable", None, "not allowed in the sandbox"),
    "construct_delete": ("unloadable", None, "unlink"),
    "construct_write": ("unloadable", None, "signal 6"),  # aborts because it is refused
    "profile_stdin": ("unloadable", None, "not a name"),
    "profile_beside": ("unloadable", None, "not a name"),
    "no_symbol": ("unloadable", None, "attest_kernel_v1"),
    "wrong_version": ("unloadable", None, "abi_version"),
    "answer_null": ("unloadable", None, "NULL"),
    "unprintable_name": ("certified", None, None),
    "no_types": ("unloadable", None, "dtypes"),
    "not_an_object": ("unloadable", None, None),
    "empty": ("unloadable", None, None),
}


def certify(path, folder, *more):
    report = os.path.join(folder, "report.json")
    if os.path.exists(report):
        os.unlink(report)
    done = subprocess.run(
        [ATTEST, "certify", path, "--level", "smoke", "--call-time", "0.7", "--memory", "256",
         "--jobs", "2", "--json", report, "--quiet", "--env", "HOSTILE_FOLDER", *more],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
        env={**os.environ, "HOSTILE_FOLDER": folder, "HOSTILE_SECRET": "a key"})
    with open(report, encoding="utf-8") as file:
        return done, json.load(file)


def problems(name, done, report):
    wanted, requirement, text = EXPECTED[name]
    if wanted == "certified":
        if done.returncode != 0 or not report["certificate"]["certified"]:
            yield f"must be certified: {report['certificate']['reason']}"
    elif done.returncode != 1 or report["certificate"]["certified"]:
        yield f"must not be certified; exit code {done.returncode}"
    elif wanted == "unloadable":
        if not report["load_error"] or (text and text not in report["load_error"]):
            yield f"load error is {report['load_error']!r}"
    else:
        bad = [c for c in report["cases"] if c["verdict"] in wanted.split()]
        if not bad:
            seen = sorted({c["verdict"] for c in report["cases"]})
            yield f"no case is {wanted}; there are {seen}"
        elif requirement and not any(c.get("broken") == requirement for c in bad):
            yield f"no case breaks {requirement}: {sorted({c.get('broken', '-') for c in bad})}"
        elif text and not any(text in c.get("what", "") for c in bad):
            yield f"no failure says {text!r}: {bad[0].get('what')!r}"
    output = done.stdout + done.stderr
    if any(byte < 32 and byte != 10 for byte in output) or any(byte > 126 for byte in output):
        yield "the output has unprintable bytes"
    if len(output) > 100000:
        yield "the output is too long"


RESTRICTED = {"small_domain": "at most 10 keys", "loose_exp": "exp within 100000 ulp"}


def restricted(name, words, folder):
    """What a kernel declares less than the level asks for is in the certificate, and is not full."""
    done, report = certify(os.path.join(BUILD, "hostile", name + ".so"), folder)
    if done.returncode != 0 or words not in report["certificate"]["restricted"]:
        yield f"{report['certificate']}"[:300]
    done, report = certify(os.path.join(BUILD, "hostile", name + ".so"), folder, "--require", "full")
    if done.returncode != 1:
        yield f"--require full: exit code {done.returncode}"


def make_broken_files(folder):
    paths = {name: os.path.join(BUILD, "hostile", name + ".so") for name in EXPECTED}
    paths["not_an_object"] = os.path.join(folder, "not_an_object.so")
    paths["empty"] = os.path.join(folder, "empty.so")
    with open(paths["not_an_object"], "w", encoding="ascii") as file:
        file.write("this is not a shared object\n" * 100)
    with open(paths["empty"], "w", encoding="ascii"):
        pass
    return paths


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        victim, made = os.path.join(folder, "victim"), os.path.join(folder, "made")
        with open(victim, "w", encoding="ascii") as file:
            file.write("must survive\n")
        paths = make_broken_files(folder)
        for name in [n for n in EXPECTED if n in sys.argv[1:] or not sys.argv[1:]]:
            try:
                done, report = certify(paths[name], folder)
                found = list(problems(name, done, report))
            except (OSError, ValueError, subprocess.TimeoutExpired) as error:
                found = [f"attest did not survive: {error}"]
            tap.report(not found, name, found)
        for name, words in RESTRICTED.items():
            found = list(restricted(name, words, folder)) if not sys.argv[1:] or name in sys.argv[1:] else []
            tap.report(not found, name, found)
        tap.report(os.path.exists(victim) and not os.path.exists(made), "no file was deleted or made")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
