# SPDX-License-Identifier: Apache-2.0
"""spec/attest.h for ctypes: the structs field by field, and the constants under their own names.

tests/test_spec.py compares every size, offset and constant here with what a C compiler says.
"""

import ctypes
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int32, c_int64,
                    c_uint32, c_uint64, c_void_p)

ATTEST_ABI_VERSION = 1
ATTEST_MAX_RANK = 4
ATTEST_MESSAGE_BYTES = 256

ATTEST_OK, ATTEST_UNSUPPORTED, ATTEST_INVALID, ATTEST_NO_MEMORY, ATTEST_INTERNAL = range(5)

(ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16, ATTEST_BOOL, ATTEST_I64) = range(1, 7)

(ATTEST_CAUSAL, ATTEST_OFFSETS, ATTEST_WINDOW, ATTEST_WINDOW_SIZE, ATTEST_KEY_LENGTHS,
 ATTEST_MASK_BOOL, ATTEST_MASK_ADD, ATTEST_SCALE, ATTEST_SOFTCAP, ATTEST_SINKS, ATTEST_ALIBI,
 ATTEST_LSE) = (1 << bit for bit in range(12))
ATTEST_ALL_FEATURES = (1 << 12) - 1

ATTEST_UNBOUNDED = -1

(ATTEST_CAN_GQA, ATTEST_CAN_DV, ATTEST_CAN_EMPTY, ATTEST_CAN_STRIDES,
 ATTEST_CAN_MIXED_TYPES) = (1 << bit for bit in range(5))
ATTEST_ALL_SHAPES = (1 << 5) - 1

(ATTEST_ISOLATION_NONE, ATTEST_ISOLATION_FINITE, ATTEST_ISOLATION_EXTREME,
 ATTEST_ISOLATION_BAD_KEYS, ATTEST_ISOLATION_FULL) = range(5)

(ATTEST_SAME_THREADS, ATTEST_SAME_POSITION, ATTEST_SAME_BATCH, ATTEST_SAME_CHUNK,
 ATTEST_SAME_DECODE, ATTEST_SAME_PREFIX) = (1 << bit for bit in range(6))


class attest_tensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("shape", c_int64 * ATTEST_MAX_RANK),
        ("stride", c_int64 * ATTEST_MAX_RANK),
        ("dtype", c_uint32),
        ("rank", c_uint32),
    ]


class attest_problem(Structure):
    _fields_ = [
        ("struct_bytes", c_uint64),
        ("features", c_uint64),
        ("q", attest_tensor),
        ("k", attest_tensor),
        ("v", attest_tensor),
        ("mask", attest_tensor),
        ("sinks", attest_tensor),
        ("slopes", attest_tensor),
        ("key_lengths", attest_tensor),
        ("offsets", attest_tensor),
        ("o", attest_tensor),
        ("lse", attest_tensor),
        ("scale", c_double),
        ("softcap", c_double),
        ("window_left", c_int64),
        ("window_right", c_int64),
        ("window_size", c_int64),
        ("workspace", c_void_p),
        ("workspace_bytes", c_uint64),
        ("threads", c_int32),
        ("reserved32", c_uint32),
        ("reserved", c_uint64 * 15),
    ]


attest_message = c_char * ATTEST_MESSAGE_BYTES
attest_call = CFUNCTYPE(c_int32, POINTER(attest_problem), POINTER(c_char))
attest_count = CFUNCTYPE(c_uint64, POINTER(attest_problem))
attest_init = CFUNCTYPE(c_int32, POINTER(c_char))
attest_shutdown = CFUNCTYPE(None)


class attest_kernel(Structure):
    _fields_ = [
        ("struct_bytes", c_uint64),
        ("abi_version", c_uint32),
        ("reserved32", c_uint32),
        ("name", c_char_p),
        ("vendor", c_char_p),
        ("version", c_char_p),
        ("profile", c_char_p),
        ("model", c_char_p),
        ("features", c_uint64),
        ("shapes", c_uint64),
        ("dtypes", c_uint64),
        ("max_head_size", c_int64),
        ("max_queries", c_int64),
        ("max_keys", c_int64),
        ("max_abs_score", c_double),
        ("exp_ulps", c_double),
        ("finite_only", c_uint32),
        ("isolation", c_uint32),
        ("determinism", c_uint64),
        ("reentrant", c_uint32),
        ("alignment", c_uint32),
        ("supports", attest_call),
        ("workspace_bytes", attest_count),
        ("init", attest_init),
        ("shutdown", attest_shutdown),
        ("forward", attest_call),
        ("reserved", c_uint64 * 16),
    ]


STRUCTS = (attest_tensor, attest_problem, attest_kernel)


def load_kernel(path):
    """The descriptor of a shared object, or None if it does not speak this version."""
    entry = ctypes.CDLL(path).attest_kernel_v1
    entry.argtypes, entry.restype = [c_uint32], POINTER(attest_kernel)
    descriptor = entry(ATTEST_ABI_VERSION)
    return descriptor.contents if descriptor else None
