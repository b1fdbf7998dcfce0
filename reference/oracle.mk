# SPDX-License-Identifier: Apache-2.0
# libattn_gsl.a: the second oracle, apart from libattn.a because it links GSL.

gsl_objects := $(patsubst %.c,$(B)/%.o,$(wildcard reference/oracle_gsl*.c))

all: $(B)/libattn_gsl.a

$(B)/libattn_gsl.a: $(gsl_objects)
	@rm -f $@
	$(AR) $(AR_FLAGS) $@ $^
