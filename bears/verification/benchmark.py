"""What verification looks at: a benchmark before and after translation, and what it should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from bears.configuration import STRICT
from bears.types import Document, Question


@dataclass(frozen=True)
class Language:
    """The target language, as conf/language/<name>.yaml describes it.

    Args:
        name: BCP 47 tag.
        title: in English.
        scripts: Unicode script names of its letters.
        min_share: see `bears.verification.language.script_share`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    title: str
    scripts: tuple[str, ...]
    min_share: float


@dataclass(frozen=True)
class Benchmark:
    """Everything that the checks compare.

    Args:
        raw_questions, raw_documents: before translation.
        questions, documents: after it.
        shares: source name to the asked number of questions, in the asked order.
        size: the asked number of documents.
        languages: source name to BCP 47 tag.
        target: the language that texts are translated into.
        unmatched: ledger entries that name no record.
    """

    raw_questions: Sequence[Question]
    raw_documents: Sequence[Document]
    questions: Sequence[Question]
    documents: Sequence[Document]
    shares: Mapping[str, int]
    size: int
    languages: Mapping[str, str]
    target: Language
    unmatched: Sequence[str] = ()
