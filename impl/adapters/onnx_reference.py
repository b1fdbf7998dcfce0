# SPDX-License-Identifier: Apache-2.0
"""The ONNX reference evaluator's Attention (onnx.reference.ReferenceEvaluator), NumPy.

Declared from the operator's documentation, as onnx_attention.py. A scale is applied as its root.
"""

from attest_attention import kernel
from onnx.reference import ReferenceEvaluator
from onnx_node import Runner, attention
from onnx_node import takes as node_takes

run = Runner(lambda model, threads: ReferenceEvaluator(model))


def takes(problem):
    if problem.scale is not None and float(problem.scale) < 0:
        return "a scale has a root"
    return node_takes(problem)


def declare(name, opset, types, model, features):
    def function(q, k, v, **given):
        return attention(run, opset, q, k, v, given)
    return kernel(name, features=["causal", "mask-bool", "scale", "softcap", *features], types=types,
                  model=model, profile=f"onnx-{opset}", supports=takes,
                  shapes=["gqa", "dv", "strides"], isolation="finite", arrays="numpy")(function)


opset23 = declare("onnx-reference-23", 23, ["f32", "f64"], "f32-strict", ["mask-add"])
opset24 = declare("onnx-reference", 24, ["f32", "f64"], "f32-strict", ["mask-add", "lengths"])
half = declare("onnx-reference-f16", 24, ["f16"], "f16-f16acc", ["lengths"])
