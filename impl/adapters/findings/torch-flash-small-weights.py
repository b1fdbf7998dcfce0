# SPDX-License-Identifier: Apache-2.0
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa
q, k, v = torch.zeros(1, 1, 1, 8), torch.zeros(1, 1, 33, 8), torch.ones(1, 1, 33, 8)
v[0, 0, 0] = 0  # the one key with a large weight
mask = torch.tensor([[0.0] + 32 * [-87.0]])  # exp(-87) is 1.6e-38, a normal number
for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH):
    with sdpa_kernel(backend):
        print(backend.name, "got", sdpa(q, k, v, attn_mask=mask)[0, 0, 0, 0].item(), "right 5.27e-37")
