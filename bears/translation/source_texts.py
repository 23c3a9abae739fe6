"""The texts to translate, and their translations from kept replies: no key, no network.

The replay (`translate`) and `fill` find the texts of a benchmark with the same function and differ
only in the lookup, so they always agree on what is needed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bears.llm import use
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
        target: the language to translate into; texts in it stay as they are.
        companions: doc_id to the questions that it came with.
        lexicon: "yes" and "no" to the target's words.
        glossary: renderings that every translation must use.
        limit: texts with more characters are split at sentence ends.
        spaced: whether the target writes spaces between sentences.
        corrections: texts that a person wrote.
        again: how often a person sent a text back; it enters the key.
        accepted: texts that a person accepted or wrote.
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
        """Return the renderings that every translation from one language must use."""
        pair = (language, self.target)
        return Glossary(
            (term.source, term.rendering)
            for term in self.glossary
            if (term.source_language, term.target_language) == pair
        )

    def requests(self) -> Iterator[TranslationRequest]:
        """Yield every text that must be translated, by itself, in the order of the files."""
        for question in self.questions:
            if language := self.foreign(question):
                record_id = question.question_id
                yield TranslationRequest(record_id, "question", language, question.question)
                yield TranslationRequest(record_id, "gold_answer", language, question.gold_answer)
        for document in self.documents:
            if language := self.foreign(document):
                yield TranslationRequest(document.doc_id, "content", language, document.content)

    def foreign(self, record: Question | Document) -> str | None:
        """Return the language of a record that must be translated; None for a native one."""
        name = record.source_dataset if isinstance(record, Question) else record.original_source
        language = self.languages[name]
        return None if language == self.target else language


@dataclass(frozen=True)
class Doubt:
    """A reason for a person to look at a translation."""

    record_id: str
    field: str
    kind: str
    message: str


@dataclass
class Resolution(use.Needs[TranslationRequest]):
    """The translations of a benchmark, as far as the lookup has replies.

    Args:
        texts: (record_id, field, source text) to translation.
        doubts: what a person should look at.
        terms: question_id to the (source, rendering) pairs of its bundle.
    """

    texts: dict[tuple[str, str, str], str] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)
    terms: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


REMEDY = """\
To import a published set with the four files queries_raw.json, corpus_raw.json, queries.json and \
corpus.json: bears replies import BENCHMARK FOLDER
To get them from a model: bears replies fill translator=gpt-4.1, then publish"""


def resolve_fields(source_texts: SourceTexts, lookup: Lookup) -> Resolution:
    """Translate each field separately, as BEARS v1 did, if ``lookup`` has a reply for it."""
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
        source_texts: the records.
        resolution: the translations.
        wanted: a name for what may be missing, for the message.

    Raises:
        RepliesMissing: translations are missing; the message counts them and lists the first few. A
            source text never takes the place of its translation.
    """
    texts = use.all_of(resolution, wanted, REMEDY).texts
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
