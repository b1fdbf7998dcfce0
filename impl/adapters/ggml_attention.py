# SPDX-License-Identifier: Apache-2.0
"""ggml's attention on the CPU: ggml_flash_attn_ext, and the graph that does without it.

Declared from ggml.h. flash_attn_ext: q [D,Sq,Hq,B] of f32, k and v [D,Sk,Hkv,B], a mask of f16
[Sk,Sq,1 or Hq,1 or B], scale, softcap, sinks. A mask of other numbers than 0 and -inf would have to be
rounded to f16 here, so it is not offered. The unfused graph is that of ggml's examples: mul_mat, scale,
tanh for a softcap, diag_mask_inf with the keys before the queries as n_past, soft_max_ext with a mask of
f32, mul_mat. n_past may not be negative. An axis without elements is not promised. q and o are f32 whatever
k and v are: with f16 keys and values q is widened, which is exact, and o rounded once. The unfused graph
normalises rows that see nothing as any other: left open, as in profile ort-gqa.
"""

import numpy as np
from attest_attention import kernel
from ggml_graph import Graph, Library

LIBRARY = Library()
DECLARED = {"isolation": "finite", "arrays": "numpy", "vendor": "ggml",  # isolation: from fingerprint
            "version": LIBRARY.base.ggml_version().decode()}
OPTIONS = ["mask-bool", "scale", "softcap", "sinks"]


def filled(problem):
    sizes = (problem.batch, problem.q_heads, problem.queries, problem.keys, problem.head_size,
             problem.value_size)
    return min(sizes) > 0 or "no empty tensors"


def past(problem):
    if problem.causal and problem.keys < problem.queries:
        return "n_past is not negative"
    return filled(problem)


def graph_of(q, k, v):
    scores = q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2]
    return Graph(LIBRARY, 4 * (8 * scores + 4 * (q.size + k.size + v.size) + q.size * v.shape[3]))


def mask_of(graph, mask, queries, keys, kind):
    """The mask as a tensor with -inf for what a boolean one hides."""
    if mask is None:
        return None
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    mask = np.broadcast_to(mask, (*mask.shape[:2], queries, keys))
    return graph.tensor(np.where(mask, 0, -np.inf).astype(kind) if mask.dtype == bool else mask.astype(kind))


def result(graph, tensor, shape):
    graph.runner(tensor, 1)()
    return graph.result(tensor, shape).copy()


def fused(q, k, v, mask=None, scale=None, softcap=None, sinks=None):
    graph, base = graph_of(q, k, v), LIBRARY.base
    b, h, rows, _ = q.shape
    out = base.ggml_flash_attn_ext(graph.context, *(graph.tensor(x) for x in (q, k, v)),
                                   mask_of(graph, mask, rows, k.shape[2], np.float16), scale, 0, softcap or 0)
    if sinks is not None:
        base.ggml_flash_attn_ext_add_sinks(out, graph.tensor(sinks[None, None, None]))
    return result(graph, out, (b, rows, h, v.shape[3])).transpose(0, 2, 1, 3)


@kernel("ggml-flash", features=OPTIONS, shapes=["gqa", "dv", "strides"], profile="ggml",
        supports=filled, **DECLARED)
def flash(q, k, v, mask=None, scale=None, softcap=None, sinks=None):
    return fused(q, k, v, mask, scale, softcap, sinks)


@kernel("ggml-flash-f16kv", features=OPTIONS, shapes=["gqa", "dv", "strides"], types=["f16"],
        model="f16-f16acc", profile="ggml", supports=filled, **DECLARED)
def flash_f16kv(q, k, v, mask=None, scale=None, softcap=None, sinks=None):
    return fused(q.astype(np.float32), k, v, mask, scale, softcap, sinks).astype(np.float16)


@kernel("ggml-unfused", features=["causal", "mask-add", *OPTIONS], shapes=["gqa", "dv", "strides"],
        profile="ort-gqa", supports=past, **DECLARED)
def unfused(q, k, v, causal=False, mask=None, scale=None, softcap=None, sinks=None):
    graph, base = graph_of(q, k, v), LIBRARY.base
    context, rows, keys = graph.context, q.shape[2], k.shape[2]
    scale = q.shape[3] ** -0.5 if scale is None else scale
    scores = base.ggml_mul_mat(context, graph.tensor(k), graph.tensor(q))
    if softcap is not None:
        scores = base.ggml_tanh(context, base.ggml_scale(context, scores, scale / softcap))
        scale = softcap
    if causal:
        scores = base.ggml_diag_mask_inf(context, base.ggml_scale(context, scores, scale), keys - rows)
        scale = 1
    weights = base.ggml_soft_max_ext(context, scores, mask_of(graph, mask, rows, keys, np.float32), scale, 0)
    if sinks is not None:
        base.ggml_soft_max_add_sinks(weights, graph.tensor(sinks[None, None, None]))
    out = base.ggml_mul_mat(context, graph.tensor(v.transpose(0, 1, 3, 2)), weights)
    return result(graph, out, (*q.shape[:3], v.shape[3]))
