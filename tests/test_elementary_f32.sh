#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A stratified sample of the exhaustive sweep: all exponents, both ends and random mantissas.
exec "${BUILD:-build/default}/tests/support/exhaustive_elementary" --sample 256
