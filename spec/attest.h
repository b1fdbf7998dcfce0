/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attest.h - the kernel ABI of attest, version 1.
 *
 * A kernel is a shared object that exports one function, attest_kernel_v1(), which returns a
 * descriptor. Nothing else is needed: this header has no dependency but <stdint.h>, compiles as
 * C11 and C++17, and holds no bit-field, no enum-typed field and no variable-length part, so that
 * other languages can mirror it field by field. What a result must be is in spec/attention.md; the
 * ids in parentheses (SEM-01) point there.
 *
 * Conventions
 *   - Sizes, strides and positions are int64_t. Strides count ELEMENTS, are >= 0, and may be 0 in
 *     inputs (broadcast) but not in outputs unless that axis has at most one element.
 *   - Every struct that may grow starts with its size in bytes as its writer compiled it. A reader
 *     treats fields beyond that size as zero. The host never passes a smaller struct than the
 *     version it was asked for.
 *   - A feature bit the kernel does not know, or a reserved field that is not zero, must be
 *     answered ATTEST_UNSUPPORTED (ERR-02). Nothing is written on any return value but ATTEST_OK
 *     (ERR-01).
 *   - No C++ exception, signal or longjmp crosses this interface.
 */
#ifndef ATTEST_H
#define ATTEST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTEST_ABI_VERSION 1u
#define ATTEST_MAX_RANK 4
#define ATTEST_MESSAGE_BYTES 256

/* ---------------------------------------------------------------------------- return values --- */
typedef int32_t attest_status;
#define ATTEST_OK 0          /* every element of every output was written */
#define ATTEST_UNSUPPORTED 1 /* valid, but not something this kernel does */
#define ATTEST_INVALID 2     /* not a valid problem: the message names the field and why */
#define ATTEST_NO_MEMORY 3   /* an allocation failed, or the workspace is too small */
#define ATTEST_INTERNAL 4    /* the kernel failed for a reason of its own */

/* ------------------------------------------------------------------------------ data types --- */
typedef uint32_t attest_dtype;
#define ATTEST_F32 1u  /* IEEE binary32 */
#define ATTEST_F64 2u  /* IEEE binary64 */
#define ATTEST_F16 3u  /* IEEE binary16, as uint16_t */
#define ATTEST_BF16 4u /* upper half of a binary32, as uint16_t */
#define ATTEST_BOOL 5u /* one byte: 0 is false, anything else is true */
#define ATTEST_I64 6u  /* int64_t */
/* 7..15 are reserved for fp8 e4m3, fp8 e5m2, int8 and int4 with scales. */

/*
 * A strided view. shape and stride beyond rank are zero. Elements are aligned to their own size;
 * `data` is aligned to what the descriptor asks for. Inputs are read-only: writing one faults.
 */
typedef struct attest_tensor {
    void *data; /* NULL while only metadata is known, and for absent operands */
    int64_t shape[ATTEST_MAX_RANK];
    int64_t stride[ATTEST_MAX_RANK];
    attest_dtype dtype; /* 0 for an absent operand */
    uint32_t rank;
} attest_tensor;

/* -------------------------------------------------------------------------------- features --- */
/*
 * One bit an option. In a problem: the option is in force. In a descriptor: the kernel can do it.
 * A bit that is absent from a problem asks for the default, which the profile binds
 * (spec/profiles).
 */
