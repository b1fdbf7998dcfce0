# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = """<ir_version: 10, opset_import: ["": 23]> one (TYPE[1,1,2,8] q, TYPE[1,1,2,8] k, TYPE[1,1,2,8] v)
=> (TYPE[1,1,2,8] o) { o = Attention<is_causal = 1>(q, k, v) }"""
for name, kind in ("float", np.float32), ("float16", np.float16):
    q, k, v = (np.arange(16, dtype=kind).reshape(1, 1, 2, 8) + 1 for _ in "qkv")
    k[0, 0, 0] = -np.inf  # all that the first row sees
    session = onnxruntime.InferenceSession(parse_model(model.replace("TYPE", name)).SerializeToString())
    out = session.run(None, {"q": q, "k": k, "v": v})[0]
    print(name, "first row: got", out[0, 0, 0, 0], "softmax nan; the hidden value is", v[0, 0, 1, 0])
