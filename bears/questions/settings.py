"""One conf/questioner/<name>.yaml, and what a benchmark of made questions is to hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bears.answers.prompts import AnswerPrompt
from bears.answers.settings import GeneratorSettings
from bears.errors import ConfigurationError
from bears.llm.prompt import check_names
from bears.llm.settings import AskingSettings
from bears.types import Closed

Severity = Literal["throw", "flag", "off"]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
FILTERS = (
    *("nothing_written", "not_a_question", "language", "names_passage", "leans", "long_answer"),
    *("answer_not_in_passage", "one_of_a_list", "leaks_answer", "copies_passage"),
    *(
        "unanswerable",
        "closed_book",
        "several_answers",
        "other_question",
        "one_hop",
        "other_document",
        "other_answer",
    ),
    *("near_duplicate", "replaced", "quota"),
)
"""Why a question is not taken, in the order in which they are looked at."""
FIXED = ("nothing_written", "answer_not_in_passage", "replaced", "quota")
"""Those that no setting turns off: there is no question, no gold, or a person or number decided."""


@dataclass(frozen=True)
class ReadingPrompt(AnswerPrompt):
    """What a reader is told who is asked for something else than the answer.

    Args:
        question: what is asked; it names {question} or {answer}, as they were written.
    """

    question: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names(f"prompt {self.name}, question", self.question, ("question", "answer"))


@dataclass(frozen=True)
class QuestionPrompt(Closed):
    """One conf/prompt/<name>.yaml; its version and what is said enter every key.

    Args:
        passage, pair: said first, where one passage is shown and where two are; each may name
            {title}, {native_name} and {variant} of the language.
        every: for the reader, to give every answer of the passages, one a line.
        again: for the reader, to ask for the answer itself.
    """

    name: str
    version: int
    passage: str
    pair: str
    every: ReadingPrompt
    again: ReadingPrompt

    def __post_init__(self) -> None:
        known = ("title", "native_name", "variant")
        check_names(f"prompt {self.name}, passage", self.passage, known)
        check_names(f"prompt {self.name}, pair", self.pair, known)


@dataclass(frozen=True, kw_only=True)
class AnsweringReader(GeneratorSettings):
    """Who tries to answer what was written, with the passage and without."""

    where: ClassVar[str] = "questioner.reader"

    def given_up(self, reasons: Sequence[str]) -> str:
        """No answer, which is what a reader without one gives."""
        del reasons
        return "Unanswerable"


@dataclass(frozen=True, kw_only=True)
class QuestionerSettings(AskingSettings):
    """Who writes questions. See conf/endpoint/openai.yaml for what further fields mean."""

    where: ClassVar[str] = "questioner"

    prompt: QuestionPrompt | None = None
    reader: AnsweringReader | None = None
    answer_tokens: int = 1024

    def given_up(self, reasons: Sequence[str]) -> str:
        """That nothing was written, which is counted."""
        del reasons
        return "{}"


@dataclass(frozen=True)
class MadeQuota(Closed):
    """How many questions of a kind are taken at most.

    Args:
        difficulty: easy where BM25 has all gold among its first ``easy_rank`` documents.
    """

    question_type: Literal["single-hop", "multi-hop"]
    questions: Count
    difficulty: Literal["easy", "hard", "any"] = "any"


@dataclass(frozen=True)
class MadeSettings(Closed):
    """What is written about, and what of it is taken.

    Args:
        source: whose documents.
        seed: of the draw.
        max_docs: at most so many are the pool, drawn with ``seed``; null: all.
        passages, pairs: how many of the pool a question is written about, alone and in twos.
        passage_bytes: least and most bytes of UTF-8 of a passage that is written about.
        bm25: what links passages to pairs, finds others that may hold the answer, and tells easy
            from hard.
        easy_rank: see `MadeQuota`.
        others: how many further documents the reader is shown for each question, one at a time.
        quota: of those that pass; none: all are taken.
        filters: by name, whether what it finds is thrown away, left for a person, or let pass; one
            that is not named here throws.
        longest_answer: tokens of an answer, characters where no spaces part words.
        copied: the greatest share of a question's tokens that may stand in a passage in one piece.
        alike: the least share of token pairs that two questions have in common to be the same.
        reader_f1: from which token F1 on a reader's answer is the written one.
        again_f1: from which token F1 on the question that a reader asks for the answer is.
    """

    sampler: Literal["made"]
    source: str
    passages: Count
    bm25: Mapping[str, Any]
    pairs: Count = 0
    seed: int = 42
    max_docs: Annotated[int, Field(ge=1)] | None = None
    passage_bytes: tuple[Count, Count] = (200, 6000)
    easy_rank: Annotated[int, Field(ge=1)] = 1
    others: Count = 3
    quota: tuple[MadeQuota, ...] = ()
    filters: Mapping[str, Severity] = field(default_factory=dict)
    longest_answer: Count = 40
    copied: Share = 0.7
    alike: Share = 0.7
    reader_f1: Share = 0.6
    again_f1: Share = 0.7

    def __post_init__(self) -> None:
        if unknown := sorted(self.filters.keys() - set(FILTERS)):
            raise ConfigurationError(
                f"sample.filters has {', '.join(unknown)}; there are {', '.join(FILTERS)}"
            )
        if wrong := [name for name in FIXED if self.filters.get(name, "throw") != "throw"]:
            raise ConfigurationError(
                f"sample.filters.{wrong[0]} is {self.filters[wrong[0]]}; it can only be throw"
            )
        if not self.passages + self.pairs:
            raise ConfigurationError("sample.passages and sample.pairs are 0; ask for one question")

    def severity(self, name: str) -> Severity:
        """What becomes of a question on which the filter ``name`` closes."""
        return self.filters.get(name, "throw")
