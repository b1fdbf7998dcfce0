# SPDX-License-Identifier: Apache-2.0
from types import SimpleNamespace
import torch
from transformers.masking_utils import causal_mask_function, eager_mask
from transformers.models.llama.modeling_llama import eager_attention_forward
layer, q = SimpleNamespace(num_key_value_groups=1, training=False), torch.ones(1, 1, 2, 8)
k, v = torch.ones(1, 1, 2, 8), torch.arange(16.0).reshape(1, 1, 2, 8)
k[0, 0, 0] = -torch.inf  # all that the first row sees
mask = eager_mask(1, 2, 2, mask_function=causal_mask_function, attention_mask=None, dtype=q.dtype)
out, _ = eager_attention_forward(layer, q, k, v, mask, scaling=1.0)
print("first row: got", out[0, 0, 0, 0].item(), "softmax nan; the hidden value is", v[0, 0, 1, 0].item())
