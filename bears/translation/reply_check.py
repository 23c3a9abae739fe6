"""What is wrong with an answer: the gates of the language, and the promises of the bundle."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.intake.texts import blank
from bears.language.gates import GateSeverity, check
from bears.language.profile import Language
from bears.language.text import Text
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer
from bears.translation.glossary import parse_terms
from bears.translation.spans import TOKEN, read_back
from bears.translation.translator import TranslationRequest

SENTENCE = 40
"""No name, and so nothing that may stay as it is, has so many characters."""

SAME_RENDERING = 2
"""A name and its short form may share a rendering; three terms with one are a model's loop."""
LONGEST_TERM = 80

# An answer in the form of the schema, whole or broken.
ANSWERED = re.compile(r'\{\s*"')


@dataclass(frozen=True)
class ReplyCheck:
    """Judges answers by the rules of one target language.

    Args:
        language: the target.
        severities: gate to severity; an ``error`` refuses a translation.
    """

    language: Language
    severities: Mapping[str, GateSeverity]

    def __call__(self, request: TranslationRequest, answer: ChatAnswer) -> CheckedReply:
        """The verdict on one answer."""
        text, refusals = _reply_text(request, answer)
        if refusals:
            return CheckedReply(text, refusals, [])
        if request.field == "terms":
            return self._terms(request, text)
        marked = bool(request.context.get("marked"))
        source = read_back(request.text)[0] if marked else request.text
        translation, span = read_back(text) if marked else (text, None)
        flags = check(
            Text(request.field, source, translation, request.source_language, self.language.name),
            self.language,
            self.severities,
        )
        refusals = [flag.message for flag in flags if flag.severity == "error"]
        if len(source.strip()) >= SENTENCE and source.strip() in translation and not flags:
            refusals.append("the source text stands in it")
        if not marked and TOKEN.search(translation) and not TOKEN.search(source):
            refusals.append("it has the marks ⟦ ⟧, though the text has none")
        doubts = _unused_renderings(request, translation, self.language)
        if marked and not span:
            doubts.append("the marks ⟦ ⟧ around the answer are gone")
        return CheckedReply(text, refusals, doubts)

    def _terms(self, request: TranslationRequest, text: str) -> CheckedReply:
        """Good terms are better than none, and none are better than a bundle that never begins."""
        usable, problems = parse_terms(text, request.text)
        doubts = problems[:1]
        shared = Counter(rendering for _, rendering in usable)
        kept = []
        for source, rendering in usable:
            term = Text(
                "gold_answer", source, rendering, request.source_language, self.language.name
            )
            flags = check(term, self.language, self.severities)
            if problem := next((f.message for f in flags if f.severity == "error"), ""):
                doubts.append(f"{source} → {rendering}: {problem}")
            elif shared[rendering] > SAME_RENDERING:
                doubts.append(f"{source} → {rendering}: many terms have this rendering")
            elif len(rendering) > LONGEST_TERM:
                doubts.append(f"{source} → {rendering:.40}…: this is no term")
            else:
                kept.append({"source": source, "target": rendering})
        return CheckedReply(json.dumps({"terms": kept}, ensure_ascii=False), [], doubts)


def _unused_renderings(
    request: TranslationRequest, translation: str, language: Language
) -> list[str]:
    unused = [
        f"{source} → {target}"
        for source, target in request.context.get("glossary", ())
        if not _used(target, translation, language)
    ]
    return [f"the glossary's rendering is not used: {', '.join(unused)}"] if unused else []


def _used(rendering: str, translation: str, language: Language) -> bool:
    if rendering in translation:
        return True
    # Languages that part words by spaces also inflect them: the stem must do.
    stems = [word[: max(3, len(word) - 3)].casefold() for word in rendering.split()]
    return language.spaced and all(stem in translation.casefold() for stem in stems)


def _reply_text(request: TranslationRequest, answer: ChatAnswer) -> tuple[str, list[str]]:
    """The translation within an answer, and what forbids to take it from there."""
    if answer.refusal:
        return "", [f"the model refused: {answer.refusal:.80}"]
    if answer.finish_reason != "stop":
        return "", [f"the answer is not complete (finish reason {answer.finish_reason})"]
    text = answer.text.strip()
    if not text:
        return "", ["the answer is empty"]
    if request.field == "terms" or not ANSWERED.match(text) or ANSWERED.match(request.text):
        return text, []
    try:
        value = json_value(text.encode(), "")["translation"]
    except (FormatError, ValueError, LookupError, TypeError):
        return "", ["the answer is not the JSON that was asked for"]
    if not isinstance(value, str) or blank(value):
        return "", ["the answer's translation is empty or no text"]
    return value.strip(), []
