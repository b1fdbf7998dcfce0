# SPDX-License-Identifier: Apache-2.0
import mlx.core as mx
from mlx.core.fast import scaled_dot_product_attention as sdpa
q = mx.ones((1, 1, 1, 16))
k = mx.full((1, 1, 2, 16), 128.0)
k[0, 0, 1, 0] = 129.0  # the scores are 2048 and 2049
v = mx.concatenate([mx.zeros((1, 1, 1, 16)), mx.ones((1, 1, 1, 16))], axis=2)
for dtype in (mx.float32, mx.float16, mx.bfloat16):
    x = [a.astype(dtype) for a in (q, k, v)]
    right = sdpa(*(a.astype(mx.float32) for a in x), scale=1.0)[0, 0, 0, 0].item()
    print(dtype, "got", sdpa(*x, scale=1.0)[0, 0, 0, 0].item(), "right", right)
