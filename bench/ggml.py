# SPDX-License-Identifier: Apache-2.0
"""ggml as a peer, through ctypes: its fused attention, and matrix product, softmax, matrix product.

The libraries are the system's, those in ATTEST_GGML_DIR, or those inside the Python package
pywhispercpp. ggml has no causal flag: the mask is a tensor of binary16, made before the timed call.
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
                     "ggml_mul_mat", "ggml_soft_max_ext", "ggml_new_graph"):
            getattr(self.base, name).restype = c.c_void_p
        self.base.ggml_init.argtypes = [InitParams]
        self.base.ggml_new_tensor_4d.argtypes = [c.c_void_p, c.c_int] + [c.c_int64] * 4
        self.base.ggml_get_data.argtypes = [c.c_void_p]
        self.base.ggml_flash_attn_ext.argtypes = [c.c_void_p] * 5 + [c.c_float] * 3
        self.base.ggml_mul_mat.argtypes = [c.c_void_p] * 3
        self.base.ggml_soft_max_ext.argtypes = [c.c_void_p] * 3 + [c.c_float] * 2
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


def _mask(case):
    seen = np.ones((1, 1), bool) if case.is_decode else case.full_mask()
    if seen.all():
        return None
    padded = np.full((-(-seen.shape[0] // 64) * 64, seen.shape[1]), -np.inf, np.float16)
    padded[:seen.shape[0]][seen] = 0
    return padded[None, None]


def _peer(build_graph):
    library = Library()

    def make(case, threads):
        b, hq, _, sq, sk, d = case.shape
        graph = Graph(library, 4 * (2 * case.q.size + 2 * case.k.size + 3 * b * hq * sq * sk) +
                      threads * 4 * sk * d)
        q, mask = graph.tensor(case.q), _mask(case)
        mask = graph.tensor(mask) if mask is not None else None
        out, shape, axes = build_graph(library.base, graph, case, q, mask, d ** -0.5)
        run = graph.runner(out, threads)
        run.result = lambda: graph.result(out, shape).transpose(axes)
        return run
    return make


def flash(_build):
    def build_graph(base, graph, case, q, mask, scale):
        b, hq, _, sq, _, d = case.shape
        k, v = graph.tensor(case.k), graph.tensor(case.v)
        out = base.ggml_flash_attn_ext(graph.context, q, k, v, mask, scale, 0.0, 0.0)
        return out, (b, sq, hq, d), (0, 2, 1, 3)
    return _peer(build_graph)


def unfused(_build):
    def build_graph(base, graph, case, q, mask, scale):
        b, hq, _, sq, _, d = case.shape
        k, v = graph.tensor(case.k), graph.tensor(case.v.transpose(0, 1, 3, 2))
        scores = base.ggml_mul_mat(graph.context, k, q)
        weights = base.ggml_soft_max_ext(graph.context, scores, mask, scale, 0.0)
        return base.ggml_mul_mat(graph.context, v, weights), (b, hq, sq, d), (0, 1, 2, 3)
    return _peer(build_graph)
