# Thin on purpose: each target says what, scripts/ and perbyte say how.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# each worker reads every test, and would compile it where the environment keeps Python from writing what it compiled
TESTS  := PYTHONDONTWRITEBYTECODE= PERBYTE_DURATIONS=strict $(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

.PHONY: bench test durations check lint sanitize docs answers site clean setup build java arch wheel

bench: build           ## fresh machine -> table on the terminal and report.html
	$(BIN)/perbyte study run kompara-2020 --budget 50s --report report.html

test: setup            ## fresh machine -> the whole test suite
	$(BIN)/perbyte build
	$(TESTS)

durations: setup       ## the same, and CONTRIBUTING's table of where its time goes
	$(BIN)/perbyte build
	PERBYTE_TEST_TIMES=write $(TESTS)

check: setup           ## lint, and the tests of what changed
	sh scripts/check.sh

lint: setup
	sh scripts/lint.sh

sanitize: setup        ## the tests of the C code under sanitizers
	sh scripts/sanitize.sh

build: $(VENV)/.bench
	$(BIN)/perbyte build

java: $(VENV)/.bench    ## the runners of the Java providers, with JDK and Maven
	FOR=bench sh scripts/setup.sh "$(PYTHON)" openjdk-17-jdk-headless maven
	$(BIN)/perbyte build jca-sun jca-bc jca-conscrypt jca-accp

arch: setup            ## runners for AArch64, RISC-V and s390x under emulation: everything but speed
	$(BIN)/perbyte build
	sh scripts/arch.sh "$(PYTHON)"

setup: $(VENV)/.ready

$(VENV)/.ready: requirements.lock pyproject.toml scripts/setup.sh
	sh scripts/setup.sh "$(PYTHON)"
	touch $@ $(VENV)/.bench

$(VENV)/.bench: requirements-bench.lock pyproject.toml scripts/setup.sh
	FOR=bench sh scripts/setup.sh "$(PYTHON)"
	touch $@

docs: setup            ## what README.md and docs/ show, from real runs
	$(BIN)/perbyte build
	sh scripts/docs.sh

answers: setup         ## the pages of docs/answers, measured anew: seven minutes on a quiet machine, with their runners built
	$(BIN)/python bench/answers.py

site: setup            ## documents and atlas as a site that needs no server: build/site/index.html
	sh scripts/site.sh "$(PYTHON)"

wheel: setup
	$(BIN)/python -m build --wheel --no-isolation

clean:
	rm -rf $(VENV) .venv-site build dist out report.html .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
