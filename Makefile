# agentls: build and checks. Needs Go and git; the rest is fetched into PREFIX, or installed from
# Debian's packages where make runs as root. What cannot be had is named, and fails the target.
#
#   make build     bin/agentls
#   make demo      review a small sample project, with no key and no network
#   make check     the quick inner loop: format, vet, builds for macOS and Windows, staticcheck, short tests
#   make test      everything: format, analysis, real editors, the probe, all tests with the race detector
#   make peers     other people's agents, fetched from npm, as agents of agentls
#   make bench     benchmarks
#   make soak      the long runs: kills, merges and random seeds, then each fuzz target for FUZZTIME
#   make generate  write generated files anew
#   make vscode    bin/agentls.vsix, the extension for VS Code with the server in it
#   make picture   the pictures in the README, from real Neovim and VS Code, anew
#   make clean     remove what was built (not what was fetched: that is PREFIX)

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

ifeq ($(shell command -v go),)
$(error Go is missing: install Go 1.26.5 or later and put it on PATH)
endif

# What is fetched goes here; clones share it, so that the next one is quick.
PREFIX ?= $(or $(XDG_CACHE_HOME),$(if $(HOME),$(HOME)/.cache),$(CURDIR)/.cache)/agentls
override PREFIX := $(abspath $(PREFIX))
export PREFIX

# One set of build settings for everything but the race detector, so that each package is compiled once for
# the binary, the analysers and the short tests. Without cgo the binary is static and needs no C compiler.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(shell go env GOFLAGS) -trimpath)
# What tests draw at random is the same each time, so that a change is judged by itself; the soak draws anew.
SEED ?= 1
# Not shared between clones: staticcheck's cache holds the paths of the files that it has read.
export STATICCHECK_CACHE := $(CURDIR)/.cache/staticcheck
# Where git refuses to read the checkout (another user's folder, no repository), the binary carries no revision.
STAMP := $(if $(shell git rev-parse --verify --quiet HEAD 2>/dev/null),auto,false)

TOOL := go tool -modfile=.ci/tools.mod
AGENTLS := $(CURDIR)/bin/agentls
SAMPLE := cmd/agentls/testdata/sample
# The folders with our own Go files. gofumpt itself leaves testdata out, whose faults are on purpose.
SOURCES := $(wildcard *.go) $(filter-out bin/ node_modules/,$(wildcard */))
# The probe, a judge of language servers, is used where it lies beside the checkout.
PROBE ?= $(wildcard ../shared/probe)
PICTURE ?= editors/review.svg
FUZZTIME ?= 10m
# One level of the sandbox is bubblewrap's, on Linux.
BWRAP := $(if $(filter Linux,$(shell uname -s)),bwrap=bubblewrap)

.PHONY: build demo check lint short race vscode e2e peers probe test bench soak generate picture clean

# Without the tables of debuggers, which are a third of it. What a panic prints does not need them.
build:
	go build -buildvcs=$(STAMP) -ldflags='-s -w' -o bin/agentls ./cmd/agentls

demo: build
	@.ci/demo "$(AGENTLS)" "$(SAMPLE)"

check: lint short

lint:
	@bad=$$($(TOOL) gofumpt -l $(SOURCES)); if [ -n "$$bad" ]; then \
		printf 'not formatted, run "%s gofumpt -w" on them:\n%s\n' "$(TOOL)" "$$bad" >&2; exit 1; fi
	go vet -tags e2e ./...
	@for os in darwin windows; do echo "GOOS=$$os go build ./..."; GOOS=$$os go build ./... || exit 1; done
	@mkdir -p "$(STATICCHECK_CACHE)"
	$(TOOL) staticcheck -tags e2e ./...

short:
	RAPID_SEED=$(SEED) go test -short -vet=off -timeout 5m ./...

# SQLite is C in Go's clothes. Its memory is mapped from the system, where neither the race detector nor checkptr
# looks, but being asked about each access takes more time than all the tests: so both are left out of it, and
# checkptr of the packages that do its allocations. The soak has them all.
LEAN := -gcflags='modernc.org/...=-d=checkptr=0' -gcflags='modernc.org/sqlite/lib=-race=false -d=checkptr=0'
# The race detector has each process sleep for a second at its end; tests start thousands.
QUICK_EXIT := GORACE="$(strip $(GORACE) atexit_sleep_ms=20)"
# What takes longest starts first, so that nothing is left to run alone at the end.
LONGEST := ./cmd/agentls ./agentcore ./lsp ./agentcore/sandbox

