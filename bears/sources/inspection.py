"""Guess the description of a set: its shape, its fields, its language and licence."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from bears.config.shape import Source
from bears.errors import BearsError, MalformedRow, SourceError
from bears.files.intake.hub import card_of
from bears.files.intake.yaml_text import table_of
from bears.language.declared import disagreeing, identified
from bears.language.scripts import letters
from bears.language.tags import SCRIPTS, primary
from bears.language.text import unspaced
from bears.sources.convert import located
from bears.sources.folder.read import LEFT_OUT
from bears.sources.parts import numbered_records
from bears.sources.rows import Row
from bears.sources.source import SHAPES, checked, layout_of, reader_of
from bears.types import Document, SourceQuestion

LOOKED_AT = 200
"""The number of rows of a table that are read; of judgements and questions all."""
GUESSES = {word: tuple(stems) for word, stems in table_of(__file__).items()}
"""Parts of the names of fields, for sets that use none of the published names."""
LIKELY = ("zh-Hant-TW", "zh-Hans-CN", "ja", "ko", "th", "ru", "ar", "hi", "en")
"""Languages in the order of preference when the texts' characters fit several."""


@dataclass(frozen=True)
class Look:
    """The description of a set, and what it gives.

    Args:
        source: the description; its language and licence are guesses.
        documents, questions: how many of each the rows that were read give, with gold.
        without_gold: how many more questions they give, whose gold is not known.
        unanswerable: how many more, which have no answer.
        gold_documents: how many documents are gold of these questions, whether read or not.
        cut: whether there may be rows that were not read.
        question, answer, gold: of the first question that has gold; what is unknown is empty.
        left_out: files of a folder that are not read, and why.
        fields: see `bears.sources.parts.ReadingReport`.
    """

    source: Source
    documents: int
    questions: int
    without_gold: int
    unanswerable: int
    gold_documents: int
    cut: bool
    question: str
    answer: str
    gold: str
    left_out: Mapping[str, str]
    fields: Sequence[tuple[str, str, str, str]] = ()


def inspect(
    given: Source, guess: Iterable[str], fixed: Collection[str], root: Path, record: Path
) -> Look:
    """Read the first rows of a source and describe it.

    Args:
        given: where it is, and what is known of it.
        guess: the shapes to try; the first that fits all rows is taken.
        fixed: those of ``language`` and ``licence`` that are given.
        root, record: see `bears.sources.convert.convert`.

    Raises:
        SourceError: no shape fits, and the message says why for each.
        BearsError: it cannot be read at all.
    """
    place = given.path or given.hub
    problems: dict[str, str] = {}
    for shape in guess:
        split = given.split or ("test" if shape == "beir" else "")
        tried = checked(replace(given, shape=shape, split=split))
        try:
            fields = _fields(tried, root, record)
            guessed = fields is not given.fields
            if look := _look(replace(tried, fields=fields), fixed, root, record, guessed):
                return look
        except MalformedRow as error:
            # The rows before have this shape, so that no other one is tried.
            if error.row > 1:
                raise SourceError(
                    f"{error.what}. To leave out such rows, add on_bad_row=skip; with `bears new`: "
                    "--set on_bad_row=skip"
                ) from None
            problems[shape] = error.what
        except BearsError as error:
            problems[shape] = str(error).rstrip(".")
        problems.setdefault(shape, f"{place}: no row has a question with gold")
    # A problem of all shapes is not a matter of the shape.
    if len(each := {*problems.values()}) == 1:
        raise SourceError(*each)
    if choice := next((each for each in problems.values() if "Choose: " in each), ""):
        raise SourceError(choice)
    reasons = "; ".join(f"{shape}: {problem}" for shape, problem in problems.items())
    columns = () if layout_of(given) else _first_row(given, root, record)
    raise SourceError(
        f"{place}: no shape fits. Say what its fields are called, such as shape=pairs "
        "'fields={question: frage, positive: text, answers: antwort}'; with `bears new`, each "
        f"after --set. Its fields are: {', '.join(columns) or 'unknown'}. {reasons}"
    )


def _wordless(text: str) -> bool:
    """Return whether a text is an id, a number or a constant."""
    return not letters(text) or bool(re.fullmatch(r"\S*[\d_]\S*", text) and not unspaced(text))


def _doubt(
    fields: Mapping[str, str], rows: int, questions: Sequence[str], gold: Sequence[str]
) -> str:
    """Return why guessed fields are the wrong ones; empty: nothing speaks against them."""
    problem = ""
    if "question" in fields and len({*questions}) * 2 < rows:
        problem = f"{len({*questions})} questions in {rows} rows"
    elif "question" in fields and sum(map(_wordless, questions)) * 2 > len(questions):
        problem = f"questions such as {questions[0]!r:.80}"
    elif median(map(len, gold)) < median(map(len, questions)):
        problem = f"documents that are shorter than their questions, such as {gold[0]!r:.80}"
    names = ", ".join(f"{word}: {name}" for word, name in fields.items())
    return problem and f"{{{names}}} would give {problem}"


