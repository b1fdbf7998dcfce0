# SPDX-License-Identifier: Apache-2.0
"""PyTorch scaled_dot_product_attention.

Declared from its documentation (torch.nn.functional.scaled_dot_product_attention). The pseudo-code there adds
a mask of -inf to the scores: a hidden score that overflowed is then inf - inf, and 0 * NaN behind the mask is
NaN, so isolation is from finite data. A causal mask beside another one is an error, and so is a mask of
rank 0 or 1 (findings/torch-mask-rank-1.py), which gets rank 2 here. No arithmetic is promised for f16 and
bf16; by the same page intermediates are kept in float.
"""

from contextlib import nullcontext

import torch
from attest_attention import kernel
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

DECLARED = {"features": ["causal", "mask-bool", "mask-add", "scale"], "profile": "pytorch-sdpa",
            "isolation": "finite", "arrays": "torch"}


def one_mask(problem):
    return not (problem.causal and problem.mask) or "a mask or causal, not both"


def flash_takes(problem):
    """What the warnings of the flash path name as its conditions."""
    if any(problem.strides[name][3] != 1 for name in ("q", "k", "v")):
        return "the last axis must have stride 1"
    return one_mask(problem)


def sdpa(backend=None, mask_rank=2):
    """By one backend alone, which raises where it cannot, or by the one that PyTorch chooses."""
    def attention(q, k, v, causal=False, mask=None, scale=None):
        if mask is not None and mask.ndim < mask_rank:
            mask = mask.reshape((1,) * (mask_rank - mask.ndim) + tuple(mask.shape))
        with torch.no_grad(), sdpa_kernel(backend) if backend else nullcontext():
            return scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, scale=scale,
                                                enable_gqa=q.shape[1] != k.shape[1])
    return attention


def declare(name, function, shapes=("gqa", "dv", "empty", "strides"), types=("f32", "f64"),
            model="f32-strict", supports=one_mask):
    return kernel(name, shapes=shapes, types=types, model=model, supports=supports, **DECLARED)(function)


default = declare("torch-sdpa", sdpa())
math = declare("torch-sdpa-math", sdpa(SDPBackend.MATH))
flash = declare("torch-sdpa-flash", sdpa(SDPBackend.FLASH_ATTENTION, 4), ("gqa", "empty", "strides"),
                supports=flash_takes)
half = declare("torch-sdpa-f16", sdpa(), types=("f16",), model="f16-f32acc")
brain = declare("torch-sdpa-bf16", sdpa(), types=("bf16",), model="bf16-f32acc")
