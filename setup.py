# SPDX-License-Identifier: Apache-2.0
"""The parts of the Python package that make builds: program, worker, kernels, profiles and vectors go
into attest_attention/tree, which is what `make install` would install."""

import os
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = os.path.dirname(os.path.abspath(__file__))


def version():
    with open(os.path.join(ROOT, "certify/result/report.h"), encoding="utf-8") as file:
        return re.search(r'ATTEST_SUITE_VERSION "(.*)"', file.read()).group(1)


class Build(build_py):
    def run(self):
        super().run()
        tree = os.path.abspath(os.path.join(self.build_lib, "attest_attention", "tree"))
        shutil.rmtree(tree, ignore_errors=True)
        subprocess.run(["make", f"-j{os.cpu_count()}", "-C", ROOT, "DEPS=", "B=build/wheel",
                        "install-programs", f"DESTDIR={tree}", "PREFIX="], check=True)
        shutil.rmtree(os.path.join(tree, "lib", "attest", "python"))  # it is this package


class Wheel(bdist_wheel):
    def get_tag(self):  # programs, not extensions: any Python 3 of this platform
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Binary)
