"""A judge that is a model: asked once for each answer, and replayed from then on."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from typing_extensions import TypedDict

from bears.answers.judging.injection import speaks_to_judge
from bears.answers.judging.lexical import gold_stands
from bears.answers.judging.ruling import Case, Ruling
from bears.answers.judging.settings import JudgePrompt, JudgeSettings, kept
from bears.errors import FormatError, MemoryCorrupt
from bears.files.intake.json_text import json_value
from bears.llm.flat import FlatUse
from bears.llm.kept import PublishedMemory, key_of
from bears.llm.prompt import broken
from bears.llm.shape import Shape
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer

NAME = "verdict"
REPLY_TOKENS = (20, 80)
"""The least and the most of a verdict and its reason in practice."""
_PLAIN = re.compile(r"\bverdict\b\W{0,8}(pass|fail)\b", re.IGNORECASE)


class VerdictReply(TypedDict):
    """What a model is to answer; the reason is first, so that it thinks before it judges."""

    reason: str
    verdict: Literal["pass", "fail"]


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
class VerdictTask(FlatUse[VerdictRequest]):
    """Judging the answers of a system.

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
    remedy = "To have them judged: python -m bears memory fill, then python -m bears memory publish"
    schema = Shape(VerdictReply).schema
    most_tokens = 256

    @property
    def wanted(self) -> str:
        return f"verdicts by {self.settings.model}"

    @cached_property
    def prompt(self) -> JudgePrompt:
        """What is said of answers in this language."""
        return self.settings.prompt(self.language)

    def requests(self) -> Iterator[VerdictRequest]:
        return (VerdictRequest(case) for case in self.cases if case.known() is None)

    def version(self, request: VerdictRequest) -> int:  # noqa: ARG002
        return self.prompt.version

    def key(self, request: VerdictRequest) -> str:
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

    def messages(self, request: VerdictRequest, reasons: Sequence[str]) -> tuple[str, str]:
        system, user = messages(request.case, self.prompt, self.language)
        if reasons:
            system += f"\n\nYour last reply could not be used: {'; '.join(reasons)}."
        return system, user

    def output_tokens(self, request: VerdictRequest) -> tuple[float, float]:  # noqa: ARG002
        return REPLY_TOKENS

    def check(self, request: VerdictRequest, answer: ChatAnswer) -> CheckedReply:  # noqa: ARG002
        return checked(answer)

    def rulings(self, known: PublishedMemory) -> list[Ruling]:
        """Return what the model said of each case, in their order.

        Raises:
            MemoryMiss: it was never asked about some of them.
            MemoryCorrupt: an entry is not a verdict.
        """
        replies = (
            self._believed(request.case, _kept_ruling(reply, self.key(request)))
            for request, reply in self.replies(known)
        )
        return [case.known() or next(replies) for case in self.cases]

    def _believed(self, case: Case, ruling: Ruling) -> Ruling:
        # A small model does what an answer says. Its word then counts only where words bear it out.
        told = ruling.verdict == "pass" and speaks_to_judge(case.answer)
        if told and not gold_stands((*case.golds, *case.aliases), case.answer, self.language):
            return Ruling("unscored", f"the answer speaks to the judge, who said: {ruling.reason}")
        return ruling


def _kept_ruling(reply: str, key: str) -> Ruling:
    try:
        value: Any = json_value(reply.encode(), "")
    except FormatError:
        value = None
    if isinstance(value, dict) and value.get("verdict") in ("pass", "fail", "unscored"):
        return Ruling(value["verdict"], str(value.get("reason", "")))
    raise MemoryCorrupt(
        f"the verdict {reply!r:.80} is not valid; fix or remove the line with key {key}"
    )


def messages(case: Case, prompt: JudgePrompt, language: str) -> tuple[str, str]:
    """The system and the user message.

    The answer is one JSON string, so on one line, between two lines of a marker that it does not
    contain; no word of a chat template is left whole in it.
    """
    answer = _as_json(broken(case.answer))
    words = {
        "question": _as_json(broken(case.question)),
        "golds": _as_json(case.golds),
        "aliases": prompt.also.format(aliases=_as_json(case.aliases)) if case.aliases else "",
        "answer": answer,
        "marker": marker(answer),
    }
    lines = prompt.user.strip().splitlines()
    shown = (line for line in lines if case.aliases or line.strip() != "{aliases}")
    return prompt.system.format(language=language).strip(), "\n".join(shown).format(**words)


def marker(answer: str) -> str:
    """Words that do not stand in ``answer``, the same every time."""
    word = answer
    while (word := hashlib.sha256(word.encode()).hexdigest()[:16]) in answer:
        pass
    return f"=== answer {word} ==="


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def checked(answer: ChatAnswer) -> CheckedReply:
    """What is kept of a model's reply: its verdict; or unscored and why, to be asked for again."""
    ruling = read_ruling(answer.text)
    if answer.refusal or answer.finish_reason == "content_filter":
        problem = "the model refused"
    elif answer.finish_reason == "length":
        problem = "the reply was cut off"
    elif ruling is None:
        problem = "the reply has no verdict that can be read"
    else:
        return CheckedReply(kept(ruling.verdict, ruling.reason), [], [])
    return CheckedReply(kept("unscored", problem), [], [problem])


def read_ruling(text: str) -> Ruling | None:
    """A verdict in JSON, or in plain words; none where another one is said beside it."""
    with suppress(FormatError, ValueError):
        start, end = text.index("{"), text.rindex("}") + 1
        ruling = _ruling(json_value(text[start:end].encode(), "verdict"))
        # The JSON may be quoted from the answer that is judged.
        beside = _said(f"{text[:start]}\n{text[end:]}")
        return ruling if ruling and beside <= {ruling.verdict} else None
    said = _said(text)
    return _ruling({"verdict": said.pop(), "reason": ""}) if len(said) == 1 else None


def _said(text: str) -> set[str]:
    return {word.lower() for word in _PLAIN.findall(text)}


def _ruling(value: object) -> Ruling | None:
    if not isinstance(value, dict):
        return None
    verdict, reason = value.get("verdict"), value.get("reason", "")
    word = verdict.strip().lower() if isinstance(verdict, str) else ""
    if word not in ("pass", "fail"):
        return None
    return Ruling("pass" if word == "pass" else "fail", reason if isinstance(reason, str) else "")
