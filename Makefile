# SPDX-License-Identifier: Apache-2.0
# attest: the conformance suite for masked attention. `make help` lists what there is to do.

# What the goals need is installed before anything else is read, because rules ask the compilers and
# the headers. A complete installation costs a few milliseconds; `make DEPS=` leaves it out.
goals := $(or $(MAKECMDGOALS),all)
DEPS ?= $(if $(filter-out help clean print-build claims power,$(goals)),build) \
        $(if $(filter test run-tests check-full fuzz fuzz-%,$(goals)),fuzz) \
        $(if $(filter test run-tests check-full prove prove-%,$(goals)),prove) \
        $(if $(filter test run-tests check-full vectors-arm,$(goals)),cross) \
        $(if $(filter bench bench-quick,$(goals)),bench) \
        $(if $(filter matrix-install,$(goals)),matrix) \
        $(if $(filter wheel deb check-full,$(goals)),package) \
        $(if $(filter check-full check-views check-recipes pictures,$(goals)),reports) \
        $(if $(filter lint format test run-tests check-full,$(goals)),lint)
asking := $(filter n p q,$(shell printf '%s' '$(firstword -$(MAKEFLAGS))' | sed '/^--/d; s/./& /g'))
ifneq ($(and $(strip $(DEPS)),$(if $(asking),,install)),)
$(shell ci/deps $(DEPS) >&2)
ifneq ($(.SHELLSTATUS),0)
$(error ci/deps could not install what is needed; see above)
endif
endif

ifeq ($(origin CC),default)
CC := gcc
endif
OPT ?= -O2
SAN ?=
PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
comma := ,
variant := $(if $(filter-out gcc,$(CC)),$(CC)$(OPT),$(if $(filter-out -O2,$(OPT)),gcc$(OPT),default))
B := build/$(variant)$(if $(SAN),-san-$(subst $(comma),-,$(SAN)))

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror
CFLAGS = -std=c11 $(OPT) -g $(WARNINGS) -ffp-contract=off -fno-math-errno \
         $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CPPFLAGS = -I. -I$(B) -MMD -MP # of $(B): generated/ alone
LDFLAGS = $(if $(SAN),-fsanitize=$(SAN))
AR_FLAGS := rcsD

export PATH := $(CURDIR)/.tools/bin:$(PATH)
export WHY3CONFIG := $(CURDIR)/.tools/why3.conf

ifndef V
.SILENT: # `make V=1` shows the commands
endif
.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:

.PHONY: all help clean test certify check-full exhaustive format lint
all: ## build everything

help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sort -u | sed 's/:.*## /\t/' | expand -t 24

check-full: ## what takes hours: long proofs, all mutants, fuzzing; goes on where it was stopped

format: ## format C as .clang-format says
	ci/lint --format

lint_needs := compile_commands.json $(addprefix $(B)/generated/,requirements.inc profiles.inc classes.inc onnx.pb-c.c)
lint: $(lint_needs) ## check habits: format, clang-tidy, shell, Python, layers, names, lengths
	ci/lint

# For editors and clang-tidy. A new source is known by its folder's time.
compile_commands.json: ci/compile-commands $(sort $(MAKEFILE_LIST) $(wildcard */rules.mk tests/*.mk) $(filter-out build/%,$(wildcard */ */*/)))
	@echo '  GEN $@'
	ci/compile-commands B=$(B) all run-tests fuzz-programs > $@

clean: ## remove what was built (not the tools that were installed)
	rm -rf build

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC $@'
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -c $< -o $@

# A folder uses what the ones before it define.
include $(addsuffix /rules.mk,reference vectors impl certify fuzz proofs python bench tests)
include tests/support.mk tests/exhaustive.mk

-include $(shell test -d $(B) && find $(B) -name '*.d')
