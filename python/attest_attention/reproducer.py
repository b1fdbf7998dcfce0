# SPDX-License-Identifier: Apache-2.0
"""A shrunk case as arrays, and as a short program for the framework of the function."""

import re

import numpy as np

from . import declaration
from .frameworks import candidates

TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16"}
OPERANDS = ("q", "k", "v", "mask", "sinks", "slopes", "key_lengths", "offsets")


class Shown:
    """`script` is what `attest shrink --output FILE.py` writes; `line` the case."""

    def __init__(self, script, line, function, trouble):
        self.line, self.function, self.trouble = line, function, trouble
        names = {}
        if script:  # our own: arrays and options, up to the line that calls
            body = script.replace("from attention import attention\n", "").split("\no = attention(", 1)
            exec(body[0], names)  # pylint: disable=exec-used
        self.arrays = {name: names[name] for name in OPERANDS if name in names}
        self.given = names.get("options", {})
        self.last = re.findall(r"^print\((.*)\)$", script, re.MULTILINE)
        fields = dict(word.partition("=")[::2] for word in line.split())
        self.types = {"q": fields.get("q", "f32"), "k": fields.get("kv", "f32"),
                      "v": fields.get("kv", "f32"), "mask": fields.get("mask-type", "f32")}
        target = isinstance(function, str)
        self.framework = "numpy" if target else (
            getattr(function, "attest", {}).get("arrays") or (candidates(function) or ["numpy"])[0])

    @property
    def inputs(self):
        """Arrays of NumPy; bfloat16 as the float32 of the same value."""
        return self.arrays

    @property
    def options(self):
        return self.given

    def program(self):
        if not self.arrays:
            return f"# not shown: {self.trouble}\n"
        target = isinstance(self.function, str)
        name = "attention" if target else declaration.name_of(self.function)
        module = "mine" if target else getattr(self.function, "__module__", "mine")
        lines = [f"# {self.line}"]
        if self.framework == "torch":
            lines += ["import torch"]
        elif self.framework == "numpy":
            lines += ["import numpy as np"]
            if "bf16" in self.types.values():
                lines += ["import ml_dtypes"]
        else:
            lines += [f"import {'jax.numpy' if self.framework == 'jax' else self.framework} as np"]
        lines += [f"from {module} import {name}", "nan, inf = float('nan'), float('inf')"]
        lines += [f"{operand} = {self.literal(operand, array)}" for operand, array in self.arrays.items()]
        known = declaration.parameters(self.function) if callable(self.function) else {}
        given = [f"{known.get(key, key)}={key if key in self.arrays else repr(value)}"
                 for key, value in self.given.items()]
        lines += [f"o = {name}({', '.join(['q', 'k', 'v', *given])})"]
        lines += ["o, lse = o"] if "lse" in self.given else []
        lines += [f"print({words})" for words in self.last]
        return "\n".join(lines) + "\n"

    def literal(self, operand, array):
        dtype = TYPES.get(self.types.get(operand), str(array.dtype))
        if array.dtype == bool or array.dtype == np.int64:
            dtype = str(array.dtype)
        same = array.size > 0 and (array == array.flat[0]).all()
        shape = ", ".join(map(str, array.shape)) + ("," if array.ndim == 1 else "")
        torch = self.framework == "torch"
        kind = f"dtype=torch.{dtype}" if torch else f"\"{dtype}\"" if dtype != "bfloat16" or \
            self.framework != "numpy" else "ml_dtypes.bfloat16"
        prefix = "torch" if torch else "np"
        if same or array.size == 0:
            value = repr(array.flat[0].item()) if array.size else "0"
            return f"{prefix}.full(({shape}), {value}, {kind})"
        maker = "tensor" if torch else "array"
        values = ", ".join(repr(value) for value in array.ravel().tolist())
        return f"{prefix}.{maker}([{values}], {kind}).reshape(({shape}))"
