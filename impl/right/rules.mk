# SPDX-License-Identifier: Apache-2.0
# Right kernels that do it another way: one source, a switch for each choice.

right_names := plain reversed pairwise online-32 online-128 f64-sum fma exp2 divided-first f64 \
               minus-zero limits optimised fast-math
right := $(right_names:%=$(B)/right/%.so)

right_model := f32-strict
right_model_f64-sum := f32-f64acc
right_model_f64 := f64-strict
right_model_exp2 := f32-fastexp
right_model_fast-math := f32-fastexp
right_flags_reversed := -DORDER=REVERSED
right_flags_pairwise := -DORDER=PAIRWISE
right_flags_online-32 := -DTILE=32
right_flags_online-128 := -DTILE=128 -DORDER=PAIRWISE
right_flags_f64-sum := -DWIDE_SUM
right_flags_fma := -DFUSED=1
right_flags_exp2 := -DEXP2=1 -DTILE=64
right_flags_divided-first := -DDIVIDED_FIRST=1
right_flags_f64 := -DWIDE
right_flags_minus-zero := -DMINUS_ZERO=1
right_flags_limits := -DLIMITS=1
right_flags_optimised := -O3 -march=native -ffp-contract=fast
right_flags_fast-math := -O3 -march=native -ffast-math -DFAST=1

# Linked without -ffast-math: with it GCC adds a constructor that flushes denormals in the caller.
$(right): $(B)/right/%.so: impl/right/right_kernel.c $(problem_objects) impl/exports.map
	@mkdir -p $(@D)
	@echo '  LD $@'
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(CFLAGS) -fPIC -c -DNAME='"right, $*"' \
	  -DMODEL='"$(or $(right_model_$*),$(right_model))"' $(right_flags_$*) $< -o $(@:.so=.o)
	$(CC) $(LDFLAGS) -shared -Wl,--version-script=impl/exports.map $(@:.so=.o) $(problem_objects) -lm -o $@

.PHONY: right-kernels
right-kernels: $(right) ## build the right kernels that do it another way
run-tests: right-kernels
