# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's own operators com.microsoft.GroupQueryAttention and MultiHeadAttention.

Declared from the operators' documentation (ContribOperators.md).
GroupQueryAttention: the keys are a cache of Sk - Sq tokens and Sq new ones; more than one new token beside
a cache for one batch entry alone; a window for causal alone; attention_bias, softcap, head_sink.
It refuses head sizes that are no multiple of 8.
MultiHeadAttention: attention_bias, unidirectional, right padding by lengths. The last adds a finite number
(mask_filter_value) to hidden scores: a sequence of length 0 attends to its padding, so nothing is isolated.
A scale of 0 stands for "not given" in both (spec/profiles/ort-gqa.json). The corner of unidirectional, rows
that see nothing and isolation are from fingerprint.
"""

import numpy as np
from attest_attention import kernel
from onnx_node import full
from onnx_node import takes as node_takes
from onnx_session import run

DOMAIN = "com.microsoft"


def flat(x):
    """[B,H,S,D] as [B,S,H*D]."""
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], -1)


def node(op, q, v, inputs, attributes, given, outputs=("o",)):
    attributes.update({name: float(given[name]) for name in ("scale", "softcap") if name in given})
    ranks = {name: (str(q.dtype), 3 if name == "o" else 4) for name in outputs}
    o = run(op, DOMAIN, 23, inputs, ranks, attributes, given["threads"])[0]
    return o.reshape(q.shape[0], q.shape[2], q.shape[1], v.shape[3]).transpose(0, 2, 1, 3)


def bias(q, k, given):
    mask = given.get("mask")
    return None if mask is None else full(mask.astype(q.dtype), None, (q.shape[2], k.shape[2]))


def takes(problem):
    if problem.scale is not None and float(problem.scale) == 0:
        return "a scale of 0 stands for none"
    return node_takes(problem)


def group_takes(problem):
    if problem.queries > problem.keys:
        return "new tokens are among the keys"
    if problem.batch > 1 and 1 < problem.queries < problem.keys:
        return "several new tokens beside a cache: one batch entry"
    if problem.window_size is not None and not problem.causal:
        return "a window is causal"
    if problem.head_size % 8:
        return "a head size is a multiple of 8"
    return takes(problem)


def group(q, k, v, **given):
    past = k.shape[2] - q.shape[2]
    inputs = {"q": flat(q), "k": flat(k[:, :, past:]), "v": flat(v[:, :, past:]),
              "past_key": np.ascontiguousarray(k[:, :, :past]),
              "past_value": np.ascontiguousarray(v[:, :, :past]),
              "seqlens_k": np.full(q.shape[0], k.shape[2] - 1, np.int32),
              "total": np.array(k.shape[2], np.int32), "cos": None, "sin": None, "positions": None,
              "bias": bias(q, k, given)}
    if "sinks" in given:
        inputs["head_sink"] = np.ascontiguousarray(given["sinks"].astype(q.dtype))
    attributes = {"num_heads": q.shape[1], "kv_num_heads": k.shape[1]}
    if "causal" not in given:
        attributes["causal"] = 0
    if "window_size" in given:
        attributes["local_window_size"] = given["window_size"]
    return node("GroupQueryAttention", q, v, inputs, attributes, given, ("o", "present_k", "present_v"))


def heads(q, k, v, **given):
    inputs = {"q": flat(q), "k": flat(k), "v": flat(v), "b": None,
              "padding": given["key_lengths"].astype(np.int32) if "key_lengths" in given else None,
              "bias": bias(q, k, given)}
    attributes = {"num_heads": q.shape[1], "unidirectional": int("causal" in given)}
    return node("MultiHeadAttention", q, v, inputs, attributes, given)


def declare(name, function, dtype, model, features, **more):
    return kernel(name, features=features, types=[dtype], model=model, arrays="numpy", **more)(
        lambda q, k, v, **given: function(q, k, v, **given))


# A bias is of the type of q: one of f32 would have to be rounded beside f16.
HALF = ["causal", "scale", "softcap", "window-size", "sinks"]
GROUP = {"features": [*HALF, "mask-add"], "shapes": ["gqa", "strides"], "profile": "ort-gqa",
         "supports": group_takes, "isolation": "finite"}
HEADS = {"shapes": ["dv", "strides"], "supports": takes}
gqa = declare("ort-gqa", group, "f32", "f32-fastexp", **GROUP)
gqa_half = declare("ort-gqa-f16", group, "f16", "f16-f32acc", **{**GROUP, "features": HALF})
mha = declare("ort-mha", heads, "f32", "f32-fastexp", ["causal", "mask-add", "scale"], isolation="finite",
              profile="onnx-24-before-errata", **HEADS)
mha_lengths = declare("ort-mha-lengths", heads, "f32", "f32-fastexp", ["mask-add", "scale", "lengths"],
                      isolation="none", profile="ort-gqa", **HEADS)
