# SPDX-License-Identifier: Apache-2.0
import os
os.environ["TRITON_INTERPRET"] = "1"
import torch  # noqa: E402
from fla.ops.attn import parallel_attn  # noqa: E402
x = torch.ones(1, 2, 1, 16)
sink = torch.tensor([float("inf")])
weights = torch.softmax(torch.tensor([1.0, 1.0, float("inf")]), 0)
got = parallel_attn(x, x, x, sink_bias=sink)[0, 0, 0, 0].item()
print("got", got, "softmax with that logit", weights[0].item())
