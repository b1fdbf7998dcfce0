# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = """<ir_version: 10, opset_import: ["": 23]> one (TYPE[1,1,2,8] q, TYPE[1,1,2,8] k, TYPE[1,1,2,8] v)
=> (TYPE[1,1,2,8] o) { o = Attention<is_causal = 1>(q, k, v) }"""
for name, kind in ("float", np.float32), ("float16", np.float16):
    q, k, v = (np.arange(16, dtype=kind).reshape(1, 1, 2, 8) + 1 for _ in "qkv")
    k[0, 0, 0] = -np.inf  # all that the first row sees; the hidden value is 9
    session = onnxruntime.InferenceSession(parse_model(model.replace("TYPE", name)).SerializeToString())
    print(name, "first row: got", session.run(None, {"q": q, "k": k, "v": v})[0][0, 0, 0, 0], "softmax nan")
