# SPDX-License-Identifier: Apache-2.0
import jax.numpy as jnp
from jax.nn import dot_product_attention
q, k = jnp.ones((1, 1, 1, 8)), jnp.full((1, 2, 1, 8), -jnp.inf)
v = jnp.array([1.0, 3.0]).reshape(1, 2, 1, 1) * jnp.ones(8)
mask = jnp.array([True, False]).reshape(1, 1, 1, 2)  # the second key is hidden
got = dot_product_attention(q, k, v, mask=mask)[0, 0, 0, 0]
print("got", got, "softmax of the visible score, which is -inf, nan")
