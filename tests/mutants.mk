# SPDX-License-Identifier: Apache-2.0
# Kernels that are wrong on purpose: one source a family, one shared object a mutant.

mutant_ids := $(shell sed -n 's/^ *{"id": "\([a-z]*\)\/\([a-z0-9-]*\)".*/\1-\2/p' impl/mutants/mutants.json)
mutant_families := mask score memory tiled decode threaded stateful cheats
mutant_bases := $(mutant_families:%=$(B)/mutants/%-correct.so)
mutants := $(mutant_ids:%=$(B)/mutants/%.so)
mutant_probe := $(B)/mutants/probe

.PHONY: mutant-kernels
mutant-kernels: $(mutants) $(mutant_bases) $(mutant_probe) ## build the kernels that are wrong on purpose

mutant_parts := $(addprefix $(B)/reference/,check.o normal.o mask.o convert.o profile.o exp.o log.o \
                  tanh.o)
mutant_headers := $(wildcard impl/mutants/*.h)

define mutant_family
$(B)/mutants/$(1)-%.so: impl/mutants/$(1).c $(mutant_headers) $(mutant_parts) impl/exports.map
	@mkdir -p $$(@D)
	$$(CC) $$(filter-out -MMD -MP,$$(CPPFLAGS)) $$(CFLAGS) $$(LDFLAGS) -fPIC -shared \
	  -DMUTANT=$$(shell echo '$$*' | tr a-z- A-Z_) -Wl,--version-script=impl/exports.map \
	  $$< $(mutant_parts) -lm -lpthread -o $$@
endef
$(foreach family,$(mutant_families),$(eval $(call mutant_family,$(family))))

$(mutant_probe): $(addprefix $(B)/impl/mutants/,probe.o checks_rows.o checks_calls.o trial.o) $(B)/libattn.a
	$(CC) $(LDFLAGS) $^ -lmpfr -lgmp -lm -lpthread -ldl -o $@

$(B)/mutants/rules: $(addprefix $(B)/impl/mutants/,rules.o trial.o) $(B)/libvectors.a $(B)/libattn.a
	$(CC) $(LDFLAGS) $^ -lprotobuf-c -ljansson -lsodium -lmpfr -lgmp -lm -lpthread -ldl -o $@

# Right kernels that err as much as each model allows.
emulator_models := f64-strict f32-f64acc f32-strict f32-fastexp tf32-f32acc bf16-f32acc f16-f32acc \
                   f16-f16acc
emulators := $(emulator_models:%=$(B)/emulators/%.so)
emulator_types = 1u << ATTEST_F32 | 1u << ATTEST_F16 | 1u << ATTEST_BF16 $(if $(filter f64-%,$*),| 1u << ATTEST_F64)
$(emulators): $(B)/emulators/%.so: tests/emulator_kernel.c $(B)/libattn_test.a $(B)/libattn.a impl/exports.map
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) -Itests $(CFLAGS) $(LDFLAGS) -fPIC -shared \
	  -DMODEL='"$*"' -DTYPES='($(emulator_types))' -Wl,--version-script=impl/exports.map \
	  $< $(B)/libattn_test.a $(B)/libattn.a -lmpfr -lgmp -lm -lpthread -o $@

.PHONY: mutants false-alarms compare-rules power
SEEDS ?= 1-1
matrix := $(PYTHON) impl/mutants/matrix.py
mutant_tools := mutant-kernels $(B)/attest $(B)/attest-worker kernels $(emulators)

mutants: $(mutant_tools) ## run the certifier over all mutants, write what it found and spec/power.md
	$(matrix) full --level smoke --build $(B) || true
	$(matrix) first --level quick --build $(B) || true
	$(PYTHON) impl/mutants/power.py collect --build $(B)

false-alarms: $(mutant_tools) ## certify every right kernel at quick; SEEDS=1-20 for more
	$(matrix) alarms --level quick --seeds $(SEEDS) --build $(B)
	$(PYTHON) impl/mutants/power.py collect --build $(B)

compare-rules: $(mutant_tools) $(B)/mutants/rules ## run the rules in use elsewhere on the same mutants
	$(matrix) rules --build $(B)
	$(PYTHON) impl/mutants/power.py collect --build $(B)

power: ## write spec/power.md from the results at hand
	$(PYTHON) impl/mutants/power.py page

# Every run is taken up where it was left, so this can be interrupted.
.PHONY: check-mutants
check-full: check-mutants
check-mutants: $(mutant_tools)
	$(MAKE) --no-print-directory mutants compare-rules
	$(MAKE) --no-print-directory false-alarms SEEDS=1-20

run-tests: mutant-kernels $(emulators)
