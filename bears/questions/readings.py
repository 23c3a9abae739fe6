"""Ask a writer for each question and its answer, and a reader to answer it in several ways.

The requests of the reader are those of a generator's answers (`bears.answers`), and so are their
keys: the reader is one of conf/generator.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from bears.answers.citations import cited
from bears.answers.prompts import AnswerPrompt
from bears.answers.shown import show
from bears.answers.task import AnswerRequest, AnswerTask
from bears.config.shape import WrittenIn
from bears.errors import FormatError, RepliesCorrupt
from bears.evaluation.answers.measures import token_f1
from bears.files.intake.files import json_value
from bears.language.yes_no import says_unanswerable
from bears.llm.flat import FlatUse, shown
from bears.llm.shape import Shape, json_reply
from bears.llm.use import CheckedReply, KeptReplies, Needs, all_of
from bears.llm.wire import ChatAnswer
from bears.questions.document_pool import DocumentPool, Unit
from bears.questions.form import Fault, Form, Written
from bears.questions.settings import QuestionerSettings, QuestionPrompt, ReadingPrompt
from bears.types import Chunk, Document

OUTPUT_TOKENS = 30, 150
"""The usual minimum and maximum of a reply."""
NOTHING = "{}"
"""The kept reply if the model wrote no question."""
ReadingKind = Literal[
    "gold",
    "closed-book",
    "every answer",
    "question again",
    "other document",
    "question of other document",
]
"""What the reader sees; it gets the question, unless the kind names something else to ask."""
ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
"""The beginning of an item in a model's list."""


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

    def messages(self, request: QuestionRequest) -> tuple[str, str]:
        language = self.language
        names = {"title": language.title, "native_name": language.native_name}
        system = self.prompt.passage.format(**names, variant=language.variant).strip()
        if request.again:
            system += f"\n\nA person sent back question number {request.again}; ask another."
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
    written = SHAPE.parse(value)
    draft = Written(" ".join(written["question"].split()), " ".join(written["answer"].split()))
    if not draft.question or not draft.answer:
        raise FormatError("the answer has no question with its answer")
    return draft


class Unread(Exception):
    """A reply is missing, so the steps after it cannot be decided yet."""


@dataclass
class CheckedQuestions(Needs[AnswerRequest]):
    """The needed requests, and the results for questions with all replies.

    Args:
        faults: question_id to what the reader's answers say against it.
        also: question_id to further documents that answer it.
        read: question_id to the answer in each kind of reading.
    """

    faults: dict[str, list[Fault]] = field(default_factory=dict)
    also: dict[str, list[str]] = field(default_factory=dict)
    read: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckTask(AnswerTask):
    """Answering made questions to check them: a `bears.llm.use.Use`.

    A question that the reader cannot answer from its gold leads to no further requests, and so on.

    Args:
        prompts: for kinds of reading that do not ask for the answer.
        form: compares texts of the language; its settings have the thresholds and severities.
        pool: finds other documents.
        drafts: unit to the question to read.
    """

    prompts: Mapping[str, ReadingPrompt]
    form: Form
    pool: DocumentPool
    drafts: Mapping[Unit, Written]

    advice = "publish without them, and count them as not answered: replies publish --give-up"

    @property
    def wanted(self) -> str:
        return f"readings of made questions by {self.settings.name}"

    def prompt_of(self, request: AnswerRequest) -> AnswerPrompt:
        return self.prompts.get(request.field) or super().prompt_of(request)

    def check(self, request: AnswerRequest, answer: ChatAnswer) -> CheckedReply:
        """Check an answer; a list that was cut off is as good as a complete one."""
        endless = request.field in self.prompts and answer.finish_reason == "length"
        whole = replace(answer, finish_reason="stop") if endless else answer
        return super().check(request, whole)

    def resolve(self, known: KeptReplies) -> CheckedQuestions:
        """Find the requests for each question, as far as its earlier answers lead."""
        found = CheckedQuestions()
        for unit, draft in self.drafts.items():
            with suppress(Unread):
                reading = Reading(self, known, found, unit, draft)
                found.faults[unit.question_id] = reading.faults()
        return found

    def complete(self, known: KeptReplies) -> CheckedQuestions:
        """Return what `resolve` does. Raises RepliesMissing if a reply is missing."""
        return all_of(self.resolve(known), self.wanted)


