# SPDX-License-Identifier: Apache-2.0
import jax.numpy as jnp
from jax.nn import dot_product_attention
x = jnp.ones((1, 2, 1, 8))
hidden = jnp.zeros((1, 1, 2, 2), bool)  # no row sees a key
print("by mask: got", dot_product_attention(x, x, x, mask=hidden)[0, 0, 0, 0])
print("by bias: got", dot_product_attention(x, x, x, bias=jnp.where(hidden, 0, -jnp.inf))[0, 0, 0, 0])
