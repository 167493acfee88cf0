.DEFAULT_GOAL := help
.PHONY: help demo test lint type fmt golden bench matrix mutants clean
BIN := .venv/bin

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo:  ## render, validate and prove the quickstart fabric
	@scripts/setup
	@scripts/demo

test: lint type  ## everything that CI runs
	@$(BIN)/pytest -n auto

lint:
	@scripts/setup "[dev]"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/shellcheck scripts/setup scripts/demo
	@$(BIN)/lint-imports --no-cache >.venv/import-linter.log || { cat .venv/import-linter.log; exit 1; }

type:
	@scripts/setup "[dev]"
	@$(BIN)/mypy

fmt:  ## format the code
	@scripts/setup "[dev]"
	@$(BIN)/ruff check --fix --quiet .; $(BIN)/ruff format --quiet .

golden:  ## refresh golden files; read the difference before committing it
	@scripts/setup "[dev]"
	@$(BIN)/pytest -n auto --update-golden

bench:  ## speed and memory, beside a peer where one exists
	@scripts/setup "[bench]"
	@$(BIN)/python -m benchmarks

mutants:  ## seeded faults in the examples: what the rules find, and what not; rewrites docs/mutants.md
	@scripts/setup "[dev]"
	@$(BIN)/python -m benchmarks.mutants --page docs/mutants.md
	@rm -rf build/mutants
	@for one in quickstart superpod rail-only; do \
		$(BIN)/fabricgen -q render inventories/$$one --output build/mutants/$$one >/dev/null; done
	@$(BIN)/python -m benchmarks.host_mutants build/mutants/*

matrix:  ## every layout, role, set of priorities and BGP style into build/matrix
	@scripts/setup
	@rm -rf build/matrix
	@$(BIN)/python scripts/matrix.py build/matrix

clean:  ## remove what can be made again
	@rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
