# SPDX-License-Identifier: Apache-2.0
import numpy as np
from ggml_graph import Graph, Library  # ctypes over libggml-base and libggml-cpu
for rows, infinite, right in (63, -np.inf, 1), (64, -np.inf, 1), (63, np.inf, np.nan), (64, np.inf, np.nan):
    graph = Graph(Library(), 1 << 20)
    q, k, v = (np.ones((1, 1, n, 32), np.float32) for n in (rows, 2, 2))
    k[..., 0, :] = infinite  # the score of the first of two keys
    out = graph.library.base.ggml_flash_attn_ext(graph.context, *map(graph.tensor, (q, k, v)), None, 1, 0, 0)
    graph.runner(out, 1)()
    print(rows, "rows, score", infinite, "got", graph.result(out, (rows, 32))[0, 0], "softmax", right)
