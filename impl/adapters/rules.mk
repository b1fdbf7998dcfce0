# SPDX-License-Identifier: Apache-2.0
# The matrix: other people's kernels, each family in an environment of its own. Goes on where it was
# stopped. ENV="torch jax", KERNELS="torch-sdpa" restrict it (on make's command line), JOBS= is how many
# at once.

matrix_of = $(PYTHON) -B impl/adapters/matrix.py $(1) --build $(B) --jobs $(or $(JOBS),2)
from_line = $(if $(filter command line,$(origin $(1))),$($(1)))

.PHONY: matrix matrix-install matrix-page matrix-record
matrix-install: ## install the frameworks of the matrix, each in an environment of its own (ENV=)
	$(call matrix_of,install) $(patsubst %,--only %,$(call from_line,ENV))

matrix: all ## certify the world's kernels in impl/adapters; goes on where it was stopped (KERNELS=)
	$(call matrix_of,run) $(patsubst %,--only %,$(call from_line,KERNELS))

matrix-page: ## write spec/matrix.md and build/matrix/index.html from impl/adapters/results.json
	$(call matrix_of,page)

matrix-record: ## take what make matrix measured into impl/adapters/results.json, whatever is missing
	$(call matrix_of,record)
