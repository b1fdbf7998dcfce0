# SPDX-License-Identifier: Apache-2.0
"""One job of the proof runner: the command of a tool, and what its answer is worth."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import claims as book

MISSING = book.MISSING
MEMORY_BYTES = 8 << 30
SLACK = 12  # wall clock against processor time, on a machine that does other things too
PROPERTY = re.compile(r"^\[([^\]]+)\] (?:(?:file \S+ )?line \d+ )?(.*): "
                      r"(SUCCESS|FAILURE|ERROR|UNKNOWN)$")
SHOWN = re.compile(r"^Property (\S+):\n  file .*\n  (.*)$", re.MULTILINE)
LOOP = re.compile(r"^Loop (\S+)\.(\d+):$", re.MULTILINE)

# Flag, program, and what CBMC prints when that solver was really used.
SOLVERS = {
    "z3": (["--z3"], "z3", "using Z3"),
    "cvc5": (["--cvc5"], "cvc5", "using CVC5"),
    "minisat": ([], "cbmc", "SAT checker"),
    "cadical": (["--external-sat-solver", "cadical"], "cadical", "Invoking SAT solver"),
}
NO_CHECKS = ["--no-standard-checks", "--unwinding-assertions"]
ALL_CHECKS = ["--nan-check", "--float-overflow-check", "--float-div-by-zero-check"]
MEMORY_CHECKS = ["--conversion-check", "--unsigned-overflow-check", "--pointer-overflow-check",
                 "--memory-leak-check"]
CHECKS = {"none": NO_CHECKS, "standard": [], "memory": MEMORY_CHECKS,
          "all": MEMORY_CHECKS + ALL_CHECKS}


class Broken(Exception):
    """The job could not be asked as it is written."""


def execute(command, limit, log, meter=None):
    """Runs a command in its own process group; returns (exit status or None on time-out, output).

    The limit is on processor time, which a loaded machine does not stretch; the wall clock gets
    SLACK times that. Each process of a command has the limit to itself; their sum goes to meter."""
    def confine():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    with tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=answer,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   preexec_fn=confine)
        deadline, ended, pause = time.monotonic() + SLACK * limit, False, 0.01
        while not ended and time.monotonic() < deadline:
            pid, code, usage = os.wait4(process.pid, os.WNOHANG)
            ended = pid != 0
            time.sleep(0 if ended else pause)
            pause = min(2 * pause, 0.5)
        if not ended:
            os.killpg(process.pid, signal.SIGKILL)
            _, code, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        answer.seek(0)
        output = answer.read().decode(errors="replace")
    spent = usage.ru_utime + usage.ru_stime
    status = process.returncode if ended and process.returncode != -signal.SIGXCPU else None
    if meter is not None:
        meter.append(spent)
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(command)}\n{output}\nexit status {status}, {spent:.1f} s\n\n")
    return status, output


def within(text, function):
    """Splits a source at one function's definition, so that a substitution can name its place."""
    if function is None:
        return "", text, ""
    head = re.search(rf"^[a-z][^;=\n]*\b{function}\)?\([^;]*?\{{$", text, re.MULTILINE)
    if not head:
        raise Broken(f"no function {function}")
    end = text.index("\n}\n", head.start())
    return text[:head.start()], text[head.start():end], text[end:]


def patched(job, out):
    """A copy of the source with the twin's substitution, which must change exactly one place."""
    patch = job["run"]["patch"]
    text = book.read(book.path_of(job["claim"], patch["file"]))
    before, body, after = within(text, patch.get("in"))
    places = body.count(patch["from"])
    if places != 1 or patch["from"] == patch["to"]:
        raise Broken(f"the substitution fits {places} places of {patch['file']}, not one")
    directory = os.path.join(out, "twins", f"{job['claim']['id']}-{job['run']['name']}")
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, os.path.basename(patch["file"]))
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + body.replace(patch["from"], patch["to"]) + after)
    return path


def parent(job):
    """A twin takes what it does not say itself from the run it is a twin of."""
    run = job["run"]
    if "twin-of" not in run:
        return run
    base = next(r for r in job["claim"]["runs"] if r["name"] == run["twin-of"])
    inherited = {key: value for key, value in base.items()
                 if key not in ("each", "reach", "scope", "group", "expect", "solvers")}
    return {**inherited, **run, "defines": {**base.get("defines", {}), **run.get("defines", {})}}


