# The only entry: `make demo` shows it, `make test` checks it, `make help` lists the rest.
# Everything is installed into .venv and built into target; remove both to start anew.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# A module path of the user's must not shadow the package.
unexport PYTHONPATH PYTHONHOME

RUN_DEPS := $(VENV)/.run-deps
DEV_DEPS := $(VENV)/.dev-deps
PAPERS := $(VENV)/.papers
NATIVE := $(VENV)/.native
CRATES := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --require-hashes --no-deps

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(NATIVE) ## Run the customer-edge example: verdicts, figures.
	@status=0; $(BIN)/spillgate run examples/ce-node/scenario.yaml \
	  --figures examples/ce-node/figures.toml || status=$$?; \
	case $$status in \
	  0) ;; \
	  1) echo "(exit status 1: some policies miss some requirements, which is the point)";; \
	  3) echo "(exit status 3: some verdicts need more runs)";; \
	  *) exit $$status;; \
	esac

.PHONY: test
test: lint test-rust test-python docs ## Run every test, lint and type check.

# Some distributions package cargo without rustfmt and clippy. Continuous integration must have them.
# $(1): cargo subcommand, $(2): Debian package, $(3): what to run.
define if-installed
@if cargo $(1) --version >/dev/null 2>&1; then echo '$(3)'; $(3); \
elif [ -n "$${CI:-}" ]; then echo "error: cargo $(1) is missing" >&2; exit 1; \
else echo "SKIPPED: $(3): there is no cargo $(1) (on Debian: apt install $(2))" >&2; fi
endef

.PHONY: lint
lint: $(DEV_DEPS) ## Check formatting, lints and types of Rust and Python.
	$(call if-installed,fmt,rustfmt,cargo fmt --all --check)
	$(call if-installed,clippy,rust-clippy,cargo clippy --workspace --all-targets --locked -- -D warnings)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Random cases are the same each time, unless the seed is another.
export PROPTEST_RNG_SEED ?= 1

.PHONY: test-rust
test-rust: ## Run the Rust tests only.
	cargo test --workspace --locked

