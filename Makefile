# One gate for people and machines. `make demo` and `make test` need nothing done before them.

BUN = $$(packaging/build/pinned-bun)
LOCKED = flock .cache/build.lock

.DEFAULT_GOAL := help
.PHONY: help deps build check static test demo bench soak crash fuzz clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):[^#]*## /  make \1\t/p' Makefile | expand -t 16

deps: ## install what is missing: Debian packages as root, npm packages
	@packaging/build/deps

build: deps ## build the programs into dist/
	@mkdir -p .cache
	@$(LOCKED) $(BUN) packaging/build/build.ts

static: deps
	@npx --no-install biome check --log-level=warn --diagnostic-level=warn .
	@npx --no-install tsc -p .
	@npx --no-install knip --no-progress

check: static ## format, lint, types, dead code, tidy and the tests that need no build
	@$(BUN) packaging/test/run.ts unit

test: build static ## everything; the last line is: N passed, N failed, N skipped
	@$(BUN) packaging/test/run.ts all

demo: build ## watch an agent work; BASE_URL=… MODEL=… [API_KEY_FILE=…] for a model of yours
	@BASE_URL='$(BASE_URL)' MODEL='$(MODEL)' API_KEY_FILE='$(API_KEY_FILE)' \
		$(BUN) packaging/demo/demo.ts

bench: build ## speed and memory as ratios, against their limits
	@$(BUN) bench/bench.ts

soak crash fuzz: build ## the long form of the tests of that name (CTX_LONG=1)
	@CTX_LONG=1 $(BUN) packaging/test/run.ts all --name $@

clean: ## remove what was built; npm packages stay
	@rm -rf dist .cache
