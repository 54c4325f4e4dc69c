# A thin face on CMake and Ninja. `make help` lists what there is.
.DEFAULT_GOAL := build
BUILD ?= build
PREFIX ?= /usr/local
DEPS = cmake ninja-build gcc pkg-config libsqlite3-dev libjansson-dev libxxhash-dev nettle-dev python3
DEPS_TEST = clang libclang-rt-14-dev clang-format libcmocka-dev valgrind sqlite3 gdb locales
.PHONY: help deps deps-test configure build build-tests test sanitize soak demo bench install clean format

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 24

deps: ## install what build and demo need
	@tools/deps $(DEPS)

deps-test: deps ## install what the tests need as well
	@tools/deps $(DEPS) $(DEPS_TEST)

# Configuring is quiet unless it fails. $(1): more arguments
configure = @cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(1) $(CMAKE_ARGS) >.configure.log 2>&1 \
  || { cat .configure.log; rm -f .configure.log; exit 1; }; rm -f .configure.log

build: deps ## build build/tenure, build/libtenure.a, build/libtenure.so
	@[ -f $(BUILD)/build.ninja ] || $(MAKE) --no-print-directory configure
	@ninja -C $(BUILD) --quiet

configure:
	$(call configure,)

build-tests: deps-test
	$(call configure,-DTENURE_TESTS=ON)
	@ninja -C $(BUILD) --quiet

test: build-tests ## every test (2 to 5 minutes); the last line says `N passed, N failed`
	@tests/run $(BUILD)

sanitize: deps-test ## the suite under address + undefined, then under thread sanitizer
	@tests/run-sanitized

soak: build-tests ## the long runs
	@tests/run-soak $(BUILD)

demo: build ## the main job on real data: a join, a kill, a leave and a pause while it works; audited (90 s)
	@python3 examples/demo/demo.py --build $(BUILD) $(DEMO_ARGS)

bench: build-tests ## measured ratios against peers in the same run
	@bench/run $(BUILD)

install: build ## install under PREFIX (DESTDIR honoured)
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## lay out all C files
	@clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	@rm -rf $(BUILD) build-*