.PHONY: test-all
test-all: export PROPTEST_RNG_SEED := $(or $(SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
test-all: export SPILLGATE_LONG := 10
test-all: export PROPTEST_CASES := 2560
test-all: lint docs $(NATIVE) $(DEV_DEPS) ## Run every test whole, with fresh random cases (SEED=N for those of before).
	@echo "random cases of SEED=$(PROPTEST_RNG_SEED)"
	cargo test --workspace --locked || { echo "make test-all SEED=$(PROPTEST_RNG_SEED) draws the same cases" >&2; exit 1; }
	$(BIN)/python -m pytest -n auto -m "nightly or not nightly"

.PHONY: test-python
test-python: $(NATIVE) $(DEV_DEPS) ## Run the Python tests only, command line and documentation included.
	$(BIN)/python -m pytest -n auto

.PHONY: docs
docs: $(NATIVE) $(DEV_DEPS) ## Build the documentation into docs/_build/html.
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

.PHONY: wheel
wheel: $(NATIVE) ## Build a wheel into dist, and try it in an empty environment without a compiler.
	@rm -f dist/spillgate-*.whl
	$(BIN)/maturin build --release --locked --quiet --out dist
	PYTHON=$(CURDIR)/$(BIN)/python .ci/wheel

WEB_DEPS := web/node_modules/.package-lock.json
WASM := $(or $(CARGO_TARGET_DIR),target)/wasm32-unknown-unknown/wasm/spillgate_wasm.wasm
LAB := python/spillgate/_lab

.PHONY: lab
lab: ## Build the lab, the simulator as a page, for `spillgate lab` (needs Node and rustup; QUICK=1: packed less well).
	@web/build/needs
	@$(MAKE) --silent --no-print-directory $(WEB_DEPS)
	cargo build --profile wasm --locked -p spillgate-wasm --target wasm32-unknown-unknown
	cargo run --quiet --locked --manifest-path web/bindgen/Cargo.toml -- $(WASM) web/dist/wasm
	cd web && npm run --silent site
	@rm -rf $(LAB)
	@cp -r web/dist/lab $(LAB)
	@echo "$(LAB)/spillgate-lab.html"

.PHONY: test-web
test-web: $(WEB_DEPS) ## Check and test the lab's page (in a browser, too, after `make lab`).
	cd web && npx biome check --error-on-warnings && npx tsc --noEmit && npx vitest run

$(WEB_DEPS): web/package.json web/package-lock.json web/.npmrc
	@echo "installing what the lab is built with"
	@cd web && npm ci --loglevel error

AUDIT := target/audit
.PHONY: audit
audit: $(VENV)/pyvenv.cfg ## Check licenses, duplicates, sources and known vulnerabilities of dependencies (needs cargo-deny).
	@test -x $(AUDIT)/bin/python || $(BIN)/python -m venv $(AUDIT)
	@$(AUDIT)/bin/python -m pip install --quiet --require-hashes --no-deps -r requirements/audit.txt || \
	  echo "pip-audit cannot be installed" >&2
	@$(AUDIT)/bin/python .ci/audit.py

.PHONY: bench
bench: $(NATIVE) ## Time the benchmark cases, then other simulators that are installed (QUICK=1: less of each).
	cargo build --release --locked -p spillgate-bench
	python3 bench/run.py $(if $(QUICK),--repeats 3)
	python3 bench/peers.py $(if $(QUICK),--quick --repeats 3)
	$(BIN)/python bench/tools.py
	-$(BIN)/python bench/lab.py
	cargo bench --locked -p spillgate-queueing --bench fair_queue
	cargo bench --locked -p spillgate-queueing --bench fan_router
	cargo bench --locked -p spillgate-queueing --bench mechanisms

.PHONY: callgrind
callgrind: ## Count the instructions of a hop and compare, or allow them with BOUGHT="what for" (needs valgrind).
	@if ! command -v valgrind >/dev/null; then \
	  echo "SKIPPED: make callgrind needs valgrind" >&2; \
	else \
	  cargo build --release --locked -p spillgate-bench && python3 bench/callgrind.py $(if $(BOUGHT),--bought "$(BOUGHT)"); \
	fi

.PHONY: fuzz
fuzz: ## Fuzz each target for a minute (needs the nightly toolchain and cargo-fuzz).
	@if ! cargo +nightly fuzz --version >/dev/null 2>&1; then \
	  echo "SKIPPED: make fuzz needs rustup's nightly toolchain and 'cargo install cargo-fuzz'" >&2; \
	else \
	  for target in $$(cargo +nightly fuzz list); do \
	    echo "fuzzing $$target"; \
	    mkdir -p fuzz/corpus/$$target; \
	    seeds=$$(test -d fuzz/seeds/$$target && echo fuzz/seeds/$$target || true); \
	    cargo +nightly fuzz run --sanitizer none $$target fuzz/corpus/$$target $$seeds -- \
	      -max_total_time=$(or $(FUZZ_SECONDS),60) -timeout=10 -rss_limit_mb=4096 -verbosity=0; \
	  done; \
	fi

.PHONY: images
images: $(NATIVE) ## Put real output and figures into README and documentation.
	$(BIN)/python docs/refresh.py

.PHONY: lock
lock: $(DEV_DEPS) ## Resolve the Python requirements anew (needs uv).
	cd requirements && for set in run dev audit; do \
	  uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
	    --no-emit-index-url --custom-compile-command "make lock" -o $$set.txt $$set.in; \
	done

.PHONY: clean
clean: ## Remove everything that was built or installed.
	rm -rf $(VENV) target docs/_build web/node_modules web/dist web/bindgen/target $(LAB)
	find python -name '_native*.so' -delete

# The environment. Its first line names the first Python that is new enough.
$(VENV)/pyvenv.cfg:
	@python=$$(for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
	  if $$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then echo $$p; break; fi; done); \
	if [ -z "$$python" ]; then echo "error: Python 3.10 or later is needed" >&2; exit 1; fi; \
	if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
	  echo "error: $$python has no venv module; on Debian: apt install python3-venv" >&2; exit 1; fi; \
	echo "making $(VENV)"; $$python -m venv $(VENV)

$(RUN_DEPS): requirements/run.txt $(VENV)/pyvenv.cfg
	@echo "installing what the package needs"
	@$(PIP_INSTALL) -r requirements/run.txt
	@touch $@

$(DEV_DEPS): requirements/dev.txt $(RUN_DEPS)
	@echo "installing what the checks need"
	@$(PIP_INSTALL) -r requirements/dev.txt
	@touch $@

$(PAPERS): papers/pyproject.toml $(RUN_DEPS)
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable papers
	@touch $@

$(NATIVE): $(CRATES) Cargo.toml Cargo.lock pyproject.toml $(RUN_DEPS) | $(PAPERS)
	@if ! cargo --version >/dev/null 2>&1; then \
	  echo "error: cargo is needed (Rust 1.85 or later); see https://rustup.rs" >&2; exit 1; fi
	@cargo --version | awk '{ split($$2, v, "."); exit !(v[1] > 1 || v[2] >= 85) }' || { \
	  echo "error: Rust 1.85 or later is needed, this is $$(cargo --version)" >&2; exit 1; }
	@echo "building the simulator (minutes the first time, then only what changed)"
	@$(BIN)/maturin develop --release --locked >/dev/null
	@touch $@
