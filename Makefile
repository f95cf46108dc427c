# The commands of a contributor; CONTRIBUTING.md says more. Every target also runs alone.
#
#   make demo          a demo publisher on http://127.0.0.1:8000 (PORT=8001, ARGS="…")
#   make check         lint format-check types imports, and the tests that need neither PostgreSQL
#                      nor a process: 90 seconds
#   make test          every check: lint format-check types imports tests; the target is 5 minutes
#                      (all times are for two idle processors; lock-check and docs-check run a
#                      part of tests)
#   make test ARGS=tests/mirror
#                      only a part of the tests: seconds
#   make test-system   a browser, PHP and generated clients as clients; a real pooler
#   make test-pipelines
#                      the source for dlt and the tap for Singer, with both tools: up to 4 minutes
#   make test-oldest   a part of the tests, with the oldest packages that pyproject.toml allows
#   make test-citus    builds a real Citus cluster and tests the store on it
#                      (CITUS_SOURCE=FOLDER, .ci/citus)
#   make statements    records what the tests send to PostgreSQL, and writes which of them need not
#                      run on Citus
#   make prove-citus   all planted faults of the change feed, on that cluster: 5 minutes
#   make release       the wheel and the sdist, checked and tested, in dist/
#   make fix           fixes what ruff can fix
#   make docs          writes docs/reference.md, the synchronous client and the drawing
#   make schema        writes the schema of both databases, from schema/start.sql
#   make test-ci       `make test`, the slow tests (tests/slow.txt), and the long tests of a few
#                      files (LONG_IN_CI in tests/long.py)
#   make prove-tests   what the long form of the tests adds to `make test`: 15 minutes
#   PROCESSES=2        with any target: how many processes run the tests
#   make prove         prove-tests, and then hours of proofs: prove-every (many random cases, and
#                      tests on PostgreSQL that otherwise run on SQLite alone), prove-schedules
#                      (SCHEDULES=100000) and prove-kills (ROUNDS=200, SEED=1) of the change feed,
#                      prove-circulation, prove-pipelines (kills at more points), prove-endurance
#                      (MINUTES=60, for each kind of database)
#   make prove-circulation
#                      random sequences of all operations of circulation against the model, each
#                      planted fault, kills, and two concurrent operators (SEQUENCES=20000)
#   make prove-billing the same for billing (SEQUENCES=2000)
#   make prove-asgi    the tests of how responses are sent, without the short path for complete
#                      responses (masthead serve --asgi-only)
#   make prove-leaving clients that disconnect during responses (CLIENTS=5000)
#   make prove-hostile hostile requests and import files (CASES=100000)
#   make bench         all benchmarks (hours, 60 GB of disk), or some (ARGS="requests --rounds 3")
#   make audit         known vulnerabilities of the locked packages; needs the network
#   make lock          writes the lock files (ARGS=--upgrade takes the newest versions)
#   make install       only the environment in .venv
#   make clean         removes .venv and every cache

MAKEFLAGS += --no-print-directory
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Only wheels, each checked against its hash; nothing is built. The files name every package, so pip
# need not look for more, and Python compiles what it imports.
LOCKED := $(PIP) install --require-hashes --only-binary :all: --no-deps --no-compile
CODE = $(wildcard src tests benchmarks docs schema)

.PHONY: demo check test lint format-check types imports lock-check docs schema docs-check tests \
        test-ci test-system test-oldest test-pipelines test-citus statements prove-citus prove \
        prove-tests prove-every prove-schedules prove-kills prove-endurance prove-leaving \
        prove-asgi prove-hostile prove-circulation prove-billing prove-pipelines release fix \
        bench audit lock install install-dev clean

# For two processors. A test waits a fifth of its time: for another process, or for the database.
N = $(or $(PROCESSES),3)

# `make test` leaves these to separate targets.
APART = $(addprefix --ignore tests/,system citus release pipelines)

demo: install
	@$(BIN)/masthead demo $(if $(PORT),--port $(PORT)) $(ARGS)

check: lint format-check types imports
	$(BIN)/pytest -n 2 --dist worksteal $(APART) --no-processes
	@echo "Left out: tests that need PostgreSQL or a process (make test)."

# For a part of the tests, the other checks do not run. The types are checked beside the tests,
# since each of the two leaves a processor idle at times.
ifeq ($(ARGS),)
test: lint format-check imports
	@$(MAKE) --jobs 2 types tests
	@echo "All checks passed. Left out: tests/system (make test-system), tests/citus (test-citus)," \
		"tests/release (release), tests/pipelines (test-pipelines)" \
		$(if $(FORM),,"slow tests (test-ci)") "and long forms (prove-tests)."
