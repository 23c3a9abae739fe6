"""Translate a question, its answer and its documents as one bundle, so that they agree.

1. One request lists the bundle's names and terms with one rendering each.
2. Every text is its own request, with the slice of that glossary whose terms occur in it. In a
   gold document the answer is marked, and the marked phrase of the translation is the answer.
3. An answer that is in no gold document is translated by itself; yes and no come from the
   language's lexicon.

So the requests of step 2 follow from the replies to step 1, and a replay of these replies gives the
same requests again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bears.language.sentences import split
from bears.language.yes_no import yes_or_no
from bears.translation.glossary import Glossary, parse_terms
from bears.translation.source_texts import Doubt, Lookup, Resolution, SourceTexts
from bears.translation.spans import join, mark, read_back
from bears.translation.translator import Field, TranslationRequest
from bears.types import Document, Question


def resolve_bundles(source_texts: SourceTexts, lookup: Lookup) -> Resolution:
    """Translate every bundle as far as ``lookup`` has replies."""
    resolution = Resolution()
    owners = _owners(source_texts)
    bundles = {
        tag: _Bundle(source_texts, lookup, resolution, tag, source_texts.curated(tag))
        for tag in set(source_texts.languages.values())
    }
    documents = {document.doc_id: document for document in source_texts.documents}
    for document in source_texts.documents:
        if document.doc_id not in owners and (language := source_texts.foreign(document)):
            bundles[language].document(document)
    for question in source_texts.questions:
        if language := source_texts.foreign(question):
            owned = [documents[i] for i, owner in owners.items() if owner == question.question_id]
            gold = [documents[i] for i in question.gold_doc_ids if i in documents]
            bundles[language].resolve(question, gold, owned)
    return resolution


def _owners(source_texts: SourceTexts) -> dict[str, str]:
    """Map each doc_id to the question whose bundle translates it: the first with it as gold."""
    owners: dict[str, str] = {}
    foreign = [question for question in source_texts.questions if source_texts.foreign(question)]
    native = {
        document.doc_id for document in source_texts.documents if not source_texts.foreign(document)
    }
    for question in foreign:
        for doc_id in question.gold_doc_ids:
            owners.setdefault(doc_id, question.question_id)
    ids = {question.question_id for question in foreign}
    for document in source_texts.documents:
        for question_id in source_texts.companions.get(document.doc_id, ()):
            if question_id in ids:
                owners.setdefault(document.doc_id, question_id)
    return {doc_id: owner for doc_id, owner in owners.items() if doc_id not in native}


@dataclass(frozen=True)
class _Bundle:
    """The texts of one bundle, or of documents without a bundle."""

    source_texts: SourceTexts
    lookup: Lookup
    found: Resolution
    language: str
    glossary: Glossary

    def resolve(
        self, question: Question, gold: Sequence[Document], owned: Sequence[Document]
    ) -> None:
        """Translate the terms of a bundle, and then its texts."""
        parts = [question.question, question.gold_answer, *(each.content for each in gold)]
        text = "\n\n".join(parts)
        answer = self._ask(question.question_id, "terms", text)
        learned, problems = ([], []) if answer is None else parse_terms(answer, text)
        self.found.doubts += [
            Doubt(question.question_id, "terms", "terms", problem) for problem in problems
        ]
        texts = replace(self, glossary=Glossary([*self.glossary, *learned]))
        self.found.terms[question.question_id] = list(texts.glossary.slice(text))
        if answer is None:
            # The requests below are not the final ones: they only serve to count them.
            texts = replace(texts, lookup=lambda _: None, found=Resolution())
        texts.question(question)
        spans = {document.doc_id: texts.document(document, question) for document in owned}
        texts.answer(question, gold, spans)
        if answer is None:
            self.found.waiting += texts.found.missing

    def question(self, question: Question) -> None:
        """Translate the question."""
        place = (question.question_id, "question", question.question)
        translation = self.source_texts.corrections.get(place[:2]) or self._ask(
            question.question_id, "question", question.question
        )
        if translation is not None:
            self.found.texts[place] = translation

    def document(self, document: Document, question: Question | None = None) -> str | None:
        """Translate a document and return the translation of the answer that was marked in it.

        Args:
            document: the text.
            question: the question of its bundle.
        """
        place = (document.doc_id, "content", document.content)
        if corrected := self.source_texts.corrections.get(place[:2]):
            self.found.texts[place] = corrected
            return self._kept_span(document, question, corrected)
        answer, times = self._answer_to_mark(document, question)
        pieces = split(document.content, self.source_texts.limit)
        marked = list(_marked(pieces, answer))
        translated = [
            self._piece(document.doc_id, *pair, times) for pair in zip(pieces, marked, strict=True)
        ]
        read = [pair for pair in translated if pair is not None]
        if len(read) < len(pieces):
            return None
        self.found.texts[place] = join([text for text, _ in read], pieces, self.source_texts.spaced)
        spans = [span for _, span in read if span]
        if marked != pieces and not spans:
            message = f"the translation lost the mark around the answer {answer!r:.60}"
            self.found.doubts.append(Doubt(document.doc_id, "content", "mark_lost", message))
        return spans[0] if spans else None

    def _answer_to_mark(self, document: Document, question: Question | None) -> tuple[str, int]:
        """Return the answer to mark in a document, if any, and how often it was sent back."""
        if question is None or document.doc_id not in question.gold_doc_ids:
            return "", 0
        if yes_or_no(question.gold_answer, self.language):
            return "", 0
        # An answer is sent back together with the piece of text that contains it.
        times = self.source_texts.again.get((question.question_id, "gold_answer"), 0)
        return question.gold_answer, times

    def _kept_span(
        self, document: Document, question: Question | None, corrected: str
    ) -> str | None:
        """Return the model's answer if the text that a person corrected still contains it."""
        before = Resolution()
        texts = replace(self, source_texts=replace(self.source_texts, corrections={}), found=before)
        span = texts.document(document, question)
        if span is None or span not in corrected:
            return None
        self.found.used.update(before.used)
        return span

    def _piece(
        self, doc_id: str, piece: str, marked: str, times: int
    ) -> tuple[str, str | None] | None:
        """Return the translation of one piece, and the phrase that was marked in it."""
        if not piece.strip():
            return piece, None
        if piece == marked:
            text = self._ask(doc_id, "content", piece)
            return None if text is None else (text, None)
        text = self._ask(doc_id, "content", marked, times, marked=True)
        return None if text is None else read_back(text)

    def answer(
        self, question: Question, gold: Sequence[Document], spans: Mapping[str, str | None]
    ) -> None:
        """Take the answer from the lexicon, a gold document, the glossary, or the model."""
        place = (question.question_id, "gold_answer", question.gold_answer)
        chosen = self.source_texts.corrections.get(place[:2])
        if chosen is None and (word := yes_or_no(question.gold_answer, self.language)):
            chosen = self.source_texts.lexicon[word]
        if chosen is None:
            chosen = self._extracted(question, gold, spans)
        if chosen is not None:
            self.found.texts[place] = chosen

    def _extracted(
        self, question: Question, gold: Sequence[Document], spans: Mapping[str, str | None]
    ) -> str | None:
        """Take the answer from a gold document once all are translated, or translate it alone."""
        if any(mark(document.content, question.gold_answer) for document in gold):
            foreign = [document for document in gold if self.source_texts.foreign(document)]
            texts = [self.found.texts.get((d.doc_id, "content", d.content)) for d in foreign]
            translations = [text for text in texts if text is not None]
            if len(translations) < len(texts):
                return None
            span = next((s for document in gold if (s := spans.get(document.doc_id))), None)
            if chosen := span or self._rendered(question, translations):
                return chosen
        return self._ask(
            question.question_id, "gold_answer", question.gold_answer, question=question.question
        )

    def _rendered(self, question: Question, translations: Sequence[str]) -> str | None:
        """Return the glossary's rendering of the answer, if a gold document contains it.

        Return None if a person sent the answer back: the glossary would give the same one again.
        """
        if self.source_texts.again.get((question.question_id, "gold_answer")):
            return None
        renderings = dict(self.glossary.slice(question.gold_answer))
        rendering = renderings.get(question.gold_answer.strip())
        found = rendering is not None and any(rendering in text for text in translations)
        return rendering if found else None

    def _ask(
        self, record_id: str, field: Field, text: str, again: int = 0, **context: Any
    ) -> str | None:
        if glossary := self.glossary.slice(text):
            context["glossary"] = [list(pair) for pair in glossary]
        # Both counts only grow, so a text that was sent back never gets an earlier key again.
        if times := self.source_texts.again.get((record_id, field), 0) + again:
            context["again"] = times
        request = TranslationRequest(record_id, field, self.language, text, context)
        return self.found.ask(self.lookup, request)


def _marked(pieces: Sequence[str], answer: str) -> Iterator[str]:
    """Yield the pieces, with the answer marked in the first one that contains it."""
    done = not answer
    for piece in pieces:
        with_mark = None if done else mark(piece, answer)
        done = done or with_mark is not None
        yield piece if with_mark is None else with_mark
