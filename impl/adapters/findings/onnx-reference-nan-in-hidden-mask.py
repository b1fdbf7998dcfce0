# SPDX-License-Identifier: Apache-2.0
import numpy as np
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator
model = parse_model("""<ir_version: 10, opset_import: ["": 23]> one (float[1,1,2,4] q, float[2,2] mask)
=> (float[1,1,2,4] o) { o = Attention<is_causal = 1>(q, q, q, mask) }""")
mask = np.float32([[0, np.nan], [0, 0]])  # the first row does not see the second key: causal
out = ReferenceEvaluator(model).run(None, {"q": np.ones((1, 1, 2, 4), np.float32), "mask": mask})[0]
print("first row: got", out[0, 0, 0, 0], "right", 1.0)
