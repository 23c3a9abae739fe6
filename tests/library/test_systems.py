"""Systems that others built: passages over another cut of the documents, matched back to them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bears
from bears.errors import BearsError
from bears.identity import identifier_of
from bears.retrieval.outside.matching import Passage, PassageMatcher
from bears.types import Chunk
from tests.workspace import ROOT

TEXTS = {
    identifier_of(path.relative_to(ROOT).as_posix()): path.read_text("utf-8")
    for path in sorted((ROOT / "docs").glob("*.md"))
}
ASKED = [
    {"question": "Where is the journal of paid replies kept?", "documents": ["docs/sharing.md"]},
    {"question": "How are the ranks of systems found?", "documents": ["docs/statistics.md"]},
    {"question": "Which vector stores are there?", "documents": ["docs/vector-stores.md"]},
    {"question": "What does the audit find?", "documents": ["docs/audit.md"]},
]
Found = list[tuple[str, int, str]]


def benchmark() -> bears.Benchmark:
    return bears.build(TEXTS, ASKED, language="en")


def windows(question: str) -> Found:
    """The best windows of 300 characters by shared words, one of another store's cuts."""
    words = set(question.lower().strip("?").split())
    cut = [
        (doc_id, start, text[start : start + 300])
        for doc_id, text in TEXTS.items()
        for start in range(0, len(text), 250)
    ]
    return sorted(cut, key=lambda each: -len(words & set(each[2].lower().split())))[:20]


def in_documents(question: str) -> list[str]:
    return list(dict.fromkeys(doc_id for doc_id, _, _ in windows(question)))


SYSTEMS: dict[str, Callable[[str], Any]] = {
    "ids": in_documents,
    "chunks": lambda q: [Chunk(name, start, start + len(text)) for name, start, text in windows(q)],
    "paths and texts": lambda q: [(f"/srv/{name}", text) for name, _, text in windows(q)],
    "names": lambda q: [{"source": Path(name).name, "text": text} for name, _, text in windows(q)],
    "ranges": lambda q: [
        {"source": name, "text": text, "start": start, "score": 0.5}
        for name, start, text in windows(q)
    ],
}


@pytest.mark.parametrize("form", SYSTEMS)
@pytest.mark.parametrize("threads", [1, 4])
def test_a_system_scores_the_same_in_whatever_form_it_answers(form: str, threads: int) -> None:
    measured = benchmark().evaluate(SYSTEMS[form], ["ndcg@10", "mrr"], threads=threads)
    run = {q.question_id: in_documents(q.question) for q in benchmark().questions}
    expected = benchmark().evaluate(run, ["ndcg@10", "mrr"])
    assert measured.by_question.equals(expected.by_question)
    assert not measured.unmatched


def agent(question: str) -> dict[str, Any]:
    """Search in vain, then as `windows` does, and answer."""
    passages = [{"source": name, "text": text} for name, _, text in windows(question)]
    return {
        "answer": "In the docs.",
        "confidence": 0.5,
        "steps": [
            {"query": "words", "passages": []},
            {"model": "m", "input_tokens": 7, "output_tokens": 2, "usd": 0.001},
            {"query": question, "passages": passages, "seconds": 0.25},
        ],
    }


def test_a_function_that_searches_many_times_is_measured_by_its_steps() -> None:
    found = benchmark().evaluate(agent, ["ndcg@10"]).by_question
    run = {q.question_id: in_documents(q.question) for q in benchmark().questions}
    expected = benchmark().evaluate(run, ["ndcg@10"]).by_question
    assert found["ndcg@10"].equals(expected["ndcg@10"])
    names = ("searches", "useless_searches", "tokens", "usd", "calls", "first_gold_search")
    assert [found[name].unique().tolist() for name in names[:5]] == [[2], [1], [9], [0.001], [1]]
    assert found["first_gold_search"].dropna().tolist() == [2] * int(found["evidence_recall"].sum())


def test_a_system_that_answers_some_questions_is_measured_by_them() -> None:
    first = benchmark().questions[0].question
    found = benchmark().evaluate(lambda q: agent(q) if q == first else [], ["ndcg@10"])
    assert found.by_question["calls"].dropna().tolist() == [1]
    assert found.by_question["searches"].tolist()[:2] == [2, 1]


def test_no_system_is_asked_for_a_measure_that_is_not_there() -> None:
    asked: list[str] = []

    def system(question: str) -> list[str]:
        asked.append(question)
        return []

    with pytest.raises(BearsError, match="unknown measure 'ndgc@10'"):
        benchmark().evaluate(system, ["ndgc@10"])
    assert asked == []


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"steps": 5}, "the steps 5; expected a list of mappings"),
        ({"steps": [{"query": "a", "passages": 5}]}, "a system returned 5; expected a list"),
        ({"steps": [{"model": "m", "input_tokens": "many"}]}, "input_tokens: Input should be"),
        ({"confidence": 85}, "confidence: Input should be less than or equal to 1"),
        ({"answer": 5}, "the answer 5; expected a text"),
    ],
)
def test_a_step_of_another_form_is_named(more: dict[str, Any], problem: str) -> None:
    with pytest.raises(BearsError, match=re.escape(problem)):
        benchmark().evaluate(lambda question: {**agent(question), **more})


