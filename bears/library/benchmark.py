"""A benchmark in memory: questions, documents, and which answers which."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bears.config import Config, compose, parse, read_ledger, read_selection
from bears.config.ledger.entries import Ledger, PairDecision
from bears.config.packaged import SHIPPED
from bears.config.typed import configured
from bears.errors import FormatError
from bears.evaluation.decided import decided
from bears.evaluation.evaluate import evaluate
from bears.evaluation.measure import parse_measure
from bears.evaluation.trace_measures import trace_values
from bears.files.records import read_documents, read_questions
from bears.files.trec import read_table
from bears.identity import question_id
from bears.language.tags import check_tag
from bears.layout import CONF, PARAMS, PIPELINE, ledger_beside, lineage_beside
from bears.library.index import Index
from bears.library.rankings import Rankings, traces_of
from bears.library.scores import Scores
from bears.results.system import frames_of
from bears.results.traced import evaluation_of
from bears.types import Document, Question


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
            measures: names as in docs/definitions.md; none: the pipeline's.
            threads: how many questions a system is asked at a time.

        Raises:
            BearsError: a measure, or a question or document of the run is unknown, a ranking has
                another form, or the file is malformed.
        """
        unmatched: list[tuple[str, str]] = []
        names = measures or settings("", self.language, ())["evaluate"]["measures"]
        # Before a system is asked, which may take long.
        asked = list(map(parse_measure, dict.fromkeys(names)))
        contents = {document.doc_id: document.content for document in self.documents}
        said = decided(self.questions, contents, self.judgements)
        if isinstance(run, str | Path):
            found = evaluate(read_table(Path(run), said.gold), said.gold, asked)
        else:
            traces, unmatched = traces_of(run, self.questions, contents, threads)
            found = evaluation_of(traces, said, self.documents, asked)
            if any(trace.calls or trace.answer is not None for trace in traces.values()):
                own = trace_values(said.questions, traces)
                found = replace(found, values={**found.values, **own})
        return Scores(*frames_of(found, self.questions, self.lineage), unmatched)


def read(folder: str | Path, language: str, original: bool = False) -> Benchmark:
    """Read a benchmark from the ``queries.json`` and ``corpus.json`` of a folder.

    In a folder of the pipeline, such as data/mini/translated, people's decisions count too.

    Args:
        original: read ``queries_raw.json`` and ``corpus_raw.json``, the texts before translation.

    Raises:
        FormatError: a file is absent or malformed; it names the record.
    """
    where, ending = Path(folder), "_raw.json" if original else ".json"
    questions = read_questions(where / f"queries{ending}")
    documents = read_documents(where / f"corpus{ending}")
    ledger = ledger_beside(where)
    judgements = parse(Ledger, read_ledger(ledger), str(ledger)).judgements
    return Benchmark(questions, documents, language, lineage_beside(where), judgements)


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
