# A thin front for Meson: each target also installs the Debian packages that it misses (packages.txt).
#   SETUP='--prefix=/usr -Dman=disabled'     options for `meson setup`, when BUILD does not exist yet
#   TESTS='model view'                       only these tests

BUILD ?= build
SETUP ?=
TESTS ?=

.PHONY: all help build packages packages-test packages-bench demo test bench torture install format check-layers clean
.NOTPARALLEL: # ninja and meson run in parallel themselves; two package managers must not

all: build

help:
	@echo 'make               build weft in $(BUILD)/'
	@echo 'make demo          build, draw the example traces, say where the pictures are'
	@echo 'make test          build, run all tests; TESTS="model view" runs some'
	@echo 'make bench         build, compare speed with the peers (a quarter of an hour)'
	@echo 'make torture       build, kill and load the recorder for an hour or so'
	@echo 'make install       install (DESTDIR=, SETUP=--prefix=/usr)'
	@echo 'make format        format the C sources with clang-format'
	@echo 'make check-layers  check that no #include points up'
	@echo 'make clean         remove $(BUILD)/'

build: packages $(BUILD)/build.ninja
	@meson compile -C $(BUILD)

packages:
	@tools/install-packages build

$(BUILD)/build.ninja: | packages
	meson setup $(BUILD) $(SETUP)

# A build directory from before the test packages were there knows nothing of cmocka.
$(BUILD)/with-tests: | packages-test $(BUILD)/build.ninja
	meson setup --reconfigure $(BUILD) -Dtests=enabled
	@touch $@

packages-test:
	@tools/install-packages build test

packages-bench:
	@tools/install-packages build bench

demo: build
	tools/demo $(BUILD)

test: packages-test $(BUILD)/with-tests
	@tools/run-tests $(BUILD) $(TESTS)

# Nor does one from before the peers were there know them.
$(BUILD)/with-peers: | packages-bench $(BUILD)/build.ninja
	meson setup --reconfigure $(BUILD)
	@touch $@

bench: packages-bench $(BUILD)/with-peers build
	bench/run $(BUILD)
	bench/run-explain $(BUILD)
	bench/run-view $(BUILD)
	bench/run-record $(BUILD)
	bench/run-sample $(BUILD)

torture: build
	tests/torture/run $(BUILD)

install: build
	meson install -C $(BUILD) --no-rebuild

format:
	@tools/install-packages ci
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs -r clang-format -i

check-layers:
	@tools/check-layers

clean:
	rm -rf $(BUILD)