@dataclass(frozen=True)
class Reading:
    """The reading of one question.

    Args:
        found: receives the requests, their answers, and further documents that answer.
    """

    task: CheckTask
    known: KeptReplies
    found: CheckedQuestions
    unit: Unit
    draft: Written

    def faults(self) -> list[Fault]:
        """Return the faults of the first step that finds any.

        Raises:
            Unread: an answer is missing.
        """
        steps = {
            "unanswerable": self._with_gold,
            "closed_book": self._without_gold,
            "several_answers": self._every_answer,
            "other_question": self._question_again,
            "other_document": self._elsewhere,
        }
        for name, step in steps.items():
            faults = [] if self._off(name) else [(name, message) for message in step()]
            if faults:
                return faults
        return []

    def _look(self, kind: ReadingKind, documents: Sequence[Document]) -> str | None:
        """Return the reader's answer without markers, "" if it finds none, None if missing."""
        task, key = self.task, self.unit.question_id
        given = ((Chunk(each.doc_id), each.content) for each in documents)
        texts = show(given, task.settings.tokens).texts
        words = task.prompts[kind].question if kind in task.prompts else "{question}"
        request = AnswerRequest(key, words.format(**asdict(self.draft)), (), texts, kind)
        reply = self.found.ask(lambda each: self.known.get(task.key(each), ""), request)
        if reply is None:
            return None
        answer = cited(reply, len(texts)).text
        answer = "" if says_unanswerable(answer, task.language.unanswerable) else answer
        of = f" {documents[0].doc_id}" if kind.endswith("other document") else ""
        self.found.read.setdefault(key, {})[kind + of] = answer
        return answer

    def _read(self, kind: ReadingKind, *given: Sequence[Document]) -> list[str]:
        """Return the answer from each of some sets of documents; all are requested at once."""
        looked = [self._look(kind, documents) for documents in given]
        answers = [answer for answer in looked if answer is not None]
        if len(answers) < len(looked):
            raise Unread
        return answers

    def _with_gold(self) -> Iterator[str]:
        try:
            [answer] = self._read("gold", (self.unit.passage,))
        except Unread:
            # Request both at once.
            self._look("closed-book", ())
            raise
        if not self._right(answer):
            yield f"a reader of its passage answers {answer!r:.80}"

    def _without_gold(self) -> Iterator[str]:
        [answer] = self._read("closed-book", ())
        if self._right(answer):
            yield f"answered without any passage: {answer!r:.80}"

    def _every_answer(self) -> Iterator[str]:
        """Find other answers in its own passage: the question is ambiguous or too vague."""
        [answer] = self._read("every answer", (self.unit.passage,))
        listed = [ITEM.sub("", line) for line in answer.splitlines() if line.strip()]
        wanted, occurs = self.draft.answer, self.task.form.occurs
        other = [each for each in listed if not self._right(each) and not occurs(each, wanted)]
        if not listed:
            yield "a reader finds no answer"
        elif other:
            yield f"its passage gives {other[0]!r:.80} too"

    def _question_again(self) -> Iterator[str]:
        """Compare the question with the one that the reader asks for the answer."""
        [wanted] = self._read("question again", (self.unit.passage,))
        if not self._same_question(wanted):
            yield f"what its answer answers is {wanted!r:.120}"

    def _same_question(self, wanted: str) -> bool:
        """Return whether a question is the same, and names neither the answer nor the passage."""
        form = self.task.form
        alike = token_f1(wanted, self.draft.question, form.rules) >= form.settings.again_f1
        return alike and not form.occurs(self.draft.answer, wanted) and not form.passage_in(wanted)

    def _elsewhere(self) -> Iterator[str]:
        """Find other documents that answer the question too."""
        task, occurs = self.task, self.task.form.occurs
        others = task.pool.others(self.draft, self.unit.passage, task.form.settings.others)
        answers = self._read("other document", *((each,) for each in others))
        right = list(compress(others, map(self._right, answers)))
        same = [each for each in right if occurs(self.draft.answer, each.content)]
        alone = [each for each in right if each not in same]
        # A document that becomes gold must have the same question.
        if not self._off("other_question"):
            asked = self._read("question of other document", *((each,) for each in same))
            same = list(compress(same, map(self._same_question, asked)))
        self.found.also[self.unit.question_id] = [each.doc_id for each in same]
        yield from (f"{each.doc_id} alone answers it too" for each in alone)

    def _right(self, answer: str) -> bool:
        return self.task.form.same_answer(answer, self.draft.answer)

    def _off(self, name: str) -> bool:
        return self.task.form.settings.severity(name) == "off"