def cbmc_arguments(job, run, out):
    names = run["files"]
    included = run.get("source")  # a source that the harness includes instead of linking it
    paths = {name: book.path_of(job["claim"], name) for name in names + [included] if name}
    if "patch" in run:
        if run["patch"]["file"] not in paths:
            raise Broken(f"{run['patch']['file']} is not a file of the run")
        paths[run["patch"]["file"]] = patched(job, out)
    arguments = [paths[name] for name in names]
    arguments += [f"-I{directory}" for directory in book.include_dirs()]
    if included:
        arguments.append(f'-DPROOF_SOURCE="{os.path.abspath(paths[included])}"')
    if "reading" in run:
        arguments.append(f'-DATTN_READING="{run["reading"]}"')
    defines = {**run.get("defines", {}), **job["parameters"]}
    arguments += [f"-D{name}={value}" for name, value in defines.items()]
    if job["mode"] == "reach":
        arguments.append("-DPROOF_REACH")
    return arguments + CHECKS[run.get("checks", "none")] + run.get("options", [])


def unwind_arguments(run, arguments, limit, log):
    """`unwind` for all loops, `loops` for those of one function ("f") or one of its loops ("f.1"):
    loop numbers are read from the program, never trusted."""
    flags = ["--unwind", str(run["unwind"])] if "unwind" in run else []
    wanted = run.get("loops", {})
    if not wanted:
        return flags
    _, output = execute(["cbmc"] + arguments + ["--show-loops"], limit, log)
    found = LOOP.findall(output)
    limits = []
    for name, bound in wanted.items():
        hits = [(f, n) for f, n in found if name in (f, f"{f}.{n}")]
        if not hits:
            raise Broken(f"no loop in {name}")
        limits += [f"{f}.{n}:{bound}" for f, n in hits]
    return flags + ["--unwindset", ",".join(limits)]


def judge_proof(run, status, verdicts):
    wrong = [f"{text}: {answer}" for _, text, answer in verdicts if answer != "SUCCESS"]
    if wrong:
        return "refuted", wrong[0]
    if status != 0:
        return "error", f"cbmc ended with {status}"
    for name in book.properties(run):
        if not any(text.startswith(name) for _, text, _ in verdicts):
            return "error", f"no property {name}"
    return "proved", ""


def judge_refutation(names, status, verdicts):
    for name in names:
        answers = [answer for _, text, answer in verdicts if text.startswith(name)]
        if not answers:
            return "error", f"no property {name} (exit status {status})"
        if "FAILURE" not in answers:
            return "not refuted", f"{name} was not refuted"
    return ("refuted", "") if status == 10 else ("error", f"cbmc ended with {status}")


def selected(run, job, arguments, limit, log):
    """--property flags for a refutation: only the named ones, for speed."""
    names = ["reached: "] if job["mode"] == "reach" else book.properties(run)
    _, output = execute(["cbmc"] + arguments + ["--show-properties"], limit, log)
    ids = [(i, text) for i, text in SHOWN.findall(output)
           if any(text.startswith(name) for name in names)]
    if not ids:
        raise Broken(f"no property {names}")
    texts = [text for _, text in ids] if job["mode"] == "reach" else names
    return [flag for i, _ in ids for flag in ("--property", i)], texts


