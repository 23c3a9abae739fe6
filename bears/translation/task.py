"""Read the configuration and the files to translate one benchmark.

The journal is in the user's own checkout, outside of everything that DVC manages, so that queued
and temporary experiments find it too, and no paid reply is lost with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from bears.config.ledger.entries import Reviews
from bears.config.shape import BenchmarkIdentity, Source
from bears.files.records import read_documents, read_lines, read_questions
from bears.language.answers import aliases
from bears.language.gates import GateSeverity
from bears.language.profile import Language
from bears.language.tags import languages_of
from bears.llm.models import estimate
from bears.llm.use import CheckedReply, KeptReplies
from bears.llm.wire import ChatAnswer, ChatRequest
from bears.translation.bundles import resolve_bundles
from bears.translation.glossary import read_glossary
from bears.translation.reply_check import ReplyCheck
from bears.translation.source_texts import Resolution, SourceTexts, resolve_fields
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

# The tokens of a translation as a share of its source's, the fewest and the most in practice.
SHORTEST, LONGEST = 0.7, 2.0
MOST_OUTPUT_TOKENS = 16384
TERMS_TOKENS = 4096


@dataclass(frozen=True)
class TranslationTask:
    """The translation of one benchmark: a `bears.llm.use.Use`.

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
        """Check an answer."""
        return ReplyCheck(self.language, self.severities)(request, answer)

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
