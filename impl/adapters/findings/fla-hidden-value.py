# SPDX-License-Identifier: Apache-2.0
import os
os.environ["TRITON_INTERPRET"] = "1"
import torch  # noqa: E402
from fla.ops.attn import parallel_attn  # noqa: E402
q = torch.ones(1, 2, 1, 16)
v = q.clone()
v[0, 1] = torch.nan  # the first query does not see this key
print("first row: got", parallel_attn(q, q, v)[0, 0, 0, 0].item(), "right", v[0, 0, 0, 0].item())
