# SPDX-License-Identifier: Apache-2.0
# libvectors.a: readers of vector files, other people's included.

vectors_objects := $(patsubst %.c,$(B)/%.o,$(wildcard vectors/*.c)) $(B)/vectors/onnx.pb-c.o

all: $(B)/libvectors.a

$(B)/libvectors.a: $(vectors_objects)
	@rm -f $@
	$(AR) $(AR_FLAGS) $@ $^

$(B)/vectors/onnx.pb-c.c: vectors/onnx.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=$(<D) --c_out=$(@D) $<

# Generated code: our warnings are not for it.
$(B)/vectors/onnx.pb-c.o: $(B)/vectors/onnx.pb-c.c
	$(CC) $(CFLAGS) -Wno-conversion -fPIC -c $< -o $@

$(B)/vectors/onnx_read.o: $(B)/vectors/onnx.pb-c.c
$(B)/vectors/%.o: CPPFLAGS += -I$(B)/vectors

.PHONY: print-build
print-build: # where this variant is built
	@echo $(B)
