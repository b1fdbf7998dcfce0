#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The views of a report, and bundles: each from one run of a kernel that is wrong on purpose."""

import html
import html.parser
import json
import os
import random
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

from support.tap import Tap

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", "build/default")
ATTEST = os.path.join(BUILD, "attest")
WRONG = os.path.join(BUILD, "hostile", "zeros.so")
MUTANT = os.path.join(BUILD, "mutants", "memory-kv-head-0-for-all.so")
NASTY = "<script>alert(1)</script>&\"'`|\\[x](javascript:1)</style>@all"
VOID = {"meta", "link", "input", "br"}
tests = []


def test(function):
    tests.append(function)
    return function


def attest(*arguments, **environment):
    return subprocess.run([ATTEST, *arguments], capture_output=True, text=True, errors="replace",
                          timeout=300, check=False, env={**os.environ, **environment})


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def report_of(folder, target=WRONG, *arguments):
    path = os.path.join(folder, "report.json")
    done = attest("certify", target, "--level", "smoke", "--quiet", "--json", path, "--only",
                  "heads,empty,mask-readback", *arguments)
    assert done.returncode in (0, 1), done.stderr
    return path, json.loads(text_of(path))


def view(folder, report, kind, name):
    path = os.path.join(folder, name)
    done = attest("report", report, kind, path)
    assert done.returncode == 1, done.stderr
    return text_of(path)


