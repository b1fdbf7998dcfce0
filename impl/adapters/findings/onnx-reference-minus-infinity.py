# SPDX-License-Identifier: Apache-2.0
import numpy as np
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
model = parse_model("""<ir_version: 10, opset_import: ["": 23]>
one (float[1,1,1,4] q, float[1,1,2,4] k, float[1,1,2,4] v) => (float[1,1,1,4] o)
{ o = Attention(q, k, v) }""")
q, v = np.ones((1, 1, 1, 4), np.float32), np.ones((1, 1, 2, 4), np.float32)
out = ReferenceEvaluator(model).run(None, {"q": q, "k": v * -np.inf, "v": v})[0]
print("both keys seen, both scores -inf: got", out[0, 0, 0, 0], "softmax", np.nan)
