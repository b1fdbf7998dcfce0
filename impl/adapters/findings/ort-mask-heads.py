# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23]> one (float[1,4,1,8] q,
float[1,2,1,8] k, float[1,4,1,1] m) => (float[1,4,1,8] o) { o = Attention(q, k, k, m) }""")
inputs = {"q": np.ones((1, 4, 1, 8), "f"), "k": np.ones((1, 2, 1, 8), "f"), "m": np.ones((1, 4, 1, 1), "f")}
try:
    print("got", onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)[0].shape)
except Exception as error:
    print("a mask with as many heads as q: got", str(error)[-150:])
