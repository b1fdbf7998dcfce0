# SPDX-License-Identifier: Apache-2.0
# Wrong kernels from a seed: one compiled object, whose block of data says what is wrong with it.

generated_kernel := $(B)/generated/kernel.so
generated_show := $(B)/generated/show
generated_tools := $(generated_kernel) $(generated_show) $(B)/attest $(B)/attest-worker
generated_headers := $(wildcard impl/wrong/generated/*.h impl/wrong/generated/*.def)

$(generated_kernel): impl/wrong/generated/generated_kernel.c $(generated_headers) $(problem_objects) impl/exports.map
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(CFLAGS) $(impl_opt) $(LDFLAGS) -fPIC -shared \
	  -Wl,--version-script=impl/exports.map $< $(problem_objects) -lm -o $@

.PHONY: generated-kernels power-generated
generated-kernels: $(generated_kernel) $(generated_show)
run-tests: generated-kernels

# Taken up where it was left; the seed is the commit's unless one is given.
SEED ?= $(shell git rev-parse --short=12 HEAD)
COUNT ?= 2000
power-generated: $(generated_tools) ## kill rate on COUNT=2000 kernels that nobody has seen (SEED=)
	$(PYTHON) impl/wrong/generated/measure.py --build $(B) --seed $(SEED) --count $(COUNT)

$(generated_show): $(B)/impl/wrong/generated/show.o $(B)/impl/wrong/mutants/trial.o $(B)/libattn.a
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lmpfr -lgmp -lm -lpthread -ldl -o $@
