# SPDX-License-Identifier: Apache-2.0
"""An attention kernel in WGSL, an example to copy: wgpu on Mesa's lavapipe, a Vulkan CPU.

One invocation a query row, two passes over the keys: the maximum, then the weights. What is hidden is not
read. WGSL may assume that there are no NaN and infinities (its specification, section on floating-point
evaluation).
"""

import numpy as np
from attest_attention import kernel
from wgpu.utils.compute import compute_with_buffers

ROWS = 64
SOURCE = """
@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> mask: array<u32>;  // [batch, heads, queries, keys]
@group(0) @binding(4) var<storage, read> lengths: array<i32>;
@group(0) @binding(5) var<storage, read> number: array<i32>;
@group(0) @binding(6) var<storage, read> scale: array<f32>;
@group(0) @binding(7) var<storage, read_write> o: array<f32>;

fn score(query: i32, key: i32, size: i32) -> f32 {
    var dot = 0.0;
    for (var c = 0; c < size; c++) { dot += q[query * size + c] * k[key * size + c]; }
    return dot * scale[0];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let rows = number[0]; let heads = number[1]; let kv_heads = number[2]; let queries = number[3];
    let keys = number[4]; let size = number[5]; let value_size = number[6];
    let causal = number[7] != 0; let masked = number[8] != 0;
    let row = i32(id.x);
    if (row >= rows) { return; }
    let b = row / (heads * queries); let h = row / queries % heads; let i = row % queries;
    let first = (b * kv_heads + h / (heads / kv_heads)) * keys;
    let seen = select(lengths[b], min(lengths[b], i + lengths[b] - queries + 1), causal);

    var top = -3.4028234e38;
    for (var j = 0; j < seen; j++) {
        if (!masked || mask[row * keys + j] != 0) { top = max(top, score(row, first + j, size)); }
    }
    for (var c = 0; c < value_size; c++) { o[row * value_size + c] = 0.0; }
    var total = 0.0;
    for (var j = 0; j < seen; j++) {
        if (masked && mask[row * keys + j] == 0) { continue; }
        let weight = exp(score(row, first + j, size) - top);
        total += weight;
        for (var c = 0; c < value_size; c++) {
            o[row * value_size + c] += weight * v[(first + j) * value_size + c];
        }
    }
    if (total == 0.0) { return; }
    for (var c = 0; c < value_size; c++) { o[row * value_size + c] /= total; }
}
"""


def takes(problem):
    if min(problem.batch, problem.queries, problem.keys, problem.q_heads, problem.head_size,
           problem.value_size) == 0:
        return "no buffers of no bytes"
    return True


@kernel("wgsl-example", features=["causal", "mask-bool", "scale", "lengths"], types=["f32"],
        shapes=["gqa", "dv", "strides"], model="f32-fastexp", isolation="full", finite_only=True,
        arrays="numpy", supports=takes)
def attention(q, k, v, causal=False, mask=None, scale=None, key_lengths=None):
    batch, heads, queries, size = q.shape
    kv_heads, keys, value_size = *k.shape[1:3], v.shape[3]
    rows = batch * heads * queries
    masked = mask is not None
    mask = np.broadcast_to(mask, (batch, heads, queries, keys)) if masked else np.zeros(1)
    lengths = np.full(batch, keys) if key_lengths is None else key_lengths
    numbers = (rows, heads, kv_heads, queries, keys, size, value_size, causal, masked)
    factor = size ** -0.5 if scale is None else scale
    inputs = [q, k, v, mask.astype(np.uint32), lengths.astype(np.int32), np.array(numbers, np.int32),
              np.array([factor], np.float32)]
    out = compute_with_buffers({place: np.ascontiguousarray(x) for place, x in enumerate(inputs)},
                               {len(inputs): rows * value_size * 4}, SOURCE, n=-(-rows // ROWS))
    return np.frombuffer(out[len(inputs)], np.float32).reshape(batch, heads, queries, value_size)
