# SPDX-License-Identifier: Apache-2.0
"""MLX mx.fast.scaled_dot_product_attention on the CPU.

Declared from its documentation (mlx.core.fast.scaled_dot_product_attention): grouped heads that need not be
repeated, mask "causal" (aligned at the lower right), boolean or additive and broadcast to [B,N,T_q,T_kv],
sinks, a scale, "typically 1/sqrt(D)"; the softmax is in f32 whatever the type, of scores there is no word
(f16: from attest model; there is none with scores of bf16). A mask or "causal", not both.
A mask of -inf is added: isolation from finite data. It must promote to the type of q, so one of f32 would
have to be rounded beside f16 and bf16, and is not offered there. Strided arrays are copied with all that
lies between, so they are not offered. Profile ort-gqa has the same choices: lower right, 1/sqrt(D), empty
rows left open.
"""

import mlx.core as mx
from attest_attention import kernel

FEATURES = ["causal", "mask-bool", "scale", "sinks"]
DECLARED = {"shapes": ["gqa"], "profile": "ort-gqa", "isolation": "finite", "arrays": "mlx.core",
            "vendor": "mlx", "version": mx.__version__}


def takes(problem):
    sizes = (problem.batch, problem.q_heads, problem.queries, problem.keys, problem.head_size)
    if min(sizes) == 0:
        return "no empty tensors"
    return not (problem.causal and problem.mask) or "a mask or causal, not both"


def attention(q, k, v, causal=False, mask=None, scale=None, sinks=None):
    if sinks is not None:
        sinks = sinks.astype(q.dtype)
    if scale is None:
        scale = q.shape[3] ** -0.5
    return mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask="causal" if causal else mask,
                                                sinks=sinks)


def declare(name, types, model, features=FEATURES):
    def attend(q, k, v, causal=False, mask=None, scale=None, sinks=None):
        return attention(q, k, v, causal, mask, scale, sinks)
    return kernel(name, types=types, model=model, features=features, supports=takes, **DECLARED)(attend)


single = declare("mlx-sdpa", ["f32"], "f32-fastexp", [*FEATURES, "mask-add"])
brain = declare("mlx-sdpa-bf16", ["bf16"], "bf16-f32acc")
half = declare("mlx-sdpa-f16", ["f16"], "f16-f16acc")
