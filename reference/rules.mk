# SPDX-License-Identifier: Apache-2.0
# libattn.a: the reference, without GSL. row.c and shell.c are compiled once per width.
# libattn_gsl.a: the second oracle, apart because it links GSL.

reference_sources := $(filter-out reference/oracle/oracle_gsl%,$(wildcard reference/*/*.c))
reference_typed := reference/kernel/row.c reference/kernel/shell.c
reference_objects := $(patsubst %.c,$(B)/%.o,$(filter-out $(reference_typed),$(reference_sources))) \
                     $(patsubst %.c,$(B)/%_f32.o,$(reference_typed)) \
                     $(patsubst %.c,$(B)/%_f64.o,$(reference_typed))
gsl_objects := $(patsubst %.c,$(B)/%.o,$(wildcard reference/oracle/oracle_gsl*.c))

# What a kernel links to read a problem as the reference does.
problem_objects := $(patsubst %,$(B)/reference/%.o,problem/validate problem/normal problem/mask \
                     problem/convert problem/profile arithmetic/exp arithmetic/log arithmetic/tanh)

all: $(B)/libattn.a $(B)/libattn_gsl.a

$(B)/libattn.a: $(reference_objects)
	@rm -f $@
	@echo '  AR $@'
	$(AR) $(AR_FLAGS) $@ $^

$(B)/libattn_gsl.a: $(gsl_objects)
	@rm -f $@
	$(AR) $(AR_FLAGS) $@ $^

$(B)/reference/%_f32.o: reference/%.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -DATTN_BITS=32 -c $< -o $@

$(B)/reference/%_f64.o: reference/%.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -DATTN_BITS=64 -c $< -o $@