else
test: tests
endif

# CI ends early when much fails, so that it says what.
test-ci:
	@$(MAKE) test FORM="--ci --maxfail 20"

lint: install-dev
	$(BIN)/ruff check

format-check: install-dev
	$(BIN)/ruff format --check

types: install-dev
	$(BIN)/mypy $(CODE)

imports: install-dev
	$(BIN)/lint-imports

tests: install-dev
	$(BIN)/pytest -n $(or $(PROCESSES),4) --dist worksteal $(FORM) \
		$(if $(ARGS),$(ARGS),$(APART))

lock-check: install-dev
	$(BIN)/pytest tests/house/test_locks.py

docs: install-dev
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/generate_client.py
	$(BIN)/python docs/draw.py

schema: install-dev
	$(BIN)/python schema/write.py

docs-check: install-dev
	$(BIN)/pytest tests/docs

test-system: install-dev .venv/system.installed
	@.ci/system-tools
	@.ci/pgbouncer
	@.ci/typescript
	$(BIN)/pytest -n $(or $(PROCESSES),2) --dist worksteal --timeout 1100 tests/system $(ARGS)

# These tests use every package, except the ASGI servers that only tests use.
WITH_OLDEST = tests/client $(wildcard tests/api/test_golden_*.py) \
	$(addprefix tests/api/test_,changes.py compression.py login.py) \
	$(addprefix tests/cli/test_,accounts.py log_format.py metrics.py) \
	$(addprefix tests/loading/test_,files.py import.py export.py) \
	$(addprefix tests/mirror/test_,command.py databases.py passes.py) \
	-k "not granian and not hypercorn"

test-oldest: .venv/oldest/installed
	.venv/oldest/bin/pytest -n $(N) --dist worksteal $(or $(ARGS),$(WITH_OLDEST))

test-pipelines: .venv/pipelines/installed
	.venv/pipelines/bin/pytest -n $(or $(PROCESSES),2) --dist worksteal tests/pipelines $(ARGS)

# The PostgreSQL tests of Masthead's statements, also on a Citus cluster. Tests of files, folders
# and parameters are left out; tests/citus has the mirror.
ON_CITUS = tests/store tests/loading tests/feed \
	$(patsubst %,--ignore=tests/loading/test_%.py, any_bytes brake cut_off deliveries \
		demo_history files formats generate guess interruptions limits mapped_rows mapping \
		rejects sizes xlsx) \
	$(wildcard tests/api/test_golden_*.py) tests/api/test_tenants.py \
	$(addprefix tests/circulation/test_,closing.py new_readers.py opening.py operation.py orders.py \
		reopening.py reports.py who_is_who.py) \
	$(addprefix tests/billing/test_,automatic_renewals.py bank_imports.py closed_months.py \
		credit_notes.py debit_cancelling.py debit_operators.py debit_returns.py debit_runs.py \
		held_addresses.py journal.py letters.py mail_sending.py order_tax.py outbox.py \
		payer_statements.py payments.py reminders.py renewing.py renewing_list.py \
		renewing_once.py) tests/console/test_sent_again.py \
	$(addprefix tests/qualification/test_,audit_report.py example.py going_on.py serving.py) \
	tests/readers/test_operations_of_the_role.py

test-citus: install-dev
	@.ci/citus
	$(BIN)/pytest tests/citus $(ARGS)
	[ ! -e .venv/citus/stamp ] || $(BIN)/pytest -n $(N) --dist worksteal --citus $(ON_CITUS)

statements: install-dev
	@rm -rf .venv/statements && mkdir .venv/statements
	STATEMENTS=$(CURDIR)/.venv/statements \
		$(BIN)/pytest -n $(N) --dist worksteal --citus $(ON_CITUS)
	$(BIN)/python -m tests.house.citus .venv/statements

prove-citus: install-dev
	@.ci/citus
	[ ! -e .venv/citus/stamp ] || \
		$(BIN)/pytest -n $(N) --dist worksteal --citus --every tests/feed/test_proof.py

prove: prove-tests prove-every prove-schedules prove-kills prove-circulation prove-billing \
       prove-pipelines prove-endurance

prove-tests: install-dev
	$(BIN)/pytest -n $(N) --dist worksteal $(APART) --long -m only_long $(ARGS)

