# SPDX-License-Identifier: Apache-2.0
# The binary32 exp, log and tanh on all 2^32 inputs. `make test` runs a sample of them.

exhaustive_program := $(B)/tests/support/exhaustive_elementary
exhaustive_sources := tests/support/exhaustive_elementary.c reference/arithmetic/exp.c reference/arithmetic/log.c reference/arithmetic/tanh.c
exhaustive_headers := reference/arithmetic/elementary.h reference/arithmetic/elementary_dd.h
exhaustive_flags := -std=c11 -ffp-contract=off -fno-math-errno

# One sweep per compiler and flag set, written compiler:flag,flag.
EXHAUSTIVE_SETS ?= gcc:-O0 gcc:-O2 gcc:-O3,-march=native clang-19:-O2 clang-19:-O3,-march=native
set_compiler = $(firstword $(subst :, ,$(1)))
set_flags = $(subst $(comma), ,$(lastword $(subst :, ,$(1)))) $(exhaustive_flags)
set_result = build/exhaustive/$(subst =,-,$(subst :,,$(subst $(comma),,$(1)))).jsonl
exhaustive_results := $(foreach s,$(EXHAUSTIVE_SETS),$(call set_result,$(s)))

run-tests: $(exhaustive_program)

$(exhaustive_program): $(B)/tests/support/exhaustive_elementary.o $(B)/libattn.a
	$(CC) $(LDFLAGS) $^ -lmpfr -lgmp -lm -lpthread -o $@

exhaustive: exhaustive-elementary ## every exhaustive sweep (half an hour on two idle cores)

.PHONY: exhaustive-elementary
exhaustive-elementary: $(exhaustive_results) ## exp, log, tanh on all binary32 inputs, recorded
	$(PYTHON) proofs/C05-elementary-functions/record.py $(exhaustive_results)

define exhaustive_rule
$(call set_result,$(1)): $(exhaustive_sources) $(exhaustive_headers)
	@mkdir -p $$(@D)
	$(set_compiler) $(set_flags) -DEXHAUSTIVE_FLAGS='"$(set_flags)"' -I. \
	  $$(filter %.c,$$^) -lmpfr -lgmp -lm -lpthread -o $$(basename $$@)
	nice $$(basename $$@) --json $$@
endef
$(foreach s,$(EXHAUSTIVE_SETS),$(eval $(call exhaustive_rule,$(s))))
