# SPDX-License-Identifier: Apache-2.0
"""The shortest kernel worth certifying: attest certify py:python/example.py:attention"""
import numpy as np
from attest_attention import kernel


@kernel(features=["causal", "mask-bool", "scale", "lse"], shapes=["strides", "dv"], types=["f32"],
        finite_only=True, isolation="extreme")
def attention(q, k, v, causal=False, mask=None, scale=None, lse=False):
    factor = np.float32(q.shape[3] ** -0.5 if scale is None else scale)
    score = np.einsum("bhid,bhjd->bhij", q, k) * factor
    visible = np.ones(score.shape, bool) if mask is None else np.broadcast_to(mask, score.shape)
    if causal:
        visible = visible & np.tri(*score.shape[2:], k=score.shape[3] - score.shape[2], dtype=bool)
    score = np.where(visible, score, -np.inf)
    top = np.maximum(score.max(3, keepdims=True, initial=-np.inf), np.finfo(np.float32).min)
    weight = np.exp(score - top)
    total = weight.sum(3, keepdims=True)
    out = np.einsum("bhij,bhjc->bhic", weight / np.where(total > 0, total, 1), v)
    with np.errstate(divide="ignore"):
        return (out, (np.log(total) + top)[..., 0]) if lse else out
