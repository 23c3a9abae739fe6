"""A judge that is a model: asked once for each thing to judge, and replayed from then on."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from bears.answers.judging.injection import speaks_to_judge
from bears.answers.judging.lexical import contains_gold
from bears.answers.judging.ruling import SCALES, UNSCORED, Case, Item, Ruling, Verdict
from bears.errors import ConfigurationError, FormatError, RepliesCorrupt
from bears.files.intake.files import json_value
from bears.language.tags import primary
from bears.llm.flat import FlatUse, broken, check_names
from bears.llm.models import AskingSettings
from bears.llm.use import CheckedReply, KeptReplies, key_of
from bears.llm.wire import ChatAnswer
from bears.types import ForbidsExtra

NAME = "verdict"
REPLY_TOKENS = (20, 80)
"""The usual minimum and maximum of a verdict with its reason."""
_FORM = re.compile(r"[\W_]+")
"""Everything between the words of a form."""
REASONING = ("think", "thinking", "reasoning")
FENCE = "```"
FENCES = (FENCE, f"{FENCE}json")
OTHER = "other"
LONGEST_REASON = 300


@dataclass(frozen=True)
class JudgePrompt(ForbidsExtra):
    """One prompt of a judge in conf/prompt; all of it enters every key.

    Args:
        system: the system message; may name {language}.
        user: names the texts of the scale, and {marker}.
        also: for answers: the line {aliases} of ``user``, if there are aliases.
    """

    name: str
    version: int
    system: str
    user: str
    also: str = ""

    def check(self, scale: str) -> None:
        """Raise ConfigurationError if a text is missing, or one is named that there is not."""
        words = (*SCALES[scale].texts, "marker")
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
        prompts: primary subtag of a language to the prompt for texts in it; ``other`` for all
            other languages.
        scale: what it judges.
        repeats: how often each answer is judged.
    """

    where: ClassVar[str] = "judge"
    prompts: Mapping[str, JudgePrompt]
    scale: Literal["answers", "relevance", "nuggets", "citations"] = "answers"
    repeats: PositiveInt = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if OTHER not in self.prompts:
            raise ConfigurationError(f"judge {self.name}: prompts has no {OTHER!r}")
        if self.repeats > 1 and self.scale != "answers":
            raise ConfigurationError(f"judge {self.name}: only answers are judged several times")
        for prompt in self.prompts.values():
            prompt.check(self.scale)

    def prompt(self, language: str) -> JudgePrompt:
        """Return the prompt for texts in a language."""
        return self.prompts.get(primary(language)) or self.prompts[OTHER]

    def given_up(self, reasons: Sequence[str]) -> str:
        """Return the reply to publish after failed requests: unscored, never a fail."""
        return kept(UNSCORED, f"not judged: {'; '.join(reasons)}")


def kept(verdict: str, reason: str) -> str:
    """Return the kept reply of a verdict: canonical JSON, the reason on one line."""
    short = " ".join(reason.split())[:LONGEST_REASON]
    found = {"reason": short, "verdict": verdict}
    return json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def schema_of(scale: str) -> Mapping[str, Any]:
    """Return the schema of a reply. The reason comes first, so that the model thinks first."""
    words = [*SCALES[scale].values][::-1]
    parts = {"reason": {"type": "string"}, "verdict": {"type": "string", "enum": words}}
    required = {"required": [*parts], "additionalProperties": False}
    return {"type": "object", "properties": parts, **required}


@dataclass(frozen=True)
class VerdictRequest:
    """One thing to judge."""

    case: Case | Item
    repeat: int = 1

    @property
    def field(self) -> str:
        """Return what is judged."""
        return NAME if isinstance(self.case, Case) else self.case.scale

    @property
    def record_id(self) -> str:
        """Return the id of the question."""
        return self.case.question_id

    @property
    def text(self) -> str:
        """Return the first text and the one that is judged, for people who read kept replies."""
        first, *_, judged = self.case.texts.values()
        return f"{first}\n→ {judged}"