def test_texts_alone_are_found_where_one_document_has_them_and_else_count_as_wrong() -> None:
    long = {name: text for name, text in TEXTS.items() if name.endswith("sharing.md")}
    (text,) = long.values()
    shown = [
        "words that no document has",
        text[200:500].replace("\n", "  "),  # Another parser's line breaks.
        "```",  # No word.
    ]
    scores = benchmark().evaluate(lambda _: shown, ["mrr", "success@1"])
    assert scores.by_question["mrr"].tolist() == [0.5, 0, 0, 0]
    assert scores.by_question["success@1"].tolist() == [0, 0, 0, 0]
    assert len(scores.unmatched) == 2 * len(ASKED)
    assert "8 passages unmatched" in repr(scores)
    with pytest.raises(BearsError, match="none of the 4 passages is from a document"):
        benchmark().evaluate(lambda _: ["words that no document has"])
    with pytest.raises(BearsError, match=r"a system returned 5; expected a list of texts"):
        benchmark().evaluate(lambda _: [("a.md", "some words"), 5])


def test_a_passage_is_never_guessed() -> None:
    twice = "The pump of the mill runs at night, and the lift by day."
    documents = {
        "a/guide.md": f"Alpha. {twice} Only here is the first guide.",
        "b/guide.md": f"Beta. {twice} Only here is the second guide.",
        "c.md": "Gamma. The seal of the lamp is red.",
    }
    match = PassageMatcher(documents).match
    assert match(Passage(text=twice)) is None
    assert match(Passage(source="guide.md", text=twice)) is None
    assert match(Passage(text="the first guide. Beta.")) is None  # It spans two documents.
    assert match(Passage(source="x/b/guide.md", text=twice)) == Chunk(
        "b/guide.md", 6, 6 + len(twice)
    )
    assert match(Passage(text="the seal of THE LAMP")) == Chunk("c.md", 7, 27)
    other = match(Passage(source="c.md", text="Words of another version of the page."))
    assert other == Chunk("c.md", 0, 0)
    assert match(Passage(id="c.md", text=documents["c.md"])) == Chunk("c.md")
    # A range that is not the passage's is of another text, and is not believed.
    assert match(Passage(source="c.md", text="The seal", start=0)) == Chunk("c.md", 7, 15)


PACKAGES = ("langchain-core==1.8.3", "llama-index-core==0.14.25", "pyterrier==1.1.2")
SCRIPT = """
import sys
sys.path.append(sys.argv[1])
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from llama_index.core import Document as Page
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import BaseRetriever as Retriever
from llama_index.core.schema import NodeWithScore
import pandas as pd
import pyterrier as pt
from tests.library.test_systems import TEXTS, benchmark, in_documents, windows


class Chain(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [
            Document(page_content=text, metadata={"source": f"/srv/{name}", "start_index": start})
            for name, start, text in windows(query)
        ]


pages = [Page(text=text, metadata={"file_path": name}) for name, text in TEXTS.items()]
NODES = SentenceSplitter(chunk_size=128, chunk_overlap=20).get_nodes_from_documents(pages)


def nodes(query):
    words = set(query.lower().strip("?").split())
    scored = [(len(words & set(node.get_content().lower().split())), node) for node in NODES]
    return sorted(scored, key=lambda pair: -pair[0])[:20]


class Llama(Retriever):
    def _retrieve(self, bundle):
        return [NodeWithScore(node=node, score=score) for score, node in nodes(bundle.query_str)]


class Terrier(pt.Transformer):
    def transform(self, topics):
        rows = []
        for topic in topics.itertuples():
            for rank, name in enumerate(in_documents(topic.query)):
                rows.append((topic.qid, topic.query, name, -float(rank), rank))
        return pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank"])


made = benchmark()
documents = {q.question_id: in_documents(q.question) for q in made.questions}
expected = made.evaluate(documents, ["ndcg@10", "mrr"])
for system in (Chain(), Terrier()):
    scores = made.evaluate(system, ["ndcg@10", "mrr"])
    assert scores.by_question.equals(expected.by_question), type(system)
    assert not scores.unmatched
ranked = {
    q.question_id: list(dict.fromkeys(node.metadata["file_path"] for _, node in nodes(q.question)))
    for q in made.questions
}
scores = made.evaluate(Llama(), ["ndcg@10", "mrr"])
assert scores.by_question.equals(made.evaluate(ranked, ["ndcg@10", "mrr"]).by_question)
assert not scores.unmatched
print("all", len(NODES))
"""


@pytest.mark.slow
def test_retrievers_of_langchain_llamaindex_and_pyterrier_are_measured(tmp_path: Path) -> None:
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--link-mode=copy"]
    install += ["--target", str(tmp_path)]
    done = subprocess.run([*install, *PACKAGES], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{' '.join(PACKAGES)} cannot be installed: {done.stderr[-200:]}")
    # Our own packages come first, and theirs add what is missing.
    words = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith("all "), done.stderr


IDS = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=6)
ODD = ["a#1-2", "a\\b", "b", "c/b", "./b", "a%20b", "a%2520b", "a#", "C:\\b", "file://b", "=b", "é"]


@given(st.lists(st.one_of(IDS, st.sampled_from(ODD)), min_size=2, max_size=12, unique=True))
@settings(max_examples=200, deadline=None)
def test_an_id_is_compared_as_it_is(ids: list[str]) -> None:
    documents = {doc_id: f"This is the text of {n}." for n, doc_id in enumerate(ids)}
    chunks = PassageMatcher(documents).chunks(map(Passage, ids))
    assert chunks == [Chunk(doc_id) for doc_id in ids]


def test_a_function_that_returns_odd_ids_is_measured_by_them() -> None:
    asked = [{"question": f"Which is {n}?", "documents": [each]} for n, each in enumerate(ODD)]
    built = bears.build({each: f"It is {each}" for each in ODD}, asked, language="en")
    found = built.evaluate(lambda question: [{"id": ODD[int(question.split()[-1].strip("?"))]}])
    assert found.means["ndcg@10"] == 1
