"""Set up the writer and the reader of questions, and build the benchmark from their replies."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from bears.config.ledger.entries import Edits, Ledger, Replacements, Reviews
from bears.config.shape import Choice, Section, WrittenIn
from bears.config.typed import build, parse
from bears.errors import ConfigurationError, SamplingError
from bears.files.rows import files_of, open_rows
from bears.language.profile import Language
from bears.llm.use import KeptReplies
from bears.questions.document_pool import DocumentPool, Unit, pool_of, units_of
from bears.questions.form import Form
from bears.questions.readings import CheckedQuestions, CheckTask, QuestionTask
from bears.questions.settings import AnsweringReader, MadeSettings, QuestionerSettings
from bears.questions.sift import Sieve, Sifted
from bears.retrieval.chunking import chunks
from bears.sampling.lineage import Sample, document_lines
from bears.sampling.mixture import sampler_of
from bears.sampling.sample import apply_edits
from bears.types import Document, Generated, IndexedChunk, Question, Span, in_file

COLUMNS = ("question_id", "outcome", "filter", "reason", "question", "answer", "documents")
"""Of the table of questions that are not kept."""


@dataclass(frozen=True)
class Bench:
    """Everything that making questions needs, except the models' replies.

    Args:
        units: the passages to write about.
        documents: of the benchmark, which the passages are from.
        ledger: people's decisions.
    """

    settings: MadeSettings
    questioner: QuestionerSettings
    reader: AnsweringReader
    language: WrittenIn
    sieve: Sieve
    units: list[Unit]
    documents: list[Document]
    ledger: Ledger

    @cached_property
    def questions(self) -> QuestionTask:
        """Return the task of the questioner."""
        again = Counter[str]()
        for review in self.sieve.reviews.values():
            again[review.record_id] += review.sent_back
        return QuestionTask(self.questioner, self.language, self.sieve.form, self.units, again)

    def readings(self, known: KeptReplies) -> CheckTask:
        """Return the task of the reader, for the questions in ``known``."""
        written = self.questions.drafts(self.questions.resolve(known).replies)
        drafts = self.sieve.to_read(self.units, written)
        form, pool = self.sieve.form, self.sieve.pool
        assert self.questioner.prompt is not None
        again = self.questioner.prompt.again
        prompts = {
            "every answer": self.questioner.prompt.every,
            "question again": again,
            "question of other document": again,
        }
        return CheckTask(self.reader, self.language, (), {}, prompts, form, pool, drafts)


def read_bench(
    rows: Path,
    *,
    edits: Edits,
    language: Choice,
    passages: Choice,
    questioner: QuestionerSettings,
    replacements: Replacements,
    reviews: Reviews,
    sample: Section,
    written_in: WrittenIn,
) -> Bench:
    """Read the documents and choose units; the same rows and settings give the same units.

    Args:
        rows: folder of the sources' rows.

    Raises:
        ConfigurationError, SamplingError, FormatError: the configuration or the rows are wrong.
    """
    ledger = Ledger(replacements, edits, reviews)
    settings: MadeSettings = sampler_of(sample)
    if not questioner.model or questioner.prompt is None or questioner.reader is None:
        raise ConfigurationError(
            f"the questions of this benchmark are made, and questioner {questioner.name} has no "
            "model, prompt or reader; choose one that has, such as -S questioner=gpt-4.1-mini"
        )
    file, _ = files_of(rows, settings.source)
    if not file.is_file():
        raise SamplingError(f"sample.source is {settings.source}, but {file} does not exist")
    form = Form(settings, written_in.name, _profile(language, written_in.name))
    documents = pool_of(open_rows(rows, settings.source).documents, settings)
    pool = DocumentPool(
        [*chunks(documents, build(passages, "passages"))], build(settings.bm25, "sample.bm25"), form
    )
    reviewed = {(str(review.record_id), str(review.field)): review for review in reviews}
    sieve = Sieve(form, pool, reviewed, ledger.replaced)
    units = units_of(pool.documents, settings, questioner.name)
    reader = questioner.reader
    return Bench(settings, questioner, reader, written_in, sieve, units, documents, ledger)


def _profile(selected: Choice, tag: str) -> Language | None:
    if selected.name == tag:
        return parse(Language, selected, "language")
    if tag == "en":
        return None
    raise ConfigurationError(
        f"the documents are in {tag}, whose file in conf/language is needed to check questions; "
        f"select it: -S language={tag}"
    )


def not_kept(sifted: Iterable[Sifted]) -> Iterator[list[Any]]:
    """Yield a row of `COLUMNS` for every question that is not kept."""
    for each in sifted:
        if each.outcome != "kept":
            unit, draft = each.unit, each.draft
            words = [draft.question, draft.answer] if draft else ["", ""]
            faults = "; ".join(message for _, message in each.faults)
            known = [unit.question_id, each.outcome, _why(each), faults, *words]
            yield [*known, unit.passage.doc_id]


def sifted_of(
    bench: Bench, questions: KeptReplies, readings: KeptReplies
) -> tuple[CheckedQuestions, list[Sifted]]:
    """Return the readings of the questions, and the outcome of each question, in order.

    Raises:
        RepliesMissing: a reply is missing.
    """
    written = bench.questions.drafts(bench.questions.replies(questions))
    read = bench.readings(questions).complete(readings)
    return read, list(bench.sieve.sifted(bench.units, written, read))


def for_review(sifted: Iterable[Sifted]) -> Iterator[dict[str, str]]:
    """Yield the texts of the questions that wait for a person, two rows each."""
    for each in sifted:
        if each.draft and each.outcome == "waiting":
            common = {
                "record_id": each.unit.question_id,
                "flags": "; ".join(message for _, message in each.faults),
                "source": each.unit.passage.content,
            }
            yield {**common, "field": "question", "translation": each.draft.question}
            yield {**common, "field": "gold_answer", "translation": each.draft.answer}


def made(
    bench: Bench, questions: KeptReplies, readings: KeptReplies, licence: str
) -> tuple[Sample, list[Sifted]]:
    """Build the benchmark from kept replies, without a model.

    Args:
        licence: of the documents.

    Returns:
        The benchmark, and every question that was written with its outcome. ``generated`` of the
        notes counts those that were kept, wait for a person or were thrown, by first reason.

    Raises:
        RepliesMissing: a reply is missing.
        SamplingError: no question is left.
    """
    read, sifted = sifted_of(bench, questions, readings)
    counted = Counter((each.outcome, _why(each)) for each in sifted)
    counts = {
        outcome: {why: n for (of, why), n in sorted(counted.items()) if of == outcome}
        for outcome in ("kept", "waiting", "thrown")
    }
    kept = [each for each in sifted if each.outcome == "kept"]
    if not kept:
        raise SamplingError(
            f"none of {len(sifted)} questions is kept ({counts}); look at what was written: "
            "bears replies review --export FILE.csv"
        )
    generated = Generated(bench.questioner.model, len(sifted), len(kept))
    written = [_question(each, generated, bench.sieve.pool.by_id) for each in kept]
    gold = {doc_id for question in written for doc_id in question.gold_doc_ids}
    documents = [replace(each, is_gold=each.doc_id in gold) for each in bench.documents]
    asked, documents, unused = apply_edits(written, documents, bench.ledger.edits)
    known = {each.unit.question_id for each in sifted}
    unmatched = [*(edit.record_id for edit in unused), *bench.ledger.replaced - known]
    lineage = chain(
        _lineage(bench, asked, kept, read, licence), document_lines(documents, asked, licence)
    )
    notes = {"generated": counts, "unmatched_ledger_entries": sorted(unmatched)}
    return Sample(asked, documents, lineage, notes), sifted


def _lineage(
    bench: Bench,
    asked: Sequence[Question],
    taken: Iterable[Sifted],
    read: CheckedQuestions,
    licence: str,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each question, with its writer and its readings."""
    writing, chunks = bench.questions, bench.sieve.pool.by_id
    keys = {request.record_id: writing.key(request) for request in writing.requests()}
    for question, each in zip(asked, taken, strict=True):
        yield {
            "record_id": question.question_id,
            "kind": "question",
            "source": question.source_dataset,
            "licence": licence,
            "questioner": bench.questioner.name,
            "model": bench.questioner.model,
            "memory_key": keys[question.question_id],
            "written_about": [in_file(chunks[each.unit.passage.doc_id].chunk)],
            "also_gold": [in_file(chunks[name].chunk) for name in each.gold],
            "difficulty": each.difficulty,
            "readings": read.read.get(question.question_id, {}),
            "accepted_by_a_person": each.decided,
        }


def _question(each: Sifted, generated: Generated, passages: Mapping[str, IndexedChunk]) -> Question:
    """Return a kept question; ``passages`` has them by their names."""
    assert each.draft is not None
    gold = [passages[name] for name in (each.unit.passage.doc_id, *each.gold)]
    return Question(
        each.unit.question_id,
        each.draft.question,
        each.draft.answer,
        tuple(dict.fromkeys(passage.chunk.doc_id for passage in gold)),
        each.unit.passage.original_source,
        "single-hop",
        generated=generated,
        gold_spans=tuple(
            Span(passage.chunk.doc_id, passage.chunk.start, passage.chunk.end, passage.content)
            for passage in gold
            if passage.chunk.end is not None
        ),
    )


def _why(each: Sifted) -> str:
    return each.faults[0][0] if each.faults else each.difficulty
