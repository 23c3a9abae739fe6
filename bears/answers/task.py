"""Answer the questions of one benchmark with a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bears.answers.citations import cited
from bears.answers.prompts import AnswerPrompt, mark_of, messages
from bears.answers.settings import GIVEN_UP, GeneratorSettings, generator_of
from bears.answers.shown import Shown, chosen, show, with_texts
from bears.config.shape import Choice, WrittenIn
from bears.errors import ConfigurationError
from bears.files.records import read_questions
from bears.files.visible import blank
from bears.llm.flat import FlatUse
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer
from bears.types import Question, Turn

OUTPUT_TOKENS = 5, 150
"""The usual minimum and maximum of an answer."""
MARKER_TOKENS = 6


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """One question with the texts to show."""

    record_id: str
    text: str
    turns: tuple[Turn, ...]
    texts: tuple[str, ...]
    field: str = "answer"
    repeat: int = 1


@dataclass(frozen=True)
class AnswerTask(FlatUse[AnswerRequest]):
    """Answering one benchmark's questions.

    The key does not depend on the retriever, nor on the ids of documents.

    Args:
        settings: of the generator.
        language: of the questions.
        questions: in the benchmark's order.
        shown: question_id to the documents to show.
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
    def most_tokens(self) -> int:  # type: ignore[override]
        return self.settings.answer_tokens

    def requests(self) -> Iterator[AnswerRequest]:
        for repeat in range(1, self.settings.repeats + 1):
            for question in self.questions:
                texts = self.shown[question.question_id].texts
                asked = question.question_id, question.question, question.turns, texts
                yield AnswerRequest(*asked, repeat=repeat)

    def prompt_of(self, request: AnswerRequest) -> AnswerPrompt:  # noqa: ARG002
        """Return the prompt for this request."""
        assert self.settings.prompt is not None
        return self.settings.prompt

    def version(self, request: AnswerRequest) -> int:
        return self.prompt_of(request).version

    def messages(self, request: AnswerRequest) -> tuple[str, str]:
        prompt, language = self.prompt_of(request), self.language
        return messages(request.text, request.turns, request.texts, prompt, language)

    def output_tokens(self, request: AnswerRequest) -> tuple[float, float]:
        least, most = OUTPUT_TOKENS
        return least + (MARKER_TOKENS if request.texts else 0), most

    def check(self, request: AnswerRequest, answer: ChatAnswer) -> CheckedReply:
        text = answer.text.strip()
        found = cited(text, len(request.texts))
        refusal = ""
        if answer.flaw:
            refusal = answer.flaw
        elif blank(found.text):
            refusal = "the answer is empty"
        elif mark_of(request.text, request.texts) in text or text.startswith(GIVEN_UP):
            refusal = "it repeats what it was given"
        if refusal:
            return CheckedReply("", [refusal], [])
        wrong = f"it cites {found.unknown} documents that it was not given"
        return CheckedReply(text, [], [wrong] if found.unknown else [])


def read_task(
    queries: Path,
    corpus: Path,
    chunks: Path,
    within: Path,
    *,
    generator: Choice,
    written_in: WrittenIn,
) -> AnswerTask:
    """Read the questions, and the chunks or documents to show for them.

    Args:
        queries, corpus: of the translated benchmark.
        chunks, within: runs of the retriever: of chunks; and of the documents in each question's
            own group alone.

    Raises:
        ConfigurationError, FormatError: the configuration or a file is wrong.
    """
    settings = generator_of(generator)
    if not isinstance(settings, GeneratorSettings):
        raise ConfigurationError(
            f"generator {generator.name} finds its passages itself, and none can be shown to it; "
            "choose one with a model or generator=sentence"
        )
    questions = read_questions(queries)
    found = chosen(questions, within if settings.within else chunks, settings)
    shown = {key: show(texts, settings.tokens) for key, texts in with_texts(found, corpus).items()}
    return AnswerTask(settings, written_in, questions, shown)
