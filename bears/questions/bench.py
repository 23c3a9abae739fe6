"""From configuration and rows to what a writer and a reader are asked."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bears.answers.prompts import WrittenIn
from bears.config import Config, build, parse
from bears.config.ledger.entries import WholeLedger
from bears.errors import ConfigurationError, SamplingError
from bears.files.rows import files_of, open_rows
from bears.language.profile import Language
from bears.llm.kept import PublishedMemory
from bears.questions.form import Form
from bears.questions.pool import DocumentPool
from bears.questions.readings import CheckTask
from bears.questions.settings import AnsweringReader, MadeSettings, QuestionerSettings
from bears.questions.sift import Decided, Sieve
from bears.questions.task import QuestionTask
from bears.questions.units import Unit, pool_of, units_of


@dataclass(frozen=True)
class Bench:
    """All that making questions needs, but for what models said.

    Args:
        units: what is written about.
        ledger: what people decided.
    """

    settings: MadeSettings
    questioner: QuestionerSettings
    reader: AnsweringReader
    language: WrittenIn
    sieve: Sieve
    units: list[Unit]
    ledger: WholeLedger

    @cached_property
    def questions(self) -> QuestionTask:
        """What the questioner is asked."""
        reviews = self.sieve.decided.reviews.values()
        again = Counter[str]()
        for each in reviews:
            again[each.record_id] += each.sent_back
        return QuestionTask(self.questioner, self.language, self.sieve.form, self.units, again)

    def readings(self, known: PublishedMemory) -> CheckTask:
        """What the reader is asked of the questions that ``known`` has."""
        written = self.questions.drafts(self.questions.resolve(known).replies)
        drafts = self.sieve.to_read(self.units, written)
        form, pool = self.sieve.form, self.sieve.pool
        assert self.questioner.prompt is not None
        every, again = self.questioner.prompt.every, self.questioner.prompt.again
        prompts = {
            "every answer": every,
            "every answer beside others": every,
            "question again": again,
            "question of other document": again,
        }
        about = prompts, self.settings, form, pool, drafts
        return CheckTask(self.reader, self.language, (), {}, *about)


def read_bench(config: Config, rows: Path) -> Bench:
    """Read what questions are written about; the same rows and settings give the same ones.

    Args:
        config: with the keys benchmark, language, ledger, questioner, sample and written_in.
        rows: folder of the sources' rows.

    Raises:
        ConfigurationError, SamplingError, FormatError: something does not fit.
    """
    settings = parse(MadeSettings, config["sample"], "sample")
    questioner = parse(QuestionerSettings, config["questioner"], "questioner")
    if not questioner.model or questioner.prompt is None or questioner.reader is None:
        raise ConfigurationError(
            f"the questions of this benchmark are made, and questioner {questioner.name} has no "
            "model, prompt or reader; choose one that has, such as -S questioner=gpt-4.1-mini"
        )
    file, _ = files_of(rows, settings.source)
    if not file.is_file():
        raise SamplingError(f"sample.source is {settings.source}, but {file} is not there")
    language = parse(WrittenIn, config["written_in"], "written_in")
    form = Form(settings, language.name, _profile(config, language.name))
    pool = DocumentPool(
        pool_of(open_rows(rows, settings.source).documents, settings),
        build(settings.bm25, "sample.bm25"),
        form,
    )
    ledger = parse(WholeLedger, config["ledger"], "ledger")
    reviews = {(str(each.record_id), str(each.field)): each for each in ledger.reviews}
    sieve = Sieve(settings, form, pool, Decided(reviews, ledger.replaced))
    units = units_of(pool, settings, questioner.name)
    return Bench(settings, questioner, questioner.reader, language, sieve, units, ledger)


def _profile(config: Config, tag: str) -> Language | None:
    if config["language"]["name"] == tag:
        return parse(Language, config["language"], "language")
    if tag == "en":
        return None
    raise ConfigurationError(
        f"the documents are in {tag}, and what questions in it may say is known from its file in "
        f"conf/language; select it: -S language={tag}"
    )
