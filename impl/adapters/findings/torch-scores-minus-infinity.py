# SPDX-License-Identifier: Apache-2.0
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa
q, k, v = torch.ones(1, 1, 1, 8), torch.full((1, 1, 4, 8), -torch.inf), torch.ones(1, 1, 4, 8)
right = torch.softmax(q @ k.mT, -1) @ v
print("got", sdpa(q, k, v)[0, 0, 0, 0].item(), "right, by the formula", right[0, 0, 0, 0].item())
