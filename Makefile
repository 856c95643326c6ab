# Everything that a contributor types. `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help

CACHE   := $(CURDIR)/.cache
TOOLS   := $(CACHE)/bin
VENV    := $(CACHE)/clients/python
NODE    := $(CACHE)/clients/node
PYTHON  := kaas-broker/tests/clients/python
SCRIPTS := kaas-broker/tests/clients/node
JAVA    := $(CACHE)/clients/java
SOURCES := kaas-broker/tests/java
TIMED   := scripts/timed.sh

# RACE=1 runs the tests with the race detector, which needs a C compiler.
RACE ?=
# Arguments for the program that `make run` starts, for example ARGS='--data-dir /var/lib/kaas'.
ARGS ?=
# How long each fuzz target runs in `make fuzz`.
FUZZTIME ?= 200000x
# How many random schedules, and how many of each short program, `make soak` tries.
SEEDS ?= 50000
# Flags of the benchmark in `make bench`, for example BENCH='-quick'.
BENCH ?=
# Further arguments of go test in `make test-clients`, for example CLIENTS='-run TestKcat -v'.
CLIENTS ?=

export FUZZTIME TOOLS KAAS_SHARED

.PHONY: help
help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Builds bin/kaas and bin/kaas-log
	@scripts/go-version.sh
	cd kaas-broker && GOWORK=off go build -o ../bin/kaas ./cmd/kaas
	cd kaas-storage && GOWORK=off go build -o ../bin/kaas-log ./cmd/kaas-log

.PHONY: run
run: build ## Starts kaas on 127.0.0.1:9092, in memory unless ARGS say otherwise
	exec bin/kaas $(ARGS)

.PHONY: test
test: dependencies ## Runs the tests of every module, each on its own
	scripts/each-module.sh portable $(if $(RACE),race,test)

.PHONY: test-clients
test-clients: client-suites build ## Runs real Kafka clients against bin/kaas
	cd kaas-broker/tests && KAAS_REQUIRE_CLIENTS=1 GOWORK=off ../../$(TIMED) clients go test -count 1 -timeout 20m $(CLIENTS) ./...

# What runs under the race detector, which makes a broker ten times as slow and large: no bounds of memory, and no client whose own start takes most of the time.
RACED := TestKaas|TestExactlyOnce|Outlive|TestFrozen|GroupsUnderChurn|OddGroups|TestFranz|TestSaramaReads|TestSaramaIdem|TestSaramaAdmin|TestKafkaGo|TestRoundTrip|TestSecondProcess|TestDamagedRequests|TestDirectories|TestManyProcesses|TestProducersThat|TestHalfOpen|TestOneByte|TestThousandsOfPipelined|TestClientsThat|TestFileSystem|TestOddClient

.PHONY: test-clients-race
test-clients-race: client-suites ## Runs a part of every suite of clients with the race detector, in the broker and in the tests
	cd kaas-broker && GOWORK=off go build -race -o ../bin/kaas-race ./cmd/kaas
	cd kaas-broker/tests && KAAS_BIN=$(CURDIR)/bin/kaas-race KAAS_SEEDS=10 KAAS_REQUIRE_CLIENTS=1 GOWORK=off ../../$(TIMED) "clients race" \
		go test -count 1 -race -timeout 20m -run '$(RACED)' $(CLIENTS) ./transcripts ./exactlyonce ./hostile ./clients

.PHONY: test-clients-long
test-clients-long: client-suites build ## MirrorMaker, killed applications and whatever else takes too long for each change, about ten minutes
	cd kaas-broker/tests && KAAS_LONG=1 KAAS_REQUIRE_CLIENTS=1 GOWORK=off ../../$(TIMED) "long runs of clients" \
		go test -count 1 -timeout 30m -run 'Mirror|Streams|Connect|Churn' -v $(CLIENTS) ./clients

.PHONY: soak
soak: client-suites build ## Kills kaas 500 times, freezes it 300 times, groups and transactions under churn, hostile clients and SEEDS schedules, an hour and a half
	cd kaas-storage && KAAS_SOAK=1 KAAS_SEEDS=$(SEEDS) KAAS_RUNS=$(SEEDS) GOWORK=off ../$(TIMED) "owners interleaved" \
		go test -count 1 -timeout 90m . ./internal/interleaving
	cd kaas-broker && GOWORK=off go build -race -o ../bin/kaas-race ./cmd/kaas
	cd kaas-broker/tests && KAAS_BIN=$(CURDIR)/bin/kaas-race KAAS_SOAK=1 KAAS_REQUIRE_CLIENTS=1 GOWORK=off ../../$(TIMED) "kills and frozen brokers" \
		go test -count 1 -p 1 -timeout 90m -run 'Outlive|Frozen|Churn|ExactlyOnce' -v ./clients ./exactlyonce
	$(MAKE) test-hostile

