# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23]> one (float[1,1,2,8] q, bool[2,2] mask)
=> (float[1,1,2,8] o) { o = Attention(q, q, q, mask) }""")
inputs = {"q": np.ones((1, 1, 2, 8), "f"), "mask": np.zeros((2, 2), bool)}
out = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)[0]
print("a row that sees nothing: got", out.ravel()[0], "right", 0.0)
