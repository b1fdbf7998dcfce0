#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Contracts of the reference, executed under the fuzzer (fuzz/eacsl).
exec "$(dirname "$0")/../fuzz/eacsl/run" 5
