#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every contract, axiom, assumption and stub of the proofs is discharged or named in soundness.md.
exec "${PYTHON:-python3}" proofs/audit