@dataclass(frozen=True)
class VerdictTask(FlatUse[VerdictRequest]):
    """Judging the answers, the rankings, the nuggets or the citations of a system.

    Args:
        settings: of the model.
        cases: what to judge; things of another scale than the model's are left out.
        language: BCP 47 tag of the texts.
    """

    settings: ModelJudge
    cases: Sequence[Case | Item]
    language: str

    name = NAME
    advice = "count them as unscored from then on: --give-up of `replies publish`"
    hint = "a server that follows response_format (a JSON schema) sends only what can be read"
    remedy = "To have them judged: bears replies fill, then bears replies publish"
    most_tokens = 256

    @property
    def schema(self) -> Mapping[str, Any]:  # type: ignore[override]
        return schema_of(self.settings.scale)

    @property
    def wanted(self) -> str:
        of = "" if self.settings.scale == Case.scale else f" on {self.settings.scale}"
        return f"verdicts{of} by {self.settings.model}"

    @cached_property
    def prompt(self) -> JudgePrompt:
        """Return the prompt for texts in this language."""
        return self.settings.prompt(self.language)

    @property
    def own(self) -> list[Case | Item]:
        """Return the cases of the model's scale."""
        return [case for case in self.cases if case.scale == self.settings.scale]

    def requests(self) -> Iterator[VerdictRequest]:
        asked = [case for case in self.own if case.known() is None]
        rounds = range(1, self.settings.repeats + 1)
        return (VerdictRequest(case, repeat) for repeat in rounds for case in asked)

    def version(self, request: VerdictRequest) -> int:  # noqa: ARG002
        return self.prompt.version

    def key(self, request: VerdictRequest) -> str:
        prompt = self.prompt
        return key_of(
            {
                "use": request.field,
                "model": self.settings.model,
                "request": self.settings.request,
                "prompt": [prompt.name, prompt.version, prompt.system, prompt.user, prompt.also],
                "language": self.language,
                **request.case.texts,
            },
            request.repeat,
        )

    def messages(self, request: VerdictRequest) -> tuple[str, str]:
        return messages(request.case, self.prompt, self.language)

    def output_tokens(self, request: VerdictRequest) -> tuple[float, float]:  # noqa: ARG002
        return REPLY_TOKENS

    def check(self, request: VerdictRequest, answer: ChatAnswer) -> CheckedReply:
        judged = [*request.case.texts.values()][-1]
        sent = "\n".join([*self.messages(request), judged])
        ruling = read_ruling(answer.text, sent, request.case.scale)
        if ruling is not None and not answer.flaw:
            return CheckedReply(kept(ruling.verdict, ruling.reason), [], [])
        problem = answer.flaw or "the reply is not one JSON object with a reason and a verdict"
        return CheckedReply(kept(UNSCORED, problem), [], [problem])

    def rulings(self, known: KeptReplies) -> list[Ruling]:
        """Return the model's ruling on each case of its scale, in order, once for each repeat.

        Raises:
            RepliesMissing: verdicts on some cases are missing.
            RepliesCorrupt: a kept reply is not a verdict.
        """
        replies = (
            self._believed(request.case, self._kept_ruling(reply, self.key(request)))
            for request, reply in self.replies(known)
        )
        rounds = range(self.settings.repeats)
        return [case.known() or next(replies) for _ in rounds for case in self.own]

    def _kept_ruling(self, reply: str, key: str) -> Ruling:
        with suppress(FormatError):
            words = (*SCALES[self.settings.scale].values, UNSCORED)
            if ruling := _ruling(json_value(reply.encode(), ""), words):
                return ruling
        raise RepliesCorrupt(
            f"the verdict {reply!r:.80} is not valid; fix or remove the line with key {key}"
        )

    def _believed(self, case: Case | Item, ruling: Ruling) -> Ruling:
        # A small model obeys the answer that it judges. Its pass then needs the words of the gold.
        if isinstance(case, Item) or ruling.verdict != "pass" or not speaks_to_judge(case.answer):
            return ruling
        if contains_gold((*case.golds, *case.aliases), case.answer, self.language):
            return ruling
        return Ruling(UNSCORED, f"the answer speaks to the judge, who said: {ruling.reason}")


