"""Ask a model for a question and its answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from bears.answers.prompts import FIX
from bears.config.shape import WrittenIn
from bears.errors import FormatError, RepliesCorrupt
from bears.files.intake.json_text import json_value
from bears.llm.flat import FlatUse, shown
from bears.llm.shape import Shape, json_reply
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer
from bears.questions.document_pool import Unit
from bears.questions.form import Form, Written
from bears.questions.settings import QuestionerSettings, QuestionPrompt

OUTPUT_TOKENS = 30, 150
"""The usual minimum and maximum of a reply."""
NOTHING = "{}"
"""The kept reply if the model wrote no question."""


class WrittenQuestion(TypedDict):
    """The reply of a model; the question and its answer are kept."""

    subject: NotRequired[str]
    answer: str
    question: str


SHAPE = Shape(WrittenQuestion)


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """The request for a question about a passage.

    Args:
        again: how often a person sent the question back.
    """

    record_id: str
    text: str
    again: int
    field: str = "question"


@dataclass(frozen=True)
class QuestionTask(FlatUse[QuestionRequest]):
    """Writing the questions of one benchmark.

    Args:
        settings: of the writer, with a model and a prompt.
        language: of the documents and the questions.
        form: the filters that look at words.
        units: the subjects of the questions.
        again: question_id to how often a person sent the question back.
    """

    settings: QuestionerSettings
    language: WrittenIn
    form: Form
    units: Sequence[Unit]
    again: Mapping[str, int]

    name = "question"
    advice = "publish without them, and count them as not written: replies publish --give-up"
    schema = SHAPE.schema

    @property
    def wanted(self) -> str:
        return f"questions by {self.settings.name}"

    @property
    def most_tokens(self) -> int:  # type: ignore[override]
        return self.settings.answer_tokens

    @property
    def prompt(self) -> QuestionPrompt:
        """Return the prompt of the writer."""
        assert self.settings.prompt is not None
        return self.settings.prompt

    def requests(self) -> Iterator[QuestionRequest]:
        for unit in self.units:
            times = self.again.get(unit.question_id, 0)
            yield QuestionRequest(unit.question_id, unit.passage.content, times)

    def version(self, request: QuestionRequest) -> int:  # noqa: ARG002
        return self.prompt.version

    def messages(self, request: QuestionRequest, reasons: Sequence[str]) -> tuple[str, str]:
        language = self.language
        names = {"title": language.title, "native_name": language.native_name}
        system = self.prompt.passage.format(**names, variant=language.variant).strip()
        if request.again:
            system += f"\n\nA person sent back question number {request.again}; ask another."
        if reasons:
            system += f"\n\nYour last answer was not taken: {'; '.join(reasons)}. {FIX} that."
        return system, shown({"passages": [request.text]})

    def output_tokens(self, request: QuestionRequest) -> tuple[float, float]:  # noqa: ARG002
        return OUTPUT_TOKENS

    def check(self, request: QuestionRequest, answer: ChatAnswer) -> CheckedReply:
        """Check a reply. A faulty question may be kept, since the filters throw it away later."""
        try:
            draft = _draft(json_reply(answer))
        except FormatError as error:
            return CheckedReply(NOTHING, [], [str(error)])
        doubts = [message for _, message in self.form.faults(draft, request.text)]
        kept = SHAPE.line({"question": draft.question, "answer": draft.answer})
        return CheckedReply(kept, [], doubts)

    def drafts(self, replies: Iterable[tuple[QuestionRequest, str]]) -> dict[str, Written | None]:
        """Return question_id to the written question; None if the model wrote none.

        Raises:
            RepliesCorrupt: a reply is not a question.
        """
        return {request.record_id: draft_of(reply, self.key(request)) for request, reply in replies}


def draft_of(reply: str, key: str) -> Written | None:
    """Return the question in a kept reply. Raises RepliesCorrupt if it is not valid."""
    if reply.strip() == NOTHING:
        return None
    try:
        return _draft(json_value(reply.encode(), ""))
    except FormatError as error:
        raise RepliesCorrupt(
            f"the question {reply!r:.80} is not valid; fix or remove the line with key {key}"
        ) from error


def _draft(value: object) -> Written:
    written: WrittenQuestion = {"question": "", "answer": ""}
    with suppress(FormatError):
        written = SHAPE.parse(value)
    draft = Written(" ".join(written["question"].split()), " ".join(written["answer"].split()))
    if not draft.question or not draft.answer:
        raise FormatError("the answer has no question with its answer")
    return draft
