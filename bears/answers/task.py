"""From configuration and files to the work of answering one benchmark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bears.answers.documents import documents_of
from bears.answers.prompts import AnswerPrompt, WrittenIn, mark_of, messages
from bears.answers.reply_check import check
from bears.answers.settings import GeneratorSettings
from bears.answers.shown import Shown, show
from bears.config import Config, parse
from bears.files.records import read_questions
from bears.llm.kept import PublishedMemory
from bears.llm.use import CheckedReply, Needs
from bears.llm.wire import ChatAnswer, ChatRequest
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


@dataclass
class Answers(Needs[AnswerRequest]):
    """What is needed, and by question_id what was answered, markers included."""

    answers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerTask:
    """Answering one benchmark's questions: a `bears.llm.use.Use`.

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
        """What may be missing."""
        return f"answers by {self.settings.name}"

    def requests(self) -> Iterator[AnswerRequest]:
        """What is asked, question by question."""
        for question in self.questions:
            texts = self.shown[question.question_id].texts
            yield AnswerRequest(question.question_id, question.question, question.turns, texts)

    def resolve(self, known: PublishedMemory) -> Answers:
        """Look every question up."""
        found = Answers()
        for request in self.requests():
            answer = found.ask(lambda each: known.get(self.key(each), each.record_id), request)
            if answer is not None:
                found.answers[request.record_id] = answer
        return found

    def prompt_of(self, request: AnswerRequest) -> AnswerPrompt:
        """What is said first."""
        del request
        assert self.settings.prompt is not None
        return self.settings.prompt

    def key(self, request: AnswerRequest) -> str:
        """Over the model and all that it is told; not over who retrieved it, nor over ids."""
        version, words = self.prompt_of(request).version, self._messages(request, [])
        return self.settings.key_of_said(self.name, version, *words)

    def ask(self, request: AnswerRequest, reasons: list[str]) -> ChatRequest:
        """What is sent for a request, with the reasons why earlier answers were not taken."""
        system, user = self._messages(request, reasons)
        return ChatRequest(
            key=self.key(request),
            system=system,
            user=user,
            max_output_tokens=self.settings.answer_tokens,
            parameters=self.settings.request,
        )

    def output_tokens(self, request: AnswerRequest) -> tuple[float, float]:
        """The least and the most tokens of an answer in practice."""
        least, most = OUTPUT_TOKENS
        return least + (MARKER_TOKENS if request.texts else 0), most

    def check(self, request: AnswerRequest, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with an answer."""
        return check(answer, len(request.texts), mark_of(request.text, request.texts))

    def _messages(self, request: AnswerRequest, reasons: Sequence[str]) -> tuple[str, str]:
        prompt, language = self.prompt_of(request), self.language
        return messages(request.text, request.turns, request.texts, prompt, language, reasons)


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
