# SPDX-License-Identifier: Apache-2.0
# attest (links GSL: GPL-3.0-or-later) and attest-worker (permissive), side by side in $(B).

attest_worker_sources := $(addprefix certify/,worker.c call.c crash.c sandbox.c landlock.c wire.c)
attest_sources := $(filter-out $(filter-out certify/wire.c,$(attest_worker_sources)), \
                    $(wildcard certify/*.c certify/checks/*.c))
attest_objects := $(attest_sources:%.c=$(B)/%.o)
attest_worker_objects := $(attest_worker_sources:%.c=$(B)/%.o)
attest_programs := $(B)/attest $(B)/attest-worker

all: $(attest_programs)

$(attest_objects) $(attest_worker_objects): CPPFLAGS += -Icertify -I$(B)/certify

$(B)/certify/requirements.inc: spec/attention.md certify/requirements.py
	@mkdir -p $(@D)
	$(PYTHON) certify/requirements.py $< > $@
$(B)/certify/requirement.o: $(B)/certify/requirements.inc

$(B)/attest: $(attest_objects) $(B)/fuzz/program.o $(B)/libvectors.a $(B)/libattn.a
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lgsl -lgslcblas -ljansson -lsodium -lprotobuf-c -lmpfr -lgmp -lm -lpthread -o $@

$(B)/attest-worker: $(attest_worker_objects)
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lseccomp -ldl -lm -lpthread -o $@

all: $(B)/python/attest_worker.py

$(B)/python/%.py: certify/python/%.py
	@mkdir -p $(@D)
	cp $< $@

# The reference behind the ABI, and every bundled kernel certified.
all: $(B)/impl/libreference.so
$(B)/impl/libreference.so: $(B)/impl/reference_kernel.o $(B)/libattn.a impl/exports.map
	@echo '  LD $@'
	$(CC) $(LDFLAGS) -shared -Wl,--version-script=impl/exports.map $(filter %.o %.a,$^) -lmpfr -lgmp -lm -o $@

certify: ## certify every bundled kernel at quick, show the table
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@$(PYTHON) certify/bundled.py $(B) quick reference $(kernel_names)
