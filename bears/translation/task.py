"""Read what to translate of one benchmark, and check a model's replies.

The journal is in the user's own checkout, outside of everything that DVC manages, so that queued
and temporary experiments find it too, and no paid reply is lost with them.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from bears.config.ledger.entries import Reviews
from bears.config.shape import BenchmarkIdentity, Source
from bears.errors import FormatError
from bears.files.intake.files import json_value
from bears.files.records import read_documents, read_lines, read_questions
from bears.files.visible import blank
from bears.language.answers import aliases
from bears.language.gates import GateSeverity, check
from bears.language.profile import Language
from bears.language.tags import languages_of
from bears.language.text import Text
from bears.llm.models import estimate
from bears.llm.use import CheckedReply, KeptReplies, Use
from bears.llm.wire import ChatAnswer, ChatRequest
from bears.translation.bundles import resolve_bundles
from bears.translation.glossary import parse_terms, read_glossary
from bears.translation.source_texts import Resolution, SourceTexts, resolve_fields
from bears.translation.spans import TOKEN, read_back
from bears.translation.translator import (
    NAME,
    TERMS,
    TRANSLATION,
    TranslationRequest,
    Translator,
    TranslatorSettings,
    fragments,
    messages,
)
from bears.types import Question

SENTENCE = 40
"""A text of this many characters is not a name, so it may not stay untranslated."""

SAME_RENDERING = 2
"""A name and its short form may share a rendering; three terms with one are a model's loop."""
LONGEST_TERM = 80

# An answer in the form of the schema, complete or broken.
ANSWERED = re.compile(r'\{\s*"')
# The tokens of a translation as a share of its source's, the fewest and the most in practice.
SHORTEST, LONGEST = 0.7, 2.0
MOST_OUTPUT_TOKENS = 16384
TERMS_TOKENS = 4096


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


@dataclass(frozen=True)
class TranslationTask(Use[TranslationRequest]):
    """The translation of one benchmark.

    Args:
        settings: how to translate.
        language: the target.
        severities: gate to severity.
        source_texts: the texts to translate.
    """

    settings: TranslatorSettings
    language: Language
    severities: Mapping[str, GateSeverity]
    source_texts: SourceTexts

    name = NAME
    advice = "decide: bears replies review --export FILE"

    @property
    def wanted(self) -> str:
        """Return a name for what may be missing."""
        return f"translations into {self.language.name} by {self.translator.name}"

    @cached_property
    def translator(self) -> Translator:
        """Return what enters the keys."""
        return self.settings.translator(self.language)

    def resolve(self, known: KeptReplies) -> Resolution:
        """Translate the benchmark by the translator's method, as far as replies are known."""
        walk = resolve_bundles if self.settings.method == "bundle" else resolve_fields
        return walk(
            self.source_texts, lambda request: known.get(self.key(request), request.record_id)
        )

    def key(self, request: TranslationRequest) -> str:
        """Return the key of a request; see `Translator.key`."""
        return self.translator.key(request)

    def ask(self, request: TranslationRequest, reasons: list[str]) -> ChatRequest:
        """Build the chat request; ``reasons`` say why earlier answers were refused."""
        assert self.settings.prompt is not None
        system, user = messages(request, self.settings.prompt, fragments(self.language), reasons)
        shape, most = (
            (TERMS, TERMS_TOKENS) if request.field == "terms" else (TRANSLATION, MOST_OUTPUT_TOKENS)
        )
        return ChatRequest(
            key=self.key(request),
            system=system,
            user=user,
            schema=shape.schema if self.settings.structured else None,
            max_output_tokens=min(256 + 3 * estimate(request.text)[1], most),
            parameters=self.settings.request,
        )

    def output_tokens(self, request: TranslationRequest) -> tuple[float, float]:
        """Estimate the fewest and the most tokens of a translation."""
        least, most = estimate(request.text)
        return SHORTEST * least, LONGEST * most

    def check(self, request: TranslationRequest, answer: ChatAnswer) -> CheckedReply:
        """Check an answer; an ``error`` of a gate refuses it."""
        text, refusals = _reply_text(request, answer)
        if refusals:
            return CheckedReply(text, refusals, [])
        if request.field == "terms":
            return self._terms(request, text)
        marked = bool(request.context.get("marked"))
        source = read_back(request.text)[0] if marked else request.text
        translation, span = read_back(text) if marked else (text, None)
        languages = request.source_language, self.language.name
        checked = Text(request.field, source, translation, *languages)
        flags = check(checked, self.language, self.severities)
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
        languages = request.source_language, self.language.name
        shared = Counter(rendering for _, rendering in usable)
        good = []
        for source, rendering in usable:
            term = Text("gold_answer", source, rendering, *languages)
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

    def languages(self) -> dict[str, str]:
        """Return the language of each record that must be translated, by its id."""
        return {r.record_id: r.source_language for r in self.source_texts.requests()}


def read_task(
    sampled: Path,
    root: Path,
    *,
    benchmark: BenchmarkIdentity,
    gates: dict[str, GateSeverity],
    language: Language,
    reviews: Reviews,
    sources: dict[str, Source],
    translator: TranslatorSettings,
) -> TranslationTask:
    """Read the texts to translate; for the other parameters see `bears.config.typed.configured`.

    Args:
        sampled: the folder that the sample stage wrote.
        root: the folder for a relative path of a glossary.

    Raises:
        ConfigurationError, FormatError: something does not fit.
    """
    questions = read_questions(sampled / "queries_raw.json")
    documents = read_documents(sampled / "corpus_raw.json")
    names = {*(q.source_dataset for q in questions), *(d.original_source for d in documents)}
    source_texts = SourceTexts(
        questions=questions,
        documents=documents,
        languages=languages_of(sources, names, benchmark.language, language.name),
        target=language.name,
        companions=companions_of(sampled / "lineage.jsonl"),
        lexicon={"yes": language.yes, "no": language.no},
        glossary=read_glossary(root / translator.glossary) if translator.glossary else (),
        limit=translator.chunk_characters,
        spaced=language.spaced,
        corrections={(r.record_id, r.field): r.text for r in reviews if r.decision == "correct"},
        again={(r.record_id, r.field): n for r in reviews if (n := r.sent_back)},
        accepted={(r.record_id, r.field) for r in reviews if r.decision != "retranslate"},
    )
    return TranslationTask(translator, language, gates, source_texts)


def sidecar(
    task: TranslationTask, questions: Sequence[Question], found: Resolution
) -> Mapping[str, object]:
    """Return what is known of the translations besides their texts: aliases, terms, doubts."""
    foreign = {q.question_id for q in task.source_texts.questions if task.source_texts.foreign(q)}
    return {
        "aliases": {
            q.question_id: aliases(q.gold_answer, task.language)
            for q in questions
            if q.question_id in foreign
        },
        "terms": {key: [list(pair) for pair in pairs] for key, pairs in found.terms.items()},
        "doubts": [asdict(doubt) for doubt in found.doubts],
    }


def companions_of(lineage: Path) -> Mapping[str, Sequence[str]]:
    """Return doc_id to the questions that it came with, if there is a lineage."""
    if not lineage.exists():
        return {}
    return {row["record_id"]: row.get("questions", ()) for _, row in read_lines(lineage)}
