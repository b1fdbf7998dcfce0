# SPDX-License-Identifier: Apache-2.0
import numpy as np
from openvino import Core, Model, opset13 as ops
x = [ops.parameter([-1] * 4, np.float32) for _ in "qkv"]
attend = Model([ops.scaled_dot_product_attention(*x, causal=False)], x)
q, v = np.ones((1, 1, 1, 8), np.float32), np.full((1, 1, 1, 8), 2.0**-130, np.float32)
for options in ({"INFERENCE_PRECISION_HINT": "f32"}, {}):
    out = Core().compile_model(attend, "CPU", options)([q, q, v])[0]
    print(options, "got", out[0, 0, 0, 0], "right", v[0, 0, 0, 0])
