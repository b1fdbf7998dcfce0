# SPDX-License-Identifier: Apache-2.0
# attest (links GSL: GPL-3.0-or-later) and attest-worker (permissive), side by side in $(B).

attest_worker_sources := $(wildcard certify/worker/*.c)
attest_sources := certify/worker/wire.c $(filter-out $(attest_worker_sources),$(wildcard certify/*/*.c))
attest_objects := $(attest_sources:%.c=$(B)/%.o)
attest_worker_objects := $(attest_worker_sources:%.c=$(B)/%.o)
attest_programs := $(B)/attest $(B)/attest-worker

all: $(attest_programs)

$(B)/generated/requirements.inc: spec/attention.md certify/plan/requirements.py
	@mkdir -p $(@D)
	$(PYTHON) certify/plan/requirements.py $< > $@
$(B)/certify/plan/requirement.o: $(B)/generated/requirements.inc

# Every check names classes; once built, the compiler's own list of dependencies is finer.
$(B)/generated/classes.inc: spec/classes.md certify/plan/classes.py certify/plan/requirements.py
	@mkdir -p $(@D)
	$(PYTHON) -B certify/plan/classes.py $< > $@
$(attest_objects): | $(B)/generated/classes.inc

$(B)/attest: $(attest_objects) $(B)/libvectors.a $(B)/libattn.a
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lgsl -lgslcblas -ljansson -lsodium -lprotobuf-c -lmpfr -lgmp -lm -lpthread -o $@

$(B)/attest-worker: $(attest_worker_objects)
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lseccomp -ldl -lm -lpthread -o $@

all: $(B)/python/attest_worker.py

$(B)/python/%.py: certify/python/%.py
	@mkdir -p $(@D)
	cp $< $@

certify: ## certify every bundled kernel at quick, show the table
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@$(PYTHON) certify/cli/bundled.py $(B) quick reference $(kernel_names)
