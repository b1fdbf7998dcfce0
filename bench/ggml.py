# SPDX-License-Identifier: Apache-2.0
"""ggml as a peer: its fused attention, and matrix product, softmax, matrix product.

ggml has no causal flag: the mask is a tensor of binary16, made before the timed call.
"""

import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "impl/adapters"))
from ggml_graph import Graph, Library  # noqa: E402


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