prove-every: install-dev
	$(BIN)/pytest -n $(N) --dist worksteal $(APART) --every -m "only_every or more_with_every" $(ARGS)

prove-schedules: install-dev
	$(BIN)/pytest tests/feed/test_proof.py --long -k every_copy --schedules $(or $(SCHEDULES),100000) \
		--timeout 0

prove-kills: install-dev
	$(BIN)/pytest tests/feed/test_killed.py --long --rounds $(or $(ROUNDS),200) \
		--seed $(or $(SEED),1) --timeout 0

prove-endurance: install-dev
	$(BIN)/pytest tests/api/test_endurance.py --long --minutes $(or $(MINUTES),60) \
		--timeout 0

prove-circulation: install-dev
	$(BIN)/pytest -n $(N) --dist worksteal tests/circulation --every \
		--sequences $(or $(SEQUENCES),20000) --timeout 0

prove-billing: install-dev
	$(BIN)/pytest -n $(N) --dist worksteal tests/billing --every \
		--sequences $(or $(SEQUENCES),2000) --timeout 0

prove-pipelines:
	@$(MAKE) test-pipelines ARGS="--every --timeout 0"

# Only the tests of how a response is sent, on SQLite: what is read of a request is the same, and so
# is what the database says. Other servers never have the short path.
prove-asgi: install-dev
	MASTHEAD_ASGI_ONLY=1 $(BIN)/pytest -n $(N) --dist worksteal \
		$(wildcard tests/api/test_golden_*.py) \
		$(patsubst %,tests/api/test_%.py,compression errors long_answers overload serving) \
		$(patsubst %,tests/hostile/test_%.py,early_answers framing half_closed http) \
		-k "not postgresql and not granian and not hypercorn and not uvicorn" $(ARGS)

prove-leaving: install-dev
	$(BIN)/pytest tests/api/test_leaving_clients.py --every -m only_every \
		--leaving $(or $(CLIENTS),5000)

# Schemathesis runs a twentieth of the cases, as its own number of examples.
prove-hostile: install-dev
	$(BIN)/pytest tests/hostile tests/api/test_schemathesis.py --every \
		--cases $(or $(CASES),100000) --timeout 0

# dist/ contains only tested files.
release: install-dev
	@rm -rf dist .venv/release
	$(BIN)/python -m build --no-isolation --outdir .venv/release
	$(BIN)/pytest tests/release --timeout 1800 $(ARGS)
	@mv .venv/release dist
	@ls dist/*

fix: install-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: install-dev
	$(BIN)/python -m benchmarks $(ARGS)

audit: install-dev
	.ci/audit

lock:
	.ci/lock $(ARGS)

install: .venv/runtime.installed

install-dev: .venv/dev.installed

.venv/runtime.installed: pyproject.toml requirements/all.txt requirements/build.txt
	@.ci/venv
	@echo "Installing Masthead into .venv …"
	@$(LOCKED) -r requirements/all.txt -r requirements/build.txt
	@$(PIP) install --no-index --no-build-isolation --no-deps --editable .
	@touch $@

# `make types` checks the benchmarks too, and they need few packages.
.venv/dev.installed: .venv/runtime.installed requirements/dev.txt requirements/bench.txt
	@echo "Installing the tools of the tests into .venv …"
	@$(LOCKED) -r requirements/dev.txt -r requirements/bench.txt
	@touch $@

.venv/system.installed: .venv/dev.installed requirements/system.txt
	@$(LOCKED) -r requirements/system.txt
	@touch $@

.venv/oldest/installed: .venv/runtime.installed requirements/oldest.txt
	@echo "Installing the oldest packages into .venv/oldest …"
	@$(BIN)/python -m venv --clear .venv/oldest
	@$(LOCKED:$(BIN)%=.venv/oldest/bin%) -r requirements/oldest.txt
	@$(PIP:$(BIN)%=.venv/oldest/bin%) install --no-index --no-build-isolation --no-deps --editable .
	@touch $@

# These tools have many packages, which change often.
.venv/pipelines/installed: .venv/runtime.installed requirements/pipelines.txt
	@echo "Installing dlt and the SDK of Singer into .venv/pipelines …"
	@$(BIN)/python -m venv --clear .venv/pipelines
	@$(LOCKED:$(BIN)%=.venv/pipelines/bin%) -r requirements/pipelines.txt
	@$(PIP:$(BIN)%=.venv/pipelines/bin%) install --no-index --no-build-isolation --no-deps --editable .
	@touch $@

clean:
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
