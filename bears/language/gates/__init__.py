"""Check translations by rule. Each gate finds one kind of mistake."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bears.errors import ConfigurationError
from bears.files.visible import blank
from bears.language.gates import form, numbers, questions, source_left, words
from bears.language.profile import Language
from bears.language.text import Text

Severity = Literal["error", "warning", "off"]
GateSeverity = Literal[Severity, "question_error"]
"""``question_error``: an error in a question or an answer, a warning in a document."""

_IN_ORDER = (
    *(form.empty, form.punctuation_only, source_left.echo, source_left.untranslated),
    *(words.script, words.variant, form.chatter, form.yes_no),
    *(questions.question_mood, questions.question_kind, questions.answered),
    *(form.length_ratio, form.unfinished, form.repeated, form.sentence_for_phrase),
    *(numbers.changed_number, numbers.numbers, words.invented_name),
    *(words.lost_word, words.lost_detail, questions.answer_hint),
)
GATES: Mapping[str, Callable[[Text, Language], str | None]] = {
    gate.__name__: gate for gate in _IN_ORDER
}
"""Name to gate; a gate returns what is wrong, or None."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A gate's finding about a translation."""

    gate: str
    severity: Literal["error", "warning"]
    message: str


def check(text: Text, language: Language, severities: Mapping[str, GateSeverity]) -> list[Flag]:
    """Return what the gates find in one translation, in the order of `GATES`.

    Args:
        text: the translation and its source.
        language: the target.
        severities: by gate; a gate that is not named has severity error.

    Returns:
        Nothing for a text that is in the target language already, because it was not translated.

    Raises:
        ConfigurationError: ``severities`` names an unknown gate.
    """
    if unknown := severities.keys() - GATES.keys():
        raise ConfigurationError(
            f"gates: unknown {', '.join(sorted(unknown))}; there are {', '.join(GATES)}"
        )
    if text.source_language == text.target:
        return []
    names = ["empty"] if blank(text.translation) else list(GATES)
    flags = []
    for name in names:
        severity = severities.get(name, "error")
        if severity != "off" and (message := GATES[name](text, language)):
            if severity == "question_error":
                severity = "warning" if text.field == "content" else "error"
            flags.append(Flag(name, severity, message))
    return flags
