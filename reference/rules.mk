# SPDX-License-Identifier: Apache-2.0
# libattn.a: the reference, without GSL. row.c and shell.c are compiled once per width.

reference_sources := $(filter-out reference/oracle_gsl%,$(wildcard reference/*.c))
reference_typed := reference/row.c reference/shell.c
reference_objects := $(patsubst %.c,$(B)/%.o,$(filter-out $(reference_typed),$(reference_sources))) \
                     $(patsubst %.c,$(B)/%_f32.o,$(reference_typed)) \
                     $(patsubst %.c,$(B)/%_f64.o,$(reference_typed))

all: $(B)/libattn.a

$(B)/libattn.a: $(reference_objects)
	@rm -f $@
	@echo '  AR $@'
	$(AR) $(AR_FLAGS) $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -c $< -o $@

$(B)/reference/%_f32.o: reference/%.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -DATTN_BITS=32 -c $< -o $@

$(B)/reference/%_f64.o: reference/%.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -DATTN_BITS=64 -c $< -o $@

include reference/oracle.mk
