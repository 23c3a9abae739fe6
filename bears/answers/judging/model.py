"""A judge that is a model: asked once for each answer, and replayed from then on."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt
from typing_extensions import TypedDict

from bears.answers.judging.injection import speaks_to_judge
from bears.answers.judging.lexical import contains_gold
from bears.answers.judging.ruling import Case, Ruling, Verdict
from bears.errors import ConfigurationError, FormatError, RepliesCorrupt
from bears.files.intake.files import json_value
from bears.language.tags import primary
from bears.llm.flat import FlatUse, broken, check_names
from bears.llm.models import AskingSettings
from bears.llm.shape import Shape
from bears.llm.use import CheckedReply, KeptReplies, key_of
from bears.llm.wire import ChatAnswer
from bears.types import ForbidsExtra

NAME = "verdict"
REPLY_TOKENS = (20, 80)
"""The usual minimum and maximum of a verdict with its reason."""
_PLAIN = re.compile(r"\bverdict\b\W{0,8}(pass|fail)\b(?=(.*))", re.IGNORECASE)
"""A verdict in plain words, and the rest of its line."""
_FORM = re.compile(r"[\W_]+")
"""Everything between the words of a form."""
OTHER = "other"
LONGEST_REASON = 300


@dataclass(frozen=True)
class JudgePrompt(ForbidsExtra):
    """One conf/prompt/judge-….yaml; all of it enters every key.

    Args:
        system: the system message; may name {language}.
        user: names {question}, {golds}, {aliases}, {answer} and {marker}.
        also: the line {aliases} of ``user``, if there are aliases.
    """

    name: str
    version: int
    system: str
    user: str
    also: str

    def __post_init__(self) -> None:
        words = ("question", "golds", "aliases", "answer", "marker")
        check_names(f"prompt {self.name}, system", self.system, ("language",))
        check_names(f"prompt {self.name}, user", self.user, words)
        check_names(f"prompt {self.name}, also", self.also, ("aliases",))
        if missing := [f"{{{word}}}" for word in words if f"{{{word}}}" not in self.user]:
            raise ConfigurationError(
                f"prompt {self.name}: user lacks {', '.join(missing)}; a judge needs them"
            )


@dataclass(frozen=True, kw_only=True)
class ModelJudge(AskingSettings):
    """A judge that is a model; see conf/endpoint/openai.yaml for its fields.

    Args:
        prompts: primary subtag of a language to the prompt for its answers; ``other`` for all
            other languages.
        repeats: how often each answer is judged.
    """

    where: ClassVar[str] = "judge"
    prompts: Mapping[str, JudgePrompt]
    repeats: PositiveInt = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if OTHER not in self.prompts:
            raise ConfigurationError(f"judge {self.name}: prompts has no {OTHER!r}")

    def prompt(self, language: str) -> JudgePrompt:
        """Return the prompt for answers in a language."""
        return self.prompts.get(primary(language)) or self.prompts[OTHER]

    def given_up(self, reasons: Sequence[str]) -> str:
        """Return the reply to publish after failed requests: unscored, never a fail."""
        return kept("unscored", f"not judged: {'; '.join(reasons)}")


def kept(verdict: str, reason: str) -> str:
    """Return the kept reply of a verdict: canonical JSON, the reason on one line."""
    short = " ".join(reason.split())[:LONGEST_REASON]
    found = {"reason": short, "verdict": verdict}
    return json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class VerdictReply(TypedDict):
    """The reply of a model. The reason comes first, so that it thinks before it judges."""

    reason: str
    verdict: Literal["pass", "fail"]


@dataclass(frozen=True)
class VerdictRequest:
    """One answer to judge."""

    case: Case
    repeat: int = 1
    field: str = NAME

    @property
    def record_id(self) -> str:
        """Return the id of the question."""
        return self.case.question_id

    @property
    def text(self) -> str:
        """Return question and answer, so that people can read the kept replies."""
        return f"{self.case.question}\n→ {self.case.answer}"


@dataclass(frozen=True)
class VerdictTask(FlatUse[VerdictRequest]):
    """Judging the answers of a system.

    Args:
        settings: of the model.
        cases: the answers.
        language: BCP 47 tag of the answers.
    """

    settings: ModelJudge
    cases: Sequence[Case]
    language: str

    name = NAME
    advice = "count them as unscored from then on: bears replies publish --give-up"
    remedy = "To have them judged: bears replies fill, then bears replies publish"
    schema = Shape(VerdictReply).schema
    most_tokens = 256

    @property
    def wanted(self) -> str:
        return f"verdicts by {self.settings.model}"

    @cached_property
    def prompt(self) -> JudgePrompt:
        """Return the prompt for answers in this language."""
        return self.settings.prompt(self.language)

    def requests(self) -> Iterator[VerdictRequest]:
        asked = [case for case in self.cases if case.known() is None]
        rounds = range(1, self.settings.repeats + 1)
        return (VerdictRequest(case, repeat) for repeat in rounds for case in asked)

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
            },
            request.repeat,
        )

    def messages(self, request: VerdictRequest, reasons: Sequence[str]) -> tuple[str, str]:
        system, user = messages(request.case, self.prompt, self.language)
        if reasons:
            system += f"\n\nYour last reply could not be used: {'; '.join(reasons)}."
        return system, user

    def output_tokens(self, request: VerdictRequest) -> tuple[float, float]:  # noqa: ARG002
        return REPLY_TOKENS

    def check(self, request: VerdictRequest, answer: ChatAnswer) -> CheckedReply:
        sent = "\n".join([*self.messages(request, []), request.case.answer])
        ruling = read_ruling(answer.text, sent)
        problem = answer.flaw
        if not problem and ruling is not None:
            return CheckedReply(kept(ruling.verdict, ruling.reason), [], [])
        problem = problem or "the reply has no verdict that can be read"
        return CheckedReply(kept("unscored", problem), [], [problem])

    def rulings(self, known: KeptReplies) -> list[Ruling]:
        """Return the model's ruling on each case, in their order, once for each repeat.

        Raises:
            RepliesMissing: verdicts on some cases are missing.
            RepliesCorrupt: a kept reply is not a verdict.
        """
        replies = (
            self._believed(request.case, _kept_ruling(reply, self.key(request)))
            for request, reply in self.replies(known)
        )
        rounds = range(self.settings.repeats)
        return [case.known() or next(replies) for _ in rounds for case in self.cases]

    def _believed(self, case: Case, ruling: Ruling) -> Ruling:
        # A small model obeys the answer that it judges. Its pass then needs the words of the gold.
        suspect = ruling.verdict == "pass" and speaks_to_judge(case.answer)
        if suspect and not contains_gold((*case.golds, *case.aliases), case.answer, self.language):
            return Ruling("unscored", f"the answer speaks to the judge, who said: {ruling.reason}")
        return ruling


def _kept_ruling(reply: str, key: str) -> Ruling:
    with suppress(FormatError):
        if ruling := _ruling(json_value(reply.encode(), ""), ("pass", "fail", "unscored")):
            return ruling
    raise RepliesCorrupt(
        f"the verdict {reply!r:.80} is not valid; fix or remove the line with key {key}"
    )


def messages(case: Case, prompt: JudgePrompt, language: str) -> tuple[str, str]:
    """Return the system and the user message.

    The answer is one JSON string on one line, between two lines of a marker that it does not
    contain. Words of chat templates in it are broken.
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
    """Return a line that does not occur in ``answer``, the same every time."""
    word = answer
    while (word := hashlib.sha256(word.encode()).hexdigest()[:16]) in answer:
        pass
    return f"=== answer {word} ==="


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_ruling(text: str, sent: str = "") -> Ruling | None:
    """Read the one verdict of a reply, in JSON or in plain words.

    Args:
        text: the reply.
        sent: what the model was sent, and the answer that it judges.

    Returns:
        The ruling; None if the reply has none, more than one, or one that repeats ``sent``.
    """
    if "{" not in text and "}" not in text:
        found = list(_PLAIN.finditer(text))
        if len(found) != 1 or re.search(r"\w", found[0][2]) or _repeats(found[0][0], "", sent):
            return None
        return _ruling({"verdict": found[0][1]})
    start, end = text.find("{"), text.rfind("}") + 1
    try:
        ruling = _ruling(json_value(text[start:end].encode(), "verdict"))
    except (FormatError, ValueError):
        return None
    if ruling is None or _repeats(text[start:end], ruling.reason, sent):
        return None
    # The JSON may be a quotation from the judged answer.
    beside = _PLAIN.findall(f"{text[:start]}\n{text[end:]}")
    return ruling if all(word.lower() == ruling.verdict for word, _ in beside) else None


def _repeats(given: str, reason: str, sent: str) -> bool:
    """Return whether a verdict, or the form around it, is copied from what the model was sent."""
    copied = _FORM.sub("", f"reason {reason} verdict") in _FORM.sub("", sent)
    return "".join(given.split()) in "".join(sent.split()) or bool(reason and copied)


def _ruling(value: object, verdicts: Sequence[Verdict] = ("pass", "fail")) -> Ruling | None:
    given = value if isinstance(value, dict) else {}
    word, reason = str(given.get("verdict")).strip().lower(), given.get("reason")
    matching = (verdict for verdict in verdicts if verdict == word)
    found = next(matching, None)
    return found and Ruling(found, reason if isinstance(reason, str) else "")
