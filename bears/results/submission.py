"""Read a submission of any known form, trusting nothing in it, and write two of these forms."""

from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.intake.files import decoded, json_value, lines, numbered_lines, read_whole
from bears.files.records import adapter_of, reason_of
from bears.files.trec import read_table
from bears.types import Hit, Question, Ranking, in_order

T = TypeVar("T")
TOP = 3
"""Documents that the Korean task scores."""
SOURCES = 5
"""The most sources of a question in PandaChat's published files."""
SCENARIO = "aqa-sl"
"""PandaChat's name for the 206 Slovenian questions."""


def _id_of(value: Any) -> Any:
    if isinstance(value, str) and not value.strip():
        raise ValueError("an empty id")
    # The Korean task numbers its questions; True would be the number 1.
    return str(value) if type(value) is int else value


Label = Annotated[str, Field(max_length=500)]
Id = Annotated[Label, BeforeValidator(_id_of)]
Ids = Annotated[list[Id], Field(max_length=10_000)]
Scores = dict[Id, dict[Id, Annotated[float, Field(allow_inf_nan=False, strict=True)]]]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True), AfterValidator(abs)]


class PandaChatRow(TypedDict):
    """A record of a PandaChat file, which names its question by the text."""

    query: str
    sources: Ids


class PandaChatFile(TypedDict):
    """The content of a PandaChat file."""

    df: list[PandaChatRow]
    system: NotRequired[Label | None]
    time_per_question: NotRequired[Seconds | None]


class ScienceKoRow(TypedDict):
    """A line of the Korean task's submission file."""

    eval_id: Id
    topk: Ids


class BearsRow(TypedDict):
    """A record of our own form."""

    question_id: Id
    doc_ids: Ids


class BearsFile(TypedDict):
    """The content of a file of our own form."""

    results: list[BearsRow]
    system: NotRequired[Label | None]
    seconds_per_question: NotRequired[Seconds | None]


@dataclass(frozen=True, slots=True)
class SubmittedRanking:
    """The list of one question.

    Args:
        question: the question's id, or (PandaChat) its text.
        doc_ids: as submitted, best first; may repeat a document.
        scores: of the documents, which show what is tied; empty if the file has none.
    """

    question: str
    doc_ids: tuple[str, ...]
    scores: tuple[float, ...] = ()

    @property
    def ranking(self) -> Ranking:
        """Return the ranking; only the first place of a document counts."""
        if self.scores:
            return tuple(map(Hit, self.doc_ids, self.scores))
        return in_order(self.doc_ids)


@dataclass(frozen=True, slots=True)
class Submission:
    """A file of results.

    Args:
        form: ``pandachat``, ``science-ko``, ``bears`` or ``trec``.
        system: the system's name in the file; may be empty.
        rows: one for each line or record, in the file's order; may repeat a question.
        seconds_per_question: as stated by the file; None if it states none.
        remarks: reasons to doubt the file.
    """

    form: str
    system: str
    rows: tuple[SubmittedRanking, ...]
    seconds_per_question: float | None = None
    remarks: tuple[str, ...] = ()


def read_submission(path: Path) -> Submission:
    """Read a submission and detect its form from the content.

    Args:
        path: a regular file.

    Raises:
        FormatError: the file is absent, too large or of no known form, or has a malformed record,
            which the message names.
    """
    try:
        return _reader_of(path)(path)
    except FormatError as error:
        if str(error).startswith(str(path)):
            raise
        raise FormatError(f"{path}: {error}") from None


def _reader_of(path: Path) -> Callable[[Path], Submission]:
    """Return the reader of the form that the content has."""
    content = read_whole(path).removeprefix(BOM_UTF8).lstrip()
    if content[:1] == b"[":
        return _bears
    if content[:1] != b"{":
        return _trec
    # Within a text of JSON a quotation mark has a backslash before it, so these are whole words.
    if b'"topk"' in content.partition(b"\n")[0]:
        return _science_ko
    return _pandachat if b'"df"' in content else _bears


def _pandachat(path: Path) -> Submission:
    file = _validated(PandaChatFile, json_value(path, nan="float"))
    rows = (SubmittedRanking(row["query"], tuple(row["sources"])) for row in file["df"])
    system, seconds = file.get("system"), file.get("time_per_question")
    return Submission("pandachat", system or "", tuple(rows), seconds)


def _science_ko(path: Path) -> Submission:
    rows = [
        _validated(ScienceKoRow, row, f"line {number}")
        for number, row in lines(path, nan="float", blank=True)
    ]
    rankings = (SubmittedRanking(row["eval_id"], tuple(row["topk"])) for row in rows)
    return Submission("science-ko", "", tuple(rankings))


