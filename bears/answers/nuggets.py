"""Ask a model for the nuggets of a question, and read people's decisions about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from bears.answers.task import AnswerRequest
from bears.config.ledger.entries import Nugget
from bears.config.ledger.update import read_table
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

COLUMNS = ("record_id", "question", "answer", "nugget", "importance", "model", "decision", "author")
"""A person writes accept or reject under ``decision``, and may change or add rows."""
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
                asked = question.question_id, question.question, question.turns
                yield AnswerRequest(*asked, (question.gold_answer, *known), "nuggets")

    def version(self, request: AnswerRequest) -> int:  # noqa: ARG002
        return self.prompt.version

    def messages(self, request: AnswerRequest, reasons: Sequence[str]) -> tuple[str, str]:
        names = {"title": self.language.title, "native_name": self.language.native_name}
        system = self.prompt.system.format(**names).strip()
        if reasons:
            system += f"\n\nYour last reply could not be used: {'; '.join(reasons)}."
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

    def rows(self, known: KeptReplies) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table for people. Raises RepliesMissing."""
        for request, reply in self.replies(known):
            for each in SHAPE.kept(reply, f"the nuggets of {request.record_id}")["nuggets"]:
                about = request.record_id, request.text, request.texts[0]
                written = " ".join(each["text"].split()), each["importance"], self.settings.model
                yield (*about, *written, "", "")


def read_nuggets(path: Path, questions: Sequence[Question], author: str) -> list[Nugget]:
    """Return the accepted nuggets of a table that people filled in, each once.

    Args:
        path: a table with `COLUMNS`.
        questions: of the benchmark.
        author: of rows without one.

    Raises:
        FormatError: the file is malformed.
        ConfigurationError: naming the row: its question, importance or decision is unknown.
    """
    known = {question.question_id for question in questions}
    found: dict[str, Nugget] = {}
    for where, row in read_table(path, ("record_id", "nugget", "importance", "decision")):
        if row["record_id"] not in known or row["decision"] not in ("accept", "reject"):
            raise ConfigurationError(
                f"{where}: question {row['record_id']!r:.60} with the decision "
                f"{row['decision']!r:.20}; expected a question of the benchmark, and accept or "
                "reject"
            )
        text = " ".join(row["nugget"].split())
        if row["decision"] == "accept" and text:
            entry = {
                "question_id": row["record_id"],
                "nugget_id": nugget_id(row["record_id"], text),
                "text": text,
                "importance": row["importance"].strip().lower(),
                "model": row.get("model", ""),
                "author": row.get("author", "") or author,
            }
            found[entry["nugget_id"]] = parse(Nugget, entry, where)
    return [*found.values()]
