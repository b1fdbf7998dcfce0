# SPDX-License-Identifier: Apache-2.0
import mlx.core as mx
q, v = mx.ones((1, 1, 1, 8)), mx.broadcast_to(mx.array([1.0, 3.0]).reshape(1, 1, 2, 1), (1, 1, 2, 8))
hidden = mx.zeros((1, 2), dtype=mx.bool_)  # the row sees no key
for mask in hidden, mx.where(hidden, 0.0, -mx.inf):
    out = mx.fast.scaled_dot_product_attention(q, v, v, scale=0.0, mask=mask)
    print("a row that sees nothing, mask of", mask.dtype, "got", out[0, 0, 0, 0].item())
