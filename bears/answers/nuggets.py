"""Ask a model for the nuggets of a question, and read people's decisions about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from bears.answers.task import AnswerRequest
from bears.config.ledger.entries import Nugget
from bears.config.ledger.sheet import Row, Sheet
from bears.config.shape import WrittenIn
from bears.config.typed import parse
from bears.errors import ConfigurationError, FormatError
from bears.identity import nugget_id
from bears.llm.flat import FlatUse, SystemPrompt, shown
from bears.llm.models import AskingSettings
from bears.llm.shape import Shape
from bears.llm.use import CheckedReply, KeptReplies
from bears.llm.wire import ChatAnswer
from bears.types import Question

SHEET = Sheet(
    ("record_id", "nugget_id"),
    ("question", "answer", "model"),
    ("nugget", "importance", "decision", "reason", "author"),
    choices=("accept", "reject"),
)
"""A person may change a nugget, or add rows, which have no ``nugget_id``."""
LONGEST = 8000
"""Characters of each passage that are shown."""


class WrittenNugget(TypedDict):
    """One nugget of a reply."""

    text: str
    importance: Literal["vital", "okay"]


class WrittenNuggets(TypedDict):
    """The reply of a model."""

    nuggets: list[WrittenNugget]


SHAPE = Shape(WrittenNuggets)


@dataclass(frozen=True)
class NuggetTask(FlatUse[AnswerRequest]):
    """Writing the nuggets of the questions that have gold.

    Args:
        settings: of the model.
        prompt: of the writer.
        language: of the texts.
        questions: of the benchmark.
        contents: doc_id to text.
    """

    settings: AskingSettings
    prompt: SystemPrompt
    language: WrittenIn
    questions: Sequence[Question]
    contents: Mapping[str, str]

    name = "nuggets"
    advice = "write the nuggets of these questions yourself"
    schema = SHAPE.schema
    most_tokens = 1024

    @property
    def wanted(self) -> str:
        return f"lists of nuggets by {self.settings.model}"

    def requests(self) -> Iterator[AnswerRequest]:
        for question in self.questions:
            passages = (each.of(self.contents.get(each.doc_id, "")) for each in question.gold_parts)
            if known := tuple(text[:LONGEST] for text in passages if text):
                own = question.question_id, question.asked, (), (question.gold_answer, *known)
                yield AnswerRequest(*own, "nuggets")

    def version(self, request: AnswerRequest) -> int:  # noqa: ARG002
        return self.prompt.version

    def messages(self, request: AnswerRequest) -> tuple[str, str]:
        names = {"title": self.language.title, "native_name": self.language.native_name}
        system = self.prompt.system.format(**names).strip()
        answer, *passages = request.texts
        parts = {"question": request.text, "answer": answer, "passages": passages}
        return system, shown(parts)

    def output_tokens(self, request: AnswerRequest) -> tuple[float, float]:  # noqa: ARG002
        return 60, 400

    def check(self, request: AnswerRequest, answer: ChatAnswer) -> CheckedReply:  # noqa: ARG002
        try:
            written = SHAPE.read(answer)
        except FormatError as error:
            return CheckedReply("", [f"{error}"], [])
        empty = not any(each["text"].strip() for each in written["nuggets"])
        return CheckedReply(SHAPE.line(written), ["it has no nugget"] if empty else [], [])

    def rows(self, known: KeptReplies) -> Iterator[dict[str, str]]:
        """Yield the rows of the table for people. Raises RepliesMissing."""
        for request, reply in self.replies(known):
            for each in SHAPE.kept(reply, f"the nuggets of {request.record_id}")["nuggets"]:
                text, question = " ".join(each["text"].split()), request.record_id
                yield {
                    "record_id": question,
                    "nugget_id": nugget_id(question, text),
                    "question": request.text,
                    "answer": request.texts[0],
                    "model": self.settings.model,
                    "nugget": text,
                    "importance": each["importance"],
                }


def read_nuggets(path: Path, questions: Sequence[Question], author: str) -> list[Nugget]:
    """Return the decisions of a table of `SHEET`; a rejected nugget has no text.

    Args:
        path: the table.
        questions: of the benchmark.
        author: of rows without one.

    Raises:
        FormatError: the file is malformed.
        ConfigurationError: naming each row whose question, texts, importance or decision are
            wrong, or that contradicts a row above.
    """
    known = {question.question_id: question for question in questions}

    def current(row: Row) -> Mapping[str, str] | None:
        question = known.get(row["record_id"])
        # The answer is that of the gold, which people's edits may change.
        return {"question": question.asked} if question else None

    def entry(where: str, row: Row) -> Nugget:
        _, text = item(row)
        if not text:
            raise ConfigurationError(f"{where}: its nugget is empty; write one, or decide nothing")
        own, accepted = nugget_id(row["record_id"], text), row["decision"] == "accept"
        value = {
            "question_id": row["record_id"],
            "nugget_id": own,
            "text": text if accepted else "",
            "importance": row["importance"].strip().lower() if accepted else "okay",
            "model": row["model"],
            "author": row["author"],
            "reason": row["reason"],
            "written": row["nugget_id"] if row["nugget_id"] != own else "",
        }
        return parse(Nugget, value, where)

    def item(row: Row) -> tuple[str, str]:
        return row["record_id"], " ".join(row["nugget"].split())

    return SHEET.read(path, current, entry, item, author)