class Page(html.parser.HTMLParser):
    """Elements that close, ids that are there, nothing from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.scripts, self.rects = [], [], [], 0, 0
        self.words = ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes[k] for k in ("href", "src") if k in attributes]
        self.scripts += tag == "script"
        assert not any(name.startswith("on") for name in attributes), attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.rects += tag == "rect"

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (self.open[-3:], tag, self.getpos())
        self.open.pop()

    def handle_data(self, data):
        self.words += data


@test
def a_defect_is_one_row_with_its_smallest_case(folder):
    _, report = report_of(folder, os.path.join(BUILD, "mutants", "memory-kv-head-0-for-all.so"))
    failed = [c for c in report["cases"] if c["verdict"] == "FAIL"]
    assert sum(c["cases"] for c in report["causes"]) == len(failed)
    assert len(report["causes"]) == 1 < len(failed), report["causes"]
    assert report["causes"][0]["suspicion"]["class"] == report["diagnosis"][0]["class"] == 26
    for cause in report["causes"]:
        case = next(c for c in failed if c["id"] == cause["smallest"])
        assert case["exhibit"]["maps"] and "attest.h" in case["exhibit"]["c"], case["id"]
    schema = json.loads(text_of(os.path.join(HERE, "..", "spec", "report.schema.json")))
    jsonschema.Draft202012Validator(schema).validate(report)


@test
def a_report_read_back_says_the_same(folder):
    path, report = report_of(folder)
    again = json.loads(view(folder, path, "--json", "again.json"))
    assert again == report


@test
def programs_in_an_exhibit_run(folder):
    _, report = report_of(folder)
    case = next(c for c in report["cases"] if "exhibit" in c and "value" in c)
    source = os.path.join(folder, "case.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(case["exhibit"]["c"])
    program = os.path.join(folder, "case")
    subprocess.run(["cc", "-I", os.path.join(HERE, "..", "spec"), source, "-ldl", "-o", program],
                   check=True)
    said = subprocess.run([program, os.path.abspath(WRONG)], capture_output=True, text=True,
                          check=True).stdout
    assert "should be" in said, said
    with open(os.path.join(folder, "attention.py"), "w", encoding="utf-8") as file:
        file.write("import numpy as np\n\n\ndef attention(q, k, v, lse=False, **options):\n"
                   "    o = np.zeros((*q.shape[:3], v.shape[3]), np.float32)\n"
                   "    return (o, o[..., 0]) if lse else o\n")
    with open(os.path.join(folder, "case.py"), "w", encoding="utf-8") as file:
        file.write(case["exhibit"]["numpy"])
    said = subprocess.run(["/usr/bin/python3", os.path.join(folder, "case.py")],
                          capture_output=True, text=True, check=True).stdout
    assert said.startswith("0.0 should be"), said


@test
def html_is_one_file_of_closed_elements(folder):
    path, report = report_of(folder)
    page = Page(view(folder, path, "--html", "page.html"))
    assert len(page.ids) == len(set(page.ids)), "an id stands twice"
    assert all(link.startswith(("#", "data:")) for link in page.links), page.links
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert page.rects > 10 and page.scripts == 2
    for cause in report["causes"]:
        assert cause["smallest"] in page.words


def hostile_report(folder):
    path, report = report_of(folder)
    report["target"] = report["kernel"]["name"] = NASTY
    for case in report["cases"]:
        if "what" in case:
            case["what"] = NASTY
    for convention in report["conventions"]:
        convention["answer"] = NASTY
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)
    return path


@test
def texts_of_others_stay_texts(folder):
    path = hostile_report(folder)
    page = Page(view(folder, path, "--html", "page.html"))
    assert page.scripts == 2 and NASTY in page.words, "a text became an element"
    tree = ElementTree.fromstring(view(folder, path, "--junit", "junit.xml"))
    assert tree.get("name") == "attest " + NASTY
    ElementTree.fromstring(view(folder, path, "--badge", "badge.svg"))
    markdown = view(folder, path, "--markdown", "page.md")
    assert "<script" not in markdown and "](java" not in markdown and "@all" not in markdown
    sarif = json.loads(view(folder, path, "--sarif", "r.sarif"))
    location = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert not set(location["artifactLocation"]["uri"]) & set("<>\"`|\\ ")


@test
def sarif_names_a_rule_and_a_place_for_each_result(folder):
    path, report = report_of(folder)
    run = json.loads(view(folder, path, "--sarif", "r.sarif"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(report["causes"])
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["locations"] and result["level"] == "error"


@test
def every_view_says_how_to_run_the_case_again(folder):
    path, report = report_of(folder, WRONG, "--profile", "pytorch-sdpa", "--model", "f16-f16acc")
    smallest = report["causes"][0]["smallest"]
    line = (f"attest replay {smallest} --level smoke --seed 1 --profile 'pytorch-sdpa' "
            f"--model 'f16-f16acc' '{WRONG}'")
    assert line in attest("report", path).stdout, line
    assert line in Page(view(folder, path, "--html", "page.html")).words, line
    assert line in html.unescape(view(folder, path, "--junit", "junit.xml")), line
    assert line in view(folder, path, "--sarif", "r.sarif"), line


@test
def the_smallest_case_is_drawn_and_written_as_a_program(folder):
    path = os.path.join(folder, "report.json")
    attest("certify", MUTANT, "--level", "smoke",
           "--only", "huge,sizes", "--quiet", "--json", path)
    report = json.loads(text_of(path))
    smallest = report["causes"][0]["smallest"]
    case = next(case for case in report["cases"] if case["id"] == smallest)
    assert "layout=huge" not in case["line"], case["line"]
    assert case["exhibit"]["maps"] and case["exhibit"]["c"] and case["exhibit"]["numpy"], case


@test
def the_page_says_what_was_tried(folder):
    path, _ = report_of(folder, MUTANT)
    words = Page(view(folder, path, "--html", "page.html")).words
    text = attest("report", path).stdout
    for begin in ("MISTRUSTED cases pass", "tried batch entries to", "not tried: "):
        assert begin in text and begin in words, begin


@test
def badges_say_the_verdict(folder):
    path, _ = report_of(folder)
    endpoint = json.loads(view(folder, path, "--badge", "badge.json"))
    assert endpoint["schemaVersion"] == 1 and endpoint["message"] == "not certified"


@test
def the_verdict_is_first_and_last(folder):
    path, _ = report_of(folder)
    lines = [line for line in attest("report", path).stdout.splitlines() if line]
    assert lines[0].startswith("not certified: ") and lines[1].startswith("most likely: class ")
    assert lines[-1] == lines[0] and "\033" not in "".join(lines)


@test
def a_terminal_gets_colours_and_its_width(folder):
    path, _ = report_of(folder, MUTANT)

    def in_terminal(**environment):
        command = f"{ATTEST} report {path}"
        return subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True,
                              text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
                              env={**os.environ, "TERM": "xterm", **environment}).stdout
    assert "\033[31mnot certified\033[0m" in in_terminal()
    plain = in_terminal(NO_COLOR="1", COLUMNS="72")
    assert "\033" not in plain
    for columns in (72, 80, 100):  # but what is copied, and pictures
        lines = in_terminal(NO_COLOR="1", COLUMNS=str(columns)).splitlines()
        long = [line for line in lines if len(line.rstrip()) > max(columns, 79)
                and not line.startswith(("  reproduce", "    "))]
        assert len(lines) > 20 and not long, long
    # Folding changes no word.
    assert in_terminal(NO_COLOR="1", COLUMNS="72").split() == in_terminal(NO_COLOR="1").split()


def bundle_of(folder, *arguments, target=WRONG):
    path = os.path.join(folder, "run.attest")
    attest("certify", target, "--level", "smoke", "--quiet", "--only", "heads,repeat,purity",
           "--bundle", path, *arguments)
    return path


@test
def a_bundle_is_judged_again_without_the_kernel(folder):
    for target in (WRONG, "builtin:flash", os.path.join(BUILD, "hostile", "crash.so"),
                   os.path.join(BUILD, "hostile", "write_later.so"),
                   os.path.join(BUILD, "hostile", "write_input.so")):
        done = attest("verify", bundle_of(folder, target=target))
        assert done.returncode == 0 and done.stdout.startswith("verified: "), (target, done)


@test
def every_altered_bit_is_noticed(folder):
    path = bundle_of(folder)
    with open(path, "rb") as file:
        whole = file.read()
    draw = random.Random(1)
    altered = os.path.join(folder, "altered")
    places = [draw.randrange(8 * len(whole)) for _ in range(100)]
    places += [8 * (len(whole) - draw.randrange(1, 145)) + draw.randrange(8) for _ in range(100)]
    for place in places:
        other = bytearray(whole)
        other[place // 8] ^= 1 << place % 8
        with open(altered, "wb") as file:
            file.write(other)
        done = attest("verify", altered)
        assert done.returncode == 1 and done.stdout.startswith("not verified: "), (place, done)
    for length in (0, 7, 8, 151, 152, len(whole) // 2, len(whole) - 1):
        with open(altered, "wb") as file:
            file.write(whole[:length])
        assert attest("verify", altered).returncode == 1, length


def forged(whole, change, tail=96):
    """The bundle with another header and a hash that fits."""
    import hashlib
    end = len(whole) - 144
    blobs = int.from_bytes(whole[end:end + 8], "little")
    header = json.loads(whole[8 + blobs:end])
    outputs = bytearray(whole[8:8 + blobs])
    change(header, outputs)
    text = json.dumps(header).encode()
    body = b"ATTESTB1" + outputs + text + len(outputs).to_bytes(8, "little")
    body += len(text).to_bytes(8, "little")
    return body + hashlib.blake2b(body, digest_size=32).digest() + bytes(tail)


@test
def a_forged_bundle_with_a_right_hash_is_refused(folder):
    path = bundle_of(folder)
    with open(path, "rb") as file:
        wrong = file.read()
    path = bundle_of(folder, target="builtin:flash")
    with open(path, "rb") as file:
        whole = file.read()

    def acquit(header, outputs):
        for case in header["report"]["cases"]:
            case.update(verdict="PASS")
            case.pop("broken", None)

    def certify(header, outputs):
        header["report"]["certificate"].update(certified=True, reason="")

    def other_outputs(header, outputs):
        outputs[:] = b"\x7f" * len(outputs)

    def fewer(header, outputs):
        header["events"][0] = header["events"][0][:-1]

    def more(header, outputs):
        header["events"][0] *= 2

    def far(header, outputs):
        for events in header["events"]:
            for event in events:
                event["at"] = 2**62

    def renamed(header, outputs):
        header["report"]["cases"][0]["line"] += " b=2"

    def complete(header, outputs):
        header["report"]["incomplete"] = ""

    def types(header, outputs):
        header["events"] = {"0": header["events"]}
    assert attest("verify", _write(folder, forged(whole, lambda *_: None))).returncode == 0
    assert attest("verify", _write(folder, forged(wrong, acquit))).returncode == 1
    for change in (certify, other_outputs, fewer, more, far, renamed, complete, types):
        done = attest("verify", _write(folder, forged(whole, change)))
        assert done.returncode == 1 and done.stdout.startswith("not verified"), (change, done)


def _write(folder, data):
    path = os.path.join(folder, "forged")
    with open(path, "wb") as file:
        file.write(data)
    return path


@test
def signatures_are_of_one_key(folder):
    secret = os.path.join(folder, "key")
    with open(secret, "w", encoding="utf-8") as file:
        file.write("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n")
    public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"  # RFC 8032, 7.1
    path = bundle_of(folder, "--sign", secret)
    done = attest("verify", path, "--key", public)
    assert done.returncode == 0 and "signed by " + public in done.stdout, done
    assert attest("verify", path, "--key", "0" * 64).returncode == 1
    assert attest("verify", bundle_of(folder), "--key", public).returncode == 1
    with open(secret, "w", encoding="utf-8") as file:
        file.write("not a key\n")
    done = attest("certify", WRONG, "--level", "smoke", "--bundle", path, "--sign", secret)
    assert done.returncode == 2 and "--sign" in done.stderr, done


@test
def the_statement_names_the_kernel_by_its_digest(folder):
    import hashlib
    path = os.path.join(folder, "statement.json")
    report_of(folder, WRONG, "--statement", path)
    statement = json.loads(text_of(path))
    with open(WRONG, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["subject"][0]["digest"] == {"sha256": digest}
    assert statement["predicate"]["result"] == "FAILED" and statement["predicate"]["failedTests"]


def main():
    tap = Tap()
    for function in tests:
        with tempfile.TemporaryDirectory() as folder:
            tap.run(function.__name__, function, folder)
    return tap.end()


if __name__ == "__main__":
    raise SystemExit(main())
