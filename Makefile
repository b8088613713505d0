# Each target installs what it needs into .venv, once. Needs Python 3.11 or newer and make.
#   make audit   audit simulated payments; the report is audit-out/report.html
#   make test    style, types, import layers and tests
#   make bench   time and memory beside peers; writes docs/proofs/bench.md
#   make prove-gamma, make prove-two-gammas   statements on real data; each writes its table to docs/proofs
#   make bench-growth   time and memory by the number of rows; writes docs/proofs/growth.md and its plot
#   make first-fit BEFORE=FOLDER   the first fits beside those of an older src; writes docs/proofs/first-fit.md
#   make lint    the first three of make test
#   make docs    the documentation as HTML, in docs/_build
#   make clean   remove all that make made, .venv included

.PHONY: audit test bench bench-growth first-fit prove-gamma prove-two-gammas lint docs clean
.DEFAULT_GOAL := audit

PYTHON := python3
BIN := .venv/bin
# Packages of another environment must not leak into this one.
unexport PYTHONHOME PYTHONPATH

audit: .venv/.installed
	$(BIN)/scarce audit --out audit-out --force
	@echo 'The report is audit-out/report.html; open it in a browser.'

# Two processes with a thread each: threads that wait for each other double the time. Where a test asks for two
# threads, they sleep while they wait instead of taking a core from the other process.
test: lint
	OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2

bench: .venv/.installed
	$(BIN)/python -m benchmarks --table docs/proofs/bench.md

bench-growth: .venv/.installed
	$(BIN)/python -m benchmarks.growth

first-fit: .venv/.installed
	$(BIN)/python -m benchmarks.start $(BEFORE)

prove-gamma: .venv/.installed
	$(BIN)/python -m proofs gamma

prove-two-gammas: .venv/.installed
	$(BIN)/python -m proofs two-gammas

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/.installed-docs
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build
	@echo "The documentation is docs/_build/index.html."

clean:
	rm -rf .venv audit-out docs/_build build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks proofs examples -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'scarce needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)'; exit 1; }
	@echo 'Installing into .venv, which takes a few minutes the first time.'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

.venv/.installed-docs: .venv/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@
