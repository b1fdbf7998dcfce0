# SPDX-License-Identifier: Apache-2.0
# Kernels: one shared object each, exporting attest_kernel_v1 and nothing else.

kernel_names := naive tiled
kernels := $(kernel_names:%=$(B)/impl/lib%.so)

.PHONY: kernels
kernels: $(kernels) ## build the bundled kernels
all: kernels

impl_checks := $(addprefix $(B)/reference/,check.o normal.o mask.o convert.o profile.o \
                 exp.o log.o tanh.o)
impl_frame := $(foreach part,frame drive load,$(B)/impl/$(part)_f32.o $(B)/impl/$(part)_f64.o) \
              $(B)/impl/entry.o
impl_portable := $(B)/impl/micro_portable_f32.o $(B)/impl/micro_portable_f64.o

$(B)/impl/%_f32.o: impl/%.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -DATTN_BITS=32 -c $< -o $@

$(B)/impl/%_f64.o: impl/%.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -DATTN_BITS=64 -c $< -o $@

$(B)/impl/libnaive.so: $(B)/impl/naive.o $(impl_checks)
$(B)/impl/libtiled.so: $(B)/impl/tiled.o $(B)/impl/engine_tiled_f32.o $(B)/impl/engine_tiled_f64.o \
                       $(impl_frame) $(impl_portable) $(impl_checks)

$(kernels): $(B)/impl/lib%.so: impl/exports.map
	@echo '  LD $@'
	$(CC) $(LDFLAGS) -shared -Wl,--version-script=impl/exports.map $(filter %.o,$^) -lm -lpthread -o $@
