# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = """<ir_version: 10, opset_import: ["": 23]> one (TYPE[1,1,2,8] q, bool[2,2] mask) => (TYPE[1,1,2,8] o)
{ o = Attention(q, q, q, mask) }"""
for name, kind in ("float", np.float32), ("double", np.float64):
    session = onnxruntime.InferenceSession(parse_model(model.replace("TYPE", name)).SerializeToString())
    out = session.run(None, {"q": np.ones((1, 1, 2, 8), kind), "mask": np.zeros((2, 2), bool)})[0]
    print(name, "a row that sees nothing: got", out[0, 0, 0, 0])
