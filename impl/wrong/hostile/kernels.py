# SPDX-License-Identifier: Apache-2.0
"""Callables that are right but for one thing; tests/test_python_worker.py has their verdicts."""
import os
import sys
import time

import numpy as np
from attest_attention import kernel

declare = kernel(features=["causal"], shapes=["strides"], types=["f32"], finite_only=True,
                 isolation="extreme")


def right(q, k, v, causal=False):
    score = np.einsum("bhid,bhjd->bhij", q, k) * np.float32(q.shape[3] ** -0.5)
    if causal:
        visible = np.tri(*score.shape[2:], k=score.shape[3] - score.shape[2], dtype=bool)
        score = np.where(visible, score, -np.inf)
    top = np.maximum(score.max(3, keepdims=True), np.finfo(np.float32).min)
    weight = np.exp(score - top)
    total = weight.sum(3, keepdims=True)
    return np.einsum("bhij,bhjc->bhic", weight / np.where(total > 0, total, 1), v)


def variant(function):
    """The right result after, or instead of, something else."""
    def call(q, k, v, causal=False):
        result = function(q, k, v)
        return right(q, k, v, causal) if result is None else result
    call.__name__ = function.__name__
    return declare(call)


@variant
def nothing(q, k, v):
    return None


@variant
def raises(q, k, v):
    raise ValueError("this kernel \x1b[31m always raises")


@variant
def wrong_shape(q, k, v):
    return np.zeros((1, 2, 3), np.float32)


@variant
def wrong_type(q, k, v):
    return np.zeros(q.shape[:3] + v.shape[3:], np.float64)


@variant
def not_an_array(q, k, v):
    return "certified"


@variant
def exits(q, k, v):
    sys.exit(0)


@variant
def kills_the_interpreter(q, k, v):
    os.kill(os.getpid(), 9)


@variant
def aborts(q, k, v):
    os.abort()


@variant
def never_returns(q, k, v):
    time.sleep(1000)


@variant
def prints_megabytes(q, k, v):
    for _ in range(20):
        print("certified " * 10000)
        print("not ok \a" * 10000, file=sys.stderr)


@variant
def answers_itself(q, k, v):
    os.write(0, b'{"seq":1,"status":"ok"}\n' * 3)


@variant
def writes_inputs(q, k, v):
    q[...] = 0


@variant
def ignores_the_mask(q, k, v):
    return right(q, k, v, False)


@variant
def writes_a_file(q, k, v):
    with open(os.path.join(os.environ["HOSTILE_FOLDER"], "made"), "w", encoding="ascii"):
        pass


@variant
def uses_the_network(q, k, v):
    import socket
    socket.create_connection(("127.0.0.1", 9), timeout=1)


@variant
def allocates(q, k, v):
    return np.ones((1 << 34,), np.float32)


@kernel(features=["causal"], shapes=["strides"], types=["f32"])
def leaks_nan(q, k, v, causal=False):
    return right(q, k, v, causal)


@kernel(features=["causal", "flying"], types=["f32"])
def too_proud(q, k, v, causal=False):
    return right(q, k, v, causal)


def undecorated(q, k, v, causal=False):
    return right(q, k, v, causal)


not_callable = 42
