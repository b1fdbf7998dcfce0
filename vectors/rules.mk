# SPDX-License-Identifier: Apache-2.0
# libvectors.a: readers of vector files, other people's included, and all that the generator needs
# but GSL. `vectors` rebuilds the corpus in place; CI compares a fresh one byte by byte.

vectors_sources := $(filter-out vectors/write/generate.c,$(wildcard vectors/read/*.c vectors/write/*.c \
                     vectors/onnx/*.c))
vectors_objects := $(vectors_sources:%.c=$(B)/%.o) $(B)/generated/onnx.pb-c.o

all: $(B)/libvectors.a $(B)/vectors/generate $(B)/vectors/examples/check

$(B)/libvectors.a: $(vectors_objects)
	@rm -f $@
	@echo '  AR $@'
	$(AR) $(AR_FLAGS) $@ $^

$(B)/generated/onnx.pb-c.c: vectors/onnx/onnx.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=$(<D) --c_out=$(@D) $<

# Generated code: our warnings are not for it.
$(B)/generated/onnx.pb-c.o: $(B)/generated/onnx.pb-c.c
	$(CC) $(CFLAGS) -Wno-conversion -fPIC -c $< -o $@

$(B)/vectors/onnx/onnx_read.o: $(B)/generated/onnx.pb-c.c

$(B)/vectors/generate: $(B)/vectors/write/generate.o $(B)/libvectors.a $(B)/libattn.a
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -lgsl -lgslcblas -ljansson -lsodium -lmpfr -lgmp -lm -lpthread -o $@

$(B)/vectors/examples/check: $(B)/vectors/examples/check_kernel.o $(B)/libvectors.a $(B)/libattn.a
	@echo '  LD $@'
	$(CC) $(LDFLAGS) $^ -ljansson -lsodium -lm -lpthread -ldl -o $@

# Which compiled mutants each vector kills is measured, not derived.
vectors_mutants := $(wildcard vectors/mutants.json)

.PHONY: vectors vectors-fresh vectors-everywhere vectors-arm vectors-power print-build
vectors: $(B)/vectors/generate ## write the golden vectors again, byte for byte
	$< vectors spec/profiles $(vectors_mutants)

vectors-fresh: $(B)/vectors/generate
	@mkdir -p $(B)/corpus
	@$< $(B)/corpus spec/profiles $(vectors_mutants)

vectors-everywhere: ## the same bytes with gcc and clang, at -O0 and -O3
	tests/test_vectors_fresh.sh everywhere

vectors-arm: ## the same bytes on AArch64, under qemu-user
	vectors/aarch64.sh

check-full: vectors-everywhere vectors-arm

# Run `make vectors` afterwards: the manifest repeats what was measured.
vectors-power: $(B)/vectors/examples/check mutant-kernels ## measure which mutants each vector kills
	$(PYTHON) vectors/measure.py $(B)

print-build: # where this variant is built
	@echo $(B)
