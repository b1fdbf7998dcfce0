# SPDX-License-Identifier: Apache-2.0
"""flash-linear-attention's softmax attention `fla.ops.attn.parallel_attn`, through Triton's interpreter.

No bf16: the interpreter does not support it (Triton's page "Debugging Triton") and its tl.dot multiplies the
bit patterns (findings/triton-bf16-dot.py). Declared from its documentation (docstring of parallel_attn):
always causal over queries and keys of one length (its arguments are all [B, T, H, D]), window_size W as
[i - W + 1, i], default scale 1/sqrt(D), grouped heads, a sink logit per query head. What a hidden NaN does
is not documented.
"""

import functools
import os

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported

import torch  # noqa: E402
from attest_attention import kernel  # noqa: E402
from fla.ops.attn import parallel_attn  # noqa: E402

PROGRAMS = 128  # one takes 10 to 30 ms
DECLARED = {"features": ["causal", "scale", "window-size", "sinks"], "shapes": ["gqa", "dv", "strides"],
            "max_head_size": 256,  # "The key dimension can not be larger than 256"
            "profile": "attest", "isolation": "bad-keys", "arrays": "torch"}  # isolation: from fingerprint


def takes(problem):
    if not problem.causal:
        return "it is always causal"
    if problem.queries != problem.keys:
        return "queries and keys have one length"
    if min(problem.batch, problem.queries, problem.q_heads, problem.head_size, problem.value_size) == 0:
        return "no empty tensors"
    if problem.batch * problem.q_heads * -(-problem.queries // 128) * -(-problem.value_size // 64) > PROGRAMS:
        return f"more than {PROGRAMS} programs take the interpreter too long"
    return True


def attention(q, k, v, causal=True, scale=None, window_size=None, sinks=None):
    rows = (x.transpose(1, 2) for x in (q, k, v))
    with torch.no_grad():
        return parallel_attn(*rows, scale=scale, window_size=window_size, sink_bias=sinks).transpose(1, 2)


def declare(name, types, model):
    # A function of its own for each name: the decorator writes on it.
    return kernel(name, types=types, model=model, supports=takes, **DECLARED)(
        functools.wraps(attention)(lambda *given, **named: attention(*given, **named)))


single = declare("triton-fla", ["f32"], "f32-fastexp")
half = declare("triton-fla-f16", ["f16"], "f16-f32acc")