race:
	@.ci/need gcc=gcc,libc6-dev tmux=tmux $(BWRAP)
	RAPID_SEED=$(SEED) $(QUICK_EXIT) CGO_ENABLED=1 go test -race $(LEAN) -vet=off -timeout 20m $(LONGEST) ./...

vscode: build
	.ci/vsix "$(PREFIX)" "$(AGENTLS)" bin/agentls.vsix

e2e: vscode
	@.ci/need python3=python3
	@nvim=$${AGENTLS_NVIM:-$$(.ci/neovim "$(PREFIX)" | paste -sd : -)} && \
	code=$$(.ci/vscode "$(PREFIX)" editor) && \
	gopls=$${AGENTLS_GOPLS:-$$(.ci/gopls "$(PREFIX)")} && \
	acp=$${AGENTLS_ACP:-$$(.ci/acp "$(PREFIX)")} && \
	editors=$$([ -n "$${AGENTLS_EMACS:-}" ] || .ci/editors "$(PREFIX)") && \
	while IFS= read -r setting; do [ -z "$$setting" ] || export "$$setting"; done <<<"$$editors" && \
	AGENTLS_BIN="$(AGENTLS)" AGENTLS_NVIM="$$nvim" AGENTLS_GOPLS="$$gopls" AGENTLS_VSCODE="$$code" AGENTLS_VSIX="$(CURDIR)/bin/agentls.vsix" \
	AGENTLS_PROBE="$(abspath $(PROBE))" PYTHONDONTWRITEBYTECODE=1 \
	AGENTLS_ACP="$$acp" \
	go test -tags e2e -vet=off -count=1 -timeout 15m ./editors/acp ./editors/e2e

# Other people's agents, as they are in the wild, against a model on the loopback.
peers:
	@peers=$$(.ci/peers "$(PREFIX)") && \
	AGENTLS_PEERS="$$peers" go test -tags e2e -vet=off -count=1 -timeout 10m -run TestPeer ./cmd/agentls

probe: build
ifeq ($(PROBE),)
	@echo "probe: ../shared/probe is not beside this checkout, nothing to run"
else
	@.ci/need python3=python3
	.ci/probe "$(PROBE)" "$(AGENTLS)" "$(SAMPLE)"
endif

# The order is that of the price: what fails quickly comes first.
test:
	$(MAKE) --no-print-directory lint
	$(MAKE) --no-print-directory e2e
	$(MAKE) --no-print-directory probe
	$(MAKE) --no-print-directory race

# The budgets are of the real command as a process: medians of five, printed as a table and written into doc/ with a plot
# of each growth. The rest is of single packages.
bench: build
	@.ci/need rg=ripgrep
	AGENTLS_BIN="$(AGENTLS)" AGENTLS_BENCH_DOC="$(CURDIR)/doc" \
		go test -run '^$$' -bench . -benchtime 5x -timeout 60m ./cmd/agentls
	go test -run '^$$' -bench . -benchmem -timeout 30m $$(go list ./... | grep -v /cmd/)

soak:
	@.ci/need gcc=gcc,libc6-dev tmux=tmux $(BWRAP)
	RAPID_SEED=0 AGENTLS_SOAK=1 CGO_ENABLED=1 go test -race -vet=off -count=1 -timeout 12h ./...
	.ci/fuzz "$(FUZZTIME)"

generate:
	go generate ./...

picture: vscode
	.ci/picture "$(AGENTLS)" "$(SAMPLE)" "$(PICTURE)"
	.ci/picture "$(AGENTLS)" "$(SAMPLE)" editors/nvim.svg editors/nvim
	.ci/picture-vscode bin/agentls.vsix "$(SAMPLE)" editors/vscode.svg

clean:
	rm -rf bin

# What the tests run in sandboxes, as developers do.
.PHONY: developers
race soak bench: developers
developers:
	@.ci/need node=nodejs npm=npm rg=ripgrep
