# One gate for people and machines. `make demo` and `make test` need nothing done before them.

BUN = "$$(packaging/build/pinned-bun)"
TESTS = $(BUN) packaging/test/run.ts

# Bun keeps what it has transpiled; without this it does so in the caller's home.
export BUN_RUNTIME_TRANSPILER_CACHE_PATH = $(CURDIR)/.cache/transpiled

.DEFAULT_GOAL := help
.PHONY: help deps build check test demo bench soak crash fuzz freeze clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):[^#]*## /  make \1\t/p' Makefile | expand -t 16

deps: ## install what is missing: Debian packages as root, npm packages
	@packaging/build/deps

build: deps ## build the programs into dist/
	@mkdir -p .cache
	@flock .cache/build.lock $(BUN) packaging/build/build.ts

check: deps ## format, lint, types, dead code, house rules, tests that need no build
	@$(TESTS) unit

test: build ## everything; the last line is: N passed, N failed, N skipped
	@$(TESTS) all

demo: build ## watch an agent work; BASE_URL=… MODEL=… [API_KEY_FILE=…] for a model of yours
	@BASE_URL='$(BASE_URL)' MODEL='$(MODEL)' API_KEY_FILE='$(API_KEY_FILE)' \
		$(BUN) packaging/demo/demo.ts

bench: build ## speed and memory as ratios, against their limits
	@$(BUN) bench/bench.ts

soak: build ## many sessions and long lives (CTX_LONG=1)
	@CTX_LONG=1 $(TESTS) all many-sessions load.test

crash: build ## kills at random moments, many times (CTX_LONG=1)
	@CTX_LONG=1 $(TESTS) all crash

fuzz: deps ## property tests with many more cases (CTX_LONG=1)
	@CTX_LONG=1 $(TESTS) fuzz

freeze: deps ## add new files of abi/ to FROZEN.sha256; FORCE=1 changes what is there
	@FORCE='$(FORCE)' $(BUN) packaging/abi/freeze.ts

clean: ## remove what was built; npm packages stay
	@rm -rf dist .cache
