"""A judge that is a model: asked once for each answer, and replayed from the memory ever after."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bears.answers.judging.injection import speaks_to_judge
from bears.answers.judging.lexical import gold_stands
from bears.answers.judging.prompts import SCHEMA, messages
from bears.answers.judging.reply import checked
from bears.answers.judging.ruling import Case, Ruling
from bears.answers.judging.settings import JudgePrompt, JudgeSettings
from bears.errors import FormatError, MemoryCorrupt
from bears.files.intake.json_text import json_value
from bears.llm.kept import MemoryEntry, PublishedMemory, key_of
from bears.llm.use import CheckedReply, Needs, all_of
from bears.llm.wire import ChatAnswer, ChatRequest

NAME = "verdict"
JUDGE = "To have them judged: python -m bears memory fill, then python -m bears memory publish"
REPLY_TOKENS = (20, 80)
"""The least and the most of a verdict and its reason in practice."""
MOST_REPLY_TOKENS = 256


@dataclass(frozen=True)
class VerdictRequest:
    """One answer to be judged."""

    case: Case
    field: str = NAME

    @property
    def record_id(self) -> str:
        """The question's."""
        return self.case.question_id

    @property
    def text(self) -> str:
        """Question and answer, so that a person can read the memory."""
        return f"{self.case.question}\n→ {self.case.answer}"


@dataclass(frozen=True)
class VerdictTask:
    """Judging the answers of a system: a `bears.llm.use.Use`.

    Args:
        settings: of the model.
        cases: the answers.
        language: BCP 47 tag of the answers.
    """

    settings: JudgeSettings
    cases: Sequence[Case]
    language: str

    name = NAME
    advice = "count them as unscored from then on: python -m bears memory publish --give-up"

    @property
    def wanted(self) -> str:
        """What may be missing."""
        return f"verdicts by {self.settings.model}"

    @cached_property
    def prompt(self) -> JudgePrompt:
        """What is said of answers in this language."""
        return self.settings.prompt(self.language)

    def resolve(self, known: PublishedMemory) -> Needs[VerdictRequest]:
        """Every answer that needs a judge."""
        needs = Needs[VerdictRequest]()
        for case in self.cases:
            if case.known() is None:
                needs.ask(lambda each: known.get(self.key(each), ""), VerdictRequest(case))
        return needs

    def key(self, request: VerdictRequest) -> str:
        """Over everything that can change the verdict."""
        case, prompt = request.case, self.prompt
        return key_of(
            {
                "use": NAME,
                "model": self.settings.model,
                "request": self.settings.request,
                "prompt": [prompt.name, prompt.version, prompt.system, prompt.user, prompt.also],
                "language": self.language,
                "question": case.question,
                "golds": case.golds,
                "aliases": case.aliases,
                "answer": case.answer,
            }
        )

    def ask(self, request: VerdictRequest, reasons: list[str]) -> ChatRequest:
        """What is sent; asking again it says what was wrong with the last reply."""
        system, user = messages(request.case, self.prompt, self.language)
        if reasons:
            system += f"\n\nYour last reply could not be used: {'; '.join(reasons)}."
        key, settings = self.key(request), self.settings
        return ChatRequest(key, system, user, SCHEMA, MOST_REPLY_TOKENS, settings.request)

    def output_tokens(self, request: VerdictRequest) -> tuple[float, float]:
        """The least and the most tokens of a verdict in practice."""
        del request
        return REPLY_TOKENS

    def check(self, request: VerdictRequest, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with a reply."""
        del request
        return checked(answer)

    def rulings(self, known: PublishedMemory) -> list[Ruling]:
        """What the model said of each case, in their order.

        Raises:
            MemoryMiss: it was never asked about some of them.
            MemoryCorrupt: an entry is no verdict.
        """
        all_of(self.resolve(known), self.wanted, JUDGE)
        return [case.known() or self._replayed(known, case) for case in self.cases]

    def _replayed(self, known: PublishedMemory, case: Case) -> Ruling:
        entry = known.get(self.key(VerdictRequest(case)), "")
        assert entry is not None
        ruling = _ruling(entry)
        # A small model does what an answer says. Its word then counts only where words bear it out.
        told = ruling.verdict == "pass" and speaks_to_judge(case.answer)
        if told and not gold_stands((*case.golds, *case.aliases), case.answer, self.language):
            return Ruling("unscored", f"the answer speaks to the judge, who said: {ruling.reason}")
        return ruling


def _ruling(entry: MemoryEntry) -> Ruling:
    try:
        value: Any = json_value(entry.answer.encode(), "")
    except FormatError:
        value = None
    if isinstance(value, dict) and value.get("verdict") in ("pass", "fail", "unscored"):
        return Ruling(value["verdict"], str(value.get("reason", "")))
    raise MemoryCorrupt(
        f"the verdict {entry.answer!r:.80} is none; mend or remove the line with key {entry.key}"
    )
