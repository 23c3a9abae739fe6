"""Every retriever of conf/retriever through every check, and every check against a wrong one.

A new file is put through them by its name:

    python -m pytest tests/retrieval/test_retriever_conformance.py -k my-model

Tiny random weights replace those that are not here, a provider by one on loopback.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bears.config import Config
from bears.config.typed import build
from bears.retrieval.retriever import Query, Retriever, Searcher, Stopwatch
from bears.retrieval.sparse.bm25 import BM25
from bears.types import Document, Hit, Ranking
from tests.provider_server import ProviderServer
from tests.retriever_checks import CHECKS, Bench
from tests.retrieving import NO_MODELS, composed, ids
from tests.tiny_models import save_xlm_roberta
from tests.workspace import ROOT

# What `mine` finds is up to a system that others built; tests/retrieval/test_outside.py.
NAMES = sorted({path.stem for path in (ROOT / "conf/retriever").glob("*.yaml")} - {"mine"})
CHOICES: list[Any] = [(name, "") for name in NAMES if name != "qdrant-hybrid"]
for name in ("wordllama", "hybrid", "qdrant-hybrid"):
    CHOICES += [(name, "qdrant-local"), pytest.param(name, "qdrant", marks=pytest.mark.slow)]
HEADS = {
    "TransformerEncoder": "XLMRobertaModel",
    "CrossEncoder": "XLMRobertaForSequenceClassification",
}
KEY = "sk-test-41d07c"
Make = Callable[..., Retriever]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """A retriever by its name and its store's; made once, so that its weights are loaded once."""
    folder = tmp_path_factory.mktemp("models")
    with ProviderServer(key=KEY) as provider, pytest.MonkeyPatch.context() as patch, chdir(ROOT):
        patch.setenv("OPENAI_API_KEY", KEY)

        @cache
        def made(name: str, *overrides: str) -> Retriever:
            config = composed("retriever", f"retriever={name}", *overrides)
            _stand_in(config, folder, provider.url)
            retriever: Retriever = build(config, "retriever")
            return retriever

        yield made


def _stand_in(part: Config, folder: Path, provider: str) -> None:
    """Put tiny weights and the loopback provider where a retriever, or a part of it, needs any."""
    kind = str(part.get("_target_", "")).rpartition(".")[2]
    if kind in HEADS:
        if not find_spec("torch"):
            pytest.skip(NO_MODELS)
        weights = folder / kind
        if not weights.exists():
            save_xlm_roberta(weights, 64, HEADS[kind])
        part.update(model=str(weights), revision="", max_length=64, device="cpu", dtype="float32")
        if kind == "TransformerEncoder" and part["pooling"] is None:
            part.update(pooling="mean", question_prefix="", document_prefix="")
    elif kind == "Hosted":
        part.update(base_url=provider, fill="auto", folder=str(folder / "bought"))
    for below in part.values():
        if isinstance(below, dict):
            _stand_in(below, folder, provider)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("name", "store"), CHOICES)
