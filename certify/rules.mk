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

page_files := certify/report/page.css certify/report/page.js
$(B)/generated/page.inc: certify/report/embed.py $(page_files)
	@mkdir -p $(@D)
	$(PYTHON) $< page_css=certify/report/page.css page_js=certify/report/page.js > $@
$(B)/certify/report/report_html.o: $(B)/generated/page.inc

$(B)/attest: $(attest_objects) $(gsl_objects) $(B)/libvectors.a $(B)/libattn.a
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lgsl -lgslcblas -ljansson -lsodium -lprotobuf-c -lmpfr -lgmp -lm -lpthread -o $@

$(B)/attest-worker: $(attest_worker_objects)
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lseccomp -ldl -lm -lpthread -o $@

python_sources := $(wildcard python/attest_attention/*.py)
all: $(python_sources:%=$(B)/%)

$(B)/python/%.py: python/%.py
	@mkdir -p $(@D)
	cp $< $@

LEVEL ?= smoke

certify: ## certify every bundled kernel at LEVEL=smoke (LEVEL=quick: a minute each), show the table
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@$(PYTHON) certify/cli/bundled.py $(B) $(LEVEL) reference $(kernel_names)
