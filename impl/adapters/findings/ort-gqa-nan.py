# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23, "com.microsoft": 1]>
one (float[1,2,8] q, float[1,2,8] v, float[1,1,0,8] p, int32[1] n, int32 t) =>
(float[1,2,8] o, float a, float b)
{ o, a, b = com.microsoft.GroupQueryAttention<num_heads=1, kv_num_heads=1>(q, v, v, p, p, n, t) }""")
q, v, past = np.full((1, 2, 8), np.nan, "f"), np.ones((1, 2, 8), "f"), np.ones((1, 1, 0, 8), "f")
inputs = {"q": q, "v": v, "p": past, "n": np.array([1], "i"), "t": np.array(2, "i")}
out = onnxruntime.InferenceSession(model.SerializeToString()).run(["o"], inputs)[0]
print("rows of a NaN query: got", out[0, :, 0], "right", q[0, :, 0])
