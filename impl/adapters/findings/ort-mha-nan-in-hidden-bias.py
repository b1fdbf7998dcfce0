# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23, "com.microsoft": 1]>
one (float[1,2,8] q, float[1,1,2,2] bias) => (float[1,2,8] o)
{ o = com.microsoft.MultiHeadAttention<num_heads = 1, unidirectional = 1>(q, q, q, , , bias) }""")
bias = np.float32([[[[0, np.nan], [0, 0]]]])  # the first row does not see the second key
inputs = {"q": np.ones((1, 2, 8), "f"), "bias": bias}
out = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)[0]
print("first row: got", out[0, 0, 0], "right", 1.0)
