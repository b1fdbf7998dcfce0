# SPDX-License-Identifier: Apache-2.0
"""A function of this process as a target: it travels to the sandboxed worker in a file."""

import os
import pickle
import sys
import tempfile

from . import declaration


class Sent:
    """The function's name on the command line of attest, as long as this object lives."""

    def __init__(self, function, fields):
        self.function, self.folder, self.words = function, None, []
        if isinstance(function, str):  # "./k.so", "builtin:naive", "py:module:function"
            if fields:
                raise TypeError(f"{next(iter(fields))}= is for functions, not for {function!r}")
            self.target = self.shown = function
            return
        if not callable(function):
            raise TypeError(f"{function!r} is neither a function nor the name of a target")
        declaration.kernel(**fields)  # complains of unknown fields
        fields = {key: list(value) if isinstance(value, tuple) else value
                  for key, value in fields.items()}
        name = "".join(c if c.isalnum() else "_" for c in declaration.name_of(function))[:60] or "kernel"
        self.folder = tempfile.TemporaryDirectory(prefix="attest-")
        place = os.path.join(self.folder.name, name + ".pickle")
        with open(place, "wb") as file:
            pickle.dump({"path": [os.path.abspath(p) for p in sys.path],
                         "function": packed(function), "declaration": packed(fields)}, file)
        self.target, self.shown = f"py:{place}:{name}", shown(function)
        self.words = [word for folder in folders() for word in ("--read", folder)]


def shown(function):
    """As others would name it on the command line, where they could."""
    name = getattr(function, "__qualname__", declaration.name_of(function))
    module = getattr(function, "__module__", None) or "__main__"
    if module == "__main__":
        module = getattr(sys.modules["__main__"], "__file__", None) or module
    return f"py:{module}:{name}"


def folders():
    """Where this process imports from, for the sandbox: not what the interpreter brings, which may be
    read anyway, and not a whole home folder."""
    own = {os.path.realpath(place) for place in (sys.prefix, sys.base_prefix)}
    barred = {"/", os.path.realpath(os.path.expanduser("~"))}
    found = {os.path.realpath(place): None for place in sys.path if os.path.exists(place or ".")}
    return [place for place in found if place not in barred
            and not any(place.startswith(prefix + os.sep) for prefix in own)][:24]


def packed(thing):
    """By value what lives in a script or a notebook, by name what can be imported."""
    import cloudpickle
    try:
        return cloudpickle.dumps(thing)
    except Exception as error:
        raise TypeError(f"{thing!r} cannot be sent to the process that runs it ({error}); put it into "
                        "a module and certify \"py:MODULE:FUNCTION\"") from error
