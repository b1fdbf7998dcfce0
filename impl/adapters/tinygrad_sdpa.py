# SPDX-License-Identifier: Apache-2.0
"""tinygrad Tensor.scaled_dot_product_attention, on the backend that interprets its instructions.

Its documentation (Tensor.scaled_dot_product_attention) names the parameters and points to PyTorch's for
enable_gqa; masks, rows that see nothing and types: from fingerprint.
"""

import os

os.environ.update(DEV="PYTHON", PARALLEL="0", CACHELEVEL="0")  # the last two: no processes, no files

from attest_attention import kernel  # noqa: E402
from tinygrad import Tensor  # noqa: E402


def takes(problem):
    sizes = (problem.batch, problem.q_heads, problem.queries, problem.keys, problem.head_size,
             problem.value_size)
    if min(sizes) == 0:
        return "no empty tensors"
    return not (problem.causal and problem.mask) or "a mask or causal, not both"


@kernel("tinygrad-sdpa", features=["causal", "mask-bool", "mask-add"], shapes=["gqa", "dv", "strides"],
        types=["f32"], model="f32-fastexp", profile="pytorch-sdpa-before-2.5", isolation="finite",
        arrays="numpy", supports=takes)
def sdpa(q, k, v, causal=False, mask=None):
    mask = None if mask is None else Tensor(mask)
    return Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v), attn_mask=mask, is_causal=causal,
                                                  enable_gqa=q.shape[1] != k.shape[1]).numpy()
