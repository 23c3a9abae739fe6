"""The sampler `Recipe`: v1's questions and documents without v1's defects.

It takes the questions that v1 takes. Every text becomes one document with one id. A question's gold
is complete, even if it shares a paragraph with an earlier question. The paragraphs of a skipped
question are left out. A random negative is named by its paragraph. Documents keep v1's order, and
random negatives at the end fill the pool.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bears.errors import SamplingError
from bears.identity import unused_name
from bears.sampling.mixture import Mixture
from bears.sampling.v1 import Draft, V1Sample, document, question
from bears.types import Document, Paragraph, Question


def bears_pool(drafts: Sequence[Draft], v1: V1Sample, mixture: Mixture) -> dict[str, Document]:
    """Return the documents of these questions and random negatives, by their texts, in order.

    Raises:
        SamplingError: the questions bring more documents than the pool may hold, or there are
            too few random negatives to fill it.
    """
    documents = question_documents(drafts, v1)
    if len(documents) > mixture.documents:
        raise SamplingError(
            f"sample.documents is {mixture.documents}, but the questions alone bring "
            f"{len(documents)} documents; ask for at least that many, or for fewer questions"
        )
    wanted = mixture.documents - len(documents)
    unused: dict[str, Document] = {}
    for negative in v1.negatives:
        unused.setdefault(negative.content, negative)
    negatives = [negative for text, negative in unused.items() if text not in documents]
    if len(negatives) < wanted:
        raise SamplingError(
            f"sample.documents is {mixture.documents}, but the questions' {len(documents)} and the "
            f"{len(negatives)} unused paragraphs of {', '.join(mixture.negatives)} are fewer; ask "
            "for fewer documents, or name more sources under sample.negatives"
        )
    documents |= {negative.content: negative for negative in negatives[:wanted]}
    return {text: documents[text] for text in _in_order(documents, v1)}


def question_documents(drafts: Sequence[Draft], v1: V1Sample) -> dict[str, Document]:
    """Return one document for each text that the drafts use.

    It is named after its first user, also if that one was replaced.
    """
    documents: dict[str, Document] = {}
    names: dict[str, set[str]] = {}
    used = passage_texts(drafts)
    gold = {passage.text for draft in drafts for passage in draft.gold}
    for draft in (*(visit.draft for visit in v1.taken), *drafts):
        for passage in draft.passages:
            if passage.text not in documents:
                name = unused_name(passage.key, names.setdefault(draft.source, set()))
                named = Paragraph(name, passage.text, passage.text in gold)
                documents[passage.text] = document(draft.source, named)
    return {text: own for text, own in documents.items() if text in used}


def questions_of(drafts: Iterable[Draft], documents: dict[str, Document]) -> Iterator[Question]:
    """Yield the questions, each with all its gold."""
    for draft in drafts:
        grades = {
            documents[passage.text].doc_id: draft.grades.get(passage.key, 1)
            for passage in draft.gold
        }
        graded = tuple(grades.values()) if set(grades.values()) - {1} else ()
        yield replace(question(draft, grades), gold_grades=graded)


def _in_order(documents: dict[str, Document], v1: V1Sample) -> list[str]:
    """Return the texts in v1's order; one that v1 has twice has the place of its own id."""
    by_id: dict[str, int] = {}
    by_text: dict[str, int] = {}
    for position, placed in enumerate(v1.pool):
        by_id.setdefault(placed.doc_id, position)
        by_text.setdefault(placed.content, position)
    places = {
        text: by_id.get(own.doc_id, by_text.get(text, len(v1.pool)))
        for text, own in documents.items()
    }
    return sorted(documents, key=places.__getitem__)


def passage_texts(drafts: Iterable[Draft]) -> set[str]:
    """Return every text that the drafts use."""
    return {passage.text for draft in drafts for passage in draft.passages}
