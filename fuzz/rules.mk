# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: one binary each, in four builds of the whole tree. This file is read in all of them.
#   build/fuzz        libFuzzer, ASan, UBSan          build/fuzz-afl    AFL++, ASan
#   build/fuzz-alone  no engine, ASan, UBSan          build/fuzz-cover  no engine, source coverage

fuzz_kernels := naive tiled flash
fuzz_structured := reference oracles check
fuzz_readers := safetensors manifest onnx wire protocol profile arguments reports
fuzz_targets := $(fuzz_kernels) $(fuzz_structured) $(fuzz_readers)
fuzz_programs := $(addprefix $(B)/fuzz/,$(fuzz_targets) any)

fuzz_core := $(patsubst %,$(B)/fuzz/%.o,decode fill examine relations poison observe mutate shrink \
               found profiles)
fuzz_attn := $(B)/libattn.a
fuzz_engine :=
fuzz_libraries := -lprotobuf-c -ljansson -lsodium -lmpfr -lgmp -lm -lpthread -ldl
fuzz_link = @echo '  LD $@'; \
  $(CC) $(OPT) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(fuzz_engine)

$(B)/fuzz/%.o: CPPFLAGS += -Ifuzz -I$(B)/fuzz -Ivectors -Icertify -I$(B)/certify

$(B)/fuzz/profiles.inc: fuzz/profiles.py $(wildcard spec/profiles/*.json)
	@mkdir -p $(@D)
	$(PYTHON) fuzz/profiles.py $(filter %.json,$^) > $@
$(B)/fuzz/profiles.o: $(B)/fuzz/profiles.inc

# The certifier's own parts, without its main program.
$(B)/fuzz/libcertify.a: $(filter-out $(B)/certify/main.o,$(attest_objects))
	@rm -f $@
	$(AR) $(AR_FLAGS) $@ $^

# What a vendor links: everything but the kernel. Nothing in it needs GSL.
$(B)/libattest_fuzz.a: $(B)/fuzz/structured.o $(B)/fuzz/kernel_target.o $(fuzz_core) \
                       $(filter-out $(B)/reference/oracle_mpfr.o,$(reference_objects)) \
                       $(B)/fuzz/mpfr_optional.o
	@rm -f $@
	@echo '  AR $@'
	$(AR) $(AR_FLAGS) $@ $^

fuzz_entry := $(if $(fuzz_alone),$(B)/fuzz/driver.o)

$(fuzz_kernels:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/structured.o $(B)/fuzz/kernel_target.o \
    $(fuzz_core) $(fuzz_entry) $(fuzz_attn) | $(B)/impl/lib%.so
	$(fuzz_link) -L$(B)/impl -l:lib$*.so -Wl,-rpath,'$$ORIGIN/../impl' $(fuzz_libraries) -o $@

$(B)/fuzz/any: $(B)/fuzz/structured.o $(B)/fuzz/kernel_target.o $(B)/fuzz/load.o $(fuzz_core) \
    $(fuzz_entry) $(fuzz_attn)
	$(fuzz_link) $(fuzz_libraries) -o $@

$(fuzz_structured:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/%_target.o $(B)/fuzz/structured.o \
    $(B)/fuzz/scratch.o $(B)/fuzz/reference_kernel.o $(fuzz_core) $(fuzz_entry) \
    $(B)/libvectors.a $(fuzz_attn)
	$(fuzz_link) $(fuzz_gsl) $(fuzz_libraries) -o $@
$(B)/fuzz/oracles: $(patsubst %.c,$(B)/%.o,$(wildcard reference/oracle_gsl*.c))
$(B)/fuzz/oracles: fuzz_gsl := -lgsl -lgslcblas

$(fuzz_readers:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/%_target.o $(B)/fuzz/bytes.o \
    $(B)/fuzz/scratch.o $(fuzz_core) $(fuzz_entry) $(B)/fuzz/libcertify.a $(B)/libvectors.a \
    $(fuzz_attn)
	$(fuzz_link) -lgsl -lgslcblas $(fuzz_libraries) -o $@

.PHONY: fuzz-programs
fuzz-programs: $(fuzz_programs) $(B)/libattest_fuzz.a
