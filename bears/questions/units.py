"""Choose the pool of documents, and the passages to write questions about."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from bears.errors import SamplingError
from bears.identity import question_id
from bears.questions.settings import MadeSettings
from bears.types import Document


@dataclass(frozen=True, slots=True)
class Unit:
    """The subject of one question.

    Args:
        question_id: depends on the writer and on the passage, not on the words of the question.
        passage: a document or a part of one; its gold.
    """

    question_id: str
    passage: Document


def pool_of(given: Sequence[Document], settings: MadeSettings) -> list[Document]:
    """Return the documents of a source, each text once, or a random sample of them.

    Questions of the source are ignored.

    Raises:
        SamplingError: there are no documents.
    """
    unique = {document.content: document for document in reversed(list(given))}
    documents = list(reversed(unique.values()))
    if not documents:
        raise SamplingError(f"source {settings.source} has no document to write a question about")
    if settings.max_docs is None or settings.max_docs >= len(documents):
        return documents
    places = Random(settings.seed).sample(range(len(documents)), settings.max_docs)
    return [documents[place] for place in sorted(places)]


def units_of(passages: Sequence[Document], settings: MadeSettings, questioner: str) -> list[Unit]:
    """Select passages; asking for more of them keeps the earlier ones.

    Args:
        questioner: its name, which enters the ids of questions.
    """
    least, most = settings.passage_bytes
    fit = [each for each in passages if least <= len(each.content.encode()) <= most]
    Random(settings.seed).shuffle(fit)
    if len(fit) < settings.passages:
        raise SamplingError(
            f"sample.passages is {settings.passages}, but of {len(passages)} passages {len(fit)} "
            f"have {least} to {most} bytes; ask for fewer, or change sample.passage_bytes"
        )
    return [
        Unit(question_id(each.original_source, f"{questioner}:{each.doc_id}"), each)
        for each in fit[: settings.passages]
    ]
