# SPDX-License-Identifier: Apache-2.0
# Kernels: one shared object each, exporting attest_kernel_v1 and nothing else.

kernel_names := naive tiled flash flash64
kernels := $(kernel_names:%=$(B)/impl/lib%.so)

.PHONY: kernels
kernels: $(kernels) ## build the bundled kernels
all: kernels

impl_frame := $(foreach part,frame drive load,$(B)/impl/frame/$(part)_f32.o $(B)/impl/frame/$(part)_f64.o) \
              $(B)/impl/frame/entry.o $(B)/impl/frame/pool.o
impl_portable := $(B)/impl/micro/portable/micro_portable_f32.o $(B)/impl/micro/portable/micro_portable_f64.o

impl_opt := $(if $(SAN),,-O3) # the frame's own loops vectorise

$(B)/impl/%_f32.o: impl/%.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) $(impl_opt) -fPIC -DATTN_BITS=32 -c $< -o $@

$(B)/impl/%_f64.o: impl/%.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) $(impl_opt) -fPIC -DATTN_BITS=64 -c $< -o $@

$(B)/impl/libnaive.so: $(B)/impl/kernels/naive.o $(problem_objects)
$(B)/impl/libtiled.so: $(B)/impl/kernels/tiled.o $(B)/impl/kernels/engine_tiled_f32.o \
                       $(B)/impl/kernels/engine_tiled_f64.o \
                       $(impl_frame) $(impl_portable) $(problem_objects)

# flash: micro-kernels for each instruction set of the target, chosen at run time.
impl_x86_64 := $(findstring x86_64,$(shell $(CC) -dumpmachine))
impl_aarch64 := $(findstring aarch64,$(shell $(CC) -dumpmachine))
impl_simd := $(if $(impl_x86_64),avx2 avx512)$(if $(impl_aarch64),neon)
impl_flags_avx2 := -mavx2 -mfma -mf16c
impl_flags_avx512 := -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c
impl_vector := $(impl_simd:%=$(B)/impl/micro/micro_vector_%.o) $(impl_simd:%=$(B)/impl/micro/micro_wide_%.o)
impl_twins := $(B)/impl/micro/micro_twin_f32.o $(B)/impl/micro/micro_twin_f64.o

$(impl_twins): $(B)/impl/micro/micro_twin_f%.o: impl/micro/portable/micro_portable.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -DATTN_BITS=$* -DATTN_FUSED -DATTN_MICRO=attn_micro_twin -c $< -o $@

$(impl_vector): impl/rules.mk # the list of instruction sets and their flags

# Overridden by proofs/C16-micro-kernels, whose twins are copies with a defect.
micro_vector := impl/micro/micro_vector.c
$(impl_simd:%=$(B)/impl/micro/micro_vector_%.o): $(B)/impl/micro/micro_vector_%.o: $(micro_vector)
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) $(impl_flags_$*) -fPIC -DATTN_SIMD=$* -c $< -o $@

$(impl_simd:%=$(B)/impl/micro/micro_wide_%.o): $(B)/impl/micro/micro_wide_%.o: impl/micro/portable/micro_portable.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) $(impl_opt) $(impl_flags_$*) -fPIC -DATTN_BITS=64 -DATTN_FUSED \
	  -DATTN_MICRO=attn_micro_$* -c $< -o $@

$(B)/impl/libflash.so: $(B)/impl/kernels/flash.o $(B)/impl/kernels/engine_flash_f32.o \
                       $(B)/impl/kernels/engine_flash_f64.o \
                       $(impl_frame) $(impl_vector) $(impl_twins) $(impl_portable) $(problem_objects)

$(B)/impl/libflash64.so: $(B)/impl/kernels/flash64.o $(B)/impl/kernels/engine_flash_f64.o $(impl_frame) \
                         $(impl_simd:%=$(B)/impl/micro/micro_wide_%.o) $(impl_twins) $(impl_portable) $(problem_objects)

# nodelete: parked helpers (pool.h) must not outlive their code
$(kernels): $(B)/impl/lib%.so: impl/exports.map
	@echo '  LD $@'
	$(CC) $(LDFLAGS) -shared -Wl,-z,nodelete,--version-script=impl/exports.map $(filter %.o,$^) -lm -lpthread -o $@

# The reference behind the ABI.
all: $(B)/impl/libreference.so
$(B)/impl/libreference.so: $(B)/impl/kernels/reference_kernel.o $(B)/libattn.a impl/exports.map
	@echo '  LD $@'
	$(CC) $(LDFLAGS) -shared -Wl,--version-script=impl/exports.map $(filter %.o %.a,$^) -lmpfr -lgmp -lm -o $@

# For the tests of micro-kernels, which no kernel exports.
$(B)/libmicro.a: $(impl_vector) $(impl_twins) $(impl_portable) $(B)/reference/problem/convert.o
	@rm -f $@
	@echo '  AR $@'
	$(AR) $(AR_FLAGS) $@ $^

include impl/right/rules.mk impl/wrong/rules.mk impl/wrong/generated/rules.mk impl/adapters/rules.mk
