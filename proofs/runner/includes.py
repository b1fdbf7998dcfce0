# SPDX-License-Identifier: Apache-2.0
"""Prints the -I flags with which a base name finds its header: for scripts that compile."""

import claims as book

print(" ".join(f"-I{folder}" for folder in book.include_dirs()))
