# SPDX-License-Identifier: Apache-2.0
"""Hugging Face transformers, eager attention of llama, gpt-oss and gemma 2, with the masks of its models.

Declared from the code and its docstrings (modeling_*.py, eager_attention_forward; masking_utils.py,
eager_mask): the first query stands at position 0 unless it is told otherwise, the smallest finite number is
added to what causal, a sliding window or padding hides, so that a row that sees nothing is the mean of all
values (profile jax). A mask of rank 4 takes the place of the model's own; it has to be additive, a boolean
one is made so by the rule of eager_mask. A gpt-oss layer always has sinks; none is a sink of -inf here.
"""

from types import SimpleNamespace

import torch
import transformers
from attest_attention import kernel
from transformers.masking_utils import (bidirectional_mask_function, causal_mask_function, eager_mask,
                                        sliding_window_causal_mask_function)
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.gpt_oss import modeling_gpt_oss
from transformers.models.llama import modeling_llama

torch.set_num_threads(1)
FEATURES = ["causal", "mask-bool", "mask-add", "scale", "lengths"]
DECLARED = {"shapes": ["gqa", "strides"], "types": ["f32"], "profile": "jax", "arrays": "torch",
            "isolation": "finite", "vendor": "transformers", "version": transformers.__version__}


def takes(problem):
    if min(problem.batch, problem.queries, problem.keys, problem.q_heads, problem.head_size) == 0:
        return "no empty tensors"
    if problem.mask and (problem.causal or problem.window or problem.key_lengths):
        return "a mask takes the place of the model's own"
    if problem.window and (problem.window[0] < 0 or problem.window[1] > 0 or not problem.causal):
        return "a sliding window is causal"
    return True


def mask_of(q, k, causal, window, key_lengths, mask):
    rows, keys = q.shape[2], k.shape[2]
    if mask is not None:
        return mask if mask.dtype != torch.bool else torch.where(mask, 0.0, torch.finfo(q.dtype).min)
    shows = causal_mask_function if causal else bidirectional_mask_function
    if window is not None:
        shows = sliding_window_causal_mask_function(window[0] + 1)
    padding = None if key_lengths is None else torch.arange(keys) < key_lengths[:, None]
    return eager_mask(q.shape[0], rows, keys, mask_function=shows, attention_mask=padding, dtype=q.dtype)


def attend(model, q, k, v, causal, window, key_lengths, mask, scale, sinks=None, **options):
    layer = SimpleNamespace(num_key_value_groups=q.shape[1] // k.shape[1], training=False, sinks=sinks)
    with torch.no_grad():
        out, _ = model.eager_attention_forward(
            layer, q, k, v, mask_of(q, k, causal, window, key_lengths, mask),
            scaling=q.shape[3] ** -0.5 if scale is None else scale, **options)
    return out.transpose(1, 2)


@kernel("transformers-llama", features=FEATURES, supports=takes, **DECLARED)
def llama(q, k, v, causal=False, key_lengths=None, mask=None, scale=None):
    return attend(modeling_llama, q, k, v, causal, None, key_lengths, mask, scale)


@kernel("transformers-gpt-oss", features=[*FEATURES, "window", "sinks"], supports=takes, **DECLARED)
def gpt_oss(q, k, v, causal=False, window=None, key_lengths=None, mask=None, scale=None, sinks=None):
    sinks = torch.full((q.shape[1],), -torch.inf) if sinks is None else sinks
    return attend(modeling_gpt_oss, q, k, v, causal, window, key_lengths, mask, scale, sinks)


@kernel("transformers-gemma2", features=[*FEATURES, "window", "softcap"], supports=takes, **DECLARED)
def gemma2(q, k, v, causal=False, window=None, key_lengths=None, mask=None, scale=None, softcap=None):
    return attend(modeling_gemma2, q, k, v, causal, window, key_lengths, mask, scale, softcap=softcap)