def _first_row(given: Source, root: Path, record: Path) -> Row:
    """Return the first row, or an empty one without any row, or if it is not an object."""
    _, parts = located(replace(given, limit=1), None, root, record)
    _, _, row = next(parts.rows(), ("", 0, {}))
    return row if isinstance(row, dict) else {}


def _fields(given: Source, root: Path, record: Path) -> dict[str, str] | None:
    """Return the given fields; without any, the likely names of those that the first row lacks."""
    if given.fields or given.shape not in ("squad", "pairs"):
        return given.fields
    # Other fields of pairs are optional, and much has "id" in its name.
    wanted = ("question", "positive", "answers") if given.shape == "pairs" else tuple(GUESSES)
    words = {word: names for word, names in SHAPES[given.shape].words.items() if word in wanted}
    row = _first_row(given, root, record)
    found: dict[str, str] = {}
    for word, names in words.items():
        if not row.keys() & {word, *names, "paragraphs", "qas"}:
            like = (name for stem in GUESSES[word] for name in row if stem in name.lower())
            like = (name for name in like if word == "id" or not isinstance(row[name], int | float))
            if name := next((name for name in like if name not in found.values()), ""):
                found[word] = name
    return found or given.fields


def _look(
    given: Source, fixed: Collection[str], root: Path, record: Path, guessed: bool
) -> Look | None:
    layout = SHAPES[given.shape].layout
    limit = None if layout else given.limit or LOOKED_AT
    source, parts = located(replace(given, limit=limit), None, root, record, ("corpus",))
    parts.limits["corpus"] = LOOKED_AT
    found = [*numbered_records(reader_of(source)(parts))]
    pool = [each for each in found if isinstance(each, Document)]
    every = [each for each in found if isinstance(each, SourceQuestion)]
    asked = [each for each in every if _gold(each, pool)]
    # A folder of documents may have no questions yet.
    usable = asked or (pool and source.shape == "own")
    if not usable or (source.shape == "multi-hop" and not _hops(asked)):
        return None
    if guessed:
        gold_texts = [text for each in asked for text in _gold(each, pool)]
        texts_asked = [each.question.question for each in asked]
        rows = sum(parts.counts.values())
        if doubt := _doubt(given.fields or {}, rows, texts_asked, gold_texts):
            raise SourceError(doubt)
    named = source.fields or {}
    if unmet := set(named) - parts.met:
        raise SourceError(f"no row has a field called {', '.join(named[word] for word in unmet)}")
    texts = [document.content for document in pool]
    card = card_of(source.hub, source.revision) if source.hub else {}
    described = replace(
        source,
        # What was found on the hub is found again.
        parts=given.parts,
        language=given.language if "language" in fixed else _language(source, card, texts),
        licence=given.licence if "licence" in fixed else _spdx(card.get("license")),
        limit=given.limit,
    )
    # Where questions bring their paragraphs, a document is its text.
    documents = len(set(texts)) if any(each.passages for each in asked) else len(pool)
    gold = {name for each in asked for name in _gold(each, pool)}
    by_id = {document.doc_id: document.content for document in pool}
    shown = ("", "", "")
    if asked:
        first, name = asked[0], _gold(asked[0], pool)[0]
        text = name if first.passages else by_id.get(name, f"(document {name})")
        shown = (first.question.question, first.question.gold_answer, text)
    left_out = {
        name: what.removeprefix(LEFT_OUT)
        for name, what, _ in parts.report.remarks
        if what.startswith(LEFT_OUT)
    }
    rest = [each for each in every if not _gold(each, pool)]
    unanswerable = sum(each.question.judged for each in rest)
    counts = (documents, len(asked), len(rest) - unanswerable, unanswerable, len(gold))
    return Look(described, *counts, parts.cut, *shown, left_out, parts.report.fields)


def _gold(question: SourceQuestion, pool: Sequence[Document]) -> list[str]:
    """Return the texts that are gold of a question, or the ids if it names documents."""
    texts = [pool[passage.place].content for passage in question.passages if passage.is_gold]
    return texts or [*question.question.gold_doc_ids]


def _hops(questions: Collection[SourceQuestion]) -> bool:
    """Return whether most of the questions have several gold paragraphs."""
    several = [sum(p.is_gold for p in each.passages) > 1 for each in questions]
    return sum(several) * 2 > len(several)


def _language(source: Source, card: Mapping[str, Any], texts: list[str]) -> str:
    named = card.get("language") or []
    tags = [named] if isinstance(named, str) else named
    tags = [source.config.rpartition(".")[2], *(tags if len(tags) == 1 else [])]
    known = [tag for tag in tags if isinstance(tag, str) and primary(tag) in SCRIPTS]
    found = known[0] if known else identified(" ".join(texts[:20])[:5000])
    if found not in ("", "zh"):
        return found
    return min(LIKELY, key=lambda tag: disagreeing(texts[:LOOKED_AT], tag)[1])


def _spdx(licence: object) -> str:
    """Return the SPDX identifier of a licence that the hub names."""
    if not isinstance(licence, str) or licence in ("unknown", "other"):
        return "NOASSERTION"
    if licence.startswith(("cc-", "cc0")):
        return licence.upper()
    return {"apache-2.0": "Apache-2.0", "mit": "MIT"}.get(licence, licence)
