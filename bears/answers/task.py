"""From configuration and files to the work of answering one benchmark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bears.answers.citations import cited
from bears.answers.prompts import AnswerPrompt, WrittenIn, mark_of, messages
from bears.answers.settings import GIVEN_UP, GeneratorSettings, given_up
from bears.answers.shown import Shown, documents_of, show
from bears.config import Config, parse
from bears.files.intake.texts import blank
from bears.files.records import read_questions
from bears.llm.flat import FlatUse
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer
from bears.types import Question, Turn

OUTPUT_TOKENS = 5, 150
"""The least and the most of an answer in practice."""
MARKER_TOKENS = 6


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """One question with what is shown for it."""

    record_id: str
    text: str
    turns: tuple[Turn, ...]
    texts: tuple[str, ...]
    field: str = "answer"


@dataclass(frozen=True)
class AnswerTask(FlatUse[AnswerRequest]):
    """Answering one benchmark's questions.

    Nothing in the key says who retrieved the documents, nor what their ids are.

    Args:
        settings: who answers, and from what.
        language: of the questions.
        questions: in the benchmark's order.
        shown: question_id to what is shown for it.
    """

    settings: GeneratorSettings
    language: WrittenIn
    questions: Sequence[Question]
    shown: Mapping[str, Shown]

    name = "answer"
    advice = "give its answers more room: generator.answer_tokens=4096"

    @property
    def wanted(self) -> str:
        return f"answers by {self.settings.name}"

    @property
    def remedy(self) -> str:  # type: ignore[override]
        fill = f"python -m bears memory fill generator={self.settings.name}"
        return f"To fill it from a model: {fill}, then publish"

    @property
    def most_tokens(self) -> int:  # type: ignore[override]
        return self.settings.answer_tokens

    def requests(self) -> Iterator[AnswerRequest]:
        for question in self.questions:
            texts = self.shown[question.question_id].texts
            yield AnswerRequest(question.question_id, question.question, question.turns, texts)

    def prompt_of(self, request: AnswerRequest) -> AnswerPrompt:  # noqa: ARG002
        """Return what is said first."""
        assert self.settings.prompt is not None
        return self.settings.prompt

    def version(self, request: AnswerRequest) -> int:
        return self.prompt_of(request).version

    def messages(self, request: AnswerRequest, reasons: Sequence[str]) -> tuple[str, str]:
        prompt, language = self.prompt_of(request), self.language
        return messages(request.text, request.turns, request.texts, prompt, language, reasons)

    def output_tokens(self, request: AnswerRequest) -> tuple[float, float]:
        least, most = OUTPUT_TOKENS
        return least + (MARKER_TOKENS if request.texts else 0), most

    def check(self, request: AnswerRequest, answer: ChatAnswer) -> CheckedReply:
        text = answer.text.strip()
        found = cited(text, len(request.texts))
        if answer.refusal or answer.finish_reason == "content_filter":
            why = f"the model refused: {answer.refusal or 'by its content filter'}"
            # Kept if nothing better comes: every other answer that can be kept is better.
            return CheckedReply(given_up([why]), [], [why, "there is no answer"])
        refusal = ""
        if answer.finish_reason != "stop":
            refusal = f"the answer is not complete (finish reason {answer.finish_reason})"
        elif blank(found.text):
            refusal = "the answer is empty"
        elif mark_of(request.text, request.texts) in text or text.startswith(GIVEN_UP):
            refusal = "it repeats what it was given"
        if refusal:
            return CheckedReply("", [refusal], [])
        wrong = f"it cites {found.unknown} documents that it was not given"
        return CheckedReply(text, [], [wrong] if found.unknown else [])


def read_task(config: Config, queries: Path, corpus: Path, run: Path, within: Path) -> AnswerTask:
    """Read what is to be answered.

    Args:
        config: with the keys generator and written_in.
        queries, corpus: of the translated benchmark.
        run, within: of the retriever, the second asked of each question's own group alone.

    Raises:
        ConfigurationError, FormatError: something does not fit.
    """
    settings = parse(GeneratorSettings, config["generator"], "generator")
    language = parse(WrittenIn, config["written_in"], "written_in")
    questions = read_questions(queries)
    found = documents_of(questions, corpus, within if settings.within else run, settings)
    shown = {key: show(documents, settings.tokens) for key, documents in found.items()}
    return AnswerTask(settings, language, questions, shown)
