# make setup, run, test, test-all, soak, check, audit, gates, pictures, format, bench, talk, lock, servers
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,\
	$(if $(shell $(p) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(p))))
HOST ?= 127.0.0.1
PORT ?= 8000
ARGS ?=
# Of `make soak`: tries of each kind, and processes that are ended on each kind of database.
EXAMPLES ?= 10000
STRIKES ?= 200

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# A stamp for what runs, one for what develops: each names the files that it was made from.
stamp = .venv/$(1)-$(shell cat $(2) | cksum | cut -d' ' -f1)
APP := $(call stamp,app,requirements.lock)
DEV := $(call stamp,dev,requirements.lock requirements-dev.lock pyproject.toml)
# Where CI finds its servers; `make servers` tells how to get them.
SERVERS := DATABASE_URL=$${DATABASE_URL:-postgres://postgres@127.0.0.1:5432/postgres} \
	REDIS_URL=$${REDIS_URL:-redis://127.0.0.1:6379/0}
COMPILE := uv pip compile -q pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url
# The same with servers as without, so run once: pure rules, processes that bring a database of their own, and how
# pages look and what they say (who may see them, what they search, count, accept and list is asked of both databases).
# How memory ages is asked of both by the stories that are played at random.
PAGES := admin admin_compaction accepting branches efforts ledger metrics operations pins review scopes search sessions who_may
SERVERLESS := $(addprefix --ignore=tests/,planner llm browser fakes hostile house/test_commands.py \
	house/test_serve.py house/test_settings.py server/test_killing.py server/test_reconnecting.py server/test_stopping.py \
	server/test_nginx.py fuzz/test_answers.py fuzz/test_imports.py fuzz/test_streams.py house/test_migrations.py \
	compaction/gates workspaces/test_commands.py workspaces/test_outlines.py workspaces/test_walking.py \
	$(addprefix house/test_,bodies.py docstrings.py documents.py language.py origin.py proofs.py specification.py \
	suite.py words.py) \
	$(addprefix efforts/test_,memory.py names.py phrases.py reading_commands.py repeats.py summary_texts.py \
	tool_messages.py) \
	$(addprefix compaction/test_,checks.py detectors.py diffing.py editing.py evidence.py lifecycle.py traceable.py \
	values.py) retrieval/test_ranking.py retrieval/test_terms.py \
	$(filter-out $(PAGES:%=pages/test_%.py),$(patsubst tests/%,%,$(wildcard tests/pages/test_*.py))) \
	$(filter-out %/test_proof_run.py %/test_importing.py,$(patsubst tests/%,%,$(wildcard tests/benchmarks/test_*.py))))
# Tests start dozens of processes: where they may not keep what they compiled, each compiles all of it.
COMPILED := env -u PYTHONDONTWRITEBYTECODE
NO_SERVERS := $(COMPILED) -u DATABASE_URL -u REDIS_URL

.PHONY: setup run test test-all test-servers soak check audit gates pictures format bench talk lock servers

setup: $(DEV)

$(APP):
	@test -n "$(PYTHON)" || { echo "CCM Web needs Python 3.11 or newer: make setup PYTHON=/path/to/python3" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing packages into .venv ..."
	@$(PIP) install --no-deps --require-hashes -r requirements.lock
	@rm -f .venv/app-* && touch $@

$(DEV): $(APP)
	@echo "Installing the developer's tools into .venv ..."
	@$(PIP) install --no-deps --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@rm -f .venv/dev-* && touch $@

run: $(APP)
	@if [ -f .env ]; then set -a; . ./.env; set +a; fi; exec $(BIN)/python manage.py serve --host $(HOST) --port $(PORT)

test: setup
	$(NO_SERVERS) $(BIN)/pytest -n 2 -m "not slow and not long and not grown and not soak" $(ARGS)
	@echo "With the slow and the long ones, on PostgreSQL and Redis too: make test-all (make servers says how to get them)."

test-all: setup
	$(NO_SERVERS) $(BIN)/pytest -n 2 -m "not grown and not soak" $(ARGS)
	@$(MAKE) --no-print-directory test-servers

test-servers: setup
	@$(SERVERS) sh -c '$(BIN)/python -c "import os, psycopg, redis; \
		psycopg.connect(os.environ[\"DATABASE_URL\"], connect_timeout=5).close(); \
		redis.Redis.from_url(os.environ[\"REDIS_URL\"], socket_timeout=5).ping()"' \
		|| { echo "PostgreSQL or Redis cannot be reached: make servers" >&2; exit 1; }
	$(SERVERS) $(COMPILED) $(BIN)/pytest -n 2 -m "not slow and not soak" $(SERVERLESS) $(ARGS)

# Hours of what nobody would do on purpose: stories longer than any suite has time for, requests, frames, streams and
# files of anything, and processes killed; the last on PostgreSQL and Redis too where DATABASE_URL and REDIS_URL are set.
soak: setup
	$(NO_SERVERS) $(BIN)/pytest -n 2 -m soak $(ARGS)
	EXAMPLES=$(EXAMPLES) $(NO_SERVERS) $(BIN)/pytest -n 2 --dist load --hypothesis-profile=soak tests/fuzz $(ARGS)
	$(COMPILED) $(BIN)/python -m benchmarks.killing --strikes $(STRIKES)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet templates
	$(NO_SERVERS) $(BIN)/python manage.py check --fail-level WARNING
	$(NO_SERVERS) $(BIN)/python manage.py makemigrations --check --dry-run

# What is known against the pinned packages, where advisories can be read; else how old the pins are.
audit: setup
	$(BIN)/python -m tests.house.packages

gates: setup
	$(NO_SERVERS) $(BIN)/python manage.py evaluate_gates benchmarks/evaluation $(ARGS)

pictures: setup
	$(NO_SERVERS) $(BIN)/python manage.py take_pictures

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(NO_SERVERS) $(BIN)/python -m benchmarks $(ARGS)

talk: setup
	@$(NO_SERVERS) $(BIN)/python -m benchmarks.talk --url "$(MODEL_URL)" --model "$(MODEL)"

lock:
	$(COMPILE) --extra postgres --extra redis -o requirements.lock
	$(COMPILE) --all-extras -c requirements.lock -o requirements-dev.lock

servers:
	@echo "make test runs on SQLite alone, make test-all on PostgreSQL and Redis as well. To get both:"
	@echo "  Debian, Ubuntu:  sudo apt-get install postgresql redis-server"
	@echo "  macOS:           brew install postgresql@17 redis && brew services start postgresql@17 && brew services start redis"
	@echo "  Docker:          docker run -d -p 127.0.0.1:5432:5432 -e POSTGRES_HOST_AUTH_METHOD=trust postgres:17"
	@echo "                   docker run -d -p 127.0.0.1:6379:6379 redis:7"
	@echo "Then: make test-servers, with DATABASE_URL=postgres://USER:PASSWORD@HOST:5432/postgres where the role is another."
