# SPDX-License-Identifier: Apache-2.0
from types import SimpleNamespace
import torch
from transformers.models.llama.modeling_llama import eager_attention_forward
layer, x = SimpleNamespace(num_key_value_groups=1, training=False), torch.ones(1, 1, 2, 8)
for name, least in ("-inf", -torch.inf), ("the smallest finite number", torch.finfo(x.dtype).min):
    out, _ = eager_attention_forward(layer, x, x, x, torch.full((1, 1, 2, 2), least), scaling=1.0)
    print("a row hidden by", name, "got", out[0, 0, 0, 0].item())
