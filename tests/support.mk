# SPDX-License-Identifier: Apache-2.0
# What several tests share, linked into every test program. (Read after rules.mk.)

test_support := $(patsubst %.c,$(B)/%.o,tests/random_problem.c)
test_libraries := $(B)/libattn_test.a $(test_libraries)

$(test_programs): $(B)/libattn_test.a

$(B)/libattn_test.a: $(test_support)
	@rm -f $@
	$(AR) $(AR_FLAGS) $@ $^
