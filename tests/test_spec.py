#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The specification's own consistency: ids, classes, profiles, the ABI header and its mirror."""

import ctypes
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from support.tap import Tap

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, os.path.join(ROOT, "certify", "plan"))
from attest_attention import abi as attest_abi  # noqa: E402
import classes  # noqa: E402

CC = os.environ.get("CC", "gcc").split()[0]
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
# Spelt in two parts, so that this file does not itself cite an id that does not exist.
UNKNOWN = "SEM" + "-99"
FIELDS = ("corner", "window_form", "default_scale", "gqa_order", "lse_base", "lse_empty",
          "empty_row", "mask_with_causal")
# Where the lower-case name of an enumerator is not the value with its prefix cut off.
ENUM_NAMES = {
    "ATTN_CORNER_BOTTOM_RIGHT_LENGTHS": "bottom-right-with-lengths",
    "ATTN_MASK_AND_CAUSAL": "and",
    "ATTN_MASK_CAUSAL_ERROR": "error",
    "ATTN_MASK_IGNORED": "mask-ignored",
    "ATTN_CAUSAL_IGNORED": "causal-ignored",
}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def path(*parts):
    return os.path.join(ROOT, *parts)


def read(*parts):
    with open(path(*parts), encoding="utf-8") as file:
        return file.read()


def need(condition, why):
    if not condition:
        raise AssertionError(why)


def ids_are_carried_or_planned():
    done = run(path("ci", "check-ids"))
    need(done.returncode == 0, done.stderr)


