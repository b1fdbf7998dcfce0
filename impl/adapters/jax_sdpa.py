# SPDX-License-Identifier: Apache-2.0
"""JAX jax.nn.dot_product_attention, XLA implementation.

Declared from its documentation (jax.nn.dot_product_attention): [B,T,N,H], mask and is_causal together, a
window (left, right), lengths of keys. Compiled by jit, as it is used: some tenths of a second for each new
shape. A bias is added, so isolation is from finite data. What a hidden key becomes is not documented
(spec/profiles/jax.json).
"""

import functools
import inspect

import jax
from attest_attention import kernel

RESIDUAL = "return_residual" in inspect.signature(jax.nn.dot_product_attention).parameters
FEATURES = ["causal", "mask-bool", "mask-add", "scale", "window", "lengths"]
DECLARED = {"features": FEATURES + ["lse"] * RESIDUAL, "shapes": ["gqa", "strides"], "profile": "jax",
            "isolation": "finite", "arrays": "jax"}


def filled(array, rank=4):
    return array.reshape((1,) * (rank - array.ndim) + array.shape)


def takes(problem):
    if min(problem.batch, problem.queries, problem.keys, problem.q_heads) == 0:
        return "no empty tensors"
    if problem.window and min(problem.window) < 0:
        return "a window has two sides"
    return True


@functools.partial(jax.jit, static_argnames=("causal", "scale", "window", "lse"))
def sdpa(q, k, v, causal=False, mask=None, scale=None, window=None, key_lengths=None, lse=False):
    given = {"is_causal": causal, "scale": scale, "local_window_size": window, "implementation": "xla"}
    if mask is not None:
        full = (q.shape[0], 1, q.shape[2], k.shape[2])
        mask = filled(mask)
        mask = jax.numpy.broadcast_to(mask, (mask.shape[0], mask.shape[1], *full[2:]))
        given["mask" if mask.dtype == bool else "bias"] = mask
    if key_lengths is not None:
        given["key_value_seq_lengths"] = key_lengths.astype("int32")
    if lse:
        given["return_residual"] = True
    rows = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    out = jax.nn.dot_product_attention(*rows, **given)
    if lse:
        return out[0].transpose(0, 2, 1, 3), out[1].transpose(0, 2, 1)
    return out.transpose(0, 2, 1, 3)


def single(q, k, v, causal=False, mask=None, scale=None, window=None, key_lengths=None, lse=False):
    return sdpa(q, k, v, causal, mask, scale, window, key_lengths, lse)


def brain(q, k, v, causal=False, mask=None, scale=None, window=None, key_lengths=None):
    return sdpa(q, k, v, causal, mask, scale, window, key_lengths)


single = kernel("jax-sdpa", types=["f32"], model="f32-fastexp", supports=takes, **DECLARED)(single)
brain = kernel("jax-sdpa-bf16", types=["bf16"], model="bf16-f32acc", supports=takes,
               **{**DECLARED, "features": FEATURES})(brain)
