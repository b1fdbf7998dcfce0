# SPDX-License-Identifier: Apache-2.0
import numpy as np
from jax.experimental.pallas import tpu
from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, flash_attention
q = v = np.ones((1, 1, 2, 16), np.float32)
k = q.copy()
k[0, 0, 1] = 3e38  # the first query does not see this key
with tpu.force_tpu_interpret_mode():
    out = flash_attention(q, k, v, causal=True, block_sizes=BlockSizes(2, 2, 2, 1))
print("first row: got", float(out[0, 0, 0, 0]), "right", float(v[0, 0, 0, 0]))
