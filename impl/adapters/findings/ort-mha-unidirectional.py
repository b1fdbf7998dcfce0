# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23, "com.microsoft": 1]>
one (float[1,3,8] q, float[1,5,8] v) => (float[1,3,8] o)
{ o = com.microsoft.MultiHeadAttention<num_heads = 1, unidirectional = 1>(q, v, v) }""")
inputs = {"q": np.zeros((1, 3, 8), "f"), "v": np.eye(5, 8, dtype="f")[None]}  # the output is the weights
out = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)[0]
print("keys seen by each row: got", (out > 0).sum(2)[0], "top left [1 2 3], bottom right [3 4 5]")