#define ATTEST_CAUSAL (UINT64_C(1) << 0)      /* key j visible to row i only if j <= i + offset */
#define ATTEST_OFFSETS (UINT64_C(1) << 1)     /* offset = offsets[b]; else the profile's corner */
#define ATTEST_WINDOW (UINT64_C(1) << 2)      /* window_left, window_right are in force */
#define ATTEST_WINDOW_SIZE (UINT64_C(1) << 3) /* window_size W, read as the profile says */
#define ATTEST_KEY_LENGTHS (UINT64_C(1) << 4) /* only keys j < key_lengths[b] are visible */
#define ATTEST_MASK_BOOL (UINT64_C(1) << 5)   /* mask is boolean; true means visible */
#define ATTEST_MASK_ADD (UINT64_C(1) << 6)    /* mask is added to the scores; -inf hides the key */
#define ATTEST_SCALE (UINT64_C(1) << 7)       /* scale is a value (0 and negative ones included) */
#define ATTEST_SOFTCAP (UINT64_C(1) << 8)     /* scores become softcap * tanh(score / softcap) */
#define ATTEST_SINKS (UINT64_C(1) << 9)       /* exp(sinks[h]) joins the denominator */
#define ATTEST_ALIBI (UINT64_C(1) << 10)      /* -slopes[h] * |i + offset - j| is added */
#define ATTEST_LSE (UINT64_C(1) << 11)        /* lse is an output */
#define ATTEST_ALL_FEATURES ((UINT64_C(1) << 12) - 1)
/* Bits 16..31 are reserved: backward, paged KV, packed sequences, dropout, score tables. */

#define ATTEST_UNBOUNDED INT64_C(-1) /* a window side without limit */

/* --------------------------------------------------------------------------------- problem --- */
/*
 * One call. Shapes (SEM-01): q [B,Hq,Sq,D]  k [B,Hkv,Sk,D]  v [B,Hkv,Sk,Dv]  o [B,Hq,Sq,Dv]
 *   lse [B,Hq,Sq]; mask: rank 0..4, right-aligned against [B,Hq,Sq,Sk], each axis equal or 1;
 *   sinks [Hq]; slopes [Hq] or [B,Hq]; key_lengths [B]; offsets [B].
 * Types (SEM-02): q, k, v, o in F32 F64 F16 BF16, k and v alike. Let A = F64 if q is F64, else F32:
 *   lse, sinks, slopes are A; an additive mask is A or q's type; a boolean mask BOOL;
 *   key_lengths and offsets I64.
 * scale and softcap are binary64 values; a kernel may round them once to its arithmetic (NUM-02).
 */
typedef struct attest_problem {
    uint64_t struct_bytes;
    uint64_t features;
    attest_tensor q, k, v;
    attest_tensor mask;
    attest_tensor sinks;
    attest_tensor slopes;
    attest_tensor key_lengths;
    attest_tensor offsets;
    attest_tensor o;
    attest_tensor lse;
    double scale;
    double softcap;       /* finite and > 0 where ATTEST_SOFTCAP is set */
    int64_t window_left;  /* >= 0 or ATTEST_UNBOUNDED */
    int64_t window_right; /* >= 0 or ATTEST_UNBOUNDED */
    int64_t window_size;  /* >= 1 */
    /*
     * At least workspace_bytes(problem) bytes, aligned to 64, contents undefined on entry, owned by
     * the kernel until it returns and not a byte longer. NULL where that function returned 0.
     */
    void *workspace;
    uint64_t workspace_bytes;
    int32_t threads; /* use at most this many threads, the caller's included; >= 1 */
    uint32_t reserved32;
    uint64_t reserved[15];
} attest_problem;

/* ---------------------------------------------------------------------------------- claims --- */
/* Shape capabilities, beside the feature bits. */
#define ATTEST_CAN_GQA (UINT64_C(1) << 0)         /* Hq a multiple of Hkv, not only equal */
#define ATTEST_CAN_DV (UINT64_C(1) << 1)          /* Dv different from D */
#define ATTEST_CAN_EMPTY (UINT64_C(1) << 2)       /* axes of length 0 */
#define ATTEST_CAN_STRIDES (UINT64_C(1) << 3)     /* any strides; else row-major without gaps */
#define ATTEST_CAN_MIXED_TYPES (UINT64_C(1) << 4) /* q, k/v and o of different types */
#define ATTEST_ALL_SHAPES ((UINT64_C(1) << 5) - 1)

/* Isolation (ISO-01..05): what invisible K and V may hold without reaching a result, bitwise. */
#define ATTEST_ISOLATION_NONE 0u     /* no promise: never certified */
#define ATTEST_ISOLATION_FINITE 1u   /* ordinary finite values */
#define ATTEST_ISOLATION_EXTREME 2u  /* also huge and denormal ones */
#define ATTEST_ISOLATION_BAD_KEYS 3u /* also Inf and NaN in K */
#define ATTEST_ISOLATION_FULL 4u     /* also Inf and NaN in V: anything at all */