def test_every_retriever_keeps_every_rule_in_every_store(
    make: Make,
    name: str,
    store: str,
    check: Callable[[Bench], None],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    words = [f"vector_store={store}"] if store else []
    if store == "qdrant":
        words += [f"vector_store.url={request.getfixturevalue('qdrant_url')}"]
    check(Bench(make(name, *words), tmp_path))


# What the checks are worth: BM25 with one fault each ----------------------------------------------

Search = Callable[[list[Query], int], list[Ranking]]


@dataclass(frozen=True)
class Wrong:
    """BM25, of which one thing is wrong."""

    answer: Callable[[Search, list[Query], int], list[Ranking]] = lambda ask, *words: ask(*words)
    read: Callable[[list[Document]], list[Document]] = list
    right: Any = None

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        BM25(0.9, 0.4).index(self.read(list(documents)), folder, scratch)

    def open(self, folder: Path) -> Searcher:
        return replace(self, right=BM25(0.9, 0.4).open(folder))

    def search(self, queries: Any, k: int, stopwatch: Stopwatch) -> list[Ranking]:
        def ask(asked: list[Query], depth: int) -> list[Ranking]:
            found: list[Ranking] = self.right.search(asked, depth, stopwatch)
            return found

        return self.answer(ask, list(queries), k)


def each(change: Callable[[Ranking], Iterable[Hit]]) -> Wrong:
    """Rankings that were changed."""
    return Wrong(lambda ask, queries, k: [tuple(change(found)) for found in ask(queries, k)])


def _fails_without_words(ask: Search, queries: list[Query], k: int) -> list[Ranking]:
    if not all(query.text.strip() for query in queries):
        raise IndexError("no token")
    return ask(queries, k)


def _needs_text(documents: list[Document]) -> list[Document]:
    if not any(one.content.strip() for one in documents):
        raise ZeroDivisionError("no terms")
    return documents


def _by_utf_16(ranking: Ranking) -> list[Hit]:
    def key(hit: Hit) -> tuple[float, bytes]:
        return hit.score, hit.doc_id.encode("utf-16-be")

    return sorted(ranking, key=key, reverse=True)


def _within_the_best(ask: Search, queries: list[Query], k: int) -> list[Ranking]:
    """Looks for the group among the best ``k`` of all."""
    members = [set(ids(ranking)) for ranking in ask(queries, 10_000)]
    return [
        tuple(hit for hit in ranking if hit.doc_id in these)
        for ranking, these in zip(_ungrouped(ask, queries, k), members, strict=True)
    ]


def _ungrouped(ask: Search, queries: list[Query], k: int) -> list[Ranking]:
    return ask([Query(query.text) for query in queries], k)


SHIFTS = count()


def _restless(found: Ranking) -> list[Hit]:
    shift = next(SHIFTS)
    return [Hit(hit.doc_id, hit.score + shift) for hit in found]


FAULTS: dict[str, tuple[Wrong, set[str]]] = {
    "ignores the group": (Wrong(_ungrouped), {"groups"}),
    "filters by group after the search": (Wrong(_within_the_best), {"groups"}),
    "returns scores that are no numbers": (
        each(lambda found: (Hit(i, math.nan) for i in ids(found))),
        {"well_formed", "depth"},
    ),
    "returns a document twice": (each(lambda found: (*found, *found[-1:])), {"well_formed"}),
    "worst first": (each(lambda found: found[::-1]), {"well_formed", "ties", "depth"}),
    "breaks ties by UTF-16": (each(_by_utf_16), {"ties", "well_formed"}),
    "breaks ties upwards": (
        each(lambda found: sorted(found, key=lambda hit: (-hit.score, hit.doc_id))),
        {"ties", "well_formed"},
    ),
    "one more than k": (Wrong(lambda ask, queries, k: ask(queries, k + 1)), {"depth", "ties"}),
    "one less than k": (Wrong(lambda ask, queries, k: ask(queries, k - 1)), {"depth", "chunks"}),
    "fails at a question without words": (
        Wrong(_fails_without_words),
        {"empty_question", "together"},
    ),
    "fails at documents without text": (Wrong(read=_needs_text), {"empty_text", "empty_corpus"}),
    "scores differently each time": (each(_restless), {"reopening"}),
    "answers in another order": (
        Wrong(lambda ask, queries, k: ask(queries, k)[::-1]),
        {"together"},
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_retriever_fails(fault: str, tmp_path: Path) -> None:
    wrong, expected = FAULTS[fault]
    failed = set()
    for number, check in enumerate(CHECKS):
        try:
            check(Bench(wrong, tmp_path / str(number)))
        except (Exception, AssertionError):
            failed.add(check.__name__)
    assert expected <= failed


def test_each_check_is_failed_by_some_fault() -> None:
    caught = set().union(*(expected for _, expected in FAULTS.values()))
    assert caught == {check.__name__ for check in CHECKS}