.PHONY: test-hostile
test-hostile: build ## Tries to break bin/kaas at length, about a quarter of an hour
	cd kaas-broker/tests && KAAS_HOSTILE=full GOWORK=off ../../$(TIMED) hostile go test -count 1 -timeout 60m $(CLIENTS) ./hostile

.PHONY: bench
bench: build ## Races kaas against Apache Kafka and writes docs/benchmarks, a bit more than an hour
	@scripts/dependencies.sh java=default-jre-headless mvn=maven
	cd kaas-broker/tests && GOWORK=off go build -o ../../bin/bench ./bench
	bin/bench $(BENCH)

.PHONY: oracle
oracle: $(JAVA)/.complete ## Records anew what Apache Kafka answers to the transcripts' requests and to its tools for groups and transactions
	@scripts/dependencies.sh go=golang java=default-jre-headless mvn=maven
	cd kaas-broker/tests && KAAS_TEST_BROKER=apache GOWORK=off go test -count 1 -run TestRecord -v ./transcripts
	cd kaas-broker/tests && KAAS_TEST_BROKER=apache KAAS_RECORD=1 GOWORK=off go test -count 1 -run 'TestConsumerGroupsTool|TestTransactionsTool' -v ./clients

.PHONY: golden
golden: ## Writes the golden messages and batches of kaas-codec anew with Apache Kafka's own classes
	@scripts/dependencies.sh javac=default-jdk-headless mvn=maven
	INTO=$(CACHE)/golden kaas-codec/testdata/gen/generate.sh

.PHONY: lint
lint: tools ## Formatting and static analysis
	scripts/each-module.sh all format lint

.PHONY: check-workflows
check-workflows: tools ## Checks the workflows of continuous integration
	$(TIMED) "workflows name each dependency" scripts/check-workflows.sh
	$(TIMED) actionlint $(TOOLS)/actionlint

.PHONY: check-designs
check-designs: ## Checks that each DESIGN.md names only what exists
	$(TIMED) "names in DESIGN.md" scripts/check-designs.sh

.PHONY: check-modules
check-modules: ## Vets, builds and tidies each module without the workspace
	scripts/each-module.sh all vet build tidy

.PHONY: cross
cross: ## Compiles the libraries and their tests for macOS and Windows
	scripts/each-module.sh portable cross

.PHONY: fuzz
fuzz: ## Runs every fuzz target for FUZZTIME
	scripts/each-module.sh libraries fuzz

.PHONY: vulnerabilities
vulnerabilities: tools ## Looks for known vulnerabilities, when their database can be reached
	$(TIMED) govulncheck scripts/vulnerabilities.sh

.PHONY: format
format: tools ## Formats all Go files
	$(TOOLS)/gofumpt -w $(shell scripts/modules.sh all)

.PHONY: tools
tools: ## Builds the pinned tools into .cache/bin
	cd tools/lint && GOWORK=off ../../$(TIMED) tools go build -o $(TOOLS)/ tool
	cd tools/actionlint && GOWORK=off go build -o $(TOOLS)/ tool

.PHONY: dependencies
dependencies: ## Installs what the tests need, or names it
	@scripts/dependencies.sh go=golang git=git $(if $(RACE),gcc=build-essential)
	@scripts/go-version.sh

.PHONY: client-suites
client-suites: $(VENV)/.complete $(NODE)/.complete $(JAVA)/.complete ## Installs the clients that `make test-clients` runs
	@scripts/dependencies.sh go=golang git=git kcat=kcat java=default-jre-headless mvn=maven

$(VENV)/.complete: $(PYTHON)/requirements.txt
	@scripts/dependencies.sh python3=python3
	@python3 -c 'import ensurepip' 2>/dev/null || scripts/dependencies.sh no-such-command=python3-venv
	rm -rf $(VENV) && python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

$(NODE)/.complete: $(SCRIPTS)/package.json
	@scripts/dependencies.sh node=nodejs npm=npm
	rm -rf $(NODE) && mkdir -p $(NODE) && cp $< $(NODE)/
	cd $(NODE) && npm install --silent --no-audit --no-fund --no-package-lock
	touch $@

$(JAVA)/.complete: $(SOURCES)/pom.xml $(wildcard $(SOURCES)/src/main/java/rs/kaas/tests/*.java)
	@scripts/dependencies.sh javac=default-jdk-headless mvn=maven
	mvn -q -B -f $< -Dinto=$(JAVA) compile dependency:copy-dependencies
	touch $@

.PHONY: clean
clean: ## Removes what was built and installed here
	rm -rf bin $(CACHE)
