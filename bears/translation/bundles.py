"""The bundle: a question, its answer and its documents, translated so that they still fit.

1. One request lists the bundle's names and terms with one rendering each.
2. Every text is its own request, with the slice of that glossary whose terms occur in it. In a
   gold document the answer is marked, and the marked phrase of the translation is the answer.
3. An answer that stands in no gold document is translated by itself; yes and no come from the
   language's lexicon.

So what is asked in step 2 follows from the answers of step 1, and replaying them gives the same
requests again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bears.errors import FormatError
from bears.language.sentences import split
from bears.language.text import YES_NO
from bears.translation.chunks import join
from bears.translation.glossary import Glossary, Term, parse_terms
from bears.translation.memory import Field, Request
from bears.translation.spans import mark, read_back
from bears.translation.work import Doubt, Lookup, Resolution, Work
from bears.types import Document, Question


def resolve_bundles(work: Work, lookup: Lookup) -> Resolution:
    """Translate every bundle as far as ``lookup`` has answers."""
    resolution = Resolution()
    owners = _owners(work)
    alone = [document for document in work.documents if document.doc_id not in owners]
    for document in alone:
        if language := work.foreign(document):
            glossary = work.glossary.pair(language, work.target)
            _Texts(work, lookup, resolution, glossary).document(document, language, "")
    documents = {document.doc_id: document for document in work.documents}
    for question in work.questions:
        if language := work.foreign(question):
            owned = [documents[i] for i, owner in owners.items() if owner == question.question_id]
            gold = [documents[i] for i in question.gold_doc_ids if i in documents]
            _bundle(work, lookup, resolution, question, language, gold, owned)
    return resolution


def terms_text(question: Question, gold: Sequence[Document]) -> str:
    """What the terms are taken from: question, answer and gold documents, one below the other."""
    parts = [question.question, question.gold_answer, *(document.content for document in gold)]
    return "\n\n".join(parts)


def _owners(work: Work) -> dict[str, str]:
    """doc_id to the one question whose bundle translates it: the first that has it as gold."""
    owners: dict[str, str] = {}
    foreign = [question for question in work.questions if work.foreign(question)]
    native = {document.doc_id for document in work.documents if not work.foreign(document)}
    for question in foreign:
        for doc_id in question.gold_doc_ids:
            owners.setdefault(doc_id, question.question_id)
    ids = {question.question_id for question in foreign}
    for document in work.documents:
        for question_id in work.companions.get(document.doc_id, ()):
            if question_id in ids:
                owners.setdefault(document.doc_id, question_id)
    return {doc_id: owner for doc_id, owner in owners.items() if doc_id not in native}


def _bundle(
    work: Work,
    lookup: Lookup,
    resolution: Resolution,
    question: Question,
    language: str,
    gold: Sequence[Document],
    owned: Sequence[Document],
) -> None:
    text = terms_text(question, gold)
    curated = work.glossary.pair(language, work.target)
    given = curated.slice(text)
    request = _request(work, question.question_id, "terms", language, text, given)
    answer = resolution.ask(lookup, request)
    learned = [] if answer is None else _terms(resolution, question, answer, text)
    glossary = curated.merged(
        Term(source, rendering, language, work.target) for source, rendering in learned
    )
    resolution.terms[question.question_id] = list(glossary.slice(text))
    # Without the terms the requests below are not yet the real ones: they only tell the number.
    found = resolution if answer is not None else Resolution()
    texts = _Texts(work, lookup if answer is not None else _nothing, found, glossary)
    texts.question(question, language)
    spans: dict[str, str | None] = {}
    for document in owned:
        is_gold = document.doc_id in question.gold_doc_ids
        marked = "" if is_yes_no(question) or not is_gold else question.gold_answer
        # An answer is sent back together with the piece of text that it is read from.
        times = work.again.get((question.question_id, "gold_answer"), 0)
        spans[document.doc_id] = texts.document(document, language, marked, times)
    texts.answer(question, language, gold, spans)
    if answer is None:
        resolution.waiting += found.missing


def _nothing(_: Request) -> None:
    return None


def _terms(
    resolution: Resolution, question: Question, answer: str, text: str
) -> list[tuple[str, str]]:
    try:
        return [(term, rendering) for term, rendering in parse_terms(answer, text)]
    except FormatError as error:
        doubt = Doubt(question.question_id, "terms", "terms", str(error))
        resolution.doubts.append(doubt)
        return []


def is_yes_no(question: Question) -> bool:
    """Whether the answer comes from the language's lexicon."""
    return question.gold_answer.strip().lower().rstrip(".") in YES_NO["en"]


def _request(
    work: Work,
    record_id: str,
    field: Field,
    language: str,
    text: str,
    glossary: Sequence[tuple[str, str]],
    **context: Any,
) -> Request:
    if glossary:
        context["glossary"] = [list(pair) for pair in glossary]
    # Both only ever grow, so what was sent back never gets an earlier key again.
    if times := work.again.get((record_id, field), 0) + context.pop("again", 0):
        context["again"] = times
    return Request(record_id, field, language, text, context)


