"""Asking a model for a question and its answer: a `bears.llm.use.Use`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.answers.prompts import WrittenIn
from bears.errors import FormatError, MemoryCorrupt
from bears.files.intake.json_text import json_value
from bears.llm.kept import PublishedMemory
from bears.llm.prompt import broken
from bears.llm.shape import json_reply
from bears.llm.use import CheckedReply, Needs, all_of
from bears.llm.wire import ChatAnswer, ChatRequest
from bears.questions.form import Draft, Form
from bears.questions.settings import QuestionerSettings
from bears.questions.units import Unit

FIELDS = ("subject", "answer", "question")
"""In the order in which they are to be written."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in FIELDS},
    "required": list(FIELDS),
    "additionalProperties": False,
}
OUTPUT_TOKENS = 30, 150
"""The least and the most of an answer in practice."""
NOTHING = "{}"
"""What is kept where no question came of it."""


class Written(TypedDict):
    """What is kept of a model's answer, as one line of JSON."""

    question: str
    answer: str


_WRITTEN = TypeAdapter(Written)


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A passage, or two, that a question is wanted about.

    Args:
        again: how often a person sent its question back.
    """

    record_id: str
    field: str
    texts: tuple[str, ...]
    again: int

    @property
    def text(self) -> str:
        return "\n\n".join(self.texts)


@dataclass
class Questions(Needs[QuestionRequest]):
    """What is needed, and by question_id what was written; None where nothing came of it.

    Args:
        keys: question_id to the key of its entry.
    """

    drafts: dict[str, Draft | None] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class QuestionTask:
    """Writing the questions of one benchmark.

    Args:
        settings: who writes; it has a model and a prompt.
        language: of the documents and the questions.
        form: what is wrong with a question by its words alone.
        units: what is written about.
        again: question_id to how often a person sent the question back.
    """

    settings: QuestionerSettings
    language: WrittenIn
    form: Form
    units: Sequence[Unit]
    again: Mapping[str, int]

    name = "question"
    advice = "publish without them, and count them as not written: memory publish --give-up"

    @property
    def wanted(self) -> str:
        """What may be missing."""
        return f"questions by {self.settings.name}"

    def resolve(self, known: PublishedMemory) -> Questions:
        """Look every question up. Raises MemoryCorrupt where an entry is none."""
        found = Questions()
        for unit in self.units:
            request = self._request(unit)
            found.keys[unit.question_id] = self.key(request)
            answer = found.ask(lambda each: known.get(self.key(each), each.record_id), request)
            if answer is not None:
                found.drafts[unit.question_id] = _kept(answer, self.key(request))
        return found

    def complete(self, known: PublishedMemory) -> Questions:
        """As `resolve`. Raises MemoryMiss where something was never asked."""
        return all_of(self.resolve(known), self.wanted)

    def key(self, request: QuestionRequest) -> str:
        """Over the model and all that it is told."""
        assert self.settings.prompt is not None
        version, words = self.settings.prompt.version, self._messages(request, [])
        return self.settings.key_of_said(self.name, version, *words)

    def ask(self, request: QuestionRequest, reasons: list[str]) -> ChatRequest:
        """What is sent for a request, with the reasons why earlier answers were not taken."""
        system, user = self._messages(request, reasons)
        return ChatRequest(
            key=self.key(request),
            system=system,
            user=user,
            schema=SCHEMA,
            max_output_tokens=self.settings.answer_tokens,
            parameters=self.settings.request,
        )

    def output_tokens(self, request: QuestionRequest) -> tuple[float, float]:
        """The least and the most tokens of an answer in practice."""
        del request
        return OUTPUT_TOKENS

    def check(self, request: QuestionRequest, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with an answer. All of it may be kept, since it is thrown away later."""
        try:
            draft = draft_of(json_reply(answer))
        except FormatError as error:
            return CheckedReply(NOTHING, [], [str(error)])
        doubts = [message for _, message in self.form.faults(draft, request.texts)]
        kept: Written = {"question": draft.question, "answer": draft.answer}
        return CheckedReply(json.dumps(kept, ensure_ascii=False, sort_keys=True), [], doubts)

    def _request(self, unit: Unit) -> QuestionRequest:
        times = self.again.get(unit.question_id, 0)
        return QuestionRequest(unit.question_id, unit.question_type, unit.texts, times)

    def _messages(self, request: QuestionRequest, reasons: Sequence[str]) -> tuple[str, str]:
        assert self.settings.prompt is not None
        prompt, language = self.settings.prompt, self.language
        template = prompt.passage if len(request.texts) == 1 else prompt.pair
        names = {"title": language.title, "native_name": language.native_name}
        system = template.format(**names, variant=language.variant).strip()
        if request.again:
            system += f"\n\nA person sent back question number {request.again}; ask another."
        if reasons:
            system += f"\n\nYour last answer was not taken: {'; '.join(reasons)}. Mend that."
        # As JSON, and without words of chat templates, so that no passage can end where it stands.
        shown = json.dumps({"passages": request.texts}, ensure_ascii=False, indent=1)
        return system, broken(shown)


def draft_of(value: object) -> Draft:
    """The question in what a model answered. Raises FormatError where there is none."""
    try:
        written = _WRITTEN.validate_python(value, strict=True)
    except ValidationError:
        written = Written(question="", answer="")
    question, answer = (" ".join(written[name].split()) for name in ("question", "answer"))
    if not question or not answer:
        raise FormatError("the answer has no question with its answer")
    return Draft(question, answer)


def _kept(answer: str, key: str) -> Draft | None:
    if answer.strip() == NOTHING:
        return None
    try:
        return draft_of(json_value(answer.encode(), ""))
    except FormatError as error:
        raise MemoryCorrupt(
            f"the question {answer!r:.80} is none; mend or remove the line with key {key}"
        ) from error
