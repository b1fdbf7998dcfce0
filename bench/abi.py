# SPDX-License-Identifier: Apache-2.0
"""spec/attest.h for ctypes, as far as the benchmark needs it: kernels, problems over numpy arrays."""

import ctypes as c
import mmap

import numpy as np

CAUSAL, WINDOW, LENGTHS, MASK_BOOL = 1 << 0, 1 << 2, 1 << 4, 1 << 5
DTYPES = {np.dtype(np.float32): 1, np.dtype(np.float64): 2, np.dtype(np.float16): 3,
          np.dtype(np.bool_): 5, np.dtype(np.int64): 6}


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


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("shape", c.c_int64 * 4), ("stride", c.c_int64 * 4),
                ("dtype", c.c_uint32), ("rank", c.c_uint32)]

    @classmethod
    def of(cls, array):
        steps = [step // array.itemsize for step in array.strides]
        return cls(array.ctypes.data, tuple(array.shape), tuple(steps), DTYPES[array.dtype],
                   array.ndim)


class Problem(c.Structure):
    _fields_ = ([("struct_bytes", c.c_uint64), ("features", c.c_uint64)] +
                [(name, Tensor) for name in ("q", "k", "v", "mask", "sinks", "slopes",
                                             "key_lengths", "offsets", "o", "lse")] +
                [("scale", c.c_double), ("softcap", c.c_double), ("window_left", c.c_int64),
                 ("window_right", c.c_int64), ("window_size", c.c_int64), ("workspace", c.c_void_p),
                 ("workspace_bytes", c.c_uint64), ("threads", c.c_int32),
                 ("reserved32", c.c_uint32), ("reserved", c.c_uint64 * 15)])


MESSAGE = c.c_char * 256
FORWARD = c.CFUNCTYPE(c.c_int32, c.POINTER(Problem), MESSAGE)
BYTES = c.CFUNCTYPE(c.c_uint64, c.POINTER(Problem))


class Descriptor(c.Structure):
    _fields_ = [("struct_bytes", c.c_uint64), ("abi_version", c.c_uint32),
                ("reserved32", c.c_uint32), ("name", c.c_char_p), ("vendor", c.c_char_p),
                ("version", c.c_char_p), ("profile", c.c_char_p), ("model", c.c_char_p),
                ("features", c.c_uint64), ("shapes", c.c_uint64), ("dtypes", c.c_uint64),
                ("max_head_size", c.c_int64), ("max_queries", c.c_int64), ("max_keys", c.c_int64),
                ("max_abs_score", c.c_double), ("exp_ulps", c.c_double),
                ("finite_only", c.c_uint32), ("isolation", c.c_uint32),
                ("determinism", c.c_uint64), ("reentrant", c.c_uint32), ("alignment", c.c_uint32),
                ("supports", c.c_void_p), ("workspace_bytes", BYTES), ("init", c.c_void_p),
                ("shutdown", c.c_void_p), ("forward", FORWARD)]


class Kernel:
    def __init__(self, path):
        entry = c.CDLL(path).attest_kernel_v1
        entry.restype, entry.argtypes = c.POINTER(Descriptor), [c.c_uint32]
        self.descriptor = entry(1).contents
        self.name = self.descriptor.name.decode()
        self.model = self.descriptor.model.decode()

    def bind(self, problem):
        """A callable that runs the problem; its workspace lives as long as the callable."""
        size = self.descriptor.workspace_bytes(c.byref(problem))
        space = np.empty(size + 64, np.uint8)
        problem.workspace = space.ctypes.data + -space.ctypes.data % 64
        problem.workspace_bytes = size
        message, pointer, forward = MESSAGE(), c.pointer(problem), self.descriptor.forward

        def run(kept=space):
            if forward(pointer, message) != 0:
                raise RuntimeError(message.value.decode())
        return run
