# SPDX-License-Identifier: Apache-2.0
import mlx.core as mx
q, k, v = mx.ones((1, 1, 1, 8)), mx.full((1, 1, 2, 8), -mx.inf), mx.array([1.0, 3.0]).reshape(1, 1, 2, 1)
v = mx.broadcast_to(v, (1, 1, 2, 8))
mask = mx.array([True, False]).reshape(1, 1, 1, 2)
print("got", mx.fast.scaled_dot_product_attention(q, k, v, scale=1.0, mask=mask)[0, 0, 0, 0].item())
