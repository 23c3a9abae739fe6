"""The plain types that the whole package shares. Frozen, so that they can be passed around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

QuestionType = Literal["single-hop", "multi-hop"]
Severity = Literal["error", "warning", "accepted"]
Role = Literal["gold", "hard_negative", "random_negative"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a benchmark; the fields are those of BEARS' published files, in order."""

    question_id: str
    question: str
    gold_answer: str
    gold_doc_ids: tuple[str, ...]
    source_dataset: str
    question_type: QuestionType


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the pool; the fields are those of BEARS' published files, in order."""

    doc_id: str
    content: str
    original_source: str
    original_id: str
    is_gold: bool


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """A question of an article's paragraph, as its source has it."""

    id: str
    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceParagraph:
    """A paragraph and the questions asked of it. ``id`` is unique within its source."""

    id: str
    text: str
    questions: tuple[SourceQuestion, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """A row of a reading comprehension source (DRCD, SQuAD)."""

    id: str
    title: str
    paragraphs: tuple[SourceParagraph, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph of a row that brings its own paragraphs; ``key`` names it within the row."""

    key: str
    text: str
    is_gold: bool


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A row that brings its own paragraphs (HotpotQA, 2WikiMultiHopQA, MS MARCO)."""

    id: str
    question: str
    answer: str
    question_type: QuestionType
    kind: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that verification has to say about one record (or about a whole file)."""

    check: str
    severity: Severity
    record_id: str
    message: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of a ranking."""

    doc_id: str
    score: float


Ranking = tuple[Hit, ...]
"""Unique documents, best first."""

Run = Mapping[str, Ranking]
"""question_id to its ranking."""
