# SPDX-License-Identifier: Apache-2.0
import os
os.environ["TRITON_INTERPRET"] = "1"
import torch  # noqa: E402
from fla.ops.attn import parallel_attn  # noqa: E402
ones = torch.ones(1, 4, 1, 16, dtype=torch.bfloat16)
v = torch.arange(4.0, dtype=torch.bfloat16).reshape(1, 4, 1, 1).expand(1, 4, 1, 16)
print("got", parallel_attn(ones, ones, v)[0, :, 0, 0].tolist(), "right", [0, 0.5, 1, 1.5])
