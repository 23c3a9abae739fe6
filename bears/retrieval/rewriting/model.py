"""Rewriting by a model: a conversation becomes one standalone question, or nothing to search."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal

from typing_extensions import TypedDict

from bears.config.shape import WrittenIn
from bears.errors import FormatError, RepliesCorrupt
from bears.files.records import read_questions
from bears.files.visible import blank
from bears.llm.flat import FlatUse, SystemPrompt, shown
from bears.llm.models import AskingSettings, estimate
from bears.llm.shape import Shape
from bears.llm.use import CheckedReply, KeptReplies
from bears.llm.wire import ChatAnswer
from bears.types import Question, RewrittenQuestion, Turn

LEAST_TOKENS = 12
"""Tokens of an answer that searches for nothing."""


class Rewrite(TypedDict):
    """A model's answer, which is also what is kept."""

    standalone_query: str
    search: bool


SHAPE = Shape(Rewrite)


@dataclass(frozen=True, kw_only=True)
class RewriterSettings(AskingSettings):
    """One conf/rewriter/<name>.yaml that asks a model."""

    where: ClassVar[str] = "rewriter"

    method: Literal["model"]
    prompt: SystemPrompt


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """One question with the conversation before it."""

    record_id: str
    text: str
    turns: tuple[Turn, ...]
    field: str = "question"


@dataclass(frozen=True)
class RewriteTask(FlatUse[RewriteRequest]):
    """Rewrites one benchmark's questions.

    Questions without earlier turns are included, since they may be small talk; if they are not,
    they are searched in their own words.

    Args:
        settings: the model and its prompt.
        language: of the documents.
        questions: in the benchmark's order.
    """

    settings: RewriterSettings
    language: WrittenIn
    questions: Sequence[Question]

    name = "rewrite"
    advice = "read its conversation: a message that no model takes can be left out of the benchmark"
    schema = SHAPE.schema
    most_tokens = 1024

    @property
    def wanted(self) -> str:
        return f"rewritten questions by {self.settings.name}"

    def requests(self) -> Iterator[RewriteRequest]:
        for question in self.questions:
            yield RewriteRequest(question.question_id, question.question, question.turns)

    def version(self, request: RewriteRequest) -> int:  # noqa: ARG002
        return self.settings.prompt.version

    def messages(self, request: RewriteRequest) -> tuple[str, str]:
        names = {"title": self.language.title, "native_name": self.language.native_name}
        system = self.settings.prompt.system.format(**names).strip()
        earlier = [asdict(turn) for turn in request.turns]
        return system, shown({"earlier": earlier, "last_message": request.text})

    def output_tokens(self, request: RewriteRequest) -> tuple[float, float]:
        return LEAST_TOKENS, LEAST_TOKENS + 2 * estimate(request.text)[1]

    def check(self, request: RewriteRequest, answer: ChatAnswer) -> CheckedReply:
        try:
            rewrite = SHAPE.read(answer)
        except FormatError as error:
            return CheckedReply("", [str(error)], [])
        query = " ".join(rewrite["standalone_query"].split())
        doubts = []
        if not rewrite["search"]:
            if blank(query):
                return CheckedReply(_line(False, ""), [], [])
            # Small models often answer this for real questions, and a useless search costs less.
            doubts.append("search is false, but there is a standalone_query")
        if not request.turns:
            return CheckedReply(_line(True, request.text), [], doubts)
        if blank(query):
            return CheckedReply("", ["standalone_query is empty, though search is true"], [])
        return CheckedReply(_line(True, query), [], doubts)

    def asked(self, known: KeptReplies) -> list[RewrittenQuestion]:
        """Return the search for each question.

        Raises:
            RepliesMissing: a question has no kept reply.
            RepliesCorrupt: a kept reply is not a rewrite.
        """
        return [_asked(request, line) for request, line in self.replies(known)]


def _line(search: bool, query: str) -> str:
    return SHAPE.line({"standalone_query": query, "search": search})


def _asked(request: RewriteRequest, line: str) -> RewrittenQuestion:
    what = f"the rewrite of {request.text!r:.60}"
    rewrite = SHAPE.kept(line, what)
    search, query = rewrite["search"], rewrite["standalone_query"]
    if search == blank(query):
        raise RepliesCorrupt(
            f"{what} has search {search} and standalone_query {query!r:.60}; expected a query "
            "if search is true, and an empty one otherwise"
        )
    return RewrittenQuestion(request.record_id, query, search)


def read_task(queries: Path, *, rewriter: RewriterSettings, written_in: WrittenIn) -> RewriteTask:
    """Read the questions to rewrite.

    Args:
        queries: of the translated benchmark.

    Raises:
        ConfigurationError, FormatError: the settings or the questions are invalid.
    """
    return RewriteTask(rewriter, written_in, read_questions(queries))
