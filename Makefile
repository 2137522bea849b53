PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
ROUNDS ?= 20
TORCH ?= $(PIP_FIND_LINKS)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help app test fuzz soak lint lock sbom system bench clean

help:  ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

app: $(VENV)/app.stamp  ## Install what is needed, start the dashboard and print its address
	$(PY) -m streamlit run app.py

# A worker that dies ends the run: replaced, its last tests would be waited for without end.
test: lint system  ## Lint, check types and run every test, those in a browser last
	@failed=0; export OMP_NUM_THREADS=1; \
	$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart=0 --ignore=tests/browser || failed=1; \
	$(PY) -m pytest -n 2 --dist loadfile --max-worker-restart=0 tests/browser || failed=1; \
	exit $$failed

fuzz: $(VENV)/test.stamp  ## Try the properties on new random examples, ROUNDS=20 times as many as the tests do
	for round in $$(seq $(ROUNDS)); do \
		OMP_NUM_THREADS=1 $(PY) -m pytest -q -n 2 -m hypothesis --hypothesis-profile=search --ignore=tests/browser tests \
			|| exit 1; \
	done

soak: $(VENV)/test.stamp  ## Tamper, kill and upload thousands of times, and measure the record; hours
	PYTHONPATH=.:tests/helpers $(PY) tests/helpers/tampering.py 10000
	PYTHONPATH=.:tests/helpers $(PY) tests/helpers/hostile_visitor.py 1000 $$$$
	OMP_NUM_THREADS=1 MPD2_KILLS=100 MPD2_SERVER_KILLS=20 $(PY) -m pytest -s \
		tests/clinic/test_record.py tests/lab/test_killed_servers.py -k killed
	$(PY) -m mpd2 bench record --json

lint: $(VENV)/test.stamp  ## Lint and check types
	$(PY) -m ruff check .
	$(VENV)/bin/biome ci --error-on-warnings --files-ignore-unknown=true --indent-style=space --line-width=120 mpd2/studio/static
	$(VENV)/bin/lint-imports --no-logo
	$(PY) -m mypy --num-workers 2

lock: $(VENV)/test.stamp  ## Write the lock files anew; TORCH=FOLDER has the wheels of torch's CPU build
	$(PY) deploy/lock.py $(TORCH)

sbom: $(VENV)/test.stamp  ## List all parts of the locked server and their licences in build/sbom.json
	@mkdir -p build
	$(PY) deploy/sbom.py build/sbom.json

system:  ## Install browser, database, proxy and systemd for the tests, where Debian has them and we may
	@{ command -v chromium && command -v caddy && command -v systemd-analyze \
		&& { command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; }; } >/dev/null 2>&1 \
		|| { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && apt-get update -qq \
		&& apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core postgresql caddy systemd; } \
		|| echo "make system: no chromium, PostgreSQL, caddy or systemd here; the tests that need them will fail"

bench: $(VENV)/app.stamp  ## Time the training of a population
	$(PY) -m mpd2 bench train --json

clean:  ## Remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is newer than the requirements it was made from; pip runs again only when they change.
$(VENV)/app.stamp: requirements.txt | $(PY)
	$(PIP) -r $<
	@touch $@

$(VENV)/test.stamp: requirements-dev.txt requirements-cluster.txt requirements-imaging.txt requirements.txt | $(PY)
	$(PIP) -r $<
	@touch $@

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
