# SPDX-License-Identifier: Apache-2.0
"""OpenVINO ScaledDotProductAttention-13 on the CPU plugin.

Declared from its documentation (ScaledDotProductAttention-13): a mask that is boolean or added to the
scores, causal instead of a mask, a scale; as many KV heads as query heads. The pseudo-code adds -inf to
hidden scores. Mask and scale are of the type of the tensors: beside f16 there is no additive mask, and a
scale that f16 has. The precision is a hint of the plugin (INFERENCE_PRECISION_HINT); without one it takes
bf16 where the processor has it.
"""

import numpy as np
import openvino
from attest_attention import kernel
from openvino import opset13 as ops

CORE = openvino.Core()
KEPT = {}
MOST = 16  # compiled models kept


def compiled(dtype, mask, causal, scaled, threads, precision):
    """The mask is of type `mask`, or a scalar 0 where there is none, as documented for a scale alone."""
    inputs = [ops.parameter([-1] * 4, dtype) for _ in range(3)]
    if mask is not None:
        inputs.append(ops.parameter([-1] * 4, mask))
    elif scaled:
        inputs.append(ops.constant(np.zeros((), dtype)))
    if scaled:
        inputs.append(ops.parameter([], dtype))
    node = ops.scaled_dot_product_attention(*inputs, causal=causal)
    parameters = [x for x in inputs if x.get_type_name() == "Parameter"]
    options = {"INFERENCE_NUM_THREADS": threads}
    if precision:
        options["INFERENCE_PRECISION_HINT"] = precision
    return CORE.compile_model(openvino.Model([node], parameters), "CPU", options)


def run(precision, q, k, v, given):
    mask, scale = given.get("mask"), given.get("scale")
    inputs = [np.ascontiguousarray(x) for x in (q, k, v)]
    if mask is not None:
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        inputs.append(np.ascontiguousarray(mask if mask.dtype == bool else mask.astype(q.dtype)))
    if scale is not None:
        inputs.append(np.array(scale, q.dtype))
    key = (q.dtype, None if mask is None else inputs[3].dtype, "causal" in given, scale is not None,
           given["threads"], precision)
    if key not in KEPT:
        if len(KEPT) == MOST:
            KEPT.pop(next(iter(KEPT)))
        KEPT[key] = compiled(*key)
    return KEPT[key](inputs)[0]


def takes(problem):
    if problem.causal and problem.mask:
        return "a mask beside causal is ignored"
    if problem.types["q"] == "f16" and problem.scale is not None and \
            float(np.float16(problem.scale)) != float(problem.scale):
        return "a scale is of f16"
    sizes = (problem.batch, problem.q_heads, problem.queries, problem.keys, problem.head_size,
             problem.value_size)
    return min(sizes) > 0 or "no empty tensors"


def declare(name, dtype, model, precision, features=("mask-add",)):
    return kernel(name, features=["causal", "mask-bool", "scale", *features], shapes=["dv", "strides"],
                  types=[dtype], model=model, profile="openvino-sdpa", supports=takes, isolation="finite",
                  arrays="numpy")(lambda q, k, v, **given: run(precision, q, k, v, given))


sdpa = declare("openvino-sdpa", "f32", "f32-fastexp", "f32")
half = declare("openvino-sdpa-f16", "f16", "f16-f32acc", "f32", ())
default = declare("openvino-sdpa-default", "f32", "bf16-f32acc", None)
