# SPDX-License-Identifier: Apache-2.0
import onnxruntime
from onnx.parser import parse_model
model = """<ir_version: 10, opset_import: ["": 23]> one (TYPE[1,1,2,8] q, TYPE[2,2] mask) => (TYPE[1,1,2,8] o)
{ o = Attention<is_causal = 1>(q, q, q, mask) }"""
for name in ("float", "double"):
    try:
        onnxruntime.InferenceSession(parse_model(model.replace("TYPE", name)).SerializeToString())
        print(name, "got a session")
    except Exception as error:
        print(name, "got", str(error)[:120])
