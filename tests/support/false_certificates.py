# SPDX-License-Identifier: Apache-2.0
"""Kernels with the faults that shipped ones were once certified with: py:false_certificates.py:NAME.
Each is right but for what its name says."""

import numpy as np
from attest_attention import kernel

FILLER = np.float32(-1e30)


def attend(q, k, v, causal, mask, scale, score_of, weigh):
    factor = np.float32(q.shape[3] ** -0.5 if scale is None else scale)
    with np.errstate(all="ignore"):
        score = np.einsum("bhid,bhjd->bhij", q, k) * factor
        visible = np.ones(score.shape, bool)
        if mask is not None and mask.dtype == bool:
            visible = visible & np.broadcast_to(mask, score.shape)
        elif mask is not None:
            visible = visible & np.broadcast_to(mask != -np.inf, score.shape)
            score = score + np.where(visible, mask, 0)
        if causal:
            visible = visible & np.tri(*score.shape[2:], k=score.shape[3] - score.shape[2], dtype=bool)
        return weigh(score_of(score, visible), visible, v)


def hidden_away(score, visible):
    return np.where(visible, score, -np.inf).astype(np.float32)


def softmax(score, visible, v):
    top = score.max(3, keepdims=True, initial=-np.inf)
    some = visible.any(3, keepdims=True)
    weight = np.where(visible, np.exp(score - np.where(some, top, 0)), 0)
    total = weight.sum(3, keepdims=True)
    weight = weight / np.where(some, total, 1)
    # A hidden value is left out, not multiplied by 0; a visible one counts even at weight 0.
    out = np.zeros(score.shape[:3] + v.shape[3:], np.float32)
    for j in range(score.shape[3]):
        shown = visible[:, :, :, j, None]
        out = out + np.where(shown, weight[:, :, :, j, None] * v[:, :, None, j, :], 0)
    return out.astype(np.float32)


def declared(isolation, finite_only=False):
    return kernel(features=["causal", "mask-bool", "mask-add", "scale"], shapes=["strides", "dv"],
                  types=["f32"], isolation=isolation, finite_only=finite_only)


@declared("full")
def right(q, k, v, causal=False, mask=None, scale=None):
    return attend(q, k, v, causal, mask, scale, hidden_away, softmax)


@declared("extreme", finite_only=True)
def overflow_behind_the_mask(q, k, v, causal=False, mask=None, scale=None):
    """-inf is added to the score of a hidden key, which may be +inf."""
    def added(score, visible):
        return score + np.where(visible, 0, -np.inf).astype(np.float32)

    def through_top(score, visible, v):
        seen = np.where(visible, score, np.where(np.isnan(score), score, -np.inf))
        out = softmax(hidden_away(score, visible), visible, v)
        return np.where(np.isnan(seen).any(3, keepdims=True), np.float32(np.nan), out)
    return attend(q, k, v, causal, mask, scale, added, through_top)


@declared("full")
def swallowed_nan_from_64_rows(q, k, v, causal=False, mask=None, scale=None):
    def drop(score, visible):
        if score.shape[2] < 64:
            return hidden_away(score, visible)
        return hidden_away(np.nan_to_num(score, nan=-np.inf, posinf=np.inf, neginf=-np.inf), visible)
    return attend(q, k, v, causal, mask, scale, drop, softmax)


@declared("full")
def all_minus_infinity_is_zero(q, k, v, causal=False, mask=None, scale=None):
    def weigh(score, visible, v):
        lost = (score == -np.inf).all(3, keepdims=True)
        return np.where(lost, np.float32(0), softmax(score, visible, v))
    return attend(q, k, v, causal, mask, scale, hidden_away, weigh)


@declared("finite", finite_only=True)
def filler_for_infinity(q, k, v, causal=False, mask=None, scale=None):
    def filled(score, visible):
        return np.where(visible, score, FILLER).astype(np.float32)

    def weigh(score, visible, v):
        weight = np.exp(score - score.max(3, keepdims=True, initial=-np.inf))
        weight = weight / weight.sum(3, keepdims=True)
        return np.einsum("bhij,bhjc->bhic", weight, v).astype(np.float32)
    return attend(q, k, v, causal, mask, scale, filled, weigh)
