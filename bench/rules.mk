# SPDX-License-Identifier: Apache-2.0
# The benchmark: own kernels beside the peers that are installed (ci/deps bench).

bench_python = $(firstword $(wildcard .tools/bench-venv/bin/python) $(PYTHON))
bench_blas := $(shell printf '\043include <cblas.h>\n' | $(CC) -E - >/dev/null 2>&1 && echo yes)
bench_onednn := $(shell printf '\043include <dnnl_version.h>\nDNNL_VERSION_MAJOR\n' | \
    $(CC) -E -P - 2>/dev/null | grep -qx 2 && echo yes)
bench_peers := $(if $(bench_blas),$(B)/bench/libcomposed.so) $(if $(bench_onednn),$(B)/bench/libonednn.so)
# what -ffast-math allows, without its start-up code, which would flush denormals for all
bench_fast := -fno-math-errno -fno-trapping-math -fno-signed-zeros -fassociative-math -ffinite-math-only
bench_objects := $(B)/bench/limits.o $(B)/bench/error.o

.PHONY: bench bench-quick
bench: $(kernels) $(B)/bench/libbench.so $(bench_peers) ## time the kernels beside their peers
	@mkdir -p build/bench
	$(bench_python) bench/run.py --build $(B) --out build/bench $(BENCH_FLAGS)

bench-quick: ## the same with fewer shapes and repetitions
	@$(MAKE) --no-print-directory bench BENCH_FLAGS=--quick

$(B)/bench/libbench.so: $(bench_objects) $(B)/libattn.a
	@echo '  LD $@'
	$(CC) $(LDFLAGS) -shared $^ -lmpfr -lgmp -lm -lpthread -o $@

$(B)/bench/libcomposed.so: bench/composed.c impl/micro/fastexp.h
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(CC) $(CPPFLAGS) -std=c11 -O3 -march=native $(bench_fast) $(WARNINGS) -shared -fPIC $< -lopenblas -lm -lpthread -o $@

$(B)/bench/libonednn.so: bench/onednn.c
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(CC) -std=c11 -O2 -fopenmp $(WARNINGS) -shared -fPIC $< -ldnnl -lm -o $@

.PHONY: bench-protocol
bench-protocol: all ## what a call of a Python function costs beside the function itself
	$(PYTHON) bench/protocol.py $(B)
