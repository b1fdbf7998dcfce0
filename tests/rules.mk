# SPDX-License-Identifier: Apache-2.0
# Each tests/test_NAME.c is a cmocka program; each tests/test_NAME.{py,sh} prints TAP itself.

test_programs := $(patsubst %.c,$(B)/%,$(wildcard tests/test_*.c))
test_scripts := $(wildcard tests/test_*.py tests/test_*.sh)
test_libraries := $(B)/libvectors.a $(B)/libattn.a

$(test_programs): $(B)/tests/%: $(B)/tests/%.o $(test_libraries)
	$(CC) $(LDFLAGS) $< $(test_libraries) -lcmocka -lprotobuf-c -ljansson -lsodium -lmpfr -lgmp -lm -lpthread -o $@

test: ## everything that CI runs, under 20 minutes on two cores
	@$(MAKE) --no-print-directory -j$$(nproc) run-tests

.PHONY: run-tests
run-tests: all $(test_programs) $(lint_needs)
	@PYTHON=$(PYTHON) BUILD=$(B) CC="$(CC)" $(PYTHON) tests/run $(test_programs) $(test_scripts)