/* Determinism (DET-01..08): repeat and history are required of all; these are claimed, bitwise. */
#define ATTEST_SAME_THREADS (UINT64_C(1) << 0)  /* whatever the thread count */
#define ATTEST_SAME_POSITION (UINT64_C(1) << 1) /* wherever in the batch the entry stands */
#define ATTEST_SAME_BATCH (UINT64_C(1) << 2)    /* whatever the batch size */
#define ATTEST_SAME_CHUNK (UINT64_C(1) << 3)    /* queries in one call or in several */
#define ATTEST_SAME_DECODE (UINT64_C(1) << 4)   /* prefill equals one query at a time */
#define ATTEST_SAME_PREFIX (UINT64_C(1) << 5)   /* keys that no row sees may be absent */

/* ----------------------------------------------------------------------------- descriptor ---- */
/*
 * Lives as long as the object is loaded. Only what is declared here is required of the kernel, and
 * all of it: ATTEST_UNSUPPORTED inside the declared capabilities is a failure (CAP-02).
 */
typedef struct attest_kernel {
    uint64_t struct_bytes;
    uint32_t abi_version; /* ATTEST_ABI_VERSION */
    uint32_t reserved32;

    const char *name;    /* never NULL; at most 63 printable ASCII characters, like the next four */
    const char *vendor;  /* or NULL */
    const char *version; /* or NULL */
    const char
        *profile;      /* conventions for defaults: a file in spec/profiles; NULL means "attest" */
    const char *model; /* arithmetic, as in spec/error-model.md, e.g. "f32-strict" */

    uint64_t features;     /* ATTEST_CAUSAL ... */
    uint64_t shapes;       /* ATTEST_CAN_... */
    uint64_t dtypes;       /* bit (1 << ATTEST_F32) ...: types of q, k, v, o */
    int64_t max_head_size; /* largest D and Dv; 0 means no limit */
    int64_t max_queries;   /* largest Sq; 0 means no limit */
    int64_t max_keys;      /* largest Sk; 0 means no limit */

    /* Claims. Less than the full domain or isolation certifies as "restricted". */
    double max_abs_score; /* |scale * q.k| + |bias| this kernel promises to handle; 0: no limit */
    double exp_ulps;      /* accuracy of its exp in ulps of its arithmetic; 0: the model's */
    uint32_t finite_only; /* 1: promises nothing for Inf and NaN in visible data */
    uint32_t isolation;   /* ATTEST_ISOLATION_... */
    uint64_t determinism; /* ATTEST_SAME_... */
    uint32_t reentrant;   /* 1: calls from several threads at once are safe */
    uint32_t alignment;   /* bytes `data` of each tensor is aligned to; a power of two or 0 */

    /*
     * Pure: looks at metadata alone (data pointers are NULL), has no side effect, gives the same
     * answer each time. NULL means: whatever the capabilities above cover.
     */
    attest_status (*supports)(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]);
    /* Bytes of workspace for this metadata; NULL means none. */
    uint64_t (*workspace_bytes)(const attest_problem *problem);
    /* Once before the first and after the last call; NULL where there is nothing to do. */
    attest_status (*init)(char message[ATTEST_MESSAGE_BYTES]);
    void (*shutdown)(void);
    /*
     * Called in round-to-nearest with denormals on; must restore the floating-point environment
     * (DET-08). `message` has room for ATTEST_MESSAGE_BYTES and is read unless ATTEST_OK.
     */
    attest_status (*forward)(const attest_problem *problem, char message[ATTEST_MESSAGE_BYTES]);

    uint64_t reserved[16]; /* backward and append entry points of later versions */
} attest_kernel;

/* The one symbol. `host_abi_version` is what the host speaks; NULL answers "not that one". */
#if defined(__GNUC__)
#define ATTEST_EXPORT __attribute__((visibility("default")))
#else
#define ATTEST_EXPORT
#endif
ATTEST_EXPORT const attest_kernel *attest_kernel_v1(uint32_t host_abi_version);

#ifdef __cplusplus
}
#endif

#endif
