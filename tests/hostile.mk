# SPDX-License-Identifier: Apache-2.0
# Hostile and broken kernels: one object per behaviour of tests/hostile/kernel.c.

hostile_steps := nothing crash hang sleep_long exit_0 underscore_exit abort_ stack_overflow allocate \
  thread_bomb fork_bomb fill_shared close_all chatter talk_on_the_socket read_memory read_parent trace_parent \
  network delete_files write_file kill_parent signal_by_descriptor raise_signal stop_itself jump rounding flush_to_zero \
  write_input write_past_end read_past_end read_before_start write_gap success_without_writing zeros \
  refuse_all ten_calls cache_by_pointer cache_by_content right_when_timed write_later
hostile_constructors := construct_crash construct_hang construct_network construct_fork construct_delete
hostile_broken := no_symbol wrong_version answer_null unprintable_name no_types
hostile_names := $(hostile_steps) $(hostile_constructors) $(hostile_broken)
hostile := $(hostile_names:%=$(B)/hostile/%.so)

hostile_flags_no_symbol := -DNO_SYMBOL
hostile_flags_wrong_version := -DVERSION=2
hostile_flags_answer_null := -DANSWER_NULL
hostile_flags_unprintable_name := -DNAME='"\033[31mred"'
hostile_flags_no_types := -DDTYPES=0

$(hostile): $(B)/hostile/%.so: tests/hostile/kernel.c $(B)/libattn.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(if $(filter construct_%,$*),-DCONSTRUCT=$*, \
	  $(or $(hostile_flags_$*),-DSTEP=$*)) $< $(B)/libattn.a -lm -lpthread -o $@

run-tests: $(hostile)
$(B)/tests/test_wire.o: CPPFLAGS += -Icertify
