# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23]> one (double[1,1,1,3] q, double[1,1,2,3] k) =>
(double[1,1,1,3] o) { o = Attention(q, k, k) }""")
q, k = np.ones((1, 1, 1, 3)), np.arange(6.0).reshape(1, 1, 2, 3) / 6
got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"q": q, "k": k})[0].ravel()[0]
weight = np.exp(k[0, 0].sum(1) / np.sqrt(3))
right = float(weight @ k[0, 0, :, 0] / weight.sum())
print("got", got, "right", right, "relative error", abs(got / right - 1))
