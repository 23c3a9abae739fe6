"""The sampler ``whole``: a source that is a benchmark already, taken as it is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Annotated, Any, Literal

from pydantic import Field

from bears.config.ledger.entries import Ledger
from bears.errors import LedgerError, SamplingError
from bears.files.rows import PoolRow
from bears.sampling.lineage import document_lines
from bears.sampling.pooled import Pooled
from bears.types import (
    Article,
    Closed,
    Document,
    Judgement,
    PassageRow,
    PoolDocument,
    PoolQuestion,
    Question,
)

UNJUDGED = "no document is judged for it"


@dataclass(frozen=True)
class WholeSettings(Closed):
    """What to take of a benchmark.

    Args:
        source: the source that is the benchmark.
        max_docs: at most so many documents, for a quick run: the gold ones, and others drawn with
            ``seed``, in the source's order; null: all.
    """

    sampler: Literal["whole"]
    source: str
    seed: int = 42
    max_docs: Annotated[int, Field(ge=1)] | None = None


@dataclass(frozen=True)
class WholeBenchmark:
    """A benchmark as its source has it. Documents are read when they are asked for.

    Args:
        questions: in the source's order, those with known gold or, where the source knows of
            none, all of them.
        n_documents: how many documents there are.
        passed_over: reason to the number of questions left out.
        unjudged: how many questions have judgements, but none that says relevant.
        merged: how many paragraphs are one document with another that has the same text under
            another title.
    """

    questions: list[Question]
    n_documents: int
    passed_over: dict[str, int]
    unjudged: int
    merged: int
    _source: str = field(repr=False)
    _rows: Iterable[PoolRow] = field(repr=False)
    _chosen: set[int] | None = field(repr=False)

    def documents(self) -> Iterator[Document]:
        """The documents in the source's order; ids and texts are the source's own."""
        gold = {doc_id for question in self.questions for doc_id in question.gold_doc_ids}
        rows = (row for row in self._rows if isinstance(row, PoolDocument | Document))
        for position, row in enumerate(rows):
            if self._chosen is not None and position not in self._chosen:
                continue
            if isinstance(row, Document):
                yield row
            else:
                is_gold = row.id in gold
                yield Document(row.id, row.text, self._source, row.id, is_gold, row.group)

    def lineage(self, licence: str) -> Iterator[dict[str, Any]]:
        """One row for each record; ``licence`` is that of the source's texts."""
        for question in self.questions:
            yield {
                "record_id": question.question_id,
                "kind": "question",
                "source": self._source,
                "upstream_id": question.question_id,
                "licence": licence,
                **self._references(question),
            }
        for line in document_lines(self.documents(), self.questions, licence):
            yield {**line, "source": self._source}

    def _references(self, question: Question) -> dict[str, list[str]]:
        known = self._rows.references if isinstance(self._rows, Pooled) else {}
        return {"references": known[question.question_id]} if question.question_id in known else {}


def sample_whole(
    settings: WholeSettings, sources: Mapping[str, Iterable[Any]], ledger: Ledger
) -> WholeBenchmark:
    """Take the benchmark; a pure function of its arguments.

    Of rows that bring their own paragraphs those are the documents, see `Pooled`, and a question
    without gold is passed over.

    Where a source has judgements (qrels), a question without one is passed over, grades below 1
    are no gold, and a question whose judgements are all below 1 is not judged: nobody knows a
    relevant document, which does not say that there is none.

    Raises:
        SamplingError: the source is not there, is no benchmark, has no question or no document,
            or its gold alone exceeds ``max_docs``.
        LedgerError: there are entries, and a benchmark of others is not edited.
    """
    if ledger != Ledger():
        raise LedgerError("sampler whole takes a benchmark as it is, and no ledger")
    if settings.source not in sources:
        raise SamplingError(
            f"sample.source is {settings.source}, but the benchmark has {', '.join(sources)}"
        )
    rows = sources[settings.source]
    if isinstance(next(iter(rows), None), Article | PassageRow):
        rows = Pooled(rows, settings.source)
    asked, judgements, ids = _read(rows)
    questions = [_question(row, settings.source, judgements) for row in asked]
    # Among rows with paragraphs one without gold has no answer, or none that anybody knows of.
    any_gold = not isinstance(rows, Pooled)
    taken = [q for q in questions if q is not None and (q.judged or any_gold)]
    if not taken or not ids:
        raise SamplingError(
            f"source {settings.source} gives {len(taken)} questions that are judged and "
            f"{len(ids)} documents; at least one of each is needed"
            + "; a folder of documents has them in questions.csv"
            * (not asked)
        )
    chosen = _chosen(settings, ids, taken)
    return WholeBenchmark(
        questions=taken,
        n_documents=len(ids) if chosen is None else len(chosen),
        passed_over={UNJUDGED: n} if (n := len(questions) - len(taken)) else {},
        unjudged=sum(bool(judgements) and not question.judged for question in taken),
        merged=rows.titles.merged if isinstance(rows, Pooled) else 0,
        _source=settings.source,
        _rows=rows,
        _chosen=chosen,
    )


Judgements = dict[str, dict[str, int]]


def _read(
    rows: Iterable[Any],
) -> tuple[list[PoolQuestion | Question], Judgements, list[str]]:
    questions: list[PoolQuestion | Question] = []
    judgements: Judgements = {}
    ids: list[str] = []
    for row in rows:
        match row:
            case PoolDocument():
                ids.append(row.id)
            case Document():
                ids.append(row.doc_id)
            case PoolQuestion() | Question():
                questions.append(row)
            case Judgement():
                judgements.setdefault(row.question_id, {})[row.doc_id] = row.grade
    return questions, judgements, ids


def _question(row: PoolQuestion | Question, source: str, judgements: Judgements) -> Question | None:
    """The question, or None where the source judges others and not this one."""
    if isinstance(row, Question):
        return row
    if judgements and row.id not in judgements and not row.gold:
        return None
    graded = {**dict(row.gold), **judgements.get(row.id, {})}
    gold = {doc_id: grade for doc_id, grade in graded.items() if grade > 0}
    judged = row.judged and (bool(gold) or not judgements)
    return Question(
        question_id=row.id,
        question=row.question,
        gold_answer=row.answer,
        gold_doc_ids=tuple(gold),
        source_dataset=source,
        question_type="ad-hoc" if gold or not judged else "no-retrieval",
        gold_grades=tuple(gold.values()) if set(gold.values()) - {1} else (),
        judged=judged,
        turns=row.turns,
        answers=row.answers,
        group=row.group,
    )


def _chosen(
    settings: WholeSettings, ids: Sequence[str], questions: Iterable[Question]
) -> set[int] | None:
    """The positions of the documents that are taken; None: all."""
    if settings.max_docs is None or settings.max_docs >= len(ids):
        return None
    gold = {doc_id for question in questions for doc_id in question.gold_doc_ids}
    needed = {position for position, doc_id in enumerate(ids) if doc_id in gold}
    if len(needed) > settings.max_docs:
        raise SamplingError(
            f"sample.max_docs is {settings.max_docs}, but the questions' gold alone are "
            f"{len(needed)} documents; ask for at least that many"
        )
    others = [position for position in range(len(ids)) if position not in needed]
    drawn = Random(settings.seed).sample(others, settings.max_docs - len(needed))
    return needed.union(drawn)
