#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package: its examples, functions of every kind, the pytest plugin, and what was hard to use
once."""

import doctest
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time

from support.tap import Tap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build/default"))
ATTEST = os.path.join(BUILD, "attest")
sys.path.insert(0, os.path.join(BUILD, "python"))
sys.dont_write_bytecode = True
import attest_attention  # noqa: E402
from attest_attention import api, callee, declaration, kernel, problem  # noqa: E402

RIGHT = '''
import numpy as np
from attest_attention import kernel


def attention(q, k, v, causal=False):
    score = np.einsum("bhid,bhjd->bhij", q, k) * q.dtype.type(q.shape[3] ** -0.5)
    if causal:
        visible = np.tri(*score.shape[2:], k=score.shape[3] - score.shape[2], dtype=bool)
        score = np.where(visible, score, -np.inf)
    top = np.maximum(score.max(3, keepdims=True, initial=-np.inf), np.finfo(score.dtype).min)
    weight = np.exp(score - top)
    total = weight.sum(3, keepdims=True)
    return np.einsum("bhij,bhjc->bhic", weight / np.where(total > 0, total, 1), v)
'''
WRONG = RIGHT.replace("k=score.shape[3] - score.shape[2], ", "")
DECLARED = "\n\n@kernel(features=[\"causal\"{more}], types={types})\ndef run(q, k, v{options}):\n{body}"


def attest(*words, **more):
    return subprocess.run([ATTEST, *words], stdin=subprocess.DEVNULL, text=True, capture_output=True,
                          timeout=200, check=False, env={**os.environ, "ATTEST_PYTHON": sys.executable,
                                                         **more})


def file(folder, text, name="mine.py"):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(textwrap.dedent(text))
    return path


def run_with(folder, body, types='["f32"]', more="", options=", causal=False"):
    """A target whose function `run` has that body."""
    body = textwrap.indent(textwrap.dedent(body), "    ")
    text = RIGHT + DECLARED.format(types=types, more=more, options=options, body=body)
    return f"py:{file(folder, text)}:run"


def need(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


# --- the API

def examples_of_the_pages_run(folder):
    failed, count = doctest.testmod(api)
    need(failed == 0 and count >= 8, failed, count)
    with open(os.path.join(ROOT, "python/README.md"), encoding="utf-8") as page:
        numpy_example = re.search(r"```python\n(.*?)```", page.read(), re.DOTALL).group(1)
    done = subprocess.run([sys.executable, file(folder, numpy_example)], cwd=folder, text=True,
                          capture_output=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})
    need("certified (restricted" in done.stdout, done.stdout, done.stderr)
    need("attention" in open(os.path.join(folder, "attention.html"), encoding="utf-8").read(), "no page")


def local_wrong(factor):
    """A closure: nothing can import it."""
    def attention(q, k, v):
        import numpy as np
        score = np.einsum("bhid,bhjd->bhij", q, k) * np.float32(factor)
        weight = np.exp(score - score.max(3, keepdims=True))
        return np.einsum("bhij,bhjc->bhic", weight / weight.sum(3, keepdims=True), v)
    return attention


def a_closure_is_certified_and_its_failure_shown(folder):
    report = attest_attention.certify(local_wrong(1.0), level="smoke", only="oracle", types=["f32"],
                                      features=[], shapes=["strides"], progress=False)
    need(not report and report.failures, report.verdict)
    failure = report.failures[0]
    need(failure.requirement.startswith("NUM"), failure)
    need(math.isfinite(failure.expected) and failure.expected != failure.actual, failure)
    arrays = failure.inputs
    need(arrays["q"].ndim == 4 and arrays["q"].size <= 8, arrays)
    names = {"attention": local_wrong(1.0)}
    program = "\n".join(line for line in failure.reproducer.splitlines() if " import attention" not in line)
    need(len(program.splitlines()) <= 10, program)
    exec(program.replace("print(", "shown = ("), names)  # pylint: disable=exec-used
    actual, words = names["shown"]
    wanted, radius = map(float, re.search(r"be (\S+), at most (\S+) off", words).groups())
    need(abs(actual - wanted) > radius, program, names["shown"])
    need("<table" in report._repr_html_() and "not certified" in report._repr_html_(), "html")


def a_report_is_saved_as_every_view(folder):
    file(folder, WRONG)
    sys.path.insert(0, folder)
    import mine
    report = attest_attention.certify(mine.attention, level="smoke", types=["f32"], finite_only=True,
                                      isolation="extreme", progress=False)
    sys.path.remove(folder)
    need(report.fingerprint.get("causal corner") == "top left", report.fingerprint)
    words = {"html": "mask in use", "md": "| defect |", "sarif": "2.1.0", "svg": "not certified",
             "xml": "<testsuites", "json": "attest-report-1", "txt": "most likely: class"}
    for ending, wanted in words.items():
        path = os.path.join(folder, "saved." + ending)
        report.save(path)
        with open(path, encoding="utf-8") as saved:
            text = saved.read()
        need(wanted in text, wanted, "not in", text[:1000])
        need(".pickle" not in text, ending, "names a file that is gone")
    need("'py:mine:attention'" in report.text, report.text[:2000])
    try:
        report.save(os.path.join(folder, "saved.doc"))
    except ValueError as error:
        need(".html" in str(error), error)
    else:
        need(False, "saved as .doc")


def a_field_that_does_not_exist_is_named(folder):
    try:
        attest_attention.certify(local_wrong(1.0), level="smoke", isolaton="full")
    except TypeError as error:
        need("isolaton" in str(error) and "isolation" in str(error), error)
    else:
        need(False, "accepted")


def trouble_is_an_exception(folder):
    try:
        attest_attention.certify("./absent.so", progress=False)
    except attest_attention.AttestError as error:
        need("no such file" in str(error), error)
    else:
        need(False, "accepted")


def what_is_found_is_what_the_function_takes(folder):
    names = {}
    exec(RIGHT, names)  # pylint: disable=exec-used
    found = callee.find(names["attention"], {})
    need(found["features"] == ["causal"], found)
    need(set(found["types"]) >= {"f32", "f64", "f16"}, found)
    need(found["arrays"] == "numpy" and "gqa" not in found["shapes"] and "dv" in found["shapes"], found)

    def boolean_masks_alone(q, k, v, attn_mask=None):
        import numpy as np
        seen = np.ones((q.shape[2], k.shape[2]), bool) if attn_mask is None else attn_mask.astype(bool)
        score = np.where(seen, q @ k.swapaxes(2, 3), -1e30)
        weight = np.exp(score - score.max(3, keepdims=True))
        return (weight / weight.sum(3, keepdims=True)).astype(q.dtype) @ v
    found = callee.find(boolean_masks_alone, {"arrays": "numpy", "types": ["f32"]})
    need(found["features"] == ["mask-bool"], found)


def what_supports_declines_is_no_failure(folder):
    target = run_with(folder, "return attention(q, k, v, causal)", more="")
    path = target.split(":")[1]
    text = open(path, encoding="utf-8").read().replace(
        "@kernel(", "@kernel(finite_only=True, isolation=\"extreme\", "
                    "supports=lambda p: p.head_size % 2 == 0 or \"even D\", ")
    done = attest("certify", f"py:{file(folder, text)}:run", "--level", "smoke", "--only", "oracle",
                  "--quiet")
    need(" UNSUPPORTED" in done.stdout and " FAIL" not in done.stdout, done.stdout[-2000:])
    need("cases failed" not in done.stdout, done.stdout[-500:])
    asked = problem.Problem({"features": ["causal"], "tensors": {
        name: {"dtype": "f32", "shape": [1, 2, 3, 4], "stride": [24, 12, 4, 1]} for name in "qkvo"}})
    need(asked.causal and asked.head_size == 4 and asked.strides["q"][-1] == 1, vars(asked))


# --- pytest

TESTS = '''
from mine import attention

def test_right(certify):
    certify(attention, types=["f32"], finite_only=True, isolation="extreme", only="oracle,heads")

def test_wrong(certify):
    from wrong import attention
    certify(attention, types=["f32"], finite_only=True, isolation="extreme", only="oracle")
'''


def pytest_shows_requirement_and_reproducer(folder):
    try:
        import pytest
    except ImportError as missing:
        raise NotImplementedError("no pytest here") from missing
    file(folder, RIGHT)
    file(folder, WRONG, "wrong.py")
    file(folder, TESTS, "test_it.py")
    words = ["-n", "auto"] if subprocess.run([sys.executable, "-c", "import xdist"], check=False,
                                             capture_output=True).returncode == 0 else []
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "attest_attention.pytest_plugin",
                           "-p", "no:cacheprovider", "--attest-level", "smoke", *words, "test_it.py"],
                          cwd=folder, text=True, capture_output=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})
    for wanted in ("1 failed, 1 passed", "requirement  NUM-01", "import numpy as np",
                   "o = attention(q, k, v, causal=True)", "should be"):
        need(wanted in done.stdout, wanted, "not in", done.stdout[-3000:], done.stderr, pytest.__version__)


# --- what was hard to use once

def bf16_is_taken(folder):
    target = run_with(folder, """
        import ml_dtypes
        wide = [x.astype(np.float32) for x in (q, k, v)]
        return attention(*wide, causal).astype(q.dtype)
        """, types='["bf16"]')
    if subprocess.run([sys.executable, "-c", "import ml_dtypes"], check=False,
                      capture_output=True).returncode != 0:
        # Without it nothing but the lack of it is said.
        done = attest("certify", target, "--level", "smoke", "--only", "heads", "--quiet")
        need("ml_dtypes" in done.stdout, done.stdout[-800:])
        return
    done = attest("certify", target, "--level", "smoke", "--only", "heads", "--quiet")
    need("types bf16" in done.stdout and " FAIL" not in done.stdout, done.stdout[-1500:])


def a_refusal_in_a_fingerprint_has_its_reason(folder):
    done = attest("fingerprint", run_with(folder, "raise RuntimeError('no causal on Tuesdays')"))
    need("refused: RuntimeError: no causal on Tuesdays" in done.stdout, done.stdout)


def a_long_exception_keeps_its_reason(folder):
    target = run_with(folder, "raise ValueError('x' * 300 + ' THE REASON')")
    done = attest("certify", target, "--level", "smoke", "--only", "heads", "--quiet")
    need("THE REASON | mine.py:" in done.stdout, done.stdout[:1500])


def the_reproducing_line_has_the_profile(folder):
    path = file(folder, WRONG)
    done = attest("certify", f"py:{path}:attention", "--level", "smoke", "--only", "heads,vectors",
                  "--profile", "jax", "--model", "f32-strict", "--quiet")
    lines = [line for line in done.stdout.splitlines() if "  reproduce" in line]
    need(lines and all("--profile 'jax'" in line for line in lines), done.stdout[:1500])


def little_memory_is_said(folder):
    target = run_with(folder, """
        import builtins
        if not hasattr(builtins, "kept"):
            builtins.kept = np.ones(250 << 17)
        return np.zeros(q.shape[:3] + v.shape[3:], np.float32)
        """)
    done = attest("certify", target, "--level", "smoke", "--only", "heads", "--memory", "320", "--quiet",
                  OPENBLAS_NUM_THREADS="1")
    need("of the 320 MiB that --memory allows: perhaps out of memory" in done.stdout, done.stdout[:1500])


def a_slow_import_names_its_limit(folder):
    path = file(folder, "import time\ntime.sleep(30)\n" + RIGHT)
    done = attest("certify", f"py:{path}:attention", "--load-time", "1")
    need("no answer within 1 s (--load-time: imports count, too)" in done.stdout, done.stdout)
    target = run_with(folder, "import time\ntime.sleep(30)")
    done = attest("certify", target, "--call-time", "0.3", "--only", "heads", "--level", "smoke")
    need("no answer within 0.3 s (--call-time)" in done.stdout, done.stdout[-2000:])


def replay_by_id_does_not_look_for_boundaries(folder):
    body = """
        with open(os.path.join(os.environ["TMPDIR"], "calls"), "a") as log:
            log.write(".")
        import sys
        print(os.path.getsize(os.path.join(os.environ["TMPDIR"], "calls")), file=sys.stderr)
        if os.path.getsize(os.path.join(os.environ["TMPDIR"], "calls")) > 100:
            raise RuntimeError("more than a hundred calls")
        return attention(q, k, v, causal)
        """
    target = run_with(folder, "import os\n" + textwrap.dedent(body))
    cases = attest("list", "cases", target, "--level", "smoke").stdout.splitlines()
    case = next(line.split()[0] for line in cases if "check=heads" in line)
    done = attest("replay", case, target, "--level", "smoke")
    need("more than a hundred calls" not in done.stdout and "heads" in done.stdout, done.stdout)


def a_wrong_field_is_named(folder):
    path = file(folder, RIGHT + "\nattention = kernel(features=['causl'], types=['f32'])(attention)\n")
    done = attest("certify", f"py:{path}:attention")
    need('features has the unknown name "causl"; known: causal, offsets' in done.stdout, done.stdout)


def shrink_writes_python_for_python(folder):
    path = file(folder, WRONG)
    shown = os.path.join(folder, "shown.py")
    attest("shrink", "check=oracle sq=3 sk=7 d=4 dv=4 features=causal seed=1", f"py:{path}:attention",
           "--output", shown)
    with open(shown, encoding="utf-8") as text:
        script = text.read().replace("from attention import", "from mine import")
    done = subprocess.run([sys.executable, file(folder, script, "again.py")], cwd=folder, text=True,
                          capture_output=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})
    need(re.match(r"\S+ should be \S+ at most", done.stdout), done.stdout, done.stderr)


def a_scale_of_zero_is_in_the_line(folder):
    line = "check=oracle sk=3 d=4 features=scale scale=0x0p+0 seed=1"
    done = attest("replay", line, "builtin:naive")
    need("features=scale scale=0x0p+0" in done.stdout, done.stdout)


def a_vector_is_named(folder):
    path = file(folder, WRONG)
    done = attest("certify", f"py:{path}:attention", "--level", "smoke", "--only", "vectors", "--quiet")
    need(re.search(r"what +vector [a-z][\w./-]+: ", done.stdout), done.stdout[:1500])


def the_interpreter_is_in_the_help(folder):
    need("ATTEST_PYTHON" in attest("--help").stdout, "help")


def a_budget_says_what_it_did_not_reach(folder):
    slow = RIGHT.replace("    return np", "    import time\n    time.sleep(0.05)\n    return np")
    path = file(folder, slow)
    start = time.monotonic()
    done = attest("certify", f"py:{path}:attention", "--level", "quick", "--budget", "8s", "--quiet",
                  "--json", os.path.join(folder, "r.json"))
    seconds = time.monotonic() - start
    need("cut by --budget after" in done.stdout and "not reached: " in done.stdout, done.stdout[-1500:])
    with open(os.path.join(folder, "r.json"), encoding="utf-8") as text:
        report = json.load(text)
    need(abs(report["seconds"] - seconds) < 0.5 + 0.1 * seconds, report["seconds"], seconds)
    need(sum(report["spent"].values()) <= report["seconds"] + 0.1, report["spent"])
    need(seconds < 25, seconds)


def main():
    tap = Tap()
    tests = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", "") == __name__
             and f.__code__.co_varnames[:1] == ("folder",) and f.__code__.co_argcount == 1]
    tests = [f for f in tests if not sys.argv[1:] or f.__name__ in sys.argv[1:]]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            tap.run(test.__name__, test, folder)
    need(declaration.parameters(kernel) == {}, "parameters")
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
