# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23]> one (float[1,1,1,8] q, float[1,1,5,8] v)
=> (float[1,1,1,8] o) { o = Attention<is_causal = 1>(q, v, v) }""")
inputs = {"q": np.zeros((1, 1, 1, 8), "f"), "v": np.eye(5, 8, dtype="f")[None, None]}  # out: the weights
out = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)[0]
print("keys seen by the one row: got", int((out > 0).sum()), "right 1")
