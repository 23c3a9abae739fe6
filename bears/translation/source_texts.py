"""What is to be translated, and what the kept replies make of it: no key, no network.

Both the replay (`translate`) and the filling (`fill`) walk a benchmark with the same function and
differ only in where they look texts up, so they cannot disagree on what is needed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bears.errors import MemoryMiss
from bears.llm import use
from bears.llm.use import missing_message
from bears.translation.glossary import Glossary, Term
from bears.translation.translator import TranslationRequest
from bears.types import Document, Question

Lookup = use.Lookup[TranslationRequest]
Place = tuple[str, str]
"""(record_id, field) of a text."""


@dataclass(frozen=True)
class SourceTexts:
    """A benchmark before translation, and what guides its translation.

    Args:
        questions: before translation.
        documents: before translation.
        languages: source name to BCP 47 tag.
        target: the language to translate into; texts in it already pass through untouched.
        companions: doc_id to the questions that it came with.
        lexicon: "yes" and "no" to the target's words.
        glossary: renderings that everybody must use.
        limit: texts longer than this many characters are split at sentence ends.
        spaced: whether the target writes spaces between sentences.
        corrections: texts that a person wrote.
        again: how often a person sent a text back; it enters the key.
        accepted: texts that a person took as they are, or wrote.
    """

    questions: Sequence[Question]
    documents: Sequence[Document]
    languages: Mapping[str, str]
    target: str
    companions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lexicon: Mapping[str, str] = field(default_factory=dict)
    glossary: Sequence[Term] = ()
    limit: int = 6000
    spaced: bool = False
    corrections: Mapping[Place, str] = field(default_factory=dict)
    again: Mapping[Place, int] = field(default_factory=dict)
    accepted: Collection[Place] = ()

    def curated(self, language: str) -> Glossary:
        """The renderings that everybody must use for terms of one language."""
        pair = (language, self.target)
        return Glossary(
            (term.source, term.rendering)
            for term in self.glossary
            if (term.source_language, term.target_language) == pair
        )

    def requests(self) -> Iterator[TranslationRequest]:
        """Every text that must be translated, by itself, in the order of the files."""
        for question in self.questions:
            if language := self.foreign(question):
                record_id = question.question_id
                yield TranslationRequest(record_id, "question", language, question.question)
                yield TranslationRequest(record_id, "gold_answer", language, question.gold_answer)
        for document in self.documents:
            if language := self.foreign(document):
                yield TranslationRequest(document.doc_id, "content", language, document.content)

    def foreign(self, record: Question | Document) -> str | None:
        """The language of a record that must be translated; None for a native one."""
        name = record.source_dataset if isinstance(record, Question) else record.original_source
        language = self.languages[name]
        return None if language == self.target else language


@dataclass(frozen=True)
class Doubt:
    """Something about a translation that a person should look at."""

    record_id: str
    field: str
    kind: str
    message: str


@dataclass
class Resolution(use.Needs[TranslationRequest]):
    """What a lookup makes of a benchmark.

    Args:
        texts: (record_id, field, source text) to translation.
        doubts: what a person should look at.
        terms: question_id to the (source, rendering) pairs of its bundle.
    """

    texts: dict[tuple[str, str, str], str] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)
    terms: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


MEND = """
To fill it from a published set with the four files queries_raw.json, corpus_raw.json, \
queries.json and corpus.json: python -m bears memory import BENCHMARK FOLDER
To fill it from a model: python -m bears memory fill translator=gpt-4.1, then publish"""


def resolve_fields(source_texts: SourceTexts, lookup: Lookup) -> Resolution:
    """Translate every field by itself, as BEARS v1 did, as far as ``lookup`` has answers."""
    resolution = Resolution()
    for plain in source_texts.requests():
        place = (plain.record_id, plain.field)
        times = source_texts.again.get(place)
        request = replace(plain, context={"again": times}) if times else plain
        text = source_texts.corrections.get(place) or resolution.ask(lookup, request)
        if text is not None:
            resolution.texts[plain.record_id, plain.field, plain.text] = text
    return resolution


def apply(
    source_texts: SourceTexts, resolution: Resolution, wanted: str
) -> tuple[list[Question], list[Document]]:
    """Put the translations into the records.

    Args:
        wanted: what may be missing, for the message.

    Raises:
        MemoryMiss: translations are missing; all are counted and the first few listed. A source
            text never stands in for its translation.
    """
    if resolution.missing:
        raise MemoryMiss(missing_message(resolution, wanted) + MEND)
    texts = resolution.texts
    return (
        [
            replace(
                q,
                question=texts.get((q.question_id, "question", q.question), q.question),
                gold_answer=texts.get((q.question_id, "gold_answer", q.gold_answer), q.gold_answer),
            )
            for q in source_texts.questions
        ],
        [
            replace(d, content=texts.get((d.doc_id, "content", d.content), d.content))
            for d in source_texts.documents
        ],
    )
