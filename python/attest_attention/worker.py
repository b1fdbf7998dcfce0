# SPDX-License-Identifier: Apache-2.0
"""attest's worker for kernels written in Python: any callable on arrays.

    attest certify py:attention.py:forward        a function of a file
    attest certify py:package.module:forward      of a module that can be imported

The callable gets q, k and v as arrays [B,H,S,D] that must not be written, and what else is in force
by keyword:

    causal=True  offsets=int64[B]  window=(left, right)  window_size=W  key_lengths=int64[B]
    mask=array (boolean or additive, rank 0-4)  scale=float  softcap=float  sinks=[Hq]
    slopes=[Hq] or [B,Hq]  lse=True  threads=n

and returns o [B,Hq,Sq,Dv], or (o, lse) when lse=True was passed. What it can do is said by a decorator
(declaration.py) or found by trying (callee.py). spec/protocol.md describes what this program says
to attest.
"""

import faulthandler
import importlib
import importlib.util
import json
import os
import pickle
import sys

if __name__ == "__main__":  # started by its path: the package is found beside it, its files are not
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from attest_attention import declaration  # noqa: E402
from attest_attention.callee import Callee, checked, declared, summary  # noqa: E402
from attest_attention.problem import (Files, Refusal, arguments, ask_supports,  # noqa: E402
                                      check_problem)

PROTOCOL = 1


def load(place, name):
    """The function, and what the caller declares for it."""
    overrides = {}
    if place.endswith(".pickle"):  # of a function that lives in another process
        with open(place, "rb") as file:
            sent = pickle.load(file)
        sys.path[:] = sent["path"] + [p for p in sys.path if p not in sent["path"]]
        function, overrides = pickle.loads(sent["function"]), pickle.loads(sent["declaration"])
    elif os.path.isabs(place):
        sys.path.insert(0, os.path.dirname(place))
        spec = importlib.util.spec_from_file_location("kernel_under_test", place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        function = module
    else:
        sys.path.insert(0, os.getcwd())
        function = importlib.import_module(place)
    if not place.endswith(".pickle"):
        for part in name.split("."):
            function = getattr(function, part)
    if not callable(function):
        raise TypeError(f"{name} is not callable")
    return function, overrides


class Kernel:
    """The function with its declaration, ready for any number of calls."""

    def __init__(self, place, name):
        function, overrides = load(place, name)
        self.said = declared(function, overrides)
        self.callee = Callee(function, self.said["arrays"])

    def introduction(self):
        kernel = {key: value for key, value in self.said.items() if key not in declaration.OURS}
        return dict(kernel, conditional=True) if self.said.get("supports") else kernel

    def run(self, message, files):
        problem = message["problem"]
        features = set(problem["features"])
        check_problem(problem, features, self.said)
        if message["kind"] == "supports":
            ask_supports(self.said.get("supports"), problem)
            return
        q, k, v, given = arguments(problem, files, self.callee.framework.take)
        names = ("o", "lse") if "lse" in features else ("o",)
        results = self.callee.call(q, k, v, given, len(names))
        tensors = [problem["tensors"][name] for name in names]
        ready = [(files.array(t), checked(*result, t["shape"], t["dtype"], name))
                 for t, result, name in zip(tensors, results, names)]
        for target, value in ready:
            target[...] = value


def validator(message):
    """With --validate: a function that checks messages both ways against the published schema."""
    if not message.get("validate"):
        return lambda message: None
    import jsonschema  # only here: an ordinary run does without
    here = os.path.dirname(os.path.abspath(__file__))
    for place in ("../../../../spec", "../../spec", "../../../../share/attest", "tree/share/attest"):
        path = os.path.join(here, place, "protocol.schema.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return jsonschema.Draft202012Validator(json.load(file)).validate
    raise FileNotFoundError("protocol.schema.json")


def answer_run(kernel, message, files):
    answer = {"seq": message["seq"], "status": "ok"}
    try:
        kernel.run(message, files)
    except Refusal as refusal:
        answer.update(status=refusal.status, message=str(refusal)[:900])
    except MemoryError as error:
        answer.update(status="no-memory", message=summary(error))
    except Exception as error:  # pylint: disable=broad-except
        answer.update(status="internal", message=summary(error))
    return answer


def main():
    # What the kernel prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    faulthandler.enable()  # a crash says in which line it was
    files = kernel = None
    validate = validator({})
    for line in sys.stdin:
        message = json.loads(line)
        command = message["cmd"]
        if command == "stop":
            break
        if command == "start":
            validate = validator(message)
            files = Files()
            answer = {"protocol": PROTOCOL}
        elif command == "declare":
            try:
                kernel = Kernel(sys.argv[1], sys.argv[2])
                answer = {"kernel": kernel.introduction()}
            except Exception as error:  # pylint: disable=broad-except
                answer = {"message": summary(error)}
        else:
            answer = answer_run(kernel, message, files)
        validate(message)
        validate(answer)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
