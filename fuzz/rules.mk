# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: one binary each, in four builds of the whole tree. This file is read in all of them.
#   build/fuzz        libFuzzer, ASan, UBSan          build/fuzz-afl    AFL++, ASan
#   build/fuzz-alone  no engine, ASan, UBSan          build/fuzz-cover  no engine, source coverage

fuzz_kernels := $(kernel_names)
fuzz_structured := reference oracles check
fuzz_readers := safetensors manifest onnx wire protocol profile arguments reports
fuzz_targets := $(fuzz_kernels) $(fuzz_structured) $(fuzz_readers)
fuzz_programs := $(addprefix $(B)/fuzz/,$(fuzz_targets) any)

fuzz_core := $(patsubst %,$(B)/fuzz/core/%.o,decode fill examine relations poison observe mutate \
               shrink found profiles)
fuzz_attn := $(B)/libattn.a
fuzz_engine :=
fuzz_rpath := $$ORIGIN/../impl
fuzz_libraries := -lprotobuf-c -ljansson -lsodium -lmpfr -lgmp -lm -lpthread -ldl
fuzz_link = @echo '  LD $@'; \
  $(CC) $(OPT) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(fuzz_engine) \
  -Wl,-rpath,'$(fuzz_rpath)'

# Where inputs have no words to find, tracing comparisons only costs half of the speed.
$(B)/fuzz/%.o $(B)/reference/%.o $(B)/impl/%.o: CFLAGS += $(fuzz_quiet)

