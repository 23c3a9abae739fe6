"""Rewriting by a model: a conversation becomes one standalone question, or nothing to search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal

from typing_extensions import TypedDict

from bears.config import Config, parse
from bears.errors import ConfigurationError, FormatError, MemoryCorrupt
from bears.files.intake.texts import blank
from bears.files.records import read_questions
from bears.llm.flat import FlatUse, shown
from bears.llm.kept import PublishedMemory
from bears.llm.models import estimate
from bears.llm.prompt import SystemPrompt
from bears.llm.settings import AskingSettings
from bears.llm.shape import Shape
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer
from bears.types import Asked, Question, Turn

LONGEST = 300
"""Characters of a query, beyond those of the conversation, that a search was made of."""
LEAST_TOKENS = 12
"""Of an answer that searches for nothing."""


class Rewrite(TypedDict):
    """What a model answers, and what is kept of it."""

    standalone_query: str
    search: bool


SHAPE = Shape(Rewrite)


@dataclass(frozen=True, kw_only=True)
class RewriterSettings(AskingSettings):
    """One conf/rewriter/<name>.yaml that asks a model."""

    where: ClassVar[str] = "rewriter"

    method: Literal["model"]
    prompt: SystemPrompt

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.model:
            raise ConfigurationError(f"rewriter {self.name}: method model needs a model")


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """One question with the conversation before it."""

    record_id: str
    text: str
    turns: tuple[Turn, ...]
    field: str = "question"


@dataclass(frozen=True)
class RewriteTask(FlatUse[RewriteRequest]):
    """Rewriting one benchmark's questions.

    A question without earlier turns is asked about too, since it may be small talk; where it is
    not, it is searched in its own words.

    Args:
        settings: who rewrites.
        language: title and native_name of the documents' language, for the prompt.
        questions: in the benchmark's order.
    """

    settings: RewriterSettings
    language: Mapping[str, str]
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

    def messages(self, request: RewriteRequest, reasons: Sequence[str]) -> tuple[str, str]:
        system = self.settings.prompt.system.format(**self.language).strip()
        if reasons:
            told = "; ".join(reasons)
            system += f"\n\nYour last answer was not taken: {told}. Mend that, silently."
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
        return _judged(rewrite["search"], query, request)

    def asked(self, known: PublishedMemory) -> list[Asked]:
        """Return what is searched for each question.

        Raises:
            MemoryMiss: a question was never asked about.
            MemoryCorrupt: an entry is not a rewrite.
        """
        return [_asked(request, line) for request, line in self.replies(known)]


def _judged(search: bool, query: str, request: RewriteRequest) -> CheckedReply:
    doubts = []
    if not search:
        if blank(query):
            return CheckedReply(_line(False, ""), [], [])
        # What small models say of real questions: searching in vain costs less than not searching.
        doubts.append("search is false, but there is a standalone_query")
    said = "\n".join(turn.content for turn in request.turns)
    if not said:
        return CheckedReply(_line(True, request.text), [], doubts)
    if blank(query):
        return CheckedReply("", ["standalone_query is empty, though search is true"], [])
    if len(query) > len(said) + len(request.text) + LONGEST:
        return CheckedReply("", [f"standalone_query has {len(query)} characters"], [])
    if not _pairs(query) & _pairs(f"{said}\n{request.text}"):
        doubts.append("standalone_query has no word of the conversation")
    return CheckedReply(_line(True, query), [], doubts)


def _line(search: bool, query: str) -> str:
    return SHAPE.line({"standalone_query": query, "search": search})


def _pairs(text: str) -> set[str]:
    """Return neighbouring letters, which words of any script share."""
    folded = "".join(text.casefold().split())
    return {folded[n : n + 2] for n in range(len(folded) - 1)}


def _asked(request: RewriteRequest, line: str) -> Asked:
    what = f"the rewrite of {request.text!r:.60}"
    rewrite = SHAPE.kept(line, what)
    search, query = rewrite["search"], rewrite["standalone_query"]
    if search == blank(query):
        raise MemoryCorrupt(
            f"{what} has search {search} and standalone_query {query!r:.60}; expected a query "
            "where something is searched, and nowhere else"
        )
    return Asked(request.record_id, query, search)


def read_task(config: Config, queries: Path) -> RewriteTask:
    """Read what is to be rewritten.

    Args:
        config: with the keys rewriter and written_in.
        queries: of the translated benchmark.

    Raises:
        ConfigurationError, FormatError: something does not fit.
    """
    settings = parse(RewriterSettings, config["rewriter"], "rewriter")
    title, native_name = config["written_in"]["title"], config["written_in"]["native_name"]
    language = {"title": title, "native_name": native_name}
    return RewriteTask(settings, language, read_questions(queries))
