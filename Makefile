.DEFAULT_GOAL := help
.PHONY: help demo test test-all default lint type fmt hooks golden pages bench fuzz matrix catalog mutants kill dist docs clean
BIN := .venv/bin
# A worker more than cores, because some tests wait for daemons; neighbors stay together and share what they prepare.
PYTEST = $(BIN)/pytest -n $(shell expr $$(nproc) + 1) --dist worksteal

help:  ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo:  ## render, validate and prove the quickstart fabric
	@scripts/setup
	@scripts/demo

test: lint  ## run ruff, import-linter, mypy and the tests
	@$(MAKE) --no-print-directory --jobs 2 type default

default:
	@$(PYTEST) -m "not whole"

test-all: test  ## run the costly cases, too, as CI does
	@$(PYTEST) -m whole

lint:
	@scripts/setup "[dev]"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/shellcheck scripts/setup scripts/demo scripts/dist
	@$(BIN)/lint-imports --no-cache >.venv/import-linter.log || { cat .venv/import-linter.log; exit 1; }

type:
	@scripts/setup "[dev]"
	@$(BIN)/mypy

fmt:  ## format the code
	@scripts/setup "[dev]"
	@$(BIN)/ruff check --fix --quiet .; $(BIN)/ruff format --quiet .

hooks:  ## check each commit with ruff, mypy, import-linter and shellcheck
	@scripts/setup "[dev]"
	@$(BIN)/pre-commit install

golden: pages  ## rewrite golden files and all pages; read the difference before you commit it
	@scripts/setup "[dev]"
	@$(PYTEST) --update-golden

pages:  ## rewrite what is generated from code: pages of rules, codes, keys and commands, schemas, the index of switches
	@scripts/setup "[dev]"
	@$(BIN)/pytest -n 0 --update-golden tests/platforms/test_catalog.py tests/inventory/test_keys.py \
		tests/rules/test_pages.py tests/docs/test_docs.py

bench:  ## measure speed and memory, and compare them with other programs
	@scripts/setup "[bench]"
	@$(BIN)/python -m benchmarks

mutants:  ## seed faults in the examples and count which ones the rules find; rewrites docs/mutants.md
	@scripts/setup "[dev]"
	@$(BIN)/python -m benchmarks.mutants --page docs/mutants.md
	@rm -rf build/mutants
	@for one in quickstart superpod rail-only; do \
		$(BIN)/fabricgen -q render inventories/$$one --output build/mutants/$$one >/dev/null; done
	@$(BIN)/python -m benchmarks.host_mutants build/mutants/*

kill:  ## end each writing command at 100 system calls (needs strace), and check what it leaves
	@scripts/setup "[dev]"
	@$(BIN)/python -m benchmarks.kills

fuzz:  ## run 20,000 mutated inputs through every verb, and each field of a switch with odd values; failures are in build/fuzz
	@scripts/setup "[dev,sim]"
	@rm -rf build/fuzz
	@$(BIN)/python -m benchmarks.fuzz
	@$(BIN)/python -m benchmarks.fuzz.sweep

matrix:  ## render every layout, role, set of priorities and BGP style into build/matrix; judge all, in each release
	@scripts/setup
	@rm -rf build/matrix
	@$(BIN)/python scripts/matrix.py build/matrix
	@$(BIN)/python -m scripts.sweep

catalog:  ## judge a fabric of every layout of the catalog (needs CLONE=, a clone of sonic-buildimage)
	@scripts/setup "[dev]"
	@$(BIN)/python -m benchmarks.catalog $(CLONE)

dist:  ## build the packages and install each in a fresh environment
	@scripts/dist

docs:  ## build the documentation as a site in build/site, and check its links
	@scripts/setup "[docs]"
	@$(BIN)/python docs/make_site.py

clean:  ## remove everything that make creates
	@rm -rf .venv .venv-avd-5 .venv-avd-6 .venv-nautobot build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
