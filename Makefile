# A thin face on CMake and Ninja. `make help` lists what there is.
.DEFAULT_GOAL := build
BUILD ?= build
PREFIX ?= /usr/local
DEPS = cmake ninja-build gcc pkg-config libsqlite3-dev libjansson-dev libxxhash-dev nettle-dev python3
DEPS_TEST = clang clang-format libcmocka-dev valgrind sqlite3 gdb locales
.PHONY: help deps deps-test build test sanitize soak demo bench install clean format

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 24

deps: ## install what build and demo need
	@tools/deps $(DEPS)

deps-test: deps ## install what the tests need as well
	@tools/deps $(DEPS) $(DEPS_TEST)

$(BUILD)/build.ninja: | deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_ARGS) >$(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; rm -f $(BUILD).configure.log; exit 1; }
	@rm -f $(BUILD).configure.log

build: $(BUILD)/build.ninja ## build build/tenure, build/libtenure.a, build/libtenure.so
	@ninja -C $(BUILD) --quiet

test: deps-test build ## every test; the last line says `N passed, N failed`
	@tests/run $(BUILD)

sanitize: deps-test ## the suite under address + undefined, then under thread sanitizer
	@tests/run-sanitized

soak: deps-test build ## the long runs
	@tests/run-soak $(BUILD)

demo: build ## the main job on real data, with a kill and a join while it works
	@python3 examples/demo/demo.py --build $(BUILD) $(DEMO_ARGS)

bench: deps-test build ## measured ratios against peers in the same run
	@bench/run $(BUILD)

install: build ## install under PREFIX (DESTDIR honoured)
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## lay out all C files
	@clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	@rm -rf $(BUILD) build-*
