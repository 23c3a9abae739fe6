"""Kept replies from a published set: a benchmark's raw files and its translated ones."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from operator import attrgetter
from pathlib import Path

from bears.errors import FormatError
from bears.files.records import Record, read_documents, read_questions
from bears.llm.use import KeptReply
from bears.translation.source_texts import SourceTexts
from bears.translation.translator import Translator

RecordText = tuple[str, str, str]
"""(record id, field, source text)"""


def import_published(
    folder: Path, languages: Mapping[str, str], translator: Translator
) -> list[KeptReply]:
    """Return a kept reply for every translated text of a folder with the four published files.

    If one source text has several translations, each reply is bound to its record.

    Args:
        folder: holds queries_raw.json, corpus_raw.json, queries.json and corpus.json.
        languages: source name to BCP 47 tag.
        translator: whose keys the replies get.

    Raises:
        FormatError: a file is absent or malformed, the raw and translated records differ, a source
            is unknown, or a text in the target language was changed.
    """
    questions = read_questions(folder / "queries_raw.json")
    documents = read_documents(folder / "corpus_raw.json")
    names = {q.source_dataset for q in questions} | {d.original_source for d in documents}
    if unknown := names - languages.keys():
        raise FormatError(
            f"{folder}: source {', '.join(sorted(unknown))} is not one of the benchmark's: "
            f"{', '.join(languages)}"
        )
    translations: dict[RecordText, str] = {}
    after = read_questions(folder / "queries.json")
    for raw, question in _pairs(folder, "queries", questions, after, attrgetter("question_id")):
        translations[raw.question_id, "question", raw.question] = question.question
        translations[raw.question_id, "gold_answer", raw.gold_answer] = question.gold_answer
    read = read_documents(folder / "corpus.json")
    for source, document in _pairs(folder, "corpus", documents, read, attrgetter("doc_id")):
        translations[source.doc_id, "content", source.content] = document.content
    wanted = list(SourceTexts(questions, documents, languages, translator.target).requests())
    places = [(each.record_id, each.field, each.text) for each in wanted]
    _check_texts(folder, set(places), translations)
    keys = [translator.key(each) for each in wanted]
    variants: dict[str, set[str]] = defaultdict(set)
    for key, place in zip(keys, places, strict=True):
        variants[key].add(translations[place])
    return [
        KeptReply(key, place[0] if len(variants[key]) > 1 else "", *place[1:], translations[place])
        for key, place in zip(keys, places, strict=True)
    ]


def _pairs(
    folder: Path,
    name: str,
    raw: list[Record],
    translated: list[Record],
    identifier: Callable[[Record], str],
) -> Iterator[tuple[Record, Record]]:
    """Pair raw and translated records. A set with v1's defects can contain an id twice."""
    before, after = Counter(map(identifier, raw)), Counter(map(identifier, translated))
    if different := (before - after) + (after - before):
        raise FormatError(
            f"{folder}: of {name}_raw.json and {name}.json one lacks {min(different)}"
        )
    return zip(sorted(raw, key=identifier), sorted(translated, key=identifier), strict=True)


def _check_texts(
    folder: Path, translated: Collection[RecordText], translations: Mapping[RecordText, str]
) -> None:
    for place, text in translations.items():
        if place not in translated and place[2] != text:
            raise FormatError(
                f"{folder}: {place[1]} of {place[0]} is in the target language already, "
                "but its translated file holds another text"
            )
        if place in translated and not text.strip():
            raise FormatError(f"{folder}: {place[1]} of {place[0]} has an empty translation")
