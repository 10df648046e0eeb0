# `make run` serves MemRelay, `make test` tests it. Both need Python 3.11 or newer and nothing else, and no network after
# the first time.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

VENV := .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --disable-pip-version-check --quiet

.PHONY: help run install install-dev test lint fast live browser outside lock fmt messages settings clean

help:
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: install ## serve MemRelay on 127.0.0.1:8765
	@exec $(PYTHON) manage.py serve

install: $(VENV)/base.stamp ## install what the server needs
	@:

install-dev: $(VENV)/dev.stamp ## install what tests need too
	@:

# The newest Python that really starts and can make an environment: a name alone may be a launcher of nothing.
$(PYTHON):
	@for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
		if $$name -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "Making $(VENV) with $$($$name --version)."; \
			exec $$name -m venv --clear $(VENV); \
		fi; \
	done; \
	echo "MemRelay needs Python 3.11 or newer with venv (on Debian: apt install python3-venv)." >&2; \
	exit 1

# A stamp holds the digest of what was installed, so that a checkout that only touches the file installs nothing.
# The development environment contains the other one.
$(VENV)/base.stamp: requirements/base.txt | $(PYTHON)
	@$(call install_if_changed,requirements/base.txt,$@)

$(VENV)/dev.stamp: requirements/dev.txt | $(PYTHON)
	@$(call install_if_changed,requirements/dev.txt,$@)

define install_if_changed
	digest=$$($(PYTHON) -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' $(1)); \
	if [ "$$(cat $(2) 2>/dev/null)" != "$$digest" ]; then \
		echo "Installing $(1)."; \
		$(PIP) install --require-hashes -r $(1); \
	fi; \
	echo "$$digest" > $(2)
endef

test: install-dev lint fast live browser ## all checks and tests

lint: install-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports
	$(VENV)/bin/mypy

fast: install-dev ## tests in process
	$(PYTHON) -m pytest -n 2

live: install-dev outside ## tests with real processes
	$(PYTHON) -m pytest -o addopts="--strict-markers -p no:playwright" tests/live

browser: install-dev outside ## tests in a real browser
	$(PYTHON) -m pytest -o addopts="--strict-markers" tests/browser

outside: install-dev
	$(PYTHON) -m tests.outside

lock: install-dev ## write requirements/*.txt anew
	for name in base dev; do \
		$(VENV)/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
			requirements/$$name.in -o requirements/$$name.txt; \
	done

fmt: install-dev ## format the code
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

messages: install-dev ## gather texts, compile translations
	$(PYTHON) scripts/messages.py

settings: install-dev ## print docs/settings.md
	$(PYTHON) -m memrelay.options > docs/settings.md

clean:
	rm -rf $(VENV) staticfiles .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
