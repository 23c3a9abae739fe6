"""Check a model's translation: the gates of the language, and the terms and marks of the bundle."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.visible import blank
from bears.language.gates import GateSeverity, check
from bears.language.profile import Language
from bears.language.text import Text
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer
from bears.translation.glossary import parse_terms
from bears.translation.spans import TOKEN, read_back
from bears.translation.translator import TRANSLATION, TranslationRequest

SENTENCE = 40
"""A text of this many characters is not a name, so it may not stay untranslated."""

SAME_RENDERING = 2
"""A name and its short form may share a rendering; three terms with one are a model's loop."""
LONGEST_TERM = 80

# An answer in the form of the schema, complete or broken.
ANSWERED = re.compile(r'\{\s*"')


@dataclass(frozen=True)
class ReplyCheck:
    """The check of replies by the rules of one target language.

    Args:
        language: the target.
        severities: gate to severity; an ``error`` refuses a translation.
    """

    language: Language
    severities: Mapping[str, GateSeverity]

    def __call__(self, request: TranslationRequest, answer: ChatAnswer) -> CheckedReply:
        """Check one answer."""
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
            refusals.append("it contains the source text")
        if not marked and TOKEN.search(translation) and not TOKEN.search(source):
            refusals.append("it has the marks ⟦ ⟧, though the text has none")
        doubts = _unused_renderings(request, translation, self.language)
        if marked and not span:
            doubts.append("the marks ⟦ ⟧ around the answer are gone")
        return CheckedReply(text, refusals, doubts)

    def _terms(self, request: TranslationRequest, text: str) -> CheckedReply:
        """Keep the good terms. An empty list is kept too, or the bundle could never start."""
        usable, problems = parse_terms(text, request.text)
        doubts = problems[:1]
        shared = Counter(rendering for _, rendering in usable)
        good = []
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
                doubts.append(f"{source} → {rendering:.40}…: it is too long for a term")
            else:
                good.append({"source": source, "target": rendering})
        return CheckedReply(json.dumps({"terms": good}, ensure_ascii=False), [], doubts)


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
    # Languages that separate words by spaces also inflect them, so the stem is enough.
    stems = [word[: max(3, len(word) - 3)].casefold() for word in rendering.split()]
    return language.spaced and all(stem in translation.casefold() for stem in stems)


def _reply_text(request: TranslationRequest, answer: ChatAnswer) -> tuple[str, list[str]]:
    """Return the translation within an answer, and why it cannot be used."""
    if answer.flaw:
        return "", [f"{answer.flaw:.100}"]
    text = answer.text.strip()
    if request.field == "terms" or not ANSWERED.match(text) or ANSWERED.match(request.text):
        return text, []
    try:
        value = TRANSLATION.parse(json_value(text.encode()))["translation"]
    except (FormatError, ValueError):
        return "", ["the answer is not the JSON that was asked for"]
    return ("", ["the answer's translation is empty"]) if blank(value) else (value.strip(), [])