class _Texts:
    """The texts of one bundle."""

    def __init__(
        self, work: Work, lookup: Lookup, resolution: Resolution, glossary: Glossary
    ) -> None:
        self._work, self._lookup, self._found = work, lookup, resolution
        self._glossary = glossary

    def question(self, question: Question, language: str) -> None:
        """Translate the question."""
        place = (question.question_id, "question", question.question)
        corrected = self._work.corrections.get(place[:2])
        translation = corrected or self._ask(
            question.question_id, "question", language, question.question
        )
        if translation is not None:
            self._found.texts[place] = translation

    def document(
        self, document: Document, language: str, answer: str, times: int = 0
    ) -> str | None:
        """Translate a document; return the translation of ``answer`` that stands in it.

        Args:
            times: how often a person sent the answer back.
        """
        place = (document.doc_id, "content", document.content)
        if corrected := self._work.corrections.get(place[:2]):
            self._found.texts[place] = corrected
            return self._kept_span(document, language, answer, times, corrected)
        pieces = split(document.content, self._work.limit)
        marked = list(_marked(pieces, answer))
        translated = [
            self._piece(document.doc_id, language, *pair, times)
            for pair in zip(pieces, marked, strict=True)
        ]
        read = [pair for pair in translated if pair is not None]
        if len(read) < len(pieces):
            return None
        self._found.texts[place] = join([text for text, _ in read], pieces, self._work.spaced)
        spans = [span for _, span in read if span]
        if marked != pieces and not spans:
            message = f"the translation lost the mark around the answer {answer!r:.60}"
            self._found.doubts.append(Doubt(document.doc_id, "content", "mark_lost", message))
        return spans[0] if spans else None

    def _kept_span(
        self, document: Document, language: str, answer: str, times: int, corrected: str
    ) -> str | None:
        """The answer of the translation that a person corrected, if it stands there still."""
        before = Resolution()
        work = replace(self._work, corrections={})
        texts = _Texts(work, self._lookup, before, self._glossary)
        span = texts.document(document, language, answer, times)
        if span is None or span not in corrected:
            return None
        self._found.used.update(before.used)
        return span

    def _piece(
        self, doc_id: str, language: str, piece: str, marked: str, times: int
    ) -> tuple[str, str | None] | None:
        """The translation of one piece, and the phrase that was marked in it."""
        if not piece.strip():
            return piece, None
        if piece == marked:
            text = self._ask(doc_id, "content", language, piece)
            return None if text is None else (text, None)
        text = self._ask(doc_id, "content", language, marked, marked=True, again=times)
        return None if text is None else read_back(text)

    def answer(
        self,
        question: Question,
        language: str,
        gold: Sequence[Document],
        spans: Mapping[str, str | None],
    ) -> None:
        """Take the answer from the lexicon, a gold document, the glossary, or the model."""
        chosen = self._work.corrections.get((question.question_id, "gold_answer"))
        if chosen is None and is_yes_no(question):
            chosen = self._work.lexicon[question.gold_answer.strip().lower().rstrip(".")]
        if chosen is None and any(mark(d.content, question.gold_answer) for d in gold):
            chosen = self._extracted(question, language, gold, spans)
        elif chosen is None:
            chosen = self._own_answer(question, language)
        if chosen is not None:
            place = (question.question_id, "gold_answer", question.gold_answer)
            self._found.texts[place] = chosen

    def _extracted(
        self,
        question: Question,
        language: str,
        gold: Sequence[Document],
        spans: Mapping[str, str | None],
    ) -> str | None:
        """The answer as it stands in a gold document, once all of them are translated."""
        texts = [
            self._found.texts.get((document.doc_id, "content", document.content))
            for document in gold
            if self._work.foreign(document)
        ]
        translations = [text for text in texts if text is not None]
        if len(translations) < len(texts):
            return None
        span = next((s for document in gold if (s := spans.get(document.doc_id))), None)
        return (
            span or self._rendered(question, translations) or self._own_answer(question, language)
        )

    def _rendered(self, question: Question, translations: Sequence[str]) -> str | None:
        """The glossary's rendering of the answer, where it stands in a gold document.

        Not if a person sent the answer back: the glossary would give the same one again.
        """
        if self._work.again.get((question.question_id, "gold_answer")):
            return None
        renderings = dict(self._glossary.slice(question.gold_answer))
        rendering = renderings.get(question.gold_answer.strip())
        found = rendering is not None and any(rendering in text for text in translations)
        return rendering if found else None

    def _own_answer(self, question: Question, language: str) -> str | None:
        return self._ask(
            question.question_id,
            "gold_answer",
            language,
            question.gold_answer,
            question=question.question,
        )

    def _ask(
        self, record_id: str, field: Field, language: str, text: str, **context: Any
    ) -> str | None:
        glossary = self._glossary.slice(text)
        request = _request(self._work, record_id, field, language, text, glossary, **context)
        return self._found.ask(self._lookup, request)


def _marked(pieces: Sequence[str], answer: str) -> Iterator[str]:
    """The pieces with the answer marked in the first one that holds it."""
    done = not answer
    for piece in pieces:
        with_mark = None if done else mark(piece, answer)
        done = done or with_mark is not None
        yield piece if with_mark is None else with_mark
