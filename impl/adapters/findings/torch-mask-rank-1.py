# SPDX-License-Identifier: Apache-2.0
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa
x = torch.ones(1, 2, 3, 8)
for rank in (0, 1, 2):
    try:
        print("rank", rank, "got", tuple(sdpa(x, x, x, attn_mask=torch.zeros((3,) * rank)).shape))
    except Exception as error:
        print("rank", rank, "got", type(error).__name__, str(error)[:80], "right: a mask that is broadcast")
