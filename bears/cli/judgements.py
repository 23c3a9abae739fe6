"""``python -m bears judgements``: people's decisions on documents, out as a table and back in."""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from bears.answers.judging.calibration import kappa_of
from bears.cli.pooled_runs import pooled_runs
from bears.cli.selection import CONF, composed, results_of
from bears.config import Config
from bears.config.ledger.entries import PairDecision, judgements_of
from bears.config.ledger.table import Row, read_judgements
from bears.config.ledger.update import add
from bears.errors import FormatError, LedgerError
from bears.evaluation.comparison.pool import pooled
from bears.files.manifest import check
from bears.files.records import read_lines, read_questions, stream_documents
from bears.files.shown import one_line
from bears.files.spreadsheet import write_csv
from bears.translation.review import COLUMNS as REVIEW_COLUMNS
from bears.types import Question

COLUMNS = (
    *("record_id", "doc_id", "question", "answer", "document"),
    *("decision", "reason", "author"),
)
"""The last three are for the person: relevant, partial or not, why, and who."""
DECISIONS: tuple[Literal["relevant", "partial", "not"], ...] = ("relevant", "partial", "not")
LONGEST = 2000
"""Characters of a document that a person is shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of ``judgements``."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    pooling = commands.add_parser(
        "pool",
        help="a table of what systems found and nobody has judged",
        description="Write the first documents of every system's ranking that nobody has judged to "
        "FILE (CSV), for a person to write a decision into each row: relevant, partial or not. "
        "Rows tell neither systems nor ranks.",
    )
    pooling.add_argument("file", metavar="FILE", type=Path)
    pooling.add_argument("--depth", type=int, default=10, help="of each ranking; default: 10")
    pooling.add_argument(
        "--systems",
        default="",
        metavar="A,B,…",
        help="retrievers, experiments, commits or run files; default: all that ran here",
    )
    pooling.add_argument(
        "--without-gold", action="store_true", help="only questions without any relevant document"
    )
    pooling.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    pooling.set_defaults(run=_pool)
    importing = commands.add_parser(
        "import",
        help="take the decisions of such a table into the ledger",
        description="Add the decisions in FILE to conf/ledger/BENCHMARK.yaml. Where a pair of "
        "question and document is judged already, how far both judgements agree is printed; other "
        "ones than before are refused.",
    )
    importing.add_argument("file", metavar="FILE", type=Path)
    importing.add_argument("--author", default="", help="who decided, where the table does not say")
    importing.add_argument(
        "--replace", action="store_true", help="take them instead of earlier ones"
    )
    importing.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    importing.set_defaults(run=_import)


def _pool(arguments: argparse.Namespace) -> None:
    if arguments.depth < 1:
        raise FormatError(f"--depth is {arguments.depth}; expected at least 1")
    config = composed(arguments.benchmark, [])
    benchmark = config["benchmark"]["name"]
    folder, _ = results_of(benchmark, None)
    questions = {q.question_id: q for q in read_questions(folder / "queries.json")}
    texts = {d.doc_id: d.content for d in stream_documents(folder / "corpus.json")}
    judged = _judged(config, questions.values())
    asked = {
        i: judged[i]
        for i, question in questions.items()
        if not (arguments.without_gold and question.gold_doc_ids)
    }
    words = [word.strip() for word in arguments.systems.split(",") if word.strip()]
    runs = pooled_runs(words, benchmark, questions, texts)
    pool = pooled(runs.values(), arguments.depth, asked)
    rows = [
        (i, doc_id, questions[i].question, questions[i].gold_answer, _begin(texts[doc_id]))
        for i, doc_ids in pool.items()
        for doc_id in doc_ids
    ]
    write_csv(arguments.file, COLUMNS, ((*row, "", "", "") for row in rows))
    known = sum(map(len, asked.values()))
    print(
        f"{arguments.file}: {len(rows)} documents to judge for {sum(map(bool, pool.values()))} "
        f"questions, the first {arguments.depth} of {', '.join(map(one_line, runs))}; "
        f"{known} judged before"
    )


def _judged(config: Config, questions: Iterable[Question]) -> dict[str, set[str]]:
    """Return question_id to the documents that the benchmark or the ledger judges."""
    found = {question.question_id: set(question.gold_doc_ids) for question in questions}
    for one in judgements_of(config["ledger"]["judgements"]):
        if one.question_id in found:
            found[one.question_id].add(one.doc_id)
    return found


def _begin(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _import(arguments: argparse.Namespace) -> None:
    config = composed(arguments.benchmark, [])
    results_of(config["benchmark"]["name"], None)
    found = [
        replace(one, author=one.author or arguments.author)
        for one in _decided(config, arguments.file)
    ]
    if not found:
        raise LedgerError(
            f"{arguments.file}: no row has a decision and a doc_id; write {', '.join(DECISIONS)} "
            "under `decision`"
        )
    earlier = {one.place: one for one in judgements_of(config["ledger"]["judgements"])}
    again = [(earlier[one.place], one) for one in found if one.place in earlier]
    others = [(old, new) for old, new in again if old.decision != new.decision]
    if again:
        print(_agreement(again))
    if others and not arguments.replace:
        old, new = others[0]
        raise LedgerError(
            f"{arguments.file}: {len(others)} pairs are judged otherwise already, such as "
            f"{old.doc_id} for {old.question_id}, which was {old.decision} and is {new.decision}. "
            "Nothing was taken; --replace takes the new ones"
        )
    taken = [one for one in found if one.place not in earlier] + [new for _, new in others]
    path = CONF / "ledger" / f"{config['benchmark']['name']}.yaml"
    add(path, "judgements", _entries(taken), ("question_id", "doc_id"))
    counts = Counter(one.decision for one in taken)
    told = ", ".join(f"{counts[name]} {name}" for name in DECISIONS)
    print(f"{path}: {len(taken)} judgements ({told}); `dvc repro` measures with them")


def _agreement(pairs: Sequence[tuple[PairDecision, PairDecision]]) -> str:
    """Return how far two judgements of the same pairs agree."""
    decisions = [(old.decision, new.decision) for old, new in pairs]
    said = {decision for pair in decisions for decision in pair}
    counts = Counter(decisions)
    kappa = kappa_of([[counts[old, new] for new in said] for old in said])
    same = sum(old == new for old, new in decisions)
    told = f", Cohen's kappa {kappa.value:.2f}" if kappa else ""
    return f"{len(pairs)} pairs were judged before: {same} of them the same{told}"


def candidate_rows(config: Config) -> list[Row]:
    """Return a row for each candidate of `audit` on which nobody has decided, the surest first.

    There is none before the stage ran.
    """
    folder = Path("data") / config["benchmark"]["name"]
    path = folder / "audited" / "candidates.jsonl"
    if not path.is_file():
        return []
    check(path.parent)
    decided = {one.place for one in judgements_of(config["ledger"]["judgements"])}
    rows = [row for _, row in read_lines(path)]
    rows = [row for row in rows if (row["question_id"], row["doc_id"]) not in decided]
    # A duplicate of gold, which has no such signal, is as sure as can be.
    rows.sort(key=lambda row: -float(row["signals"].get("stands_in", 1)))
    questions = {q.question_id: q for q in read_questions(folder / "translated" / "queries.json")}
    wanted = {row["doc_id"] for row in rows}
    corpus = stream_documents(folder / "translated" / "corpus.json")
    contents = {d.doc_id: d.content for d in corpus if d.doc_id in wanted}
    return [
        dict.fromkeys(REVIEW_COLUMNS, "")
        | {
            "record_id": row["question_id"],
            "field": "gold_doc_ids",
            "doc_id": row["doc_id"],
            "flags": ", ".join(f"{name} {value}" for name, value in row["signals"].items()),
            "source": f"{question.question}\n{question.gold_answer}",
            "translation": contents[row["doc_id"]],
        }
        for row in rows
        for question in [questions[row["question_id"]]]
    ]


def judged_pairs(config: Config, table: Path) -> list[dict[str, Any]]:
    """Return the decisions on documents in a table, as entries of the ledger."""
    return _entries(_decided(config, table))


def _decided(config: Config, table: Path) -> list[PairDecision]:
    """Return the decisions on documents in a table. Raise as `read_judgements` does."""
    translated = Path("data") / config["benchmark"]["name"] / "translated"
    questions, documents = set(), set()
    # A folder that is only sampled has no pairs to decide on yet.
    if (translated / "corpus.json").is_file():
        questions = {q.question_id for q in read_questions(translated / "queries.json")}
        documents = {d.doc_id for d in stream_documents(translated / "corpus.json")}
    return read_judgements(table, questions, documents)


def _entries(judgements: Iterable[PairDecision]) -> list[dict[str, Any]]:
    return [{name: value for name, value in asdict(one).items() if value} for one in judgements]
