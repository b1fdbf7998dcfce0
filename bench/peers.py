# SPDX-License-Identifier: Apache-2.0
"""Attention of other projects, each as a function (case, threads) -> callable that returns o.

A peer that is not installed, or cannot do a case, raises; the benchmark leaves it out. Layouts are
what the peer likes best, and are made outside the timed call.
"""

import ctypes as c
import importlib
import os
import struct

import ggml


def composed(build):
    """OpenBLAS sgemm, softmax, sgemm over blocks of 64 rows (composed.c)."""
    function = c.CDLL(os.path.join(build, "bench", "libcomposed.so")).bench_composed

    def make(case, threads):
        case.plain_causal()
        shape = (c.c_int64 * 6)(*case.shape)
        o = case.empty_output()
        pointers = [c.c_void_p(x.ctypes.data) for x in (case.q, case.k, case.v, o)]
        return lambda: (function(*pointers, shape, threads), o)[1]
    return make


class OneDNN:
    """Product, softmax, product by oneDNN (onednn.c); holds its scores until it is deleted."""

    def __init__(self, library, case, threads):
        import numpy as np
        self.library, self.o = library, case.empty_output()
        group = case.shape[1] // case.shape[2]
        mask = np.where(np.tile(case.full_mask(), (group, 1)), np.float32(0), np.float32(-np.inf))
        self.kept = (case.q, case.k, case.v, mask)
        pointers = [c.c_void_p(x.ctypes.data) for x in (*self.kept, self.o)]
        self.peer = c.c_void_p(library.bench_onednn_new(*pointers, (c.c_int64 * 6)(*case.shape),
                                                        threads))

    def __call__(self):
        if not self.library.bench_onednn_run(self.peer):
            raise RuntimeError("oneDNN")
        return self.o

    def __del__(self):
        self.library.bench_onednn_free(self.peer)


def onednn(build):
    library = c.CDLL(os.path.join(build, "bench", "libonednn.so"))
    library.bench_onednn_new.restype = c.c_void_p

    def make(case, threads):
        case.plain_causal()
        return OneDNN(library, case, threads)
    return make


def torch_sdpa(_build):
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    def make(case, threads):
        torch.set_num_threads(threads)
        q, k, v = (torch.from_numpy(x) for x in (case.q, case.k, case.v))
        options = {"enable_gqa": case.shape[1] != case.shape[2]}
        if case.kind == "causal":
            options["is_causal"] = case.shape[3] > 1
            if case.shape[3] not in (1, case.shape[4]):
                raise ValueError("another corner")
        else:
            options["attn_mask"] = torch.from_numpy(case.full_mask())

        def run():
            torch.set_num_threads(threads)
            with torch.no_grad():
                return scaled_dot_product_attention(q, k, v, **options).numpy()
        return run
    return make


# --- ONNX Runtime: a model of one node, written as protobuf by hand

def _varint(n):
    out = bytearray()
    while True:
        out.append(n & 127 | (128 if n > 127 else 0))
        n >>= 7
        if not n:
            return bytes(out)


def _field(number, value):
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _value_info(name, dtype, dims):
    shape = b"".join(_field(1, _field(1, d)) for d in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, dtype) + _field(2, shape)))


def _attribute(name, value):
    if isinstance(value, float):
        return _field(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _field(20, 1)
    return _field(1, name) + _field(3, value) + _field(20, 2)


def onnx_model(op, domain, inputs, outputs, attributes):
    node = (b"".join(_field(1, name) for name, *_ in inputs) +
            b"".join(_field(2, name) for name, *_ in outputs) + _field(4, op) +
            b"".join(_field(5, _attribute(*item)) for item in attributes.items()) +
            _field(7, domain))
    graph = (_field(1, node) + _field(2, "g") +
             b"".join(_field(11, _value_info(*item)) for item in inputs if item[0]) +
             b"".join(_field(12, _value_info(*item)) for item in outputs))
    opsets = (_field(8, _field(1, "") + _field(2, 23)) +
              _field(8, _field(1, "com.microsoft") + _field(2, 1)))
    return _field(1, 10) + _field(7, graph) + opsets


def _session(model, threads):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def onnx_attention(_build):
    importlib.import_module("onnxruntime")  # without it this peer is left out

    def make(case, threads):
        case.plain_causal()
        b, hq, hkv, sq, sk, d = case.shape
        if sq not in (1, sk):
            raise ValueError("another corner")
        inputs = [("q", 1, (b, hq, sq, d)), ("k", 1, (b, hkv, sk, d)), ("v", 1, (b, hkv, sk, d))]
        model = onnx_model("Attention", "", inputs, [("o", 1, (b, hq, sq, d))],
                           {"is_causal": int(sq > 1)})
        session = _session(model, threads)
        feed = {"q": case.q, "k": case.k, "v": case.v}
        return lambda: session.run(None, feed)[0]
    return make


def onnx_gqa(_build):
    import numpy as np
    import onnxruntime as ort

    def make(case, threads):
        case.plain_causal()
        b, hq, hkv, sq, sk, d = case.shape
        past = sk - sq
        rows = {"q": (b, sq, hq * d), "k": (b, sq, hkv * d), "v": (b, sq, hkv * d)}
        cache = (b, hkv, sk, d)
        inputs = [(n, 1, s) for n, s in rows.items()] + [
            ("pk", 1, cache), ("pv", 1, cache), ("seqlens", 6, (b,)), ("total", 6, ())]
        outputs = [("o", 1, (b, sq, hq * d)), ("kk", 1, cache), ("vv", 1, cache)]
        model = onnx_model("GroupQueryAttention", "com.microsoft", inputs, outputs,
                           {"num_heads": hq, "kv_num_heads": hkv})
        session = _session(model, threads)
        flat = {"q": case.q, "k": case.k[:, :, past:], "v": case.v[:, :, past:]}
        values = {n: np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(rows[n])
                  for n, x in flat.items()}
        values["seqlens"] = np.full(b, sk - 1, np.int32)
        values["total"] = np.array(sk, np.int32)
        device = [ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(x)) for x in (case.k, case.v)]
        binding = session.io_binding()
        held = {n: ort.OrtValue.ortvalue_from_numpy(x) for n, x in values.items()}
        for name, value in held.items():
            binding.bind_ortvalue_input(name, value)
        for name, value in zip(("pk", "pv"), device):  # the cache is input and output at once
            binding.bind_ortvalue_input(name, value)
        for name, value in zip(("kk", "vv"), device):
            binding.bind_ortvalue_output(name, value)
        out = ort.OrtValue.ortvalue_from_numpy(np.zeros((b, sq, hq * d), np.float32))
        binding.bind_ortvalue_output("o", out)

        def run(kept=(held, device)):
            session.run_with_iobinding(binding)
            return out
        run.result = lambda: out.numpy().reshape(b, sq, hq, d).transpose(0, 2, 1, 3)
        return run
    return make


PEERS = {"OpenBLAS composed": composed, "oneDNN composed": onednn, "PyTorch SDPA": torch_sdpa,
         "ONNX Runtime Attention": onnx_attention, "ONNX Runtime GQA": onnx_gqa,
         "ggml flash": ggml.flash, "ggml unfused": ggml.unfused}
