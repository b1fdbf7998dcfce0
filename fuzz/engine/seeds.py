#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes first inputs for the readers: seeds.py DIRECTORY makes DIRECTORY/TARGET/seed-*.

They are small files of each format, valid and nearly so; fuzzing grows the rest (make fuzz-grow).
"""

import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def safetensors(tensors):
    """tensors: name -> (type, shape, bytes)."""
    header, data = {}, b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def doubles(*values):
    return struct.pack(f"<{len(values)}d", *values)


def small_vector():
    shape, row = [1, 1, 1, 2], [1, 1, 1]
    return safetensors({
        "a/o.high": ("F64", shape, doubles(1, 2)), "a/o.low": ("F64", shape, doubles(0, 0)),
        "a/lse.high": ("F64", row, doubles(0.5)), "a/lse.low": ("F64", row, doubles(0)),
        "a/key_lengths": ("I64", [1], struct.pack("<q", 1)),
        "a/q": ("F32", shape, floats(1, 0)), "a/k": ("F32", shape, floats(0.5, 3)),
        "a/v": ("F32", shape, floats(1, 2)),
        "a/o.radius.f32-strict": ("F32", shape, floats(1e-6, 1e-6)),
        "a/lse.radius.f32-strict": ("F32", row, floats(1e-6)),
        "a/wrong.no-scale": ("F32", shape, floats(1, 3)),
        "a/mask": ("BOOL", [1], b"\1"),
    })


def manifest(**changes):
    entry = {"name": "a", "id": "0123456789abcdef", "profile": "attest", "result": "valid",
             "dtype": {"q": "F32", "k": "F32", "o": "F32"},
             "options": {"causal": True, "window": [1, 0], "scale": 0.5, "softcap": 2.0},
             "models": ["f32-strict"], "judged_by": "f32-strict", "wrong": ["no-scale"]}
    entry.update(changes)
    return json.dumps({"format": "attest-vectors", "version": "1.0", "groups": [
        {"name": "g", "file": "a.safetensors", "blake2b": "HASH", "vectors": [entry]}]},
        separators=(",", ":")).encode()


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """One field of a protocol buffer: bytes, a number or a float."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def onnx_tensor(kind, dims, raw):
    return b"".join(field(1, axis) for axis in dims) + field(2, kind) + field(9, raw)


def onnx_model(inputs, outputs, attributes, opset=24):
    node = b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in outputs)
    node += field(4, b"Attention")
    for name, value in attributes.items():
        node += field(5, field(1, name) + field(2 if isinstance(value, float) else 3, value))
    return field(7, field(1, node)) + field(8, field(1, b"") + field(2, opset))


def onnx(model, inputs, outputs):
    files = [model] + inputs + [b""] * (7 - len(inputs)) + outputs
    return b"".join(struct.pack("<H", len(file)) + file for file in files)


def onnx_seeds():
    dims, one = [1, 1, 2, 2], floats(1, 0, 0.5, -1)
    qkv = [onnx_tensor(1, dims, one)] * 3
    out = [onnx_tensor(1, dims, one)]
    yield onnx(onnx_model([b"q", b"k", b"v"], [b"y"], {b"is_causal": 1, b"scale": 0.5}), qkv, out)
    mask = onnx_tensor(9, [2, 1], b"\1\0")
    yield onnx(onnx_model([b"q", b"k", b"v", b"m"], [b"y"], {b"softcap": 2.0}), qkv + [mask], out)
    yield onnx(onnx_model([b"q", b"k", b"v", b"", b"pk", b"pv"], [b"y"], {}), qkv + qkv[:2], out)
    flat = [onnx_tensor(1, [1, 2, 2], one)]
    heads = {b"q_num_heads": 2, b"kv_num_heads": 1}
    yield onnx(onnx_model([b"q", b"k", b"v"], [b"y"], heads, 23), flat * 3, flat)
    half = onnx_tensor(10, dims, struct.pack("<4e", 1, 0, 2, -1))
    lengths = onnx_tensor(7, [1], struct.pack("<q", 1))
    yield onnx(onnx_model([b"q", b"k", b"v", b"", b"", b"", b"n"], [b"y"], {}),
               [half] * 3 + [lengths], [half])


def wire_seeds():
    """Fixed layout of certify/worker/wire.h: magic, kind, sequence, text, then a union."""
    for kind in range(1, 6):
        yield struct.pack("<IIQ", 0x41545731, kind, 7) + b"text".ljust(256, b"\0") + b"name\0"
    info = b"".join(text.ljust(64, b"\0") for text in (b"k", b"v", b"1", b"attest", b"f32-strict"))
    info += struct.pack("<QQQqqqddQIIII", 0xfff, 31, 2, 64, 0, 0, 0.0, 4.0, 63, 0, 4, 1, 64)
    yield struct.pack("<IIQ", 0x41545731, 2, 7) + bytes(256) + info


def protocol_seeds():
    kernel = {"name": "mine", "model": "f32-strict", "features": ["causal", "lse"], "types": ["f32"],
              "shapes": ["gqa", "strides"], "determinism": ["threads"], "isolation": "full",
              "max_keys": 64, "exp_ulps": 2.5, "vendor": "v", "finite_only": False}
    lines = [{"protocol": 1}, {"kernel": kernel}, {"seq": 1, "status": "ok"},
             {"seq": 2, "status": "unsupported", "message": "no"}]
    for first in (b"\x00", b"\xff", b"\x05"):
        yield first + b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    yield b"\xff" + b'{"protocol":2}\n'
    yield b"\xff" + b'{"protocol":1}\n{"message":"not here"}\n'
    yield b"\xff" + b'{"protocol":1}\n[1]\n'


