# SPDX-License-Identifier: Apache-2.0
# What is installed, and where. The program finds its own files relative to itself, so the tree can be
# moved. The Python package holds the same tree.

PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
suite_version := $(shell sed -n 's/^\#define ATTEST_SUITE_VERSION "\(.*\)"/\1/p' certify/result/report.h)
private := $(DESTDIR)$(PREFIX)/lib/attest
shared := $(DESTDIR)$(PREFIX)/share/attest

installed := $(attest_programs) $(kernels) $(B)/impl/libreference.so $(python_sources:%=$(B)/%)
installed_fuzz := $(B)/libattest_fuzz.a

.PHONY: install install-programs install-development
install: install-programs install-development ## install below $(DESTDIR)$(PREFIX), default /usr/local

install-programs: $(installed)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec $(private)/python/attest_attention \
	    $(shared)/profiles $(shared)/vectors
	install $(B)/attest $(DESTDIR)$(PREFIX)/bin
	install $(B)/attest-worker $(DESTDIR)$(PREFIX)/libexec
	install -m 644 $(filter %.so,$(installed)) $(private)
	install -m 644 $(python_sources) $(private)/python/attest_attention
	install -m 644 spec/profiles/*.json $(shared)/profiles
	install -m 644 spec/*.schema.json $(shared)
	install -m 644 vectors/data/*.safetensors vectors/manifest.json $(shared)/vectors

install-development: $(installed_fuzz)
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig \
	    $(DESTDIR)$(LIBDIR)/cmake/attest $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 spec/attest.h $(DESTDIR)$(PREFIX)/include
	install -m 644 $(installed_fuzz) $(DESTDIR)$(LIBDIR)
	install -m 644 certify/attest.1 $(DESTDIR)$(PREFIX)/share/man/man1
	for name in attest attest-fuzz; do \
	    sed 's#@PREFIX@#$(PREFIX)#; s#@LIBDIR@#$(LIBDIR)#; s#@VERSION@#$(suite_version)#' \
	        python/install/$$name.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/$$name.pc || exit 1; \
	done
	install -m 644 python/install/attestConfig.cmake $(DESTDIR)$(LIBDIR)/cmake/attest
	sed 's#@VERSION@#$(suite_version)#' python/install/attestConfigVersion.cmake.in \
	    > $(DESTDIR)$(LIBDIR)/cmake/attest/attestConfigVersion.cmake

.PHONY: wheel wheel-old deb try-packages
wheel: ## build the Python package attest-attention in build/dist, and check it
	python/wheel
wheel-old: ## the same in a root of Debian 11: for every Linux since 2020
	rm -rf build/dist/attest_attention-*
	ci/bare --release bullseye --take build/dist make wheel
deb: ## build the Debian package in build/dist, with lintian
	python/deb

# What was built, where there is no compiler, as a user would install it.
try-packages: wheel-old deb
	ci/bare --plain --with build/dist python/try $(CURDIR)/build/dist/*.whl $(CURDIR)/build/dist/attest_[0-9]*.deb
	ci/bare --release trixie --plain --with build/dist python/try $(CURDIR)/build/dist/*.whl
check-full: try-packages
