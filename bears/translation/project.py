"""From configuration and files to the work of translating one benchmark.

The journal lies in the user's own checkout, outside of everything that DVC manages, so that
queued and temporary experiments find it too and nothing that was paid for is lost with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict

from bears.configuration import STRICT, Config, parse
from bears.errors import ConfigurationError
from bears.formats.journal import Journal
from bears.formats.records import read_documents, read_lines, read_questions
from bears.language.answers import aliases
from bears.language.native import languages_of
from bears.language.profile import Language
from bears.translation.bundles import resolve_bundles
from bears.translation.engine import Known
from bears.translation.glossary import Glossary
from bears.translation.memory import Translator, load
from bears.translation.replay import apply, resolve_fields
from bears.translation.settings import Settings
from bears.translation.spreadsheet import read_csv
from bears.translation.tbx import read_tbx
from bears.translation.work import Lookup, Resolution, Work
from bears.types import Document, Question


@dataclass(frozen=True)
class Review:
    """A person's decision about one translation, an entry of the ledger.

    Args:
        record_id, field: what it is about.
        decision: accept its flags, correct the text, or have it translated again.
        text: the corrected text.
        times: how often it was sent back; it stays when the new translation is accepted.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    record_id: str
    field: Literal["question", "gold_answer", "content"]
    decision: Literal["accept", "correct", "retranslate"]
    reason: str = ""
    author: str = ""
    text: str = ""
    times: int = 0

    def __post_init__(self) -> None:
        if self.decision == "correct" and not self.text.strip():
            raise ConfigurationError(
                f"ledger.reviews: {self.field} of {self.record_id} is to be corrected, "
                "but its text is empty"
            )

    @property
    def sent_back(self) -> int:
        """How often the text is to be translated anew."""
        return self.times or int(self.decision == "retranslate")


@dataclass(frozen=True)
class Project:
    """Everything that translating one benchmark needs, but for the model."""

    settings: Settings
    language: Language
    translator: Translator
    work: Work

    def resolve(self, lookup: Lookup) -> Resolution:
        """Walk the benchmark as the translator's method does."""
        walk = resolve_bundles if self.settings.method == "bundle" else resolve_fields
        return walk(self.work, lookup)

    def replay(self, memory: Path) -> tuple[list[Question], list[Document], Resolution]:
        """Translate from the published memory alone. Raises MemoryMiss."""
        known = load(memory)
        resolution = self.resolve(
            lambda request: known.get(self.translator.key(request), request.record_id)
        )
        questions, documents = apply(self.work, resolution, self.translator)
        return questions, documents, resolution

    def known(self, memory: Path, journal: Journal) -> Known:
        """The published memory, and what the journal has beside it."""
        return Known(load(memory), journal, self.translator)


def open_project(config: Config, sampled: Path, root: Path) -> Project:
    """Read what is to be translated.

    Args:
        config: with the keys benchmark.language, language, ledger, sources and translator.
        sampled: the folder that the sample stage wrote.
        root: what a glossary's path is relative to.

    Raises:
        ConfigurationError, FormatError: something does not fit.
    """
    settings = parse(Settings, config["translator"], "translator")
    language = parse(Language, config["language"], "language")
    reviews = [
        parse(Review, entry, f"ledger.reviews.{i}")
        for i, entry in enumerate(config["ledger"]["reviews"])
    ]
    questions = read_questions(sampled / "queries_raw.json")
    documents = read_documents(sampled / "corpus_raw.json")
    names = {*(q.source_dataset for q in questions), *(d.original_source for d in documents)}
    kept = config["benchmark"]["language"]
    work = Work(
        questions=questions,
        documents=documents,
        languages=languages_of(config["sources"], names, kept, language.name),
        target=language.name,
        companions=_companions(sampled / "lineage.jsonl"),
        lexicon={"yes": language.yes, "no": language.no},
        glossary=_glossary(settings, config, root),
        limit=settings.chunk_characters,
        spaced=language.spaced,
        corrections={(r.record_id, r.field): r.text for r in reviews if r.decision == "correct"},
        again={(r.record_id, r.field): n for r in reviews if (n := r.sent_back)},
        accepted={(r.record_id, r.field) for r in reviews if r.decision != "retranslate"},
    )
    return Project(settings, language, settings.translator(language), work)


def sidecar(project: Project, questions: Sequence[Question], found: Resolution) -> dict[str, Any]:
    """What is known of the translations beside their texts: aliases, terms, doubts."""
    foreign = {q.question_id for q in project.work.questions if project.work.foreign(q)}
    return {
        "aliases": {
            q.question_id: aliases(q.gold_answer, project.language)
            for q in questions
            if q.question_id in foreign
        },
        "terms": {key: [list(pair) for pair in pairs] for key, pairs in found.terms.items()},
        "doubts": [
            {"record_id": d.record_id, "field": d.field, "kind": d.kind, "message": d.message}
            for d in found.doubts
        ],
    }


def _companions(lineage: Path) -> Mapping[str, Sequence[str]]:
    if not lineage.exists():
        return {}
    return {row["record_id"]: row.get("questions", ()) for _, row in read_lines(lineage)}


def _glossary(settings: Settings, config: Config, root: Path) -> Glossary:
    if not settings.glossary:
        return Glossary()
    path = root / settings.glossary
    if path.suffix == ".csv":
        return Glossary(read_csv(path))
    target = config["language"]["name"]
    sources = {source["language"] for source in config["sources"].values()} - {target}
    return Glossary(term for source in sorted(sources) for term in read_tbx(path, source, target))
