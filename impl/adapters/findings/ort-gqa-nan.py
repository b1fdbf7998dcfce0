# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23, "com.microsoft": 1]> one (float[1,2,8] q,
float[1,2,8] v, float[1,1,0,8] p, int32[1] n, int32 t) => (float[1,2,8] o, float a, float b) { o, a, b =
com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>(q, v, v, p, p, n, t) }""")
v, session = np.ones((1, 2, 8), "f"), onnxruntime.InferenceSession(model.SerializeToString())
inputs = {"v": v, "p": v[None, :, :0], "n": np.array([1], "i"), "t": np.array(2, "i")}
for bad in (np.nan, -np.inf):
    print("q of", bad, "got", session.run(["o"], {**inputs, "q": bad * v})[0][0, :, 0], "softmax nan")
