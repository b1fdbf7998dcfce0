# SPDX-License-Identifier: Apache-2.0
# What several tests share, linked into every test program. (Read after rules.mk.)

test_support := $(patsubst %.c,$(B)/%.o,tests/random_problem.c tests/emulator.c tests/emulator_score.c)
test_libraries := $(B)/libattn_test.a $(test_libraries)

$(test_programs): $(B)/libattn_test.a

$(B)/libattn_test.a: $(test_support)
	@rm -f $@
	$(AR) $(AR_FLAGS) $@ $^

.PHONY: check-soundness
check-soundness: $(B)/tests/test_soundness ## a million attacked elements for each error model
	ATTN_ELEMENTS=1000000 $<
check-full: check-soundness

$(B)/tests/test_oracle_gsl: $(B)/libattn_gsl.a
$(B)/tests/test_oracle_gsl: test_libraries += $(B)/libattn_gsl.a -lgsl -lgslcblas

$(B)/tests/bench_oracle: $(B)/tests/bench_oracle.o $(test_libraries)
	$(CC) $(LDFLAGS) $< $(test_libraries) -lmpfr -lgmp -lm -lpthread -o $@

.PHONY: bench-oracle
bench-oracle: $(B)/tests/bench_oracle ## throughput of the oracle by path
	@$<

# The parts of the certifier that decide which cases and which rows there are.
covering_parts := $(addprefix $(B)/certify/,covering.o sample.o data.o)
$(B)/tests/test_covering.o: CPPFLAGS += -Icertify
$(B)/tests/test_covering: $(covering_parts)
$(B)/tests/test_covering: test_libraries += $(covering_parts) $(B)/libattn.a -lgsl -lgslcblas
