# SPDX-License-Identifier: Apache-2.0
import jax.numpy as jnp
from jax.nn import dot_product_attention
q, v = jnp.zeros((1, 5, 1, 8)), jnp.eye(5, 8)[None, :, None]  # so the output is the weights
alone = dot_product_attention(q, q, v, local_window_size=(1, 1))
beside = dot_product_attention(q, q, v, local_window_size=(1, 1), mask=jnp.ones((1, 1, 5, 5), bool))
alone, beside = ((x > 0).sum((2, 3))[0] for x in (alone, beside))
print("keys seen by each row: got", alone, "beside a mask that hides nothing", beside)
