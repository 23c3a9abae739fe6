"""One conf/questioner/<name>.yaml, and the settings of a benchmark of made questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BeforeValidator, Field

from bears.answers.prompts import AnswerPrompt
from bears.answers.settings import GeneratorSettings
from bears.llm.flat import check_names
from bears.llm.models import AskingSettings
from bears.types import ForbidsExtra, Positive

Severity = Literal["throw", "flag", "off"]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
OfQuestion = Literal["not_a_question", "language", "names_passage", "leans", "near_duplicate"]
OfAnswer = Literal["long_answer", "leaks_answer", "copies_passage"]
OfReader = Literal[
    "unanswerable", "closed_book", "several_answers", "other_question", "other_document"
]
FilterName = Literal[OfQuestion, OfAnswer, OfReader]
"""Reasons to throw a question away that can be turned off. Others are that there is no question,
or no gold, or that a person replaced it."""


@dataclass(frozen=True)
class ReadingPrompt(AnswerPrompt):
    """The prompt of a reader that does not give the answer.

    Args:
        question: the request; it names {question} or {answer}, as they were written.
    """

    question: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names(f"prompt {self.name}, question", self.question, ("question", "answer"))


@dataclass(frozen=True)
class QuestionPrompt(ForbidsExtra):
    """One conf/prompt/<name>.yaml; its version and its text enter every key.

    Args:
        passage: the system message; it may name {title}, {native_name} and {variant} of the
            language.
        every: asks the reader for every answer of the passage, one per line.
        again: asks the reader for the question to the answer.
    """

    name: str
    version: int
    passage: str
    every: ReadingPrompt
    again: ReadingPrompt

    def __post_init__(self) -> None:
        known = ("title", "native_name", "variant")
        check_names(f"prompt {self.name}, passage", self.passage, known)


@dataclass(frozen=True, kw_only=True)
class AnsweringReader(GeneratorSettings):
    """The settings of the reader, who answers questions with and without their passages."""

    where: ClassVar[str] = "questioner.reader"

    def given_up(self, reasons: Sequence[str]) -> str:  # noqa: ARG002
        """Return the reply of a reader that finds no answer."""
        return "Unanswerable"


def _as_reader(generator: Any) -> Any:
    """Return one conf/generator/<name>.yaml as settings of a reader, whatever it builds."""
    if not isinstance(generator, Mapping):
        return generator
    return {key: value for key, value in generator.items() if key != "_target_"}


@dataclass(frozen=True, kw_only=True)
class QuestionerSettings(AskingSettings):
    """The settings of the writer. See conf/endpoint/openai.yaml for further fields."""

    where: ClassVar[str] = "questioner"

    prompt: QuestionPrompt | None = None
    reader: Annotated[AnsweringReader | None, BeforeValidator(_as_reader)] = None
    answer_tokens: int = 1024

    def given_up(self, reasons: Sequence[str]) -> str:  # noqa: ARG002
        """Return the reply for a question that was not written, which is then counted."""
        return "{}"


@dataclass(frozen=True)
class MadeSettings(ForbidsExtra):
    """The documents to write about, and the filters of questions.

    Args:
        source: of the documents.
        seed: of the random choices.
        max_docs: the most documents of the pool, drawn with ``seed``; null for all.
        passages: how many of them to write a question about.
        passage_bytes: the fewest and the most bytes of UTF-8 of a passage.
        bm25: finds other documents with the answer, and measures difficulty.
        easy_rank: a question is easy if BM25 finds its gold among so many documents.
        others: how many other documents the reader sees for each question, one at a time.
        filters: name to severity: throw the question away, leave it to a person (flag), or turn the
            filter off; the default is throw.
        longest_answer: the most tokens of an answer; characters in scripts without spaces.
        copied: the greatest share of a question's tokens that a passage may contain in one piece.
        alike: the share of common token pairs from which on two questions count as the same.
        reader_f1: the token F1 from which on a reader's answer counts as the written one.
        again_f1: the token F1 from which on the question that a reader asks counts as the same.
    """

    source: str
    passages: Positive
    bm25: Mapping[str, Any]
    seed: int = 42
    max_docs: Positive | None = None
    passage_bytes: tuple[Count, Count] = (200, 6000)
    easy_rank: Positive = 1
    others: Count = 3
    filters: Mapping[FilterName, Severity] = field(default_factory=dict)
    longest_answer: Count = 40
    copied: Share = 0.7
    alike: Share = 0.7
    reader_f1: Share = 0.6
    again_f1: Share = 0.7

    def severity(self, name: str) -> Severity:
        """Return what happens to a question in which the filter ``name`` finds a fault."""
        return self.filters.get(cast("FilterName", name), "throw")
