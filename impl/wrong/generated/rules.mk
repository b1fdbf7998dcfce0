# SPDX-License-Identifier: Apache-2.0
# Wrong kernels from a seed: one compiled object, whose block of data says what is wrong with it.

generated_kernel := $(B)/generated/kernel.so
generated_show := $(B)/generated/show
generated_tools := $(generated_kernel) $(generated_show) $(B)/attest $(B)/attest-worker
generated_sources := $(addprefix impl/wrong/generated/generated_,kernel.c row.c scores.c)
generated_headers := $(wildcard impl/wrong/generated/*.h impl/wrong/generated/*.def) $(mutant_headers)

$(generated_kernel): $(generated_sources) $(generated_headers) $(problem_objects) impl/exports.map
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(CFLAGS) $(impl_opt) $(LDFLAGS) -fPIC -shared \
	  -Wl,--version-script=impl/exports.map $(generated_sources) $(problem_objects) -lm -o $@

.PHONY: generated-kernels power-generated
generated-kernels: $(generated_kernel) $(generated_show)
run-tests: generated-kernels

# Taken up where it was left; the seed is the commit's unless one is given. RULES: on how many of them
# the rules in use elsewhere are tried.
SEED ?= $(shell git rev-parse --short=12 HEAD)
COUNT ?= 2000
RULES ?= 200
power-generated: $(generated_tools) common-rules ## kill rate on COUNT=2000 kernels nobody has seen (SEED=)
	$(PYTHON) impl/wrong/generated/measure.py --build $(B) --seed $(SEED) --count $(COUNT) \
	  --rules $(RULES) --publish

.PHONY: power-generated-page
power: power-generated-page
power-generated-page:
	$(PYTHON) impl/wrong/generated/measure.py --page

$(generated_show): $(B)/impl/wrong/generated/show.o $(B)/impl/wrong/mutants/trial.o $(B)/libattn.a
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lmpfr -lgmp -lm -lpthread -ldl -o $@
