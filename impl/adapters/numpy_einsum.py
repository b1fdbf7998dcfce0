# SPDX-License-Identifier: Apache-2.0
"""Attention as one writes it in NumPy: scores, a mask of -inf, softmax by rows, a product with the values.

There is no document to declare from: this is the text of the kernel. Masked scores are replaced, masked
values are multiplied by 0, so a NaN behind the mask reaches the row if it is in v (isolation "bad-keys").
"""

import numpy as np
from attest_attention import kernel

DECLARED = {"features": ["causal", "lengths", "mask-bool", "mask-add", "scale", "softcap", "lse"],
            "shapes": ["gqa", "dv", "strides"], "types": ["f32", "f64"], "isolation": "bad-keys",
            "arrays": "numpy"}


def hidden_keys(shape, causal, key_lengths):
    """[B, 1, Sq, Sk]: beyond the length, or right of the causal diagonal, which ends at the last key."""
    batch, _, queries, keys = shape
    lengths = np.full(batch, keys) if key_lengths is None else key_lengths
    rows_below = np.arange(queries)[::-1] if causal else np.zeros(queries, int)
    return (np.arange(keys) >= (lengths[:, None] - rows_below)[..., None])[:, None]


def attention(product, q, k, v, causal, key_lengths, mask, scale, softcap, lse):
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, group, axis=1) for x in (k, v))
    score = product("bhid,bhjd->bhij", q, k) * q.dtype.type(q.shape[3] ** -0.5 if scale is None else scale)
    if softcap is not None:
        score = q.dtype.type(softcap) * np.tanh(score / q.dtype.type(softcap))
    hidden = hidden_keys(score.shape, causal, key_lengths)
    if mask is not None and mask.dtype == bool:
        hidden = hidden | ~mask
    elif mask is not None:
        hidden = hidden | (mask == -np.inf)
        score = score + np.where(mask == -np.inf, 0, mask).astype(q.dtype)
    score = np.where(hidden, q.dtype.type(-np.inf), score)
    empty = np.broadcast_to(hidden, score.shape).all(3, keepdims=True)
    top = np.where(empty, 0, score.max(3, keepdims=True, initial=-np.inf)).astype(q.dtype)
    weight = np.exp(score - top)
    total = weight.sum(3, keepdims=True)
    out = product("bhij,bhjc->bhic", weight / np.where(empty, 1, total), v)
    if lse:
        with np.errstate(divide="ignore"):
            return out, (top + np.log(total))[..., 0]
    return out


def by_matmul(names, a, b):
    return a @ (b.swapaxes(2, 3) if names.endswith("bhij") else b)


@kernel("numpy-composed", **DECLARED)
def composed(q, k, v, causal=False, key_lengths=None, mask=None, scale=None, softcap=None, lse=False):
    return attention(by_matmul, q, k, v, causal, key_lengths, mask, scale, softcap, lse)


@kernel("numpy-einsum", **DECLARED)
def einsum(q, k, v, causal=False, key_lengths=None, mask=None, scale=None, softcap=None, lse=False):
    return attention(np.einsum, q, k, v, causal, key_lengths, mask, scale, softcap, lse)