def messages(case: Case | Item, prompt: JudgePrompt, language: str) -> tuple[str, str]:
    """Return the system and the user message.

    The text that is judged is one JSON string on one line, between two lines of a marker that it
    does not contain. Words of chat templates in it are broken.
    """
    texts = case.texts
    safe = {name: broken(t) if isinstance(t, str) else t for name, t in texts.items()}
    words = {name: json.dumps(text, ensure_ascii=False) for name, text in safe.items()}
    judged = words[SCALES[case.scale].texts[-1]]
    aliases = texts.get("aliases")
    words["aliases"] = prompt.also.format(aliases=words["aliases"]) if aliases else ""
    lines = prompt.user.strip().splitlines()
    shown = (line for line in lines if aliases or line.strip() != "{aliases}")
    user = "\n".join(shown).format(**words, marker=marker(judged))
    return prompt.system.format(language=language).strip(), user


def marker(answer: str) -> str:
    """Return a line that does not occur in ``answer``, the same every time."""
    word = answer
    while (word := hashlib.sha256(word.encode()).hexdigest()[:16]) in answer:
        pass
    return f"=== answer {word} ==="


def read_ruling(text: str, sent: str = "", scale: str = Case.scale) -> Ruling | None:
    """Read a reply that is one JSON object of `schema_of`, or the one line ``Verdict: WORD``.

    Blocks of reasoning before it and a fence around it do not count. Nothing else may be beside it:
    no search finds out which of two verdicts in prose a model means.

    Args:
        text: the reply.
        sent: what the model was sent, and the text that it judges.
        scale: one of `SCALES`.

    Returns:
        The ruling; None if the reply has another form, or repeats ``sent``.
    """
    words, given = [*SCALES[scale].values], _unfenced(_after_reasoning(text.strip()))
    name, _, word = given.partition(":")
    if name.strip().lower() == NAME and "\n" not in given:
        ruling = _ruling({NAME: word}, words)
    else:
        try:
            ruling = _ruling(json_value(given.encode(), "verdict"), words)
        except (FormatError, ValueError):
            return None
    return None if ruling is None or _repeats(given, ruling.reason, sent) else ruling


def _after_reasoning(text: str) -> str:
    """Return what follows the blocks of reasoning at the beginning of a reply."""
    for name in REASONING:
        if text.startswith(f"<{name}>"):
            _, closed, rest = text.partition(f"</{name}>")
            return _after_reasoning(rest.strip()) if closed else text
    return text


def _unfenced(text: str) -> str:
    """Return what is between two lines of backticks, if they enclose all of the text."""
    first, *lines = text.split("\n")
    if first.strip().lower() in FENCES and lines and lines[-1].strip() == FENCE:
        return "\n".join(lines[:-1]).strip()
    return text


def _repeats(given: str, reason: str, sent: str) -> bool:
    """Return whether a verdict, or the form around it, is copied from what the model was sent."""
    copied = _FORM.sub("", f"reason {reason} verdict") in _FORM.sub("", sent)
    return "".join(given.split()) in "".join(sent.split()) or bool(reason and copied)


def _ruling(value: object, verdicts: Sequence[Verdict]) -> Ruling | None:
    """Return the ruling of an object that has a verdict, and nothing else but a reason."""
    given = value if isinstance(value, dict) else {}
    word, reason = str(given.get(NAME)).strip().lower(), given.get("reason", "")
    found = next((verdict for verdict in verdicts if verdict == word), None)
    if found is None or not given.keys() <= {NAME, "reason"} or not isinstance(reason, str):
        return None
    return Ruling(found, reason)
