# SPDX-License-Identifier: Apache-2.0
import numpy as np
from jax.experimental.pallas.ops.gpu.attention import mha, mha_reference
q, k = np.ones((1, 256, 1, 16), np.float32), np.ones((1, 128, 1, 16), np.float32)
v = np.ones((1, 128, 1, 16), np.float32)
got = np.asarray(mha(q, k, v, None, causal=True, interpret=True))
right = np.asarray(mha_reference(q, k, v, None, causal=True))
print("rows that are wrong:", int((~np.isclose(got, right)).any((0, 2, 3)).sum()), "of 256")
print("row 128:", got[0, 128, 0, 0], "right:", right[0, 128, 0, 0])
