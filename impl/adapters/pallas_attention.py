# SPDX-License-Identifier: Apache-2.0
"""JAX's Pallas kernels, jax.experimental.pallas.ops: gpu.attention.mha and tpu.flash_attention, interpreted.

They have no documentation beyond their source: argument comments and a reference beside each (mha_reference).
From there: causal is top-left, heads of one count, one head size; sm_scale is 1 by default, so the adapter
always passes one. Lengths up to the block size of 128 or multiples of it (GPU; the kernel raises
otherwise). The TPU kernel's `ab` is added before the scale, its LSE is not returned, the GPU kernel's is of
base 2: not declared.
"""

import jax.numpy as jnp
from attest_attention import kernel
from jax.experimental.pallas import tpu
from jax.experimental.pallas.ops.gpu.attention import mha
from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, SegmentIds, flash_attention

BLOCK = 128
DECLARED = {"profile": "jax", "arrays": "jax"}


def gpu_takes(problem):
    if min(problem.batch, problem.queries, problem.keys, problem.q_heads, problem.head_size) == 0:
        return "no empty tensors"
    if any(n > BLOCK and n % BLOCK for n in (problem.queries, problem.keys)):
        return "lengths up to 128 or multiples of it"
    return True


def tpu_takes(problem):
    if min(problem.batch, problem.queries, problem.keys, problem.q_heads, problem.head_size) == 0:
        return "no empty tensors"
    if problem.head_size > BLOCK and problem.head_size % BLOCK:
        return "head sizes up to 128 or multiples of it"
    if problem.key_lengths and problem.keys % BLOCK:
        return "segments need keys in multiples of 128"
    return True


def gpu(q, k, v, causal=False, scale=None):
    rows = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    factor = q.shape[3] ** -0.5 if scale is None else scale
    return mha(*rows, None, sm_scale=factor, causal=causal, interpret=True).transpose(0, 2, 1, 3)


def tpu_flash(q, k, v, causal=False, scale=None, key_lengths=None):
    queries, keys = q.shape[2], k.shape[2]
    segments = None
    if key_lengths is not None:
        hidden = jnp.arange(keys) >= key_lengths[:, None]
        segments = SegmentIds(jnp.zeros((q.shape[0], queries), jnp.int32), hidden.astype(jnp.int32))
    tile = keys if keys % BLOCK else BLOCK
    blocks = BlockSizes(block_q=min(queries, BLOCK), block_k_major=tile, block_k=tile, block_b=1)
    factor = q.shape[3] ** -0.5 if scale is None else scale
    with tpu.force_tpu_interpret_mode():
        return flash_attention(q, k, v, segment_ids=segments, causal=causal, sm_scale=factor,
                               block_sizes=blocks)


def gpu_half(q, k, v, causal=False, scale=None):
    return gpu(q, k, v, causal, scale)


def tpu_half(q, k, v, causal=False, scale=None, key_lengths=None):
    return tpu_flash(q, k, v, causal, scale, key_lengths)


# The isolation is from fingerprint: the GPU kernel selects, the TPU kernel adds a finite number to hidden
# scores.
def on_gpu(name, types, model):
    return kernel(name, features=["causal", "scale"], types=types, model=model, isolation="bad-keys",
                  supports=gpu_takes, **DECLARED)


def on_tpu(name, types, model):
    return kernel(name, features=["causal", "scale", "lengths"], types=types, model=model, isolation="finite",
                  supports=tpu_takes, **DECLARED)


gpu = on_gpu("pallas-gpu-mha", ["f32"], "f32-fastexp")(gpu)
gpu_half = on_gpu("pallas-gpu-mha-bf16", ["bf16"], "bf16-f32acc")(gpu_half)
tpu_flash = on_tpu("pallas-tpu-flash", ["f32"], "f32-fastexp")(tpu_flash)
tpu_half = on_tpu("pallas-tpu-flash-bf16", ["bf16"], "bf16-f32acc")(tpu_half)
