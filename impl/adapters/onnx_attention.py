# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime Attention, opset 23 and 24.

Declared from the ONNX operator's documentation (Attention-23, Attention-24) with its errata
(spec/profiles/onnx-23.json, onnx-24.json): is_causal, attn_mask, softcap, scale, GQA, nonpad_kv_seqlen.
The scale is applied as its root to Q and K there, so it has one; ONNX Runtime asks for more than 0.
What is hidden has -inf added to its score there: isolation from finite data.
A mask is of the type of Q: one of f32 would have to be rounded beside f16, so it is not offered there.
For f64 there is no kernel of its own but the operator's function body. Attributes are of f32.
"""

from attest_attention import kernel
from onnx_node import attention
from onnx_node import takes as node_takes
from onnx_session import run

HALF = ["causal", "mask-bool", "scale", "softcap"]
FEATURES = [*HALF, "mask-add"]


def takes(problem):
    if problem.scale is not None and float(problem.scale) <= 0:
        return "a scale is more than 0"
    return node_takes(problem)


def declare(name, opset, dtype, model, features):
    def function(q, k, v, **given):
        return attention(run, opset, q, k, v, given)
    return kernel(name, features=features, types=[dtype], model=model,
                  profile=f"onnx-{opset}", supports=takes, shapes=["gqa", "dv", "strides"],
                  isolation="finite", arrays="numpy")(function)


opset23 = declare("ort-attention-23", 23, "f32", "f32-fastexp", FEATURES)
opset24 = declare("ort-attention-24", 24, "f32", "f32-fastexp", [*FEATURES, "lengths"])
half = declare("ort-attention-f16", 23, "f16", "f16-f16acc", HALF)
double = declare("ort-attention-f64", 23, "f64", "f64-strict", FEATURES)
