"""From configuration and questions to the work of rewriting them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bears.config import Config, parse
from bears.errors import FormatError, MemoryCorrupt
from bears.files.intake.texts import blank
from bears.files.records import read_questions
from bears.llm.client.models import estimate
from bears.llm.client.template_words import broken
from bears.llm.client.wire import ChatAnswer, ChatRequest
from bears.llm.replies.published import PublishedMemory
from bears.llm.replies.use import CheckedReply, Needs
from bears.retrieval.rewriting.reply_check import check, parse_rewrite
from bears.retrieval.rewriting.settings import RewriterSettings
from bears.types import Asked, Question, Turn

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"standalone_query": {"type": "string"}, "search": {"type": "boolean"}},
    "required": ["standalone_query", "search"],
    "additionalProperties": False,
}
LEAST_TOKENS = 12
"""Of an answer that searches for nothing."""
MOST_OUTPUT_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """One question with the conversation before it."""

    record_id: str
    text: str
    turns: tuple[Turn, ...]
    field: str = "question"


@dataclass
class Rewrites(Needs[RewriteRequest]):
    """What is needed, and what is searched for each question whose answer is known."""

    asked: list[Asked] = field(default_factory=list)


@dataclass(frozen=True)
class RewriteTask:
    """Rewriting one benchmark's questions: a `bears.llm.replies.use.Use`.

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

    @property
    def wanted(self) -> str:
        """What may be missing."""
        return f"rewritten questions by {self.settings.name}"

    def resolve(self, known: PublishedMemory) -> Rewrites:
        """Look every question up. Raises MemoryCorrupt where an entry is no such answer."""
        found = Rewrites()
        for question in self.questions:
            request = RewriteRequest(question.question_id, question.question, question.turns)
            answer = found.ask(lambda each: known.get(self.key(each), each.record_id), request)
            if answer is not None:
                found.asked.append(_asked(request, answer))
        return found

    def key(self, request: RewriteRequest) -> str:
        """Over the model and all that it is told."""
        version, words = self.settings.prompt.version, self._messages(request, [])
        return self.settings.key_of_said(self.name, version, *words)

    def ask(self, request: RewriteRequest, reasons: list[str]) -> ChatRequest:
        """What is sent for a request, with the reasons why earlier answers were not taken."""
        system, user = self._messages(request, reasons)
        return ChatRequest(
            key=self.key(request),
            system=system,
            user=user,
            schema=SCHEMA,
            max_output_tokens=MOST_OUTPUT_TOKENS,
            parameters=self.settings.request,
        )

    def output_tokens(self, request: RewriteRequest) -> tuple[float, float]:
        """The least and the most tokens of an answer in practice."""
        return LEAST_TOKENS, LEAST_TOKENS + 2 * estimate(request.text)[1]

    def check(self, request: RewriteRequest, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with an answer."""
        return check(answer, request.text, "\n".join(turn.content for turn in request.turns))

    def _messages(self, request: RewriteRequest, reasons: Sequence[str]) -> tuple[str, str]:
        system = self.settings.prompt.system.format(**self.language).strip()
        if reasons:
            told = "; ".join(reasons)
            system += f"\n\nYour last answer was not taken: {told}. Mend that, silently."
        # As JSON, and without words of chat templates, so that no message can end where it stands
        # and go on as something else.
        earlier = [asdict(turn) for turn in request.turns]
        shown = {"earlier": earlier, "last_message": request.text}
        return system, broken(json.dumps(shown, ensure_ascii=False, indent=1))


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


def _asked(request: RewriteRequest, answer: str) -> Asked:
    try:
        rewrite = parse_rewrite(answer)
    except FormatError as error:
        raise MemoryCorrupt(f"the rewrite of {request.text!r:.60} is none: {error}") from None
    if rewrite["search"] == blank(rewrite["standalone_query"]):
        raise MemoryCorrupt(
            f"the rewrite of {request.text!r:.60} has search {rewrite['search']} and "
            f"standalone_query {rewrite['standalone_query']!r:.60}; expected one where something "
            "is searched, and there alone"
        )
    return Asked(request.record_id, rewrite["standalone_query"], rewrite["search"])
