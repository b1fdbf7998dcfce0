# SPDX-License-Identifier: Apache-2.0
# Fuzz targets. Each is one binary in each of the builds below; this file is read in all of them.
#   build/fuzz        libFuzzer, ASan, UBSan          build/fuzz-afl    AFL++, ASan
#   build/fuzz-alone  no engine, ASan, UBSan          build/fuzz-cover  no engine, source coverage

fuzz_kernels := naive tiled flash
fuzz_core := $(patsubst %,$(B)/fuzz/%.o,decode fill examine relations poison observe mutate shrink \
               found profiles)

$(B)/fuzz/%.o: CPPFLAGS += -Ifuzz -I$(B)/fuzz -Ivectors -Icertify -I$(B)/certify

$(B)/fuzz/profiles.inc: fuzz/profiles.py $(wildcard spec/profiles/*.json)
	@mkdir -p $(@D)
	$(PYTHON) fuzz/profiles.py $(filter %.json,$^) > $@
$(B)/fuzz/profiles.o: $(B)/fuzz/profiles.inc

fuzz_engine ?=
fuzz_link = $(CC) $(OPT) $(LDFLAGS) $(filter %.o %.a,$^) $(fuzz_engine)

$(fuzz_kernels:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/kernel_target.o $(fuzz_core) \
                                            $(B)/impl/lib%.so $(B)/libattn.a $(fuzz_driver)
	@echo '  LD $@'
	$(fuzz_link) -L$(B)/impl -l:lib$*.so -Wl,-rpath,'$$ORIGIN/../impl' -lmpfr -lgmp -lm -lpthread -o $@
