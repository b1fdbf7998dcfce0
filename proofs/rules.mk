# SPDX-License-Identifier: Apache-2.0
# The proofs. `make prove CLAIM=C4` runs one claim; PROVE_JOBS sets how many run at a time.

.PHONY: prove prove-quick prove-long sabotage claims

prove: ## re-check every claim (CLAIM=C4: one), under 25 minutes on two cores
	@eval "$$(ci/deps --env)" && $(PYTHON) proofs/run $(addprefix --claim ,$(CLAIM)) \
	    $(if $(PROVE_JOBS),--jobs $(PROVE_JOBS))

prove-quick: ## the quick proofs and their twins, under 90 seconds
	@eval "$$(ci/deps --env)" && $(PYTHON) proofs/run --quick $(if $(PROVE_JOBS),--jobs $(PROVE_JOBS))

prove-long: ## the proofs that take longer; goes on where it was stopped
	@eval "$$(ci/deps --env)" && $(PYTHON) proofs/run --long --resume \
	    $(if $(PROVE_JOBS),--jobs $(PROVE_JOBS))
check-full: prove-long

sabotage: ## ask the proofs about edits that break the sources; goes on where it was stopped
	@eval "$$(ci/deps --env)" && $(PYTHON) proofs/sabotage/run --tests
check-full: sabotage

claims: ## write spec/claims.md and spec/sabotage.md from what is on record
	@$(PYTHON) proofs/runner/page.py > spec/claims.md.new && mv spec/claims.md.new spec/claims.md
	@$(PYTHON) proofs/sabotage/report.py > spec/sabotage.md.new && mv spec/sabotage.md.new spec/sabotage.md
