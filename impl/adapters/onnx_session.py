# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime on the CPU: a session of one node."""

import onnxruntime
from onnx_node import Runner


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


run = Runner(session)
