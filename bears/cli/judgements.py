"""``bears judgements``: people's decisions on documents, out as a table and back in."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from bears.answers.judging.calibration import same_and_kappa
from bears.cli.selection import composed, files_of, records_of, selected
from bears.config import Config
from bears.config.ledger.entries import LedgerPart, PairDecision
from bears.config.ledger.table import Row, read_judgements
from bears.config.ledger.update import add
from bears.config.typed import select
from bears.errors import FormatError, LedgerError
from bears.evaluation.comparison.pool import pooled
from bears.files.manifest import check
from bears.files.records import read_documents, read_lines, read_questions, stream_documents
from bears.files.shown import one_line
from bears.files.spreadsheet import write_csv
from bears.files.trec import read_table
from bears.layout import ledger_of
from bears.results.origins import ran_on
from bears.results.records import Records
from bears.retrieval.chunking import parts_of
from bears.retrieval.chunking.judged import ChunksOfDocuments
from bears.translation.review import COLUMNS as REVIEW_COLUMNS
from bears.types import Document, Run, document_of

COLUMNS = (
    *("record_id", "doc_id", "question", "answer", "document"),
    *("decision", "reason", "author"),
)
"""The person fills in the last three: relevant, partial or not; why; and who decided."""
DECISIONS: tuple[Literal["relevant", "partial", "not"], ...] = ("relevant", "partial", "not")
LONGEST = 2000
"""Characters of a document that a person is shown."""


def pool(
    file: Path,
    *,
    depth: int = 10,
    systems: str = "",
    without_gold: bool = False,
    benchmark: str = "",
) -> None:
    """Write a table of retrieved documents, or passages of them, that have no judgement yet.

    A person writes a decision into each row: relevant, partial or not. The rows are the first
    chunks of every system's ranking. They show neither systems nor ranks.

    Args:
        file: a CSV file
        depth: chunks of each ranking; default: 10
        systems: retrievers, experiments, commits or run files, separated by commas; default: all
            that ran here
        without_gold: only questions without any relevant document
    """
    if depth < 1:
        raise FormatError(f"--depth is {depth}; expected at least 1")
    config = composed(benchmark)
    records = records_of(selected(config).benchmark.name)
    questions = {q.question_id: q for q in records.questions}
    documents = {d.doc_id: d for d in stream_documents(records.corpus)}
    words = [word.strip() for word in systems.split(",") if word.strip()]
    runs = _runs(words, records, documents)
    names = {hit.doc_id for run in runs.values() for ranking in run.values() for hit in ranking}
    parts = parts_of(documents.values(), names)
    cut = ChunksOfDocuments(documents.values(), parts.values())
    judged = {q.question_id: {*q.gold_doc_ids} for q in cut.questions(records.questions)}
    for decision in cut.decisions(_judgements(config)):
        if decision.question_id in judged:
            judged[decision.question_id].add(decision.doc_id)
    if without_gold:
        judged = {i: ids for i, ids in judged.items() if not questions[i].gold_doc_ids}
    chosen = pooled(runs.values(), depth, judged)
    rows = [
        (
            i,
            doc_id,
            questions[i].question,
            questions[i].gold_answer,
            _excerpt(parts[doc_id], documents),
        )
        for i, doc_ids in chosen.items()
        for doc_id in doc_ids
    ]
    write_csv(file, COLUMNS, ((*row, "", "", "") for row in rows))
    print(
        f"{file}: {len(rows)} documents to judge for {sum(map(bool, chosen.values()))} "
        f"questions, the first {depth} of {', '.join(map(one_line, runs))}; "
        f"{sum(map(len, judged.values()))} judged before"
    )


def import_decisions(
    file: Path, *, author: str = "", replace_: bool = False, benchmark: str = ""
) -> None:
    """Add the decisions in a table to the ledger.

    They go to conf/ledger/BENCHMARK.yaml. If pairs of question and document were judged before, the
    agreement of both judgements is printed; different decisions are refused.

    Args:
        file: a table that `pool` wrote, with decisions in it
        author: who decided, for rows without an author
        replace_: overwrite earlier decisions
    """
    config = composed(benchmark)
    name = selected(config).benchmark.name
    records_of(name)
    decisions = [
        replace(decision, author=decision.author or author) for decision in _decisions(config, file)
    ]
    if not decisions:
        raise LedgerError(
            f"{file}: no row has a decision and a doc_id; write {', '.join(DECISIONS)} under "
            "`decision`"
        )
    earlier = {one.place: one for one in _judgements(config)}
    again = [(earlier[new.place], new) for new in decisions if new.place in earlier]
    changed = [(old, new) for old, new in again if old.decision != new.decision]
    if again:
        print(_agreement(again))
    if changed and not replace_:
        old, new = changed[0]
        raise LedgerError(
            f"{file}: {len(changed)} pairs have another judgement already, such as {old.doc_id} "
            f"for {old.question_id}, which was {old.decision} and is {new.decision}. Nothing was "
            "imported; --replace overwrites the earlier ones"
        )
    taken = [one for one in decisions if one.place not in earlier] + [new for _, new in changed]
    path = ledger_of(name)
    add(path, "judgements", _entries(taken), ("question_id", "doc_id", "quotation"))
    counts = Counter(one.decision for one in taken)
    summary = ", ".join(f"{counts[name]} {name}" for name in DECISIONS)
    print(f"{path}: {len(taken)} judgements ({summary}); `dvc repro` measures with them")


COMMAND = {"pool": pool, "import": import_decisions}


def _runs(words: Sequence[str], records: Records, documents: Collection[str]) -> dict[str, Run]:
    """Return the name and the rankings of each run that the words name, or of all.

    Raises:
        FormatError: a word names nothing, a file is of another benchmark, or nothing ran.
    """
    name = records.settings.benchmark.name
    here = ran_on(records, all_commits=True)
    if not words and not here:
        raise FormatError(f"nothing ran on {name} as it is now; run `dvc repro`")
    runs = {} if words else {each.name: each.passages for each in here}
    for word in words:
        if (path := Path(word)).is_file():
            table = read_table(path, {q.question_id for q in records.questions})
            known = (i for i in table.doc_ids if not {i, document_of(i)}.isdisjoint(documents))
            if unknown := next(iter({*table.doc_ids}.difference(known)), ""):
                raise FormatError(
                    f"{path}: its document {unknown!r:.80} is not in the benchmark as it is now"
                )
            runs[word] = table.rankings()
            continue
        named = {each.name: each.passages for each in here if word in (each.what, each.retriever)}
        if not named:
            raise FormatError(
                f"{word!r:.80}: no such file, and no such run of {name}; there is "
                f"{', '.join(one_line(each.name) for each in here) or 'nothing'}. Run a retriever "
                "with: dvc exp run -S retriever=NAME"
            )
        runs |= named
    return runs


def _judgements(config: Config) -> Sequence[PairDecision]:
    return select(LedgerPart, config).ledger.judgements


def _excerpt(part: Document, whole: Collection[str]) -> str:
    """Return a passage, or the beginning of a whole document."""
    text, long = part.content, len(part.content) > LONGEST
    return f"{text[: LONGEST - 1]}…" if long and part.doc_id in whole else text


def _agreement(pairs: Sequence[tuple[PairDecision, PairDecision]]) -> str:
    """Describe how far two judgements of the same pairs agree."""
    same, kappa = same_and_kappa([(old.decision, new.decision) for old, new in pairs])
    return f"{len(pairs)} pairs were judged before: {same} of them the same{kappa}"


def candidate_rows(config: Config) -> list[Row]:
    """Return a row for each undecided candidate of `audit`, the most certain first.

    There is no row before the stage ran.
    """
    files = files_of(config)
    path = files.audited / "candidates.jsonl"
    if not path.is_file():
        return []
    check(path.parent)
    rows = [row for _, row in read_lines(path)]
    documents = read_documents(files.corpus)
    parts = parts_of(documents, {row["doc_id"] for row in rows})
    cut = ChunksOfDocuments(documents, parts.values())
    decided = {one.place[:2] for one in cut.decisions(_judgements(config))}
    rows = [row for row in rows if (row["question_id"], row["doc_id"]) not in decided]
    # A duplicate of gold has no such signal, and is certain.
    rows.sort(key=lambda row: -float(row["signals"].get("stands_in", 1)))
    questions = {q.question_id: q for q in read_questions(files.queries)}
    return [
        dict.fromkeys(REVIEW_COLUMNS, "")
        | {
            "record_id": row["question_id"],
            "field": "gold_doc_ids",
            "doc_id": row["doc_id"],
            "flags": ", ".join(f"{name} {value}" for name, value in row["signals"].items()),
            "source": f"{question.question}\n{question.gold_answer}",
            "translation": parts[row["doc_id"]].content,
        }
        for row in rows
        for question in [questions[row["question_id"]]]
    ]


def decisions_in(config: Config, table: Path) -> list[dict[str, Any]]:
    """Return the decisions on documents in a table, as entries of the ledger."""
    return _entries(_decisions(config, table))


def _decisions(config: Config, table: Path) -> list[PairDecision]:
    """Return the decisions on documents in a table. Raises as `read_judgements`."""
    files, questions, documents = files_of(config), set(), set()
    # A benchmark that is only sampled has no pairs to decide on yet.
    if files.corpus.is_file():
        questions = {q.question_id for q in read_questions(files.queries)}
        documents = {d.doc_id for d in stream_documents(files.corpus)}
    return read_judgements(table, questions, documents)


def _entries(judgements: Iterable[PairDecision]) -> list[dict[str, Any]]:
    return [{name: value for name, value in asdict(one).items() if value} for one in judgements]
