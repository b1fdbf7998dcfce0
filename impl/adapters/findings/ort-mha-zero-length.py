# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23, "com.microsoft": 1]>
one (float[2,1,8] q, float[2,4,8] k, int32[2] n) => (float[2,1,8] o) {
o = com.microsoft.MultiHeadAttention<num_heads=1>(q, k, k, , n) }""")
k = np.tile(np.float32([[1], [2], [3], [4]]), (2, 1, 8))
inputs = {"q": k[:, :1] * 0, "k": k, "n": np.array([2, 0], "i")}  # keys that may be seen: two, none
out = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)[0]
print("two keys seen:", out[0, 0, 0], "none seen:", out[1, 0, 0])
