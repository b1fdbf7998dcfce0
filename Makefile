# SPDX-License-Identifier: Apache-2.0
# attest: the conformance suite for masked attention. `make help` lists what there is to do.

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
CPPFLAGS = -Ispec -Ireference -MMD -MP
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

.PHONY: all help clean deps test certify check-full exhaustive
all: ## build everything

help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sort -u | sed 's/:.*## /\t/' | expand -t 18

deps:
	@ci/deps build

clean: ## remove what was built (not the tools that were installed)
	rm -rf build

include $(sort $(wildcard */rules.mk tests/*.mk))

-include $(shell test -d $(B) && find $(B) -name '*.d')
