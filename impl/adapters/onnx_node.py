# SPDX-License-Identifier: Apache-2.0
"""A model of one ONNX node, built once for each set of types and options; the node of Attention."""

import numpy as np
import onnx
from onnx import TensorProto, helper

TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE,
         "bool": TensorProto.BOOL, "int64": TensorProto.INT64, "int32": TensorProto.INT32}
MOST = 16  # sessions kept


def model(op, domain, opset, inputs, outputs, attributes):
    """`inputs`: name -> (type, rank) or None for one left out; `outputs`: the same."""
    def value(name, said):
        return helper.make_tensor_value_info(name, TYPES[said[0]], [f"{name}{i}" for i in range(said[1])])

    node = helper.make_node(op, [name if said else "" for name, said in inputs.items()], list(outputs),
                            domain=domain, **attributes)
    graph = helper.make_graph([node], "one", [value(*item) for item in inputs.items() if item[1]],
                              [value(*item) for item in outputs.items()])
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=min(onnx.IR_VERSION, 11))


class Runner:
    """Runs nodes in sessions that `make` makes of a model and a number of threads; the last ones are kept."""

    def __init__(self, make):
        self.make, self.kept = make, {}

    def __call__(self, op, domain, opset, inputs, outputs, attributes, threads=1):
        """The outputs of one node. `inputs`: name -> array or None; `outputs`: name -> (type, rank)."""
        said = {name: None if x is None else (str(x.dtype), x.ndim) for name, x in inputs.items()}
        key = repr((op, opset, threads, said, attributes))
        if key not in self.kept:
            if len(self.kept) == MOST:
                self.kept.pop(next(iter(self.kept)))
            self.kept[key] = self.make(model(op, domain, opset, said, outputs, attributes), threads)
        return self.kept[key].run(None, {name: x for name, x in inputs.items() if x is not None})


def full(mask, batch_and_heads, rows):
    """A mask of rank 4 with its own or the given first axes, and all of the last two."""
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    return np.ascontiguousarray(np.broadcast_to(mask, (*(batch_and_heads or mask.shape[:2]), *rows)))


def attention(run, opset, q, k, v, given):
    """ONNX Attention. A mask has all its rows and keys: from opset 24 on a short last axis means
    something else, and ONNX Runtime takes no axis of 1 there. It is of the type of q, as documented."""
    mask, lengths = given.get("mask"), given.get("key_lengths")
    attributes = {"is_causal": int("causal" in given)}
    attributes.update({name: float(given[name]) for name in ("scale", "softcap") if name in given})
    if mask is not None:
        mask = full(mask if mask.dtype == bool else mask.astype(q.dtype), None, (q.shape[2], k.shape[2]))
    inputs = {"Q": q, "K": k, "V": v, "attn_mask": mask}
    if lengths is not None:
        inputs.update(past_key=None, past_value=None, nonpad_kv_seqlen=lengths)
    inputs = {name: None if x is None else np.ascontiguousarray(x) for name, x in inputs.items()}
    return run("Attention", "", opset, inputs, {"Y": (str(q.dtype), 4)}, attributes, given["threads"])[0]


def takes(problem):
    """The documentation knows no empty tensors. Attributes are of f32, so not every scale of f64 can be
    passed; beside tensors of f32 the radius has room for its rounding."""
    numbers = [float(x) for x in (problem.scale, problem.softcap) if x is not None]
    if problem.types["q"] == "f64" and any(float(np.float32(x)) != x for x in numbers):
        return "attributes are of f32"
    sizes = (problem.batch, problem.q_heads, problem.queries, problem.keys, problem.head_size,
             problem.value_size)
    return min(sizes) > 0 or "no empty tensors"
