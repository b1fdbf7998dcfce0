# SPDX-License-Identifier: Apache-2.0
import numpy as np
from ggml_graph import Graph, Library  # ctypes over libggml-base and libggml-cpu
graph = Graph(Library(), 1 << 20)
scores, mask = np.zeros((1, 1, 2, 2), np.float32), np.zeros((1, 1, 2, 2), np.float32)
mask[0, 0, 0, 1] = np.nan  # diag_mask_inf hides this key from the first row
base, context = graph.library.base, graph.context
hidden = base.ggml_diag_mask_inf(context, graph.tensor(scores), 0)
out = base.ggml_soft_max_ext(context, hidden, graph.tensor(mask), 1, 0)
graph.runner(out, 1)()
print("weights of the first row: got", graph.result(out, (2, 2))[0], "right [1. 0.]")
