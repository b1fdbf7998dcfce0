# SPDX-License-Identifier: Apache-2.0
"""PyTorch nn.MultiheadAttention with projections that change nothing.

Declared from its documentation (torch.nn.MultiheadAttention): key_padding_mask for lengths, attn_mask whose
True hides, is_causal as a hint that comes with that mask, heads of one size. need_weights has another path.
The projections multiply by an identity, so 0 * inf is met before the attention: finite data. With weights a
row that sees nothing is NaN, which the last projection would carry into the other heads: there each head is
a batch entry.
"""

import functools

import torch
from attest_attention import kernel
from torch import nn

DECLARED = {"features": ["causal", "mask-bool", "mask-add", "lengths"], "shapes": ["strides"],
            "isolation": "finite", "finite_only": True, "arrays": "torch", "types": ["f32", "f64"],
            "model": "f32-strict"}
WIDEST = 512  # q_heads * head_size: the projections are matrices of that size


def takes(problem):
    if min(problem.batch, problem.q_heads, problem.queries, problem.keys) == 0:
        return "no empty tensors"
    if problem.q_heads * problem.head_size > WIDEST:
        return f"{WIDEST} channels at most"
    return not (problem.causal and problem.mask) or "a mask or causal, not both"


@functools.lru_cache(maxsize=64)
def module(channels, heads, dtype):
    made = nn.MultiheadAttention(channels, heads, bias=False, batch_first=True, dtype=dtype).eval()
    identity = torch.eye(channels, dtype=dtype)
    with torch.no_grad():
        made.in_proj_weight.copy_(identity.repeat(3, 1))
        made.out_proj.weight.copy_(identity)
    return made


def mha(need_weights):
    def attention(q, k, v, causal=False, mask=None, key_lengths=None):
        b, heads, queries, d = q.shape
        keys = k.shape[2]
        if causal:
            mask = torch.ones(queries, keys, dtype=torch.bool).triu(1)
        elif mask is not None:
            mask = (~mask if mask.dtype == torch.bool else mask.to(q.dtype)).expand(b, heads, queries, keys)
            mask = mask.reshape(b * heads, queries, keys)
        padding = None if key_lengths is None else torch.arange(keys) >= key_lengths[:, None]
        if padding is not None and mask is not None and mask.dtype != torch.bool:
            padding = torch.zeros(padding.shape, dtype=mask.dtype).masked_fill(padding, -torch.inf)
        if need_weights:
            b, heads, rows = b * heads, 1, [x.reshape(b * heads, -1, d) for x in (q, k, v)]
            padding = None if padding is None else padding.repeat_interleave(q.shape[1], 0)
        else:
            rows = [x.transpose(1, 2).reshape(b, -1, heads * d) for x in (q, k, v)]
        with torch.no_grad():
            out = module(heads * d, heads, q.dtype)(*rows, key_padding_mask=padding, attn_mask=mask,
                                                    need_weights=need_weights, is_causal=causal)[0]
        return out.reshape(b, queries, heads, d).transpose(1, 2).reshape(q.shape)
    return attention


fast = kernel("torch-mha", profile="pytorch-sdpa", supports=takes, **DECLARED)(mha(False))
# Without safe softmax an empty row is NaN.  # from fingerprint
weights = kernel("torch-mha-weights", profile="pytorch-sdpa-before-2.5", supports=takes,
                 **DECLARED)(mha(True))
