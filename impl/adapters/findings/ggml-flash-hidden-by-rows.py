# SPDX-License-Identifier: Apache-2.0
import numpy as np
from ggml_graph import Graph, Library  # ctypes over libggml-base and libggml-cpu
for rows in (63, 64):
    graph, (q, k, v) = Graph(Library(), 1 << 20), (np.ones((1, 1, n, 32), np.float32) for n in (rows, 2, 2))
    k[..., 1, :] = 3e38  # finite; no row sees this key
    mask = np.zeros((1, 1, rows, 2), np.float16) - np.float16([0, np.inf])
    tensors = map(graph.tensor, (q, k, v, mask))
    out = graph.library.base.ggml_flash_attn_ext(graph.context, *tensors, 1, 0, 0)
    graph.runner(out, 1)()
    print(rows, "rows: got", graph.result(out, (rows, 32))[0, 0], "right", 1.0)