def run_cbmc(job, out, log):
    run = parent(job)
    flags, program, mark = SOLVERS[job["solver"]]
    if not shutil.which("cbmc") or not shutil.which(program):
        return MISSING, f"{program} is not installed", ""
    limit = run["limit"]
    arguments = cbmc_arguments(job, run, out)
    unwinding = unwind_arguments(run, arguments, limit, log)
    refute = job["mode"] == "reach" or run["expect"] == "refuted"
    names = []
    if refute and run.get("whole"):  # a property that exists only once the program is executed
        names = book.properties(run)
    elif refute:
        only, names = selected(run, job, arguments, limit, log)
        arguments = [a for a in arguments if a != "--unwinding-assertions"] + only
    command = ["cbmc"] + arguments + unwinding + flags
    status, output = execute(command, limit, log, job["meter"])
    shown = " ".join(command)
    if status is None:
        return "time-out", f"no answer in {limit} s", shown
    verdicts = [match.groups() for match in map(PROPERTY.match, output.splitlines()) if match]
    # Where simplification alone decides every property no solver is asked.
    trivial = "Generated" in output and re.search(r"Generated \d+ VCC\(s\), 0 remaining", output)
    if mark not in output and not trivial:
        return "error", f"{job['solver']} was not used (exit status {status})", shown
    if refute:
        verdict, why = judge_refutation(names, status, verdicts)
        if job["mode"] == "reach" and verdict == "not refuted":
            verdict, why = "vacuous", why.replace("was not refuted", "is not reachable")
    else:
        verdict, why = judge_proof(run, status, verdicts)
    return verdict, why, shown


def run_wp(job, out, log):
    run = parent(job)
    if not shutil.which("frama-c") or not shutil.which("alt-ergo"):
        return MISSING, "Frama-C or Alt-Ergo is not installed", ""
    answer = os.path.join(out, f"wp-{job['claim']['id']}-{job['run']['name']}.json")
    if os.path.exists(answer):
        os.remove(answer)
    command = ["proofs/wp/wp", "--claim", job["claim"]["id"], "--json", answer,
               "--limit", str(run["limit"])]
    command += ["--twin", run["wp-twin"]] if "wp-twin" in run else []
    status, _ = execute(command, run["limit"] + 30, log, job["meter"])
    shown = " ".join(command)
    if status is None:
        return "time-out", f"no answer in {run['limit']} s", shown
    if not os.path.exists(answer):
        return "error", f"no result was written (exit status {status})", shown
    with open(answer, encoding="utf-8") as file:
        result = json.load(file)
    job["provers"] = result.get("provers", [])
    said = f"{result.get('proved')} of {result.get('goals')} goals, {result.get('status')}"
    if status == 0 and result.get("proved") == result.get("goals") and result.get("goals"):
        return "proved", said, shown
    return ("refuted" if result.get("status") == "refuted" else "error"), said, shown


def run_program(job, out, log):
    """Any other check: exit status 0 holds, 1 does not. SOURCE in its command is the run's source,
    or the twin's copy of it."""
    run = parent(job)
    source = patched(job, out) if "patch" in run else book.path_of(job["claim"], run["source"])
    command = [source if word == "SOURCE" else word for word in run["command"]]
    command[0] = command[0] if shutil.which(command[0]) else book.path_of(job["claim"], command[0])
    if not shutil.which(command[0]) and not os.path.exists(command[0]):
        return MISSING, f"{command[0]} is not there", ""
    status, output = execute(command, run["limit"], log, job["meter"])
    shown = " ".join(command)
    if status is None:
        return "time-out", f"no answer in {run['limit']} s", shown
    if status not in (0, 1) or not all(name in output for name in book.properties(run)):
        return "error", f"ended with {status}", shown
    return ("proved" if status == 0 else "refuted"), "", shown


TOOLS = {"cbmc": run_cbmc, "wp": run_wp, "program": run_program}


def run(job, out):
    words = [job["claim"]["id"], job["run"]["name"], job["solver"], *job["parameters"].values(),
             job["mode"]]
    name = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(map(str, words)))
    log = os.path.join(out, "log", name + ".txt")
    open(log, "w", encoding="utf-8").close()
    job["meter"] = []
    try:
        verdict, why, command = TOOLS[job["run"]["tool"]](job, out, log)
    except (Broken, book.Unknown) as broken:
        verdict, why, command = "error", str(broken), ""
    expect = job["run"]["expect"]
    if job["mode"] == "reach":
        expect = "vacuous" if expect == "vacuous" else "refuted"
    elif expect == "vacuous":
        expect = "proved"
    ok = verdict == expect
    if not ok and not why:
        why = f"{verdict}, expected {expect}"
    return {"ok": ok, "verdict": "reached" if ok and job["mode"] == "reach" and expect == "refuted"
            else verdict, "why": why, "command": command, "log": log,
            "seconds": sum(job["meter"])}
