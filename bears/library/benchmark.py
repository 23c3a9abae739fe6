"""A benchmark in memory: questions, documents, which answers which; and systems measured on it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from bears.config import Config, compose, read_ledger, read_selection
from bears.config.ledger.entries import Ledger, PairDecision
from bears.config.packaged import SHIPPED
from bears.config.typed import configured, parse
from bears.errors import FormatError
from bears.evaluation.decided import Decided, decided
from bears.evaluation.evaluate import evaluate, parse_measure
from bears.evaluation.trace_measures import OF_TRACES, trace_values
from bears.files.progress import Progress
from bears.files.records import read_folder
from bears.files.trec import ScoredRun, read_table, scored_run
from bears.identity import question_id
from bears.language.tags import check_tag
from bears.layout import CONF, PARAMS, PIPELINE, ledger_beside, lineage_beside
from bears.library.index import Index
from bears.library.scores import Scores
from bears.results.system import evaluation_of, frames_of
from bears.retrieval.outside.matching import PassageMatcher, asking, has_passages, matched, reply_of
from bears.trace import Search, Trace, searched_once
from bears.types import (
    Chunk,
    ChunkHit,
    ChunkRanking,
    Document,
    Question,
    in_chunk_order,
    whole_documents,
)

Place = str | Chunk
Found = Iterable[Place] | Iterable[tuple[Place, float]] | Mapping[Place, float]
"""A ranking: ids or chunks, best first; pairs with a score, best first; or each with its score."""
Rankings = Mapping[str, Found] | Callable[[str], Any] | Any
"""Rankings by question_id, or a system; see `bears.retrieval.outside.matching.asking`."""
Unmatched = list[tuple[str, str]]
"""Passages without a document: question_id and text."""


def traces_of(
    rankings: Rankings, questions: Sequence[Question], documents: Mapping[str, str], threads: int
) -> tuple[dict[str, Trace], Unmatched]:
    """Return question_id to trace, and the passages that match no document.

    Args:
        rankings: in any of the forms above.
        questions: the benchmark's, which a system is asked.
        documents: doc_id to text.
        threads: how many questions a system is asked at a time.

    Raises:
        FormatError: a question or a document is unknown, a ranking has another form, or no passage
            matches a document.
    """
    if isinstance(rankings, Mapping):
        found = dict(rankings)
    elif ask := asking(rankings):
        texts = [question.question for question in questions]
        with ThreadPoolExecutor(threads) as pool:
            # With one thread the system is asked in this one, which it may depend on.
            answers = pool.map(ask, texts) if threads > 1 else map(ask, texts)
            bar = Progress(answers, total=len(texts), unit=" questions", delay=2)
            found = dict(zip((q.question_id for q in questions), bar, strict=True))
        if any(has_passages(reply) for reply in found.values()):
            return _matched(found, questions, documents)
    else:
        raise FormatError(
            f"run is {rankings!r:.80}; expected question_id to ranking, a function from a "
            "question's text to a ranking or to passages, a retriever of LangChain, LlamaIndex or "
            "PyTerrier, or the path of a TREC run file"
        )
    known = {each.question_id: each for each in questions}
    if unknown := [key for key in found if key not in known]:
        raise FormatError(
            f"{unknown[0]!r:.80} is not a question_id of this benchmark; take the ids from "
            "benchmark.questions, or give a function from a question's text to a ranking"
        )
    run = {key: _ranking(key, ranking) for key, ranking in found.items()}
    for key, ranking in run.items():
        if strange := [hit.doc_id for hit in ranking if hit.doc_id not in documents]:
            raise FormatError(
                f"question {key!r}: {strange[0]!r:.80} is not the id of a document of this "
                "benchmark; rank documents by the ids that benchmark.documents has"
            )
    return {
        key: Trace(question_id=key, searches=(Search(known[key].question, ranking),))
        for key, ranking in run.items()
    }, []


def _matched(
    found: Mapping[str, Any], questions: Sequence[Question], documents: Mapping[str, str]
) -> tuple[dict[str, Trace], Unmatched]:
    """Match the passages of each question; those without a document keep their rank."""
    matcher, traces, unmatched, passages = PassageMatcher(documents), {}, Unmatched(), 0
    for question in questions:
        key = question.question_id
        reply = reply_of(found[key], question.question)
        found_here = reply.passages
        chunks = matcher.chunks(found_here)
        passages += len(chunks)
        unmatched += [
            (key, each.text or each.source or each.id)
            for chunk, each in zip(chunks, found_here, strict=True)
            if not matched(chunk)
        ]
        traces[key] = matcher.trace(key, reply, chunks)
    if passages and passages == len(unmatched):
        raise FormatError(
            f"none of the {passages} passages is from a document of this benchmark, such as "
            f"{unmatched[0][1]!r:.80}; give their source, or the text of the documents"
        )
    return traces, unmatched


def _ranking(key: str, found: Any) -> ChunkRanking:
    if isinstance(found, Mapping):
        return in_chunk_order(_hit(key, pair) for pair in found.items())
    if isinstance(found, str | Set) or not isinstance(found, Iterable):
        raise _no_ranking(key, found)
    listed = list(found)
    if all(isinstance(each, str | Chunk) for each in listed):
        listed = [(each, -float(place)) for place, each in enumerate(listed)]
    hits = tuple(_hit(key, pair) for pair in listed)
    for before, after in pairwise(hits):
        # Distances come so, and would be read as the worst ranking there is.
        if after.score > before.score:
            raise FormatError(
                f"question {key!r}: the score rises from {before.score} to {after.score} at "
                f"{after.doc_id!r:.80}; list the best document first, with the highest score "
                "(negate distances), or give a mapping of id to score"
            )
    if len({hit.chunk for hit in hits}) < len(hits):
        twice, _ = Counter(hit.chunk.name for hit in hits).most_common(1)[0]
        raise FormatError(
            f"question {key!r}, document {twice!r} occurs more than once in a ranking"
        )
    return in_chunk_order(hits)


def _hit(key: str, pair: Any) -> ChunkHit:
    match pair:
        case (str() | Chunk() as place, Real() as score) if not isinstance(score, bool):
            return ChunkHit(Chunk(place) if isinstance(place, str) else place, float(score))
    raise _no_ranking(key, pair)


def _no_ranking(key: str, found: Any) -> FormatError:
    return FormatError(
        f"question {key!r}: {found!r:.80} does not belong in a ranking; expected a list of "
        "document ids, a list of pairs (id, score), or a mapping of id to score"
    )


def _scored(run: Any, said: Decided, contents: Mapping[str, str]) -> ScoredRun | None:
    """Return rankings that are ids with scores, as they are; None if they may be anything else."""
    if not isinstance(run, Mapping) or any(each.gold_spans for each in said.questions):
        return None
    rankings = run.values()
    if not said.gold.keys() >= run.keys() or not all(isinstance(own, Mapping) for own in rankings):
        return None
    if not contents.keys() >= set[object]().union(*rankings):
        return None
    kinds = set[type](map(type, chain.from_iterable(own.values() for own in rankings)))
    right = bool not in kinds and all(issubclass(kind, Real) for kind in kinds)
    return scored_run(run) if right else None


@dataclass(frozen=True)
class Benchmark:
    """Questions over one pool of documents.

    Args:
        questions: each names its gold documents.
        documents: the pool.
        language: of the texts, a BCP 47 tag; it decides how words are separated.
        judgements: people's decisions on documents, which the gold then has.
        lineage: the file that says which questions come from one article or paper, if there is one.

    Raises:
        ConfigurationError: no language has that tag.
    """

    questions: Sequence[Question]
    documents: Sequence[Document]
    language: str
    lineage: Path | None = None
    judgements: Sequence[PairDecision] = ()

    def __post_init__(self) -> None:
        check_tag(self.language, "language")

    def __repr__(self) -> str:
        sizes = f"{len(self.questions)} questions, {len(self.documents)} documents"
        return f"Benchmark({sizes}, language={self.language!r})"

    def index(self, retriever: str, *overrides: str, folder: str | Path | None = None) -> Index:
        """Index the documents.

        Args:
            retriever: a name of conf/retriever: ``bm25``, ``wordllama``, ``hybrid`` …
            overrides: Hydra overrides, such as ``retriever.k1=1.2`` or ``chunking=sentences``.
            folder: where the index stays, instead of one that is there; None: it is temporary.

        Raises:
            ConfigurationError: a name or an override is not known; the message lists what is.
        """
        config = settings(retriever, self.language, overrides)
        return configured(Index, config)(self.documents, folder)

    def evaluate(
        self, run: Rankings | str | Path, measures: Sequence[str] = (), threads: int = 1
    ) -> Scores:
        """Score rankings, or a system, question by question.

        Args:
            run: question_id to ranking, a system, or the path of a TREC run file. A ranking is a
                list of document ids, best first; a list of pairs (id, score), best first; or a
                mapping of id to score. A `Chunk` may take the place of an id, and documents are
                then ranked by their best chunk. A question without a ranking counts
                as one for which nothing was found.

                A system is a function from a question's text to a ranking or to passages, or a
                retriever of LangChain, LlamaIndex or PyTerrier. A passage is a text, a pair
                (source, text), or a mapping with ``id``, ``source``, ``text`` and ``start``. It is
                matched to its document by id, by path, or by its text; one without a match keeps
                its rank and counts as wrong.
            measures: names as in docs/definitions.md, or of traces as in docs/traces.md; none: the
                pipeline's.
            threads: how many questions a system is asked at a time.

        Raises:
            BearsError: a measure, or a question or document of the run is unknown, a ranking has
                another form, or the file is malformed.
        """
        unmatched: list[tuple[str, str]] = []
        names = measures or settings("", self.language, ())["evaluate"]["measures"]
        of_traces = [name for name in dict.fromkeys(names) if re.fullmatch(OF_TRACES, name)]
        # Before a system is asked, which may take long.
        asked = [parse_measure(name) for name in dict.fromkeys(names) if name not in of_traces]
        contents = {document.doc_id: document.content for document in self.documents}
        said = decided(self.questions, contents, self.judgements)
        traces: dict[str, Trace] = {}
        if isinstance(run, str | Path):
            table = read_table(Path(run), said.gold)
            found = evaluate(table, said.gold, asked)
            if of_traces:
                traces = searched_once(whole_documents(table.rankings()))
        elif not of_traces and (scored := _scored(run, said, contents)):
            found = evaluate(scored, said.gold, asked)
        else:
            traces, unmatched = traces_of(run, self.questions, contents, threads)
            found = evaluation_of(traces, said, self.documents, asked)
        own = trace_values(said.questions, traces) if traces else {}
        unknown = np.full(len(self.questions), np.nan)
        wanted = {name: own.get(name, unknown) for name in of_traces}
        if any(trace.calls or trace.answer is not None for trace in traces.values()):
            wanted |= own
        found = replace(found, values={**found.values, **wanted})
        return Scores(*frames_of(found, self.questions, self.lineage), unmatched)


def read(folder: str | Path, language: str, original: bool = False) -> Benchmark:
    """Read a benchmark from the ``queries.json`` and ``corpus.json`` of a folder.

    In a folder of the pipeline, such as data/mini/translated, people's decisions count too.

    Args:
        original: read ``queries_raw.json`` and ``corpus_raw.json``, the texts before translation.

    Raises:
        FormatError: a file is absent or malformed; it names the record.
    """
    where = Path(folder)
    ledger = ledger_beside(where)
    judgements = parse(Ledger, read_ledger(ledger), str(ledger)).judgements
    records = read_folder(where, raw=original)
    return Benchmark(*records, language, lineage_beside(where), judgements)


def build(
    documents: Mapping[str, str], questions: Iterable[Mapping[str, Any]], language: str
) -> Benchmark:
    """Build a benchmark from your own texts.

    Args:
        documents: id to text.
        questions: each with ``question``; ``documents``, the ids of those that answer it, or a
            mapping of them to grades from 1; and where it is known ``answer``.
        language: of the texts, a BCP 47 tag.

    Raises:
        FormatError: there are no documents or questions, an id or a text is not a string, a
            question is empty or repeated, or one of its documents is unknown, repeated or graded
            below 1.
    """
    if not isinstance(documents, Mapping):
        raise FormatError(f"documents: expected id to text, got {documents!r:.80}")
    for key, text in documents.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise FormatError(f"document {key!r:.80}: expected texts for id and text: {text!r:.80}")
    found = [_question(number, row, documents) for number, row in enumerate(questions, 1)]
    if not documents or not found:
        raise FormatError(f"{len(documents)} documents, {len(found)} questions: expected some")
    if len({one.question_id for one in found}) < len(found):
        texts = [one.question for one in found]
        twice = next(text for text in texts if texts.count(text) > 1)
        raise FormatError(f"the question {twice!r:.80} is repeated")
    gold = {doc_id for one in found for doc_id in one.gold_doc_ids}
    pool = [Document(key, text, "own", key, key in gold) for key, text in documents.items()]
    return Benchmark(found, pool, language)


def _question(number: int, row: Mapping[str, Any], documents: Mapping[str, str]) -> Question:
    if not isinstance(row, Mapping):
        raise FormatError(f"question {number}: expected question and documents, got {row!r:.80}")
    text, named = row.get("question"), row.get("documents")
    if not isinstance(text, str) or not text.strip():
        raise FormatError(f"question {number}: expected a text under `question`, got {text!r:.80}")
    if isinstance(named, str) or not named:
        raise FormatError(f"question {number}: documents is {named!r:.80}; expected a list of ids")
    if unknown := [key for key in named if key not in documents]:
        raise FormatError(f"question {number}: {unknown[0]!r:.80} is not among the documents")
    if len(set(named)) < len(named):
        raise FormatError(f"question {number}: documents names one twice: {named!r:.80}")
    if isinstance(named, Mapping) and not all(type(g) is int and g > 0 for g in named.values()):
        raise FormatError(f"question {number}: grades are whole numbers from 1, got {named!r:.80}")
    return Question(
        question_id("own", text),
        text,
        str(row.get("answer") or ""),
        tuple(named),
        "own",
        "ad-hoc",
        tuple(named.values()) if isinstance(named, Mapping) else (),
    )


def settings(retriever: str, language: str, overrides: Sequence[str]) -> Config:
    """Return the pipeline's configuration with a retriever, for texts of a language.

    Args:
        retriever: the name of its YAML file; empty: of no importance.
        language: a BCP 47 tag.
        overrides: Hydra overrides, such as ``retriever.k1=1.2`` or ``chunking=sentences``.

    Raises:
        ConfigurationError: one of them is not known; the message lists what is.
    """
    chosen = read_selection(SHIPPED / PARAMS) | {"benchmark": "mini", "overrides": []}
    if retriever:
        chosen |= {"retriever": retriever}
    conf = CONF if PIPELINE.is_file() else SHIPPED / CONF
    return compose(conf, chosen, [f"benchmark.language={language}", *overrides])
