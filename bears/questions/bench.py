"""Set up the writer and the reader of questions from configuration and rows."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bears.config.ledger.entries import Edits, Ledger, Replacements, Reviews
from bears.config.shape import Choice, Sampling, WrittenIn
from bears.config.typed import build, parse
from bears.errors import ConfigurationError, SamplingError
from bears.files.rows import files_of, open_rows
from bears.language.profile import Language
from bears.llm.use import KeptReplies
from bears.questions.document_pool import DocumentPool, Unit, pool_of, units_of
from bears.questions.form import Form
from bears.questions.readings import CheckTask
from bears.questions.settings import AnsweringReader, MadeSettings, QuestionerSettings
from bears.questions.sift import Sieve
from bears.questions.task import QuestionTask
from bears.retrieval.chunking import chunks
from bears.sampling.mixture import sampler_of
from bears.types import Document


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
        return CheckTask(
            self.reader, self.language, (), {}, prompts, self.settings, form, pool, drafts
        )


def read_bench(
    rows: Path,
    *,
    edits: Edits,
    language: Choice,
    passages: Choice,
    questioner: QuestionerSettings,
    replacements: Replacements,
    reviews: Reviews,
    sample: Sampling,
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
    sieve = Sieve(settings, form, pool, reviewed, ledger.replaced)
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
