"""From configuration and files to the work of translating one benchmark.

The journal lies in the user's own checkout, outside of everything that DVC manages, so that
queued and temporary experiments find it too and nothing that was paid for is lost with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bears.config import Config, parse
from bears.config.ledger.entries import reviews_of
from bears.files.records import read_documents, read_lines, read_questions
from bears.language.answers import aliases
from bears.language.gates import GateSeverity
from bears.language.profile import Language
from bears.language.tags import languages_of
from bears.llm.kept import PublishedMemory
from bears.llm.models import estimate
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer, ChatRequest
from bears.translation.bundles import resolve_bundles
from bears.translation.glossary import read_glossary
from bears.translation.reply_check import ReplyCheck
from bears.translation.source_texts import Resolution, SourceTexts, resolve_fields
from bears.translation.translator import (
    NAME,
    TERMS_SCHEMA,
    TRANSLATION_SCHEMA,
    TranslationRequest,
    Translator,
    TranslatorSettings,
    fragments,
    messages,
)
from bears.types import Question

# A translation has about as many tokens as its source, the least and the most in practice.
SHORTEST, LONGEST = 0.7, 2.0
MOST_OUTPUT_TOKENS = 16384
TERMS_TOKENS = 4096


@dataclass(frozen=True)
class TranslationTask:
    """Translating one benchmark: a `bears.llm.use.Use`.

    Args:
        settings: how to translate.
        language: the target.
        severities: gate to severity.
        source_texts: what is to be translated.
    """

    settings: TranslatorSettings
    language: Language
    severities: Mapping[str, GateSeverity]
    source_texts: SourceTexts

    name = NAME
    advice = "decide: python -m bears memory review --export FILE"

    @property
    def wanted(self) -> str:
        """What may be missing."""
        return f"translations into {self.language.name} by {self.translator.name}"

    @cached_property
    def translator(self) -> Translator:
        """What enters the keys."""
        return self.settings.translator(self.language)

    def resolve(self, known: PublishedMemory) -> Resolution:
        """Walk the benchmark as the translator's method does."""
        walk = resolve_bundles if self.settings.method == "bundle" else resolve_fields
        return walk(
            self.source_texts,
            lambda request: known.get(self.key(request), request.record_id),
        )

    def key(self, request: TranslationRequest) -> str:
        """See `Translator.key`."""
        return self.translator.key(request)

    def ask(self, request: TranslationRequest, reasons: list[str]) -> ChatRequest:
        """What is sent for a request, with the reasons why earlier answers were refused."""
        assert self.settings.prompt is not None
        system, user = messages(request, self.settings.prompt, fragments(self.language), reasons)
        schema = TERMS_SCHEMA if request.field == "terms" else TRANSLATION_SCHEMA
        most = TERMS_TOKENS if request.field == "terms" else MOST_OUTPUT_TOKENS
        return ChatRequest(
            key=self.key(request),
            system=system,
            user=user,
            schema=schema if self.settings.structured else None,
            max_output_tokens=min(256 + 3 * estimate(request.text)[1], most),
            parameters=self.settings.request,
        )

    def output_tokens(self, request: TranslationRequest) -> tuple[float, float]:
        """The least and the most tokens of a translation in practice."""
        least, most = estimate(request.text)
        return SHORTEST * least, LONGEST * most

    def check(self, request: TranslationRequest, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with an answer."""
        return ReplyCheck(self.language, self.severities)(request, answer)

    def languages(self) -> dict[str, str]:
        """The language of each record that must be translated, by its id."""
        return {r.record_id: r.source_language for r in self.source_texts.requests()}


def read_task(config: Config, sampled: Path, root: Path) -> TranslationTask:
    """Read what is to be translated.

    Args:
        config: with the keys benchmark.language, gates, language, ledger, sources and translator.
        sampled: the folder that the sample stage wrote.
        root: what a glossary's path is relative to.

    Raises:
        ConfigurationError, FormatError: something does not fit.
    """
    settings = parse(TranslatorSettings, config["translator"], "translator")
    language = parse(Language, config["language"], "language")
    reviews = reviews_of(config["ledger"]["reviews"])
    questions = read_questions(sampled / "queries_raw.json")
    documents = read_documents(sampled / "corpus_raw.json")
    names = {*(q.source_dataset for q in questions), *(d.original_source for d in documents)}
    kept = config["benchmark"]["language"]
    source_texts = SourceTexts(
        questions=questions,
        documents=documents,
        languages=languages_of(config["sources"], names, kept, language.name),
        target=language.name,
        companions=_companions(sampled / "lineage.jsonl"),
        lexicon={"yes": language.yes, "no": language.no},
        glossary=read_glossary(root / settings.glossary) if settings.glossary else (),
        limit=settings.chunk_characters,
        spaced=language.spaced,
        corrections={(r.record_id, r.field): r.text for r in reviews if r.decision == "correct"},
        again={(r.record_id, r.field): n for r in reviews if (n := r.sent_back)},
        accepted={(r.record_id, r.field) for r in reviews if r.decision != "retranslate"},
    )
    return TranslationTask(settings, language, config["gates"], source_texts)


def sidecar(
    task: TranslationTask, questions: Sequence[Question], found: Resolution
) -> dict[str, Any]:
    """What is known of the translations beside their texts: aliases, terms, doubts."""
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


def _companions(lineage: Path) -> Mapping[str, Sequence[str]]:
    if not lineage.exists():
        return {}
    return {row["record_id"]: row.get("questions", ()) for _, row in read_lines(lineage)}
