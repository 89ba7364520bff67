# A thin front for Meson: each target also installs the Debian packages that it misses (packages.txt).
#   SETUP='--prefix=/usr -Dman=disabled'     options for `meson setup`; they also apply where BUILD exists
#   TESTS='model view'                       only these tests

BUILD ?= build
SETUP ?=
TESTS ?=

.PHONY: all help build configured packages packages-test packages-bench packages-deb demo test bench torture coverage install uninstall dist deb \
	test-deb format check-layers clean
.NOTPARALLEL: # ninja and meson run in parallel themselves; two package managers must not

all: build

help:
	@echo 'make               build weft in $(BUILD)/'
	@echo 'make demo          build, draw the example traces, say where the pictures are'
	@echo 'make test          build, run all tests; TESTS="model view" runs some'
	@echo 'make bench         build, compare speed with the peers (half an hour or more)'
	@echo 'make torture       build, kill and load the recorder for an hour or so'
	@echo 'make coverage      build the fuzzers, run their corpora, say how many lines of each component that ran'
	@echo 'make install       install (DESTDIR=, SETUP=--prefix=/usr)'
	@echo 'make uninstall     remove what that has installed'
	@echo 'make dist          a release tarball of the last commit, in $(BUILD)/meson-dist/'
	@echo 'make deb           Debian packages of the tree as it is, in $(BUILD)/deb/ (DEB_BUILD_OPTIONS=nocheck: no tests)'
	@echo 'make test-deb      the same of a release tarball; install, use and remove them (root)'
	@echo 'make format        format the C sources with clang-format 14'
	@echo 'make check-layers  check that no #include points up'
	@echo 'make clean         remove $(BUILD)/'

build: configured
	@meson compile -C $(BUILD)

packages:
	@tools/install-packages build

configured: packages
ifeq ($(wildcard $(BUILD)/build.ninja),)
	meson setup $(BUILD) $(SETUP)
else ifneq ($(strip $(SETUP)),)
	meson setup --reconfigure $(BUILD) $(SETUP)
endif

# A build directory from before the test packages were there knows nothing of cmocka.
$(BUILD)/with-tests: | packages-test configured
	meson setup --reconfigure $(BUILD) -Dtests=enabled
	@touch $@

packages-test:
	@tools/install-packages build test

packages-deb:
	@tools/install-packages build deb

packages-bench:
	@tools/install-packages build bench

demo: build
	tools/demo $(BUILD)

test: packages-test configured $(BUILD)/with-tests
	@tools/run-tests $(BUILD) $(TESTS)

# Nor does one from before the peers were there know them.
$(BUILD)/with-peers: | packages-bench configured
	meson setup --reconfigure $(BUILD)
	@touch $@

bench: packages-bench configured $(BUILD)/with-peers build
	bench/run $(BUILD)
	bench/run-explain $(BUILD)
	bench/run-sizes $(BUILD)
	bench/run-view $(BUILD)
	bench/run-record $(BUILD)
	bench/run-sample $(BUILD)
	bench/run-runtimes $(BUILD)
	bench/run-lwt $(BUILD)
	bench/run-libuv $(BUILD)
	bench/run-glib $(BUILD)
	bench/run-libevent $(BUILD)
	bench/run-threads $(BUILD)
	bench/run-watch $(BUILD)
	bench/run-epoll $(BUILD)
	bench/run-cxx $(BUILD)

torture: build
	tests/torture/run $(BUILD)

# A relative DESTDIR counts from here.
STAGED := $(if $(DESTDIR),DESTDIR='$(abspath $(DESTDIR))')

coverage:
	FUZZ_SECONDS=1 COVERAGE=yes STEPS=fuzz .ci/run

install: build
	$(STAGED) meson install -C $(BUILD) --no-rebuild

uninstall:
	@$(STAGED) tools/uninstall $(BUILD)

dist: configured
	meson dist -C $(BUILD) --no-tests --formats xztar

deb: packages-deb
	tools/make-deb $(BUILD)/deb

test-deb: packages-deb configured
	tests/package/run $(BUILD)

format:
	@tools/install-packages ci
	@tools/format

check-layers:
	@tools/check-layers

clean:
	rm -rf $(BUILD)
