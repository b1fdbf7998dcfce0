# SPDX-License-Identifier: Apache-2.0
"""attest for Python: certifies attention functions on NumPy, PyTorch, JAX and other arrays.

    import attest_attention

    report = attest_attention.certify(attention, level="smoke")
    print(report.verdict, report.failures, report.declaration)

The function runs in a sandboxed process of its own. Only what that process needs is imported at once;
the rest comes when it is asked for.
"""

from typing import TYPE_CHECKING

from .declaration import kernel

if TYPE_CHECKING:
    from .api import AttestError, certify, fingerprint, fuzz, replay
    from .report import Failure, Report

__all__ = ["AttestError", "Failure", "Report", "certify", "fingerprint", "fuzz", "kernel", "replay"]


def __getattr__(name):
    import importlib
    if name in ("AttestError", "certify", "fingerprint", "fuzz", "replay"):
        return getattr(importlib.import_module(".api", __name__), name)
    if name in ("Failure", "Report"):
        return getattr(importlib.import_module(".report", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
