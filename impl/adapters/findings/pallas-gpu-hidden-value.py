# SPDX-License-Identifier: Apache-2.0
import numpy as np
from jax.experimental.pallas.ops.gpu.attention import mha
q = k = np.ones((1, 2, 1, 16), np.float32)
v = q.copy()
v[0, 1] = np.nan  # the first query does not see this key
out = mha(q, k, v, None, causal=True, interpret=True)
print("first row: got", float(out[0, 0, 0, 0]), "right", float(v[0, 0, 0, 0]))
