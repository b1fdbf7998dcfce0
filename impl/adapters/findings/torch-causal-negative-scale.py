# SPDX-License-Identifier: Apache-2.0
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa
q = k = torch.ones(1, 1, 2, 8)
v = torch.arange(16.0).reshape(1, 1, 2, 8)
for scale in (0.0, -1.0):
    with sdpa_kernel(SDPBackend.MATH):
        right = sdpa(q, k, v, is_causal=True, scale=scale)[0, 0, 0, 1].item()
    got = sdpa(q, k, v, is_causal=True, scale=scale)[0, 0, 0, 1].item()
    print(scale, "got", got, "right, as MATH has it", right)
