# Each target installs what it needs into .venv, once. Needs Python 3.11 or newer and make.
#   make audit   audit simulated payments; the report is audit-out/report.html
#   make desk    audit simulated payments and open the review desk on them; prints its address and a token
#   make test    style, types, import layers and tests
#   make bench   time and memory beside peers; writes docs/proofs/bench.md
#   make prove-monitor   alarms without a change, missed changes and time of the monitor; writes docs/proofs/monitor.md
#   make prove-gamma, make prove-two-gammas, make prove-desk, make prove-audit   statements; each writes its table to docs/proofs
#   make prove-kill   audits, studies, reviews and scores that are killed at random; writes docs/proofs/kill.md
#   make prove-scale   files, Dask and Spark beside plain scoring, with millions of rows; takes hours, so see its parts below
#   make bench-growth   time and memory by the number of rows; writes docs/proofs/growth.md and its plot
#   make first-fit BEFORE=FOLDER   the first fits beside those of an older src; writes docs/proofs/first-fit.md
#   make screenshots   pictures of the desk for the documentation, in docs/pictures; needs Chromium
#   make fuzz SECONDS=600   search for inputs that break an estimator or the audit, and count them by kind; COUNT=10000 ends sooner
#   make test-lowest   the common tests with the lowest declared version of each dependency
#   make lint    the first three of make test
#   make docs    the documentation as HTML, in docs/_build, with the gallery; links, searches and widths are checked
#   make dist    wheel and sdist, each installed into an empty environment, where scarce audit is run
#   make clean   remove all that make made, .venv included

.PHONY: audit desk test screenshots bench bench-growth first-fit prove-audit prove-desk prove-gamma prove-two-gammas prove-scale prove-scale-score
.PHONY: prove-kill prove-monitor prove-scale-killed prove-scale-dask prove-scale-spark prove-scale-companies prove-scale-gamma fuzz test-lowest lint docs dist
.PHONY: clean
.DEFAULT_GOAL := audit

PYTHON := python3
BIN := .venv/bin
# Packages of another environment must not leak into this one.
unexport PYTHONHOME PYTHONPATH

audit: .venv/.installed
	$(BIN)/scarce audit --out audit-out --force
	@echo 'The report is audit-out/report.html; open it in a browser.'

desk: desk-out/manifest.json
	$(BIN)/scarce serve desk-out

desk-out/manifest.json: | .venv/.installed
	$(BIN)/python examples/desk/simulate.py desk-out

screenshots: desk-out/manifest.json .venv/.browser
	$(BIN)/python examples/desk/screenshots.py desk-out docs/pictures

# Two processes with a thread each: threads that wait for each other double the time. Where a test asks for two
# threads, they sleep while they wait instead of taking a core from the other process.
test: lint .venv/.browser
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

prove-desk: .venv/.installed
	$(BIN)/python -m proofs desk

prove-kill: .venv/.installed
	$(ONE_THREAD) $(BIN)/python -m proofs kill

prove-monitor: .venv/.installed
	$(BIN)/python -m proofs monitor

# SCARCE_SCALE=0.1 takes a tenth of the rows.
ONE_THREAD := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1

prove-scale: prove-scale-score prove-scale-killed prove-scale-dask prove-scale-spark prove-scale-companies prove-scale-gamma

prove-scale-score: .venv/.installed-spark
	$(ONE_THREAD) $(BIN)/python -m proofs scale-score

prove-scale-killed: .venv/.installed-spark
	$(ONE_THREAD) $(BIN)/python -m proofs scale-killed

prove-scale-dask: .venv/.installed-spark
	$(ONE_THREAD) $(BIN)/python -m proofs scale-dask

prove-scale-spark: .venv/.installed-spark
	$(ONE_THREAD) $(BIN)/python -m proofs scale-spark

prove-scale-companies: .venv/.installed-spark
	$(ONE_THREAD) $(BIN)/python -m proofs scale-companies

prove-scale-gamma: .venv/.installed-spark
	$(ONE_THREAD) $(BIN)/python -m proofs scale-gamma

SECONDS := 600
COUNT := inf
fuzz: .venv/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz $(SECONDS) --count $(COUNT)

# Old versions warn of what is to come in others, which is no fault here.
test-lowest: .venv-lowest/.installed
	OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -q -n 2 \
		-p no:cacheprovider -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning \
		tests/test_common.py tests/test_trusted.py tests/boosting tests/sampling tests/cli

.venv-lowest/.installed: .venv/.installed pyproject.toml
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	VIRTUAL_ENV=.venv-lowest $(BIN)/uv pip install --quiet --resolution lowest-direct --editable '.[dev]'
	@touch $@

prove-audit: .venv/.installed
	$(BIN)/python -m proofs audit

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The first build runs the gallery, a few minutes; the next ones only what has changed.
docs: .venv/.installed-docs .venv/.browser
	OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive $(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build
	$(BIN)/python docs/check_site.py docs/_build
	@echo "The documentation is docs/_build/index.html."

dist: .venv/.installed
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m tests.dist dist

clean:
	rm -rf .venv .venv-lowest audit-out desk-out docs/_build docs/generated docs/auto_examples docs/sg_execution_times.rst build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks proofs examples -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'scarce needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)'; exit 1; }
	@echo 'Installing into .venv, which takes a few minutes the first time.'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

.venv/.installed-spark: .venv/.installed
	@command -v java > /dev/null || apt-get install --quiet --yes openjdk-17-jre-headless || \
		{ echo 'Spark needs Java 17: install openjdk-17-jre-headless.'; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,spark]'
	@touch $@

# Pages are tested in Chromium and by axe-core, where they are to be had; without them these tests are skipped.
.venv/.browser: | .venv/.installed
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		(apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium) >/dev/null 2>&1 || \
		echo 'Chromium is not here and cannot be installed without more rights: the tests in a browser are skipped.'
	@npm install --silent --no-audit --no-fund --prefix .venv/axe axe-core@4 >/dev/null 2>&1 || \
		echo 'npm is not here or fetches nothing: accessibility is not checked.'
	@touch $@

.venv/.installed-docs: .venv/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@
