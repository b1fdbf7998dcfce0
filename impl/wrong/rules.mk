# SPDX-License-Identifier: Apache-2.0
# Kernels that are wrong on purpose. Mutants: one source a family, one shared object a mutant.

mutant_ids := $(shell sed -n 's/^ *{"id": "\([a-z]*\)\/\([a-z0-9-]*\)".*/\1-\2/p' impl/wrong/mutants/mutants.json)
mutant_families := mask score memory tiled decode threaded stateful cheats
mutant_bases := $(mutant_families:%=$(B)/mutants/%-correct.so)
mutants := $(mutant_ids:%=$(B)/mutants/%.so)
mutant_probe := $(B)/mutants/probe

.PHONY: mutant-kernels
mutant-kernels: $(mutants) $(mutant_bases) $(mutant_probe) ## build the kernels that are wrong on purpose

mutant_headers := $(wildcard impl/wrong/mutants/*.h)

define mutant_family
$(B)/mutants/$(1)-%.so: impl/wrong/mutants/$(1)_mutants.c $(mutant_headers) $(problem_objects) impl/exports.map
	@mkdir -p $$(@D)
	$$(CC) $$(filter-out -MMD -MP,$$(CPPFLAGS)) $$(CFLAGS) $$(LDFLAGS) -fPIC -shared \
	  -DMUTANT=$$(shell echo '$$*' | tr a-z- A-Z_) -Wl,--version-script=impl/exports.map \
	  $$< $(problem_objects) -lm -lpthread -o $$@
endef
$(foreach family,$(mutant_families),$(eval $(call mutant_family,$(family))))

$(mutant_probe): $(addprefix $(B)/impl/wrong/mutants/,probe.o checks_rows.o checks_calls.o trial.o) $(B)/libattn.a
	$(CC) $(LDFLAGS) $^ -lmpfr -lgmp -lm -lpthread -ldl -o $@

.PHONY: mutants false-alarms compare-rules power
SEEDS ?= 1-1
matrix := $(PYTHON) impl/wrong/power/matrix.py
mutant_tools := mutant-kernels right-kernels $(B)/attest $(B)/attest-worker kernels emulators

mutants: $(mutant_tools) ## run the certifier over all mutants, write what it found and spec/power.md
	$(matrix) full --level smoke --build $(B) || true
	$(matrix) first --level quick --build $(B) || true
	$(PYTHON) impl/wrong/power/power.py collect --build $(B)

false-alarms: $(mutant_tools) ## certify every right kernel at quick, one seed; SEEDS=1-3 for more
	$(matrix) alarms --level quick --seeds $(SEEDS) --build $(B)
	$(PYTHON) impl/wrong/power/power.py collect --build $(B)

compare-rules: $(mutant_tools) common-rules ## run the rules in use elsewhere on the same mutants
	$(matrix) rules --build $(B)
	$(PYTHON) impl/wrong/power/power.py collect --build $(B)

power: ## write spec/power.md from the results at hand
	$(PYTHON) impl/wrong/power/power.py page

# Every run is taken up where it was left, so this can be interrupted.
.PHONY: check-mutants
check-full: check-mutants
check-mutants: $(mutant_tools)
	$(MAKE) --no-print-directory mutants compare-rules
	$(MAKE) --no-print-directory false-alarms SEEDS=1-3

run-tests: mutant-kernels

# Hostile and broken kernels: one object per behaviour of impl/wrong/hostile/kernel.c.
hostile_steps := nothing crash hang sleep_long exit_0 underscore_exit abort_ stack_overflow allocate \
  thread_bomb fork_bomb fill_shared close_all chatter talk_on_the_socket read_memory read_parent trace_parent \
  network delete_files write_file kill_parent signal_by_descriptor raise_signal stop_itself jump rounding flush_to_zero \
  write_input write_past_end read_past_end read_before_start write_gap success_without_writing zeros \
  read_neighbour read_environment shared_memory growing_memory page_tables page_tables_by_steps \
  refuse_all ten_calls cache_by_pointer cache_by_content right_when_timed write_later
hostile_constructors := construct_crash construct_hang construct_network construct_fork construct_delete construct_write
hostile_broken := no_symbol wrong_version answer_null unprintable_name no_types profile_stdin profile_beside small_domain \
  loose_exp
hostile_names := $(hostile_steps) $(hostile_constructors) $(hostile_broken)
hostile := $(hostile_names:%=$(B)/hostile/%.so)

hostile_flags_no_symbol := -DNO_SYMBOL
hostile_flags_wrong_version := -DVERSION=2
hostile_flags_answer_null := -DANSWER_NULL
hostile_flags_unprintable_name := -DNAME='"\033[31mred"'
hostile_flags_no_types := -DDTYPES=0
hostile_flags_profile_stdin := -DPROFILE='"/dev/stdin"'
hostile_flags_profile_beside := -DPROFILE='"../profile"'
hostile_flags_small_domain := -DMAX_KEYS=10 -DMAX_HEAD_SIZE=8
hostile_flags_loose_exp := -DEXP_ULPS=1e5

$(hostile): $(B)/hostile/%.so: impl/wrong/hostile/kernel.c $(B)/libattn.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(if $(filter construct_%,$*),-DCONSTRUCT=$*, \
	  $(or $(hostile_flags_$*),-DSTEP=$*)) $< $(B)/libattn.a -lm -lpthread -o $@

run-tests: $(hostile) $(B)/hostile/takeover.so
$(B)/hostile/takeover.so: impl/wrong/hostile/takeover.c $(B)/libattn.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $< $(B)/libattn.a -lm -o $@
