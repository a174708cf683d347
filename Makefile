# `make demo` and `make test` set everything up on a machine with Python 3.11, g++ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One worker more than there are processors: some tests wait. Who has nothing left takes from the others.
PYTEST := $(BIN)/pytest -n $(shell expr $$(nproc) + 1) --dist worksteal
WHEEL := build/wheel
READY := $(VENV)/installed $(VENV)/tools
SOURCES := $(shell find src native editor -type f -not -name '*.so' -not -path '*/__pycache__/*' -not -path 'editor/vendor/*' -not -path 'editor/vscode/*') pyproject.toml CMakeLists.txt
CXX_SOURCES := $(shell find native tests/native -name '*.cpp' -o -name '*.hpp')
# Reads each source by itself; native/engine/python needs nanobind, which is there only during a build.
TIDY := xargs -P "$$(nproc)" -I FILE $(BIN)/clang-tidy --quiet FILE -- -std=gnu++20 -mcx16 -Inative

.PHONY: demo test test-all test-sanitized test-threads fuzz-bytecode mutants coverage bench wheel vscode docs lint format clean

demo: $(VENV)/installed
	@echo '$$ fencepost robust examples/rocker/peterson-sc.tpl --svg peterson.svg'
	@$(BIN)/fencepost robust examples/rocker/peterson-sc.tpl --svg peterson.svg; test $$? -eq 1
	@echo 'The picture of this run is in peterson.svg.'

test: $(READY)
	$(PYTEST) $(TESTS)

test-all: $(READY)
	$(PYTEST) -m 'slow or not slow'

bench: $(VENV)/installed
	$(BIN)/python benchmarks/explorer.py
	$(BIN)/python benchmarks/reductions.py
	$(BIN)/python benchmarks/rotation.py
	$(BIN)/python benchmarks/tso_table1.py
	$(BIN)/python benchmarks/tso_criteria.py
	$(BIN)/python benchmarks/tso_scaling.py
	$(BIN)/python benchmarks/sra.py
	$(BIN)/python benchmarks/versus_spin.py
	$(BIN)/python benchmarks/families.py
	$(BIN)/python benchmarks/workers.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/any_number.py
	$(BIN)/python benchmarks/outcomes.py
	$(BIN)/python benchmarks/hardware.py
	$(BIN)/python benchmarks/sanitizer.py
	$(BIN)/python benchmarks/check.py
	$(BIN)/python benchmarks/relax.py

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	find native -name '*.cpp' -not -path '*/python/*' -not -path '*/races/*' -not -name plain_accesses.cpp | $(TIDY)
	find native -name '*.cpp' -path '*/races/*' | $(TIDY) -DFENCEPOST_RACES
	find native -name plain_accesses.cpp | $(TIDY) -DFENCEPOST_FULL

format: $(VENV)/tools
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/clang-format -i $(CXX_SOURCES)

# What is published: a wheel that needs no compiler and runs on other Linux machines, and the sources, with which the
# package builds without a network.
wheel: $(READY)
	rm -rf dist/*.whl dist/*.tar.gz
	PATH="$(abspath $(BIN)):$$PATH" auditwheel repair --wheel-dir dist $(WHEEL)/*.whl
	$(BIN)/python editor/bundle.py editor/vendor || test $$? -eq 2
	$(BIN)/python -m build --sdist --outdir dist
	@ls dist

# The extension for Visual Studio Code, made with npm.
vscode:
	cd editor/vscode && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	cp LICENSE editor/vscode
	mkdir -p dist
	cd editor/vscode && npm run --silent package -- ../../dist/fencepost.vsix

# The pages of docs/ as a site, in build/site; a link that leads nowhere is an error (not with --quiet).
docs: $(VENV)/installed $(VENV)/docs-tools
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'The site starts at build/site/index.html. For its search: python3 -m http.server -d build/site'

# The engine's own tests with AddressSanitizer and UndefinedBehaviorSanitizer watching it; or only some of them, with
# TESTS.
test-sanitized: .venv-sanitized/installed
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 .venv-sanitized/bin/pytest -n auto $(or $(TESTS),tests/engine)

# An engine with sanitizers in it, and nothing that it does not need.
.venv-sanitized/installed: $(SOURCES)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet --upgrade pip
	$(@D)/bin/pip install --quiet --group dev
	$(@D)/bin/pip install --quiet . --config-settings=cmake.define.FENCEPOST_SANITIZE=ON \
	  --config-settings=cmake.define.FENCEPOST_RUNTIME=OFF --config-settings=cmake.define.FENCEPOST_EDITOR=OFF \
	  --config-settings=build-dir=build/$(@D)
	@touch $@

# Searches by eight workers with ThreadSanitizer watching them.
build/threads/workers: tests/native/threads/workers.cpp tests/native/bytecode_input.hpp $(shell find native/engine -name '*.[ch]pp')
	mkdir -p $(@D)
	$(CXX) -std=gnu++20 -mcx16 -pthread -O1 -g1 -fsanitize=thread -Inative -I. $< \
	  $$(sed -n 's|^// links:||p' $< | tr ' ' '\n' | sed -n 's|^engine|native/engine|p') -o $@

PROGRAMS := 500
test-threads: build/threads/workers
	TSAN_OPTIONS=halt_on_error=1 setarch -R build/threads/workers $(PROGRAMS)

# libFuzzer on the bytecode loader and the searches behind it; needs clang. SECONDS says how long.
FUZZ_UNITS := tests/fuzz/bytecode.cpp $(shell find native/engine -name '*.cpp' -not -path '*/python/*' -not -path '*/any_number/*')
FUZZ_FLAGS := -std=gnu++20 -mcx16 -O1 -g1 -Inative -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -w
build/fuzz/units/%.o: %.cpp tests/native/bytecode_input.hpp $(shell find native/engine -name '*.hpp')
	mkdir -p $(@D)
	$(CMAKE_CXX_COMPILER_LAUNCHER) clang++ $(FUZZ_FLAGS) -c $< -o $@

build/fuzz/bytecode: $(FUZZ_UNITS:%.cpp=build/fuzz/units/%.o)
	clang++ $(FUZZ_FLAGS) $^ -o $@

SECONDS := 60
fuzz-bytecode: build/fuzz/bytecode
	mkdir -p build/fuzz/corpus
	build/fuzz/bytecode -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=1024 -artifact_prefix=build/fuzz/ \
	  build/fuzz/corpus

# Small wrong changes to the code that decides verdicts: do the tests notice? Writes the table in docs/trust.md.
mutants: $(READY)
	$(BIN)/python -m tests.mutants.run
	$(BIN)/python -m tests.mutants.run watching

# Which lines of this code do the random programs of the tests reach? Writes the other table there.
coverage: $(READY)
	$(BIN)/python -m tests.coverage.run

# The package and what it needs to run; the tools for tests and style come beside it when they are asked for.
# The wheel stays: tests install it elsewhere, and `make wheel` makes one for other machines of it.
$(VENV)/installed: $(SOURCES) | $(BIN)/python
	rm -rf $(WHEEL)
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir $(WHEEL) .
	$(BIN)/pip uninstall --quiet --quiet --yes fencepost
	$(BIN)/pip install --quiet $(WHEEL)/*.whl
	@touch $@

$(VENV)/tools: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --group dev
	@touch $@

$(VENV)/docs-tools: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --group docs
	@touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) .venv-sanitized build dist editor/vscode/node_modules
