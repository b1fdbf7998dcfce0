# SPDX-License-Identifier: Apache-2.0
import numpy as np
from jax.experimental.pallas.ops.gpu.attention import mha
q = np.zeros((1, 1, 1, 16), np.float32)
k = v = np.zeros((1, 4, 1, 16), np.float32)
_, lse = mha(q, k, v, None, interpret=True, return_residuals=True)
print("lse of four equal scores of 0:", float(lse[0, 0, 0]), "natural:", np.log(4), "base 2:", np.log2(4))
