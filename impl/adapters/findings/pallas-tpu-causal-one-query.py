# SPDX-License-Identifier: Apache-2.0
import numpy as np
from jax.experimental.pallas import tpu
from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, flash_attention
q, k = np.ones((1, 1, 1, 16), np.float32), np.ones((1, 1, 256, 16), np.float32)
v = np.full((1, 1, 256, 16), 2, np.float32)
blocks = BlockSizes(block_q=1, block_k_major=128, block_k=128, block_b=1)
with tpu.force_tpu_interpret_mode():
    got = flash_attention(q, k, v, causal=True, block_sizes=blocks)[0, 0, 0, 0]
print("got", got, "right", v[0, 0, 0, 0])
