# SPDX-License-Identifier: Apache-2.0
import numpy as np
from openvino import Core, Model, opset13 as ops
x, random, wrong = [ops.parameter([-1] * 4, np.float32) for _ in "qkv"], np.random.default_rng(1), [0] * 8
models = [Core().compile_model(Model([ops.scaled_dot_product_attention(*x, causal=False)], x)) for _ in wrong]
for call in range(3200):  # each third round the values are NaN
    h, n, m, d, e = np.exp(random.uniform(0, np.log((8, 900, 200, 160, 160)))).astype(int)
    q, k, v = (random.normal(size=(1, h, *s)).astype("f") for s in ((n, d), (m, d), (m, e)))
    bad = np.isnan(models[call % 8]([q, k, v if call // 8 % 3 else v * np.nan])[0]).any()
    wrong[call % 8] += bool(bad and call // 8 % 3)
print("answers with NaN to finite inputs, of each of eight equal models:", wrong)