$(B)/generated/profiles.inc: fuzz/core/profiles.py spec/profile.schema.json $(wildcard spec/profiles/*.json)
	@mkdir -p $(@D)
	$(PYTHON) fuzz/core/profiles.py $(filter spec/profiles/%,$^) > $@
$(B)/fuzz/core/profiles.o: $(B)/generated/profiles.inc

# The certifier's own parts, without its main program.
$(patsubst %.c,$(B)/%.o,$(wildcard fuzz/targets/*.c)): | $(B)/generated/classes.inc
$(B)/fuzz/libcertify.a: $(filter-out $(B)/certify/cli/main.o,$(attest_objects)) $(gsl_objects)
	@rm -f $@
	$(AR) $(AR_FLAGS) $@ $^

# What a vendor links: everything but the kernel. No GSL; MPFR by weak reference (mpfr_optional.c).
fuzz_vendor := $(B)/fuzz/core/structured.o $(B)/fuzz/targets/kernel_target.o $(fuzz_core) $(B)/fuzz/core/mpfr_optional.o

$(B)/libattest_fuzz.a: $(fuzz_vendor) $(B)/libattn.a
	@rm -rf $@ $(B)/fuzz/attn && mkdir -p $(B)/fuzz/attn
	@echo '  AR $@'
	cd $(B)/fuzz/attn && $(AR) x $(abspath $(B)/libattn.a) && rm oracle_mpfr.o
	$(AR) $(AR_FLAGS) $@ $(fuzz_vendor) $(B)/fuzz/attn/*.o

fuzz_entry := $(if $(fuzz_alone),$(B)/fuzz/core/driver.o)

$(fuzz_kernels:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/core/structured.o $(B)/fuzz/targets/kernel_target.o \
    $(fuzz_core) $(fuzz_entry) $(fuzz_attn) | $(B)/impl/lib%.so
	$(fuzz_link) -L$(B)/impl -l:lib$*.so $(fuzz_libraries) -o $@

$(B)/fuzz/any: $(B)/fuzz/core/structured.o $(B)/fuzz/targets/kernel_target.o $(B)/fuzz/core/load_kernel.o $(fuzz_core) \
    $(fuzz_entry) $(fuzz_attn)
	$(fuzz_link) $(fuzz_libraries) -o $@

$(fuzz_structured:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/targets/%_target.o $(B)/fuzz/core/structured.o \
    $(B)/fuzz/core/scratch.o $(B)/fuzz/core/reference_as_kernel.o $(fuzz_core) $(fuzz_entry) \
    $(B)/libvectors.a $(fuzz_attn)
	$(fuzz_link) $(fuzz_gsl) $(fuzz_libraries) -o $@
$(B)/fuzz/oracles: $(gsl_objects)
$(B)/fuzz/oracles: fuzz_gsl := -lgsl -lgslcblas

$(fuzz_readers:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/targets/%_target.o $(B)/fuzz/core/bytes.o \
    $(B)/fuzz/core/scratch.o $(fuzz_core) $(fuzz_entry) $(B)/fuzz/libcertify.a $(B)/libvectors.a \
    $(fuzz_attn)
	$(fuzz_link) -lgsl -lgslcblas $(fuzz_libraries) -o $@

.PHONY: fuzz-programs
fuzz-programs: $(fuzz_programs) $(B)/libattest_fuzz.a

# ------------------------------------------------------------------------- from the ordinary build
FUZZ_CC := $(firstword $(notdir $(shell command -v clang-19 clang)) clang-19)
TIME ?= 60
TARGET ?= $(fuzz_targets)
fuzz_make = +$(MAKE) --no-print-directory CC=$(FUZZ_CC) OPT=-O1

.PHONY: fuzz fuzz-build fuzz-alone fuzz-cover fuzz-afl fuzz-regress fuzz-grow fuzz-test fuzz-long \
    fuzz-mutants
fuzz-build:
	$(fuzz_make) B=build/fuzz SAN=fuzzer-no-link,address,undefined \
	    fuzz_engine=-fsanitize=fuzzer,address,undefined \
	    fuzz_quiet=-fno-sanitize-coverage=trace-cmp fuzz-programs \
	    build/fuzz/mutants/mask-window-left-exclusive.so

fuzz-alone:
	$(fuzz_make) B=build/fuzz-alone SAN=address,undefined fuzz_alone=1 fuzz-programs

fuzz-cover:
	$(fuzz_make) B=build/fuzz-cover OPT='-O1 -fprofile-instr-generate -fcoverage-mapping' \
	    LDFLAGS=-fprofile-instr-generate fuzz_alone=1 fuzz-programs

# With ASan where the compiler behind AFL++ has its run time.
AFL_TARGETS ?= $(fuzz_targets) any
fuzz-afl: ## build the fuzz targets for AFL++, in build/fuzz-afl/fuzz
	@mkdir -p build/fuzz-afl
	+echo 'int main(void) { return 0; }' | AFL_QUIET=1 afl-clang-fast -fsanitize=address -x c - \
	    -o build/fuzz-afl/has-asan 2>/dev/null && san=address; \
	AFL_QUIET=1 $(MAKE) --no-print-directory CC=afl-clang-fast OPT=-O1 B=build/fuzz-afl SAN=$$san \
	    fuzz_engine=-fsanitize=fuzzer $(AFL_TARGETS:%=build/fuzz-afl/fuzz/%)
	$(CC) -std=c11 -O2 $(WARNINGS) -fPIC -shared -I. fuzz/core/afl_mutator.c \
	    fuzz/core/mutate.c -o build/fuzz-afl/afl_mutator.so

fuzz: fuzz-build ## fuzz TARGET=flash (default: all, in turn) for TIME=60 seconds each
	$(PYTHON) fuzz/run fuzz $(TARGET) --time $(TIME)

fuzz-regress: fuzz-alone ## run the fuzz corpus without an engine, under ASan and UBSan
	$(PYTHON) fuzz/run regress $(TARGET)

fuzz-grow: fuzz-build ## fuzz TARGET for TIME seconds and keep a minimal corpus in the tree
	$(PYTHON) fuzz/engine/seeds.py build/fuzz-corpus
	$(PYTHON) fuzz/run grow $(TARGET) --time $(TIME)

fuzz-test: fuzz-build fuzz-alone fuzz-cover
	$(PYTHON) fuzz/run test

fuzz-mutants: fuzz-build ## how long the fuzzer alone needs for each mutant; resumes where it stopped
	$(fuzz_make) B=build/fuzz SAN=fuzzer-no-link,address,undefined \
	    fuzz_quiet=-fno-sanitize-coverage=trace-cmp mutant-kernels
	$(PYTHON) fuzz/run mutants --time 60
	$(PYTHON) fuzz/run tables

fuzz-long: fuzz-build ## ten minutes of CPU time of each target; resumes where it stopped
	$(PYTHON) fuzz/run long --time 600
	$(PYTHON) fuzz/run tables

.PHONY: fuzz-oss
fuzz-oss: ## run the build script of OSS-Fuzz in a fresh clone, then each target it makes
	fuzz/oss-fuzz/check.sh
check-full: fuzz-mutants fuzz-long fuzz-oss
