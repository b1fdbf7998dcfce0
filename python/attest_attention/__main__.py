# SPDX-License-Identifier: Apache-2.0
"""The command `attest`, and python3 -m attest_attention."""

import os
import sys

from . import program


def main():
    os.execve(program.path(), ["attest", *sys.argv[1:]], program.environment())


if __name__ == "__main__":
    main()
