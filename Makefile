# One gate for people and machines. `make demo` and `make test` need nothing done before them.

BUN = $$(packaging/build/pinned-bun)
LOCKED = flock .cache/build.lock

.DEFAULT_GOAL := help
.PHONY: help deps build check test demo bench soak: build ## many sessions and long lives (CTX_LONG=1)
	@CTX_LONG=1 $(BUN) packaging/test/run.ts all many-sessions load.test

crash: build ## kills at random moments, many times (CTX_LONG=1)
	@CTX_LONG=1 $(BUN) packaging/test/run.ts all crash

fuzz: deps ## property tests with many more cases (CTX_LONG=1)
	@CTX_LONG=1 $(BUN) packaging/test/run.ts fuzz

clean: ## remove what was built; npm packages stay
	@rm -rf dist .cache
