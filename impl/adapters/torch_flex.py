# SPDX-License-Identifier: Apache-2.0
"""PyTorch FlexAttention without torch.compile: the unfused evaluation of a score_mod and a mask_mod.

Declared from its documentation (torch.nn.attention.flex_attention): GQA, Ev apart from E, scale, lse; what a
mask_mod hides and what a score_mod adds is the caller's, so causal, windows, lengths and ALiBi are written
here as its examples have them, the position of row i at i + offset. An additive mask is a score_mod, so its
-inf is added: isolation from finite data. Where the page is silent: from fingerprint.
"""

import torch
import torch.nn.attention.flex_attention as flex
from attest_attention import kernel

# Or each new shape is traced again, for a second or so, to be run by the same operators.
flex._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True

FEATURES = ["causal", "offsets", "window", "lengths", "mask-bool", "mask-add", "scale", "softcap", "alibi",
            "lse"]
DECLARED = {"features": FEATURES, "shapes": ["gqa", "dv", "strides"], "arrays": "torch",
            "isolation": "finite"}


def takes(problem):
    if min(problem.batch, problem.q_heads, problem.queries, problem.keys) == 0:
        return "no empty tensors"
    return True


def visible(q, k, causal, offsets, window, mask, key_lengths):
    """The mask_mod; keys and rows stand on one axis, as in profile attest."""
    if offsets is None:
        lengths = torch.full((q.shape[0],), k.shape[2]) if key_lengths is None else key_lengths
        offsets = lengths - q.shape[2]
    left, right = (-1, -1) if window is None else window

    def seen(b, h, i, j):
        position = i + offsets[b]
        keep = j >= 0
        if causal:
            keep = keep & (j <= position)
        if left >= 0:
            keep = keep & (j >= position - left)
        if right >= 0:
            keep = keep & (j <= position + right)
        if key_lengths is not None:
            keep = keep & (j < key_lengths[b])
        return keep if mask is None else keep & mask[b, h, i, j]
    return seen, offsets


def attention(q, k, v, causal=False, offsets=None, window=None, mask=None, scale=None, softcap=None,
              slopes=None, key_lengths=None, lse=False):
    size = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    mask = None if mask is None else mask.expand(size)
    hidden = mask if mask is not None and mask.dtype == torch.bool else None
    seen, offsets = visible(q, k, causal, offsets, window, hidden, key_lengths)
    slopes = None if slopes is None else slopes.expand(size[:2])

    def score(x, b, h, i, j):
        if softcap is not None:
            x = softcap * torch.tanh(x / softcap)
        if mask is not None and hidden is None:
            x = x + mask[b, h, i, j]
        return x if slopes is None else x - slopes[b, h] * (i + offsets[b] - j).abs()

    blocks = flex.create_block_mask(seen, *size, device="cpu")
    with torch.no_grad():
        out, aux = flex.flex_attention(q, k, v, score, blocks, scale, size[1] != k.shape[1],
                                       return_aux=flex.AuxRequest(lse=True))
    return (out, aux.lse) if lse else out


eager = kernel("torch-flex", types=["f32", "f64"], model="f32-strict", supports=takes, **DECLARED)(attention)
