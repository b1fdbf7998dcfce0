# SPDX-License-Identifier: Apache-2.0
import numpy as np
from jax.experimental.pallas import tpu
from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, flash_attention
q, k, v = (np.zeros((1, 1, n, 2), np.float32) for n in (1, 2, 2))
v[..., 1, :] = 1
bias = np.array([0, np.log(3)], np.float32).reshape(1, 1, 1, 2)  # weights 1/4 and 3/4
with tpu.force_tpu_interpret_mode():
    out = flash_attention(q, k, v, ab=bias, sm_scale=0.5, block_sizes=BlockSizes(1, 2, 2, 1))
print("got", float(out[0, 0, 0, 0]), "with the bias added to the scaled scores", 0.75)
