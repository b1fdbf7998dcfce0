# SPDX-License-Identifier: Apache-2.0
"""Kernels and problems over NumPy arrays, on the ctypes mirror of the ABI (attest_attention/abi.py)."""

import ctypes as c
import mmap
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "python"))
from attest_attention import abi as attest  # noqa: E402

DTYPES = {np.dtype(np.float32): attest.ATTEST_F32, np.dtype(np.float64): attest.ATTEST_F64,
          np.dtype(np.float16): attest.ATTEST_F16, np.dtype(np.bool_): attest.ATTEST_BOOL,
          np.dtype(np.int64): attest.ATTEST_I64}
HUGE_PAGE = 1 << 21


def settle(array):
    """The same array where a serving system would keep it: on large pages, as the array is that
    bandwidth is measured on, and at a multiple of 64 bytes (numpy gives 16)."""
    space = mmap.mmap(-1, array.nbytes + 2 * HUGE_PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        space.madvise(mmap.MADV_HUGEPAGE)
    start = -c.addressof(c.c_char.from_buffer(space)) % HUGE_PAGE
    moved = np.frombuffer(space, array.dtype, array.size, start).reshape(array.shape)
    moved[...] = array
    return moved


def tensor(array):
    steps = [step // array.itemsize for step in array.strides]
    return attest.attest_tensor(array.ctypes.data, tuple(array.shape), tuple(steps),
                                DTYPES[array.dtype], array.ndim)


class Kernel:
    def __init__(self, path):
        self.descriptor = attest.load_kernel(path)
        self.name = self.descriptor.name.decode()
        self.model = self.descriptor.model.decode()

    def bind(self, problem):
        """A callable that runs the problem; its workspace lives as long as the callable."""
        size = self.descriptor.workspace_bytes(c.byref(problem))
        space = np.empty(size + 64, np.uint8)
        problem.workspace = space.ctypes.data + -space.ctypes.data % 64
        problem.workspace_bytes = size
        message, pointer = attest.attest_message(), c.pointer(problem)
        forward = self.descriptor.forward

        def run(kept=space):
            if forward(pointer, message) != 0:
                raise RuntimeError(message.value.decode())
        return run