def _bears(path: Path) -> Submission:
    """Read ``{"system": …, "results": [{"question_id": …, "doc_ids": […]}]}``.

    The list alone is read as well, and so are an object from question_id to doc_ids, and one from
    question_id to the score of each document, as ranx and MTEB write it.
    """
    whole = json_value(path, nan="float")
    described = isinstance(whole, dict) and "results" in whole
    if scored := _scores(whole["results"] if described else whole):
        found = _validated(Scores, scored)
        return Submission("bears", "", tuple(_ranked(name, own) for name, own in found.items()))
    value = whole if described else {"results": whole}
    where = ""
    if isinstance(results := value["results"], dict):
        where = "" if described else "no `results`, so every name is a question"
        rows = [{"question_id": question, "doc_ids": ids} for question, ids in results.items()]
        value = {**value, "results": rows}
    file = _validated(BearsFile, value, where)
    rankings = (
        SubmittedRanking(row["question_id"], tuple(row["doc_ids"])) for row in file["results"]
    )
    system, seconds = file.get("system"), file.get("seconds_per_question")
    return Submission("bears", system or "", tuple(rankings), seconds)


def _scores(whole: Any) -> Any:
    """Return the object from question_id to scores, which MTEB has by subset and split."""
    if not isinstance(whole, dict):
        return None
    found = {name: part for name, part in whole.items() if name != "mteb_model_meta"}
    if not found or not all(isinstance(part, dict) for part in found.values()):
        return None
    first, *others = found.values()
    return found if others else _scores(first) or found


def _ranked(question: str, scores: Mapping[str, float]) -> SubmittedRanking:
    """Return the documents by descending score."""
    ranked = sorted(scores, key=lambda doc_id: (scores[doc_id], doc_id), reverse=True)
    return SubmittedRanking(question, tuple(ranked), scores=tuple(map(scores.__getitem__, ranked)))


def _trec(path: Path) -> Submission:
    run = read_table(path, None)
    first = next((line for _, line in numbered_lines(path)), b"")
    words = decoded(first, f"{path}, line 1").split()
    rows = [
        SubmittedRanking(question_id, doc_ids, scores=scores)
        for question_id, ranking in run.rankings().items()
        for doc_ids, scores in [zip(*ranking, strict=True)]
    ]
    tag = words[5] if len(words) == 6 else ""
    return Submission("trec", tag, tuple(rows), remarks=run.remarks)


def _validated(shape: type[T], value: Any, where: str = "") -> T:
    """Return the value if it has the shape. Raises FormatError that names the first problem."""
    adapter: TypeAdapter[T] = adapter_of(shape)
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        # Records are counted from 1.
        place = [str(part + 1) if isinstance(part, int) else part for part in problem["loc"]]
        told = f"{'.'.join(place)}: {reason_of(problem)}, found {problem['input']!r:.80}"
        raise FormatError(": ".join(filter(None, (where, told)))) from None


def science_ko_row(
    question: Question, query: str, ranking: Ranking, texts: Mapping[str, str], answer: str
) -> dict[str, Any]:
    """Return one line: eval_id, standalone_query, topk, answer, references.

    Args:
        question: its id is the task's eval_id, written as a number if it is one.
        query: the text that was given to the retriever.
        ranking: best first; empty if nothing needs to be retrieved.
        texts: doc_id to content, for the references.
        answer: empty without a generator.
    """
    best = ranking[:TOP]
    eval_id = question.question_id
    return {
        "eval_id": int(eval_id) if eval_id.isascii() and eval_id.isdigit() else eval_id,
        "standalone_query": query,
        "topk": [hit.doc_id for hit in best],
        "answer": answer,
        "references": [{"score": hit.score, "content": texts.get(hit.doc_id, "")} for hit in best],
    }


def pandachat_row(
    question: Question, sources: Sequence[str], texts: Mapping[str, str]
) -> dict[str, Any]:
    """Return one record: the question's own fields, and the sources.

    Args:
        question: names its page by its gold.
        sources: the document of each retrieved chunk, best first; one may be there repeatedly.
        texts: doc_id to content.
    """
    page = next(iter(question.gold_doc_ids), "")
    return {
        "query": question.question,
        "answer": question.gold_answer,
        "document": page,
        "text_without_Q": texts.get(page, ""),
        "sources": [*sources[:SOURCES]],
    }
