# SPDX-License-Identifier: Apache-2.0
import numpy as np
from ggml_graph import Graph, Library  # ctypes over libggml-base and libggml-cpu
graph = Graph(Library(), 1 << 20)
x = graph.tensor(np.zeros((1, 1, 64, 32), np.float32))  # 64 query rows; all scores are 0
k, v = (graph.tensor(np.full((1, 1, 1, 32), n, np.float32)) for n in (0, 1))  # one key
out = graph.library.base.ggml_flash_attn_ext(graph.context, x, k, v, None, 1, 0, 8)  # softcap 8
graph.runner(out, 1)()
print("got", graph.result(out, (64, 32))[0, 0], "right", 1.0)
