/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drive.h - the walk around the frame: batch entries, heads and blocks of rows, shared out to
 * threads; types and strides become what attn_block asks for.
 *
 *   share: neighbouring units, so that what a thread prefetches past the end is what it needs next
 *     unit: one block of rows of one KV head of one batch entry, taken by a free thread
 *       chunk: ATTN_CHUNK_KEYS keys from a multiple of it: a state of its own, merged in order
 *         the frame's tiles
 *
 * Where there are fewer units than threads could use (decoding), each chunk is a unit, and the
 * states are merged at the end. Chunks lie at fixed keys and are merged in the same order either
 * way, so a row has the same bits whatever the threads, the batch, and the rows beside it.
 */
#ifndef ATTN_DRIVE_H
#define ATTN_DRIVE_H

#include "impl/frame/frame.h"
#include "reference/problem/normal.h"

#define ATTN_CHUNK_KEYS (8 * ATTN_TILE_KEYS)

/* What a kernel puts under the frame; a loader that is NULL is replaced by a portable one. */
typedef struct ATTN_NAME(attn_engine) {
    const ATTN_NAME(attn_micro) * micro;
    ATTN_NAME(attn_load_fn) load_f16, load_bf16;
} ATTN_NAME(attn_engine);

/* Bytes of workspace; depends on metadata alone. UINT64_MAX where they cannot be counted. */
uint64_t ATTN_NAME(attn_drive_bytes)(const attn_normal *normal);

/* ATTEST_OK, or ATTEST_NO_MEMORY before anything is written. */
attest_status ATTN_NAME(attn_drive)(const attn_normal *normal,
                                    const ATTN_NAME(attn_engine) * engine,
                                    char message[ATTEST_MESSAGE_BYTES]);

/* Loaders for the storage types, in portable C. */
ATTN_NAME(attn_load_fn)
ATTN_NAME(attn_loader)(const ATTN_NAME(attn_engine) * engine, attest_dtype dtype);

#endif