def argument_seeds():
    yield b"./lib.so\n--level\nsmoke\n--seed=7\n--jobs=2\n--shard=1/4\n--time\n0.5"
    yield b"--only=poison,MASK-01\n--skip\noracle\n--json\nx.json\n--sandbox=strict\n--require=full"
    yield b"--call-time=2\n--memory\n64\n--validate\n--quiet\n--gate\n--profile\nattest\n--model=f32-strict"
    files = "junit html sarif markdown badge bundle sign statement output waivers json"
    yield "\n".join(f"--{name}=x" for name in files.split()).encode()
    yield b"--key=" + b"0" * 64 + b"\n--read=/usr\n--env=HOME\n--load-time=9"
    yield b"--budget=2m\n--cases=3\n--first-failure"
    yield b"--profile=onnx-24\n--sandbox=relaxed\n--level=exhaustive\n--budget\n1.5h"
    for wrong in ("level=fast", "seed=-1", "shard=3/2", "time=0", "cases=0", "jobs=0", "sandbox=none",
                  "key=12", "require=half", "call-time=x", "load-time=1e9", "budget=5d", "memory=1",
                  "read=", "env=A=B", "only=poisn", "skip=NUM-0", "nothing=1", "profile"):
        yield f"k.so\n--{wrong}".encode()
    yield b"\n".join([b"--read=/a"] * 33)
    yield b"\n".join([b"word"] * 299)
    yield b"check=oracle b=2 hq=4 hkv=2 sq=3 sk=5 features=causal,scale scale=0x1p-1 seed=9"
    yield b"check=poison layout=tokens qk=fine v=unit mask=sparse q=f16 kv=f16 o=f16 left=2 p0=3"
    yield b"check=oracle features=none right=-1 base=2 unseen=nan threads=8 mask-type=bool mask-rank=2"
    for wrong in ("seed=1", "check=" + "x" * 200, "check=a features=wings", "check=a q=f9", "check=a sq=-1",
                  "check=a scale=", "check=a mask=round", "check=a b=99999999999999999999", "check=a b",
                  "check=a features=" + "causal," * 60, "check=a " * 400):
        yield wrong.encode()


def report_seeds():
    passed = {"id": "0123456789abcdef", "check": "oracle", "line": "check=oracle", "verdict": "PASS",
              "requirements": ["NUM-01", "SEM-04"], "worst": 0.5, "seconds": 0.1}
    failed = {"id": "fedcba9876543210", "check": "poison", "line": "check=poison", "verdict": "FAIL",
              "broken": "ISO-01", "class": 3, "picture": "#.", "keys_seen": 2.0, "work": 8,
              "label": "V-leak", "alone": "other", "defects": ["heads-tiled"], "some": ["lost", "lse"],
              "every": ["lost"],
              "value": {"place": [0, 0, 1, 2], "expected": "0x1p0", "actual": "nan", "radius": "0x1p-20",
                        "outside": 3}}
    kernel = {"name": "k", "features": "causal,lse", "types": ["f32"], "shapes": 31, "isolation": 4}
    report = {"schema": "attest-report-1", "target": "t", "level": "smoke", "seed": "1", "shard": 1,
              "shards": 1, "planned": 2, "sandbox": "strict", "kernel": kernel, "profile": "attest",
              "model": "f32-strict", "cases": [passed, failed], "probes": 9,
              "boundaries": [{"axis": "keys", "at": 97, "period": 96}]}
    waiver = [{"check": "poison", "reason": "known", "expires": "2999-01-01", "link": "x"}]
    yield json.dumps(report).encode() + b"\0" + json.dumps(waiver).encode()
    yield json.dumps(dict(report, cases=[])).encode() + b"\0[]"


def seeds():
    vector = small_vector()
    yield "safetensors", [vector, safetensors({}), safetensors({"x": ("F16", [0], b"")}),
                          safetensors({"x": ("BF16", [1, 2], b"\0\1\2\3"), "y": ("BOOL", [], b"\1")})]
    yield "manifest", [manifest() + b"\0" + vector, manifest(result="invalid") + b"\0" + vector,
                       manifest(options={"window_size": 2}) + b"\0" + vector,
                       manifest().replace(b'"file":"a.safetensors",', b"") + b"\0"]
    yield "onnx", onnx_seeds()
    yield "wire", wire_seeds()
    yield "protocol", protocol_seeds()
    profiles = os.path.join(HERE, "../../spec/profiles")
    contents = []
    for name in sorted(os.listdir(profiles)):
        with open(os.path.join(profiles, name), encoding="utf-8") as file:
            profile = json.load(file)
        profile = {key: value for key, value in profile.items() if isinstance(value, str)}
        contents.append(json.dumps(profile, separators=(",", ":")).encode())
    yield "profile", contents
    yield "arguments", argument_seeds()
    yield "reports", report_seeds()


def main(directory):
    for target, inputs in seeds():
        os.makedirs(os.path.join(directory, target), exist_ok=True)
        for number, content in enumerate(inputs):
            with open(os.path.join(directory, target, f"seed-{number}"), "wb") as file:
                file.write(content)


if __name__ == "__main__":
    main(sys.argv[1])
