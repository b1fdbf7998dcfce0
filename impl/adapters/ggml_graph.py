# SPDX-License-Identifier: Apache-2.0
"""ggml through ctypes: its libraries and graphs. For the adapter here and for the benchmark.

The libraries are the system's, those in ATTEST_GGML_DIR, or those inside the Python package
pywhispercpp.
"""

import ctypes as c
import glob
import os
import sysconfig

import numpy as np

F32, F16 = 0, 1
PAGE = 1 << 20


class InitParams(c.Structure):
    _fields_ = [("bytes", c.c_size_t), ("buffer", c.c_void_p), ("no_alloc", c.c_bool)]


class Plan(c.Structure):
    _fields_ = [("work_size", c.c_size_t), ("work_data", c.c_void_p), ("threads", c.c_int),
                ("pool", c.c_void_p), ("later_fields", c.c_uint64 * 16)]


def _find(stem):
    packaged = os.path.join(sysconfig.get_paths()["purelib"], "pywhispercpp.libs")
    for folder in (os.environ.get("ATTEST_GGML_DIR"), packaged):
        found = sorted(glob.glob(os.path.join(folder, f"{stem}[.-]*so*"))) if folder else []
        found = [path for path in found if "-cpu" in stem or "-cpu" not in path]
        if found:
            return found[0]
    return f"{stem}.so"


class Library:
    def __init__(self):
        self.base = c.CDLL(_find("libggml-base"), mode=c.RTLD_GLOBAL)
        self.cpu = c.CDLL(_find("libggml-cpu"))
        for name in ("ggml_init", "ggml_new_tensor_4d", "ggml_get_data", "ggml_flash_attn_ext",
                     "ggml_mul_mat", "ggml_soft_max_ext", "ggml_scale", "ggml_tanh",
                     "ggml_diag_mask_inf", "ggml_new_graph"):
            getattr(self.base, name).restype = c.c_void_p
        self.base.ggml_version.restype = c.c_char_p
        self.base.ggml_init.argtypes = [InitParams]
        self.base.ggml_new_tensor_4d.argtypes = [c.c_void_p, c.c_int] + [c.c_int64] * 4
        self.base.ggml_get_data.argtypes = [c.c_void_p]
        self.base.ggml_flash_attn_ext.argtypes = [c.c_void_p] * 5 + [c.c_float] * 3
        self.base.ggml_mul_mat.argtypes = [c.c_void_p] * 3
        self.base.ggml_soft_max_ext.argtypes = [c.c_void_p] * 3 + [c.c_float] * 2
        self.base.ggml_scale.argtypes = [c.c_void_p] * 2 + [c.c_float]
        self.base.ggml_tanh.argtypes = [c.c_void_p] * 2
        self.base.ggml_diag_mask_inf.argtypes = [c.c_void_p] * 2 + [c.c_int]
        self.base.ggml_flash_attn_ext_add_sinks.argtypes = [c.c_void_p] * 2
        self.base.ggml_soft_max_add_sinks.argtypes = [c.c_void_p] * 2
        self.base.ggml_new_graph.argtypes = [c.c_void_p]
        self.base.ggml_build_forward_expand.argtypes = [c.c_void_p] * 2
        self.base.ggml_free.argtypes = [c.c_void_p]
        self.cpu.ggml_graph_plan.argtypes = [c.c_void_p, c.c_int, c.c_void_p]
        self.cpu.ggml_graph_plan.restype = Plan
        self.cpu.ggml_graph_compute.argtypes = [c.c_void_p, c.POINTER(Plan)]


class Graph:
    """One context with its tensors; freed with the object."""

    def __init__(self, library, size):
        self.library = library
        self.context = library.base.ggml_init(InitParams(size + 64 * PAGE, None, False))
        if not self.context:
            raise MemoryError("ggml_init")

    def __del__(self):
        self.library.base.ggml_free(self.context)

    def tensor(self, array):
        kind = F16 if array.dtype == np.float16 else F32
        made = self.library.base.ggml_new_tensor_4d(self.context, kind, *array.shape[::-1])
        array = np.ascontiguousarray(array)
        c.memmove(self.library.base.ggml_get_data(made), array.ctypes.data, array.nbytes)
        return made

    def result(self, tensor, shape):
        data = (c.c_float * int(np.prod(shape))).from_address(
            self.library.base.ggml_get_data(tensor))
        return np.frombuffer(data, np.float32).reshape(shape)

    def runner(self, tensor, threads):
        base, cpu = self.library.base, self.library.cpu
        graph = base.ggml_new_graph(self.context)
        base.ggml_build_forward_expand(graph, tensor)
        plan = cpu.ggml_graph_plan(graph, threads, None)
        work = np.empty(plan.work_size + 1, np.uint8)
        plan.work_data = work.ctypes.data

        def run(kept=work):
            if cpu.ggml_graph_compute(graph, c.byref(plan)) != 0:
                raise RuntimeError("ggml_graph_compute")
        return run