def check_planted(folder, name, text, wanted):
    """A copy of the specification with one file more: check-ids must fail, and say why."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(path("spec"), os.path.join(copy, "spec"))
        carried = re.findall(r"^### (\S+-\d\d) ", read("spec", "attention.md"), re.MULTILINE)
        os.makedirs(os.path.join(copy, "tests"))
        planned = read("spec", "planned-ids.txt")
        with open(os.path.join(copy, "tests", "all.c"), "w", encoding="utf-8") as file:
            file.write("\n".join(name for name in carried if name not in planned))
        need(run(path("ci", "check-ids"), copy).returncode == 0, "the copy itself fails")
        os.makedirs(os.path.join(copy, folder), exist_ok=True)
        with open(os.path.join(copy, folder, name), "a", encoding="utf-8") as file:
            file.write(text)
        done = run(path("ci", "check-ids"), copy)
        need(done.returncode == 1 and wanted in done.stderr, f"not found: {done.stderr}")


def an_unknown_id_is_found():
    check_planted("certify", "x.c", f"/* {UNKNOWN} */\n", f"{UNKNOWN}: cited in certify/x.c")
    label = UNKNOWN.replace("-", "_") + "_a"
    check_planted("proofs", "x.h", f"ensures {label}: x;\n", f"{UNKNOWN}: cited")


def an_id_without_carrier_is_found():
    check_planted("spec", "attention.md", f"\n### {UNKNOWN} Planted\n", f"{UNKNOWN}: nothing")


def a_planned_id_that_does_not_exist_is_found():
    check_planted("spec", "planned-ids.txt", f"{UNKNOWN} x\n", f"{UNKNOWN}: planned, but not in")


def a_planned_id_that_is_carried_is_found():
    check_planted("spec", "planned-ids.txt", "\n" + first_unplanned() + " x\n",
                  f"{first_unplanned()}: planned, but carried")


def first_unplanned():
    planned = read("spec", "planned-ids.txt")
    names = re.findall(r"^### (\S+-\d\d) ", read("spec", "attention.md"), re.MULTILINE)
    return next(name for name in names if name not in planned)


def every_class_is_defined():
    found = classes.read(path("spec", "classes.md"))
    need(len(found) >= 39, "a class was taken out: numbers are never used again")
    table = json.loads(read("impl", "wrong", "mutants", "mutants.json"))
    used = {mutant["class"] for mutant in table["mutants"]} - {"cheat", "interface"}
    unknown = used - {str(one.number) for one in found}
    need(not unknown, f"mutants of classes that are not defined: {unknown}")
    rows = dict(re.findall(r"^\| (\d+) \| (.+?) \| \d+ \|", read("spec", "power.md"), re.MULTILINE))
    need(set(rows) == used, "spec/power.md has other classes than the mutants")
    other = [one.number for one in found if rows.get(str(one.number), one.title) != one.title]
    need(not other, f"spec/power.md has other titles: {other}")


def a_class_that_is_not_defined_well_is_refused():
    text = read("spec", "classes.md")
    first, second = text.index("## 1. "), text.index("## 2. ")
    title = re.search(r"^## 1\. (.+)$", text, re.MULTILINE).group(1)
    with tempfile.TemporaryDirectory() as folder:
        for why, planted in (
                ("no class", text[:first]),
                ("a gap", text[:first] + text[second:]),
                ("a number twice", text + text[first:second]),
                ("a title twice", re.sub(r"(?m)^## 2\. .+$", "## 2. " + title, text)),
                ("no definition", re.sub(r"(`CLASS_STRIDES`)[^-]+", r"\1\n\n", text)),
                ("a name twice", text.replace("`CLASS_STRIDES`", "`CLASS_TAIL`")),
                ("no example", re.sub(r"(?s)\n- .*?\n\n## 2", "\n\n## 2", text, count=1)),
                ("an example from nowhere", text.replace("- onnx/onnx#8054", "- somewhere"))):
            need(planted != text, why)
            source = os.path.join(folder, "classes.md")
            with open(source, "w", encoding="utf-8") as file:
                file.write(planted)
            try:
                classes.read(source)
            except ValueError:
                continue
            raise AssertionError(f"{why}: accepted")


def second_table(text, titles):
    """Whether a file quotes two titles or more, as a table of its own would."""
    return sum(f'"{title}"' in text for title in titles) > 1


def bare_classes(text):
    """Places in C where a class is a number."""
    return re.findall(r"bug_class = [1-9]\d*|\"[A-Z]{3,4}-\d\d\", [1-9]\d?\b|"
                      r"\badd\(s, \d+|\[ATTEST_[A-Z_0-9]+\] = [1-9]\d?,", text)


def nothing_else_keeps_classes():
    titles = [one.title for one in classes.read(path("spec", "classes.md"))]
    need(second_table(f'{{"{titles[0]}", "{titles[5]}"}}', titles), "a table is not seen")
    for planted in ('r->bug_class = 27;', 'attest_result_bad(r, FAIL, "MEM-06", 27, "")',
                    'add(s, 32, 89, "")', '[ATTEST_NO_SCALE] = 24,'):
        need(bare_classes(planted), f"not seen: {planted}")
    for name in glob.glob(path("**", "*.*"), recursive=True):
        if name.endswith((".c", ".h", ".py", ".json", ".def")) and \
                not os.path.relpath(name, ROOT).startswith("build"):
            with open(name, encoding="utf-8") as file:
                text = file.read()
            need(not second_table(text, titles), f"{name}: a second table of classes")
            if os.path.relpath(name, ROOT).startswith("certify") and name.endswith(".c"):
                need(not bare_classes(text), f"{name}: {bare_classes(text)}")


def profiles():
    found = {}
    for name in sorted(glob.glob(path("spec", "profiles", "*.json"))):
        with open(name, encoding="utf-8") as file:
            found[os.path.basename(name)[:-len(".json")]] = json.load(file)
    return found


def profiles_fit_their_schema():
    import jsonschema
    schema = json.loads(read("spec", "profile.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    found = profiles()
    need(len(found) >= 10, f"only {len(found)} profiles")
    for name, profile in found.items():
        jsonschema.validate(profile, schema)
        need(profile["name"] == name, f"{name}.json is called {profile['name']}")
    broken = dict(found["attest"], corner="middle")
    need(not jsonschema.Draft202012Validator(schema).is_valid(broken), "a wrong value fits")


def enum_value(enumerator, prefix):
    return ENUM_NAMES.get(enumerator, enumerator[len(prefix):].lower().replace("_", "-"))


def the_schema_has_the_enums_of_profile_h():
    schema = json.loads(read("spec", "profile.schema.json"))
    text = re.sub(r"/\*.*?\*/", "", read("reference", "problem", "profile.h"), flags=re.DOTALL)
    prefixes = {"corner": "ATTN_CORNER_", "window_form": "ATTN_WINDOW_",
                "default_scale": "ATTN_SCALE_", "gqa_order": "ATTN_GQA_",
                "lse_base": "ATTN_LSE_", "lse_empty": "ATTN_LSE_EMPTY_",
                "empty_row": "ATTN_EMPTY_", "mask_with_causal": ""}
    for field in FIELDS:
        body = re.search(rf"enum attn_{field} \{{(.*?)\}}", text, re.DOTALL).group(1)
        names = [enum_value(name, prefixes[field]) for name in re.findall(r"ATTN_\w+", body)]
        need(names == schema["properties"][field]["enum"], f"{field}: {names}")
        words = re.search(rf'{{"{field}", {{(.*?)}}}}', read("vectors", "read", "profile_read.c"), re.DOTALL)
        need(re.findall(r'"(.*?)"', words.group(1)) == names, f"{field} in profile_read.c")


def the_compiled_profile_is_attest_json():
    """Through the compiler: each field of attn_profile_attest against its index in the schema."""
    schema = json.loads(read("spec", "profile.schema.json"))
    attest = profiles()["attest"]
    source = '#include <stdio.h>\n#include "reference/problem/profile.c"\nint main(void) {\n'
    for field in FIELDS:
        source += f'printf("{field} %d\\n", (int)attn_profile_attest.{field});\n'
    compiled = dict(line.split() for line in run_c(source, "-I" + path(".")).splitlines())
    for field in FIELDS:
        value = schema["properties"][field]["enum"][int(compiled[field])]
        need(value == attest[field], f"{field}: compiled {value}, file {attest[field]}")


def run_c(source, *flags):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "program")
        with open(name + ".c", "w", encoding="utf-8") as file:
            file.write(source + "return 0;\n}\n")
        done = run(CC, "-std=c11", "-I" + path("spec"), *flags, name + ".c", "-o", name)
        need(done.returncode == 0, done.stderr)
        return run(name).stdout


def the_header_compiles_alone():
    for compiler, language in (("gcc", "c11"), ("clang-19", "c11"),
                               ("g++", "c++17"), ("clang++-19", "c++17")):
        if not shutil.which(compiler):
            raise NotImplementedError(f"{compiler} is not installed")
        kind = "c++" if language == "c++17" else "c"
        done = run(compiler, "-x", kind, f"-std={language}", *STRICT, "-fsyntax-only", "-",
                   input='#include "attest.h"\nextern int here;\n', cwd=path("spec"))
        need(done.returncode == 0, f"{compiler}: {done.stderr}")


def the_mirror_has_the_layout_of_the_header():
    source = '#include <stddef.h>\n#include <stdio.h>\n#include "attest.h"\nint main(void) {\n'
    wanted = {}
    for struct in attest_abi.STRUCTS:
        name = struct.__name__
        source += f'printf("{name} %zu\\n", sizeof({name}));\n'
        wanted[name] = ctypes.sizeof(struct)
        for field, _ in struct._fields_:
            place = f"{name}.{field}"
            source += (f'printf("{place} %zu\\n{place}.size %zu\\n", offsetof({name}, {field}), '
                       f"sizeof((({name} *)0)->{field}));\n")
            wanted[place] = getattr(struct, field).offset
            wanted[place + ".size"] = getattr(struct, field).size
    found = {name: int(value) for name, value in
             (line.split() for line in run_c(source).splitlines())}
    need(found == wanted, {name: (found.get(name), wanted[name]) for name in wanted
                           if found.get(name) != wanted[name]})


def the_mirror_has_every_field_and_constant():
    header = re.sub(r"/\*.*?\*/", "", read("spec", "attest.h"), flags=re.DOTALL)
    for struct in attest_abi.STRUCTS:
        body = re.search(rf"struct {struct.__name__} \{{(.*?)\n\}} {struct.__name__};", header,
                         re.DOTALL).group(1)
        names = []
        for declaration in body.split(";"):
            pointer = re.search(r"\(\*(\w+)\)", declaration)
            words = pointer.groups() if pointer else re.findall(r"(\w+)(?:\[[^]]*\])?\s*(?=,|$)",
                                                                declaration.strip())
            names += words
        need(names == [field for field, _ in struct._fields_], f"{struct.__name__}: {names}")
    macros = [name for name in re.findall(r"^#define (ATTEST_\w+) .", header, re.MULTILINE)
              if name != "ATTEST_EXPORT"]
    source = '#include <stdio.h>\n#include "attest.h"\nint main(void) {\n' + "".join(
        f'printf("{name} %lld\\n", (long long)({name}));\n' for name in macros)
    for line in run_c(source).splitlines():
        name, value = line.split()
        need(getattr(attest_abi, name, None) == int(value), f"{name} is {value}")
    need(len(macros) > 40, f"only {len(macros)} constants found")


def the_template_builds_as_its_comment_says():
    text = read("impl", "template.c")
    need(len(text.splitlines()) < 80, "the template has grown to 80 lines")
    command = re.search(r"cc (-O2 -shared .*? -lm)", text).group(1).split()
    for compiler in ("gcc", "clang-19"):
        if not shutil.which(compiler):
            raise NotImplementedError(f"{compiler} is not installed")
        with tempfile.TemporaryDirectory() as folder:
            words = [os.path.join(folder, word) if word.endswith(".so") else word
                     for word in command]
            done = run(compiler, "-std=c11", *STRICT, *words, cwd=ROOT)
            need(done.returncode == 0, done.stderr)
            kernel = attest_abi.load_kernel(os.path.join(folder, "libtemplate.so"))
            need(kernel.name == b"template", "the descriptor does not come through")
            need(kernel.struct_bytes == ctypes.sizeof(kernel), "another struct size")


TESTS = [
    ids_are_carried_or_planned, an_unknown_id_is_found, an_id_without_carrier_is_found,
    a_planned_id_that_does_not_exist_is_found, a_planned_id_that_is_carried_is_found,
    every_class_is_defined, a_class_that_is_not_defined_well_is_refused, nothing_else_keeps_classes,
    profiles_fit_their_schema, the_schema_has_the_enums_of_profile_h,
    the_compiled_profile_is_attest_json, the_header_compiles_alone,
    the_mirror_has_the_layout_of_the_header, the_mirror_has_every_field_and_constant,
    the_template_builds_as_its_comment_says,
]


def main():
    tap = Tap()
    for test in TESTS:
        tap.run(test.__name__, test)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
