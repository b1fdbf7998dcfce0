# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnxruntime
from onnx.parser import parse_model
model = parse_model("""<ir_version: 10, opset_import: ["": 23]>
one (float[1,1,1,8] q, float[1,1,2,8] v, float[1,2] mask) => (float[1,1,1,8] o)
{ o = Attention<softcap = 2.0>(q, v, v, mask) }""")
mask = np.float32([[0, -np.inf]])
inputs = {"q": np.zeros((1, 1, 1, 8), "f"), "v": np.eye(2, 8, dtype="f")[None, None], "mask": mask}
out = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)[0]
print("weight of the hidden key: got", out[0, 0, 0, 1], "right", 0.0)
