#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kernel that follows a profile gets that profile from `fingerprint`, passes under it, and does not
pass under a profile that differs from it."""

import glob
import json
import os
import subprocess
import sys
import tempfile

from support.tap import Tap

BUILD = os.environ.get("BUILD", "build/default")
CC = os.environ.get("CC", "gcc").split()
SANITIZED = ["-fsanitize=" + BUILD.split("-san-")[1].replace("-", ",")] if "-san-" in BUILD else []
ENUMS = {
    "corner": {"top-left": "ATTN_CORNER_TOP_LEFT", "bottom-right": "ATTN_CORNER_BOTTOM_RIGHT",
               "bottom-right-with-lengths": "ATTN_CORNER_BOTTOM_RIGHT_LENGTHS"},
    "window_form": {"not-defined": "ATTN_WINDOW_NOT_DEFINED", "w-keys": "ATTN_WINDOW_W_KEYS",
                    "left-w": "ATTN_WINDOW_LEFT_W", "both-w": "ATTN_WINDOW_BOTH_W"},
    "default_scale": {"rsqrt-d": "ATTN_SCALE_RSQRT_D", "one": "ATTN_SCALE_ONE",
                      "required": "ATTN_SCALE_REQUIRED"},
    "gqa_order": {"grouped": "ATTN_GQA_GROUPED", "tiled": "ATTN_GQA_TILED"},
    "lse_base": {"natural": "ATTN_LSE_NATURAL", "base-2": "ATTN_LSE_BASE_2"},
    "lse_empty": {"neg-inf": "ATTN_LSE_EMPTY_NEG_INF", "pos-inf": "ATTN_LSE_EMPTY_POS_INF",
                  "unspecified": "ATTN_LSE_EMPTY_UNSPECIFIED"},
    "empty_row": {"zero": "ATTN_EMPTY_ZERO", "nan": "ATTN_EMPTY_NAN",
                  "mean-of-all": "ATTN_EMPTY_MEAN_OF_ALL", "unspecified": "ATTN_EMPTY_UNSPECIFIED"},
    "mask_with_causal": {"and": "ATTN_MASK_AND_CAUSAL", "error": "ATTN_MASK_CAUSAL_ERROR",
                         "mask-ignored": "ATTN_MASK_IGNORED",
                         "causal-ignored": "ATTN_CAUSAL_IGNORED"},
}
tap = Tap()
report = tap.report


def build(profile, directory):
    path = os.path.join(directory, profile["name"] + ".so")
    fields = [f"-D{key.upper()}={names[profile[key]]}" for key, names in ENUMS.items()]
    without = "ATTEST_WINDOW_SIZE" if profile["window_form"] == "not-defined" else "0"
    command = [*CC, *SANITIZED, "-std=c11", "-O2", "-fPIC", "-shared", "-I.", *fields,
               f"-DPROFILE_NAME=\"{profile['name']}\"", f"-DWITHOUT_FEATURES={without}",
               "tests/support/profile_kernel.c", os.path.join(BUILD, "libattn.a"), "-lm", "-o", path]
    subprocess.run(command, check=True)
    return path


def attest(*words):
    done = subprocess.run([os.path.join(BUILD, "attest"), *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace")


def main():
    profiles = []
    for path in sorted(glob.glob("spec/profiles/*.json")):
        with open(path, encoding="utf-8") as file:
            profiles.append(json.load(file))
    fields = [tuple(p[key] for key in ENUMS) for p in profiles]
    with tempfile.TemporaryDirectory() as directory:
        for index, profile in enumerate(profiles):
            name = profile["name"]
            kernel = build(profile, directory)
            code, text = attest("fingerprint", kernel)
            fitting = text.split("profiles that fit:")[-1].split()
            report(code == 0 and name in fitting, f"{name}: fingerprint finds it", text)
            code, text = attest("certify", kernel, "--level", "smoke", "--quiet")
            report(code == 0, f"{name}: certified under itself", text)
            others = [p["name"] for p, f in zip(profiles, fields) if f != fields[index] and
                      p["corner"] != profile["corner"]]
            code, text = attest("certify", kernel, "--level", "smoke", "--quiet",
                                "--profile", others[0])
            report(code == 1, f"{name}: not certified under {others[0]}", text)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
