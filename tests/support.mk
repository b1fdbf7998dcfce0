# SPDX-License-Identifier: Apache-2.0
# What several tests share, linked into every test program. (Read after rules.mk.)

test_support := $(patsubst %.c,$(B)/%.o,$(addprefix tests/support/,random_problem.c emulator.c emulator_score.c))
test_libraries := $(B)/libattn_test.a $(test_libraries)

$(test_programs): $(B)/libattn_test.a

$(B)/libattn_test.a: $(test_support)
	@rm -f $@
	$(AR) $(AR_FLAGS) $@ $^

.PHONY: check-soundness
check-soundness: $(B)/tests/test_soundness ## a million attacked elements for each error model
	ATTN_ELEMENTS=1000000 $<
check-full: check-soundness

.PHONY: check-interrupted
check-interrupted: all ## 200 interrupted runs leave nothing behind
	BUILD=$(B) INTERRUPTIONS=200 $(PYTHON) tests/test_interrupted.py
check-full: check-interrupted

$(B)/tests/test_oracle_gsl: $(B)/libattn_gsl.a
$(B)/tests/test_oracle_gsl: test_libraries += $(B)/libattn_gsl.a -lgsl -lgslcblas

$(B)/tests/support/bench_oracle: $(B)/tests/support/bench_oracle.o $(test_libraries)
	$(CC) $(LDFLAGS) $< $(test_libraries) -lmpfr -lgmp -lm -lpthread -o $@

.PHONY: bench-oracle
bench-oracle: $(B)/tests/support/bench_oracle ## throughput of the oracle by path
	@$<

# The rules in use elsewhere, for comparison (make compare-rules).
.PHONY: common-rules
common-rules: $(B)/tests/support/common_rules
$(B)/tests/support/common_rules: $(B)/tests/support/common_rules.o $(B)/impl/wrong/mutants/trial.o \
    $(B)/libvectors.a $(B)/libattn.a
	$(CC) $(LDFLAGS) $^ -lprotobuf-c -ljansson -lsodium -lmpfr -lgmp -lm -lpthread -ldl -o $@

# Right kernels that err as much as each model allows.
emulator_models := f64-strict f32-f64acc f32-strict f32-fastexp tf32-f32acc bf16-f32acc f16-f32acc \
                   f16-f16acc
emulators := $(emulator_models:%=$(B)/emulators/%.so)
emulator_types = 1u << ATTEST_F32 | 1u << ATTEST_F16 | 1u << ATTEST_BF16 $(if $(filter f64-%,$*),| 1u << ATTEST_F64)
$(emulators): $(B)/emulators/%.so: tests/support/emulator_kernel.c $(B)/libattn_test.a $(B)/libattn.a impl/exports.map
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(CFLAGS) $(LDFLAGS) -fPIC -shared \
	  -DMODEL='"$*"' -DTYPES='($(emulator_types))' -Wl,--version-script=impl/exports.map \
	  $< $(B)/libattn_test.a $(B)/libattn.a -lmpfr -lgmp -lm -lpthread -o $@

.PHONY: emulators
emulators: $(emulators)
run-tests: emulators

$(B)/tests/test_micro: $(B)/libmicro.a
$(B)/tests/test_micro: test_libraries += $(B)/libmicro.a

$(B)/tests/test_pool: $(B)/impl/frame/pool.o
$(B)/tests/test_pool: test_libraries += $(B)/impl/frame/pool.o

# It includes the template as users copy it.
$(B)/tests/test_template.o: CPPFLAGS += -Ispec

$(B)/tests/test_vectors: $(B)/libattn_gsl.a
$(B)/tests/test_vectors: test_libraries += $(B)/libattn_gsl.a -lgsl -lgslcblas

# The parts of the certifier that decide which cases and which rows there are.
covering_parts := $(addprefix $(B)/certify/,plan/covering.o judge/sample.o plan/data.o)
$(B)/tests/test_covering: $(covering_parts)
$(B)/tests/test_covering: test_libraries += $(covering_parts) $(B)/libattn.a -lgsl -lgslcblas

# Runs attest as on a system that lacks something.
run-tests: $(B)/tests/support/without
$(B)/tests/support/without: $(B)/tests/support/without.o
	$(CC) $(LDFLAGS) $< -lseccomp -o $@

# The views, bundles and recipes at length, with programs that are not ours (ci/deps reports).
.PHONY: check-views check-evidence check-recipes
check-full: check-views check-evidence check-recipes
check-views: all mutant-kernels ## every view before validators and a browser that are not ours
	BUILD=$(B) $(PYTHON) tests/support/views_elsewhere.py
check-evidence: all mutant-kernels ## 100 bundles verified, 10,000 altered bits refused
	BUILD=$(B) $(PYTHON) tests/support/evidence_at_length.py
check-recipes: all mutant-kernels ## the recipes of ci/recipes: shell, GNU parallel, Slurm, CMake
	BUILD=$(B) ci/recipes/test.sh

.PHONY: pictures
pictures: all mutant-kernels ## draw the pictures of the README (ci/pictures)
	$(PYTHON) ci/pictures/draw.py $(B)
