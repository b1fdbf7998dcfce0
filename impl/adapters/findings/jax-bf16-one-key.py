# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
for keys in (2, 1):
    q, k = jnp.ones((1, 1, 1, 8), jnp.bfloat16), jnp.ones((1, keys, 1, 8), jnp.bfloat16)
    try:
        print(keys, "keys: got", jax.jit(jax.nn.dot_product_attention)(q, k, k)[0, 0, 0, 0])
    except Exception as error:
        print(keys, "keys: got", str(error)[:120])
