# SPDX-License-Identifier: Apache-2.0
import numpy as np
from ggml_graph import Graph, Library  # ctypes over libggml-base and libggml-cpu
for rows in (63, 64):
    graph = Graph(Library(), 1 << 20)
    q, k, v = (np.ones((1, 1, n, 32), np.float32) for n in (rows, 2, 2))
    q[...] = np.nan
    out = graph.library.base.ggml_flash_attn_ext(graph.context, *map(graph.tensor, (q, k, v)), None, 1, 0, 0)
    graph.runner(out, 1)()
    print(rows, "rows: got", graph.result(out, (rows, 32))[0, 0], "right", np.nan)
