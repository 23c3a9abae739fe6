"""``python -m bears judgements``: what nobody has judged goes out, what people judged comes in."""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal

from bears.cli.pooled_runs import pooled_runs
from bears.cli.selection import CONF, composed, results_of
from bears.config import Config
from bears.config.ledger.entries import Judgement, judgements_of
from bears.config.ledger.table import read_judgements
from bears.config.ledger.update import add
from bears.errors import FormatError, LedgerError
from bears.evaluation.comparison.pool import pooled
from bears.files.records import read_questions, stream_documents
from bears.files.shown import one_line
from bears.files.spreadsheet import write_csv
from bears.types import Question

COLUMNS = (
    *("record_id", "doc_id", "question", "answer", "document"),
    *("decision", "reason", "author"),
)
"""The last three are for the person: relevant, partial or not, why, and who."""
DECISIONS: tuple[Literal["relevant", "partial", "not"], ...] = ("relevant", "partial", "not")
SHOWN = 5
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
        (
            *(i, doc_id, questions[i].question, questions[i].gold_answer),
            _begin(texts[doc_id]),
            *("", "", ""),
        )
        for i, doc_ids in pool.items()
        for doc_id in doc_ids
    ]
    write_csv(arguments.file, COLUMNS, rows)
    known = sum(map(len, asked.values()))
    print(
        f"{arguments.file}: {len(rows)} documents to judge for {sum(map(bool, pool.values()))} "
        f"questions, the first {arguments.depth} of {', '.join(map(one_line, runs))}; "
        f"{known} judged before"
    )


def _judged(config: Config, questions: Iterable[Question]) -> dict[str, set[str]]:
    """question_id to the documents that are judged, by the benchmark or by the ledger."""
    found = {question.question_id: set(question.gold_doc_ids) for question in questions}
    for one in judgements_of(config["ledger"]["judgements"]):
        if one.question_id in found:
            found[one.question_id].add(one.doc_id)
    return found


def _begin(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _import(arguments: argparse.Namespace) -> None:
    config = composed(arguments.benchmark, [])
    folder, _ = results_of(config["benchmark"]["name"], None)
    questions = {q.question_id for q in read_questions(folder / "queries.json")}
    documents = {d.doc_id for d in stream_documents(folder / "corpus.json")}
    found = [
        replace(one, author=one.author or arguments.author)
        for one in read_judgements(arguments.file, questions, documents)
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
        shown = "; ".join(
            f"{old.doc_id} for {old.question_id} was {old.decision}, is {new.decision}"
            for old, new in others[:SHOWN]
        )
        raise LedgerError(
            f"{arguments.file}: {len(others)} pairs are judged otherwise already: {shown}"
            f"{'; …' * (len(others) > SHOWN)}. Nothing was taken; --replace takes the new ones"
        )
    taken = [one for one in found if one.place not in earlier] + [new for _, new in others]
    path = CONF / "ledger" / f"{config['benchmark']['name']}.yaml"
    entries = [{name: value for name, value in asdict(one).items() if value} for one in taken]
    add(path, "judgements", entries, ("question_id", "doc_id"))
    counts = Counter(one.decision for one in taken)
    told = ", ".join(f"{counts[name]} {name}" for name in DECISIONS)
    print(f"{path}: {len(taken)} judgements ({told}); `dvc repro` measures with them")


def _agreement(pairs: Sequence[tuple[Judgement, Judgement]]) -> str:
    """How far two judgements of the same pairs are the same."""
    from statsmodels.stats.inter_rater import cohens_kappa

    counts = Counter((old.decision, new.decision) for old, new in pairs)
    said = [name for name in DECISIONS if any(name in pair for pair in counts)]
    same = sum(number for (old, new), number in counts.items() if old == new)
    table = [[counts[old, new] for new in said] for old in said]
    # Of one word alone chance agrees as well, and statsmodels would warn.
    found = cohens_kappa(table, return_results=False) if len(said) > 1 else None
    kappa = "" if found is None else f", Cohen's kappa {found:.2f}"
    return f"{len(pairs)} pairs were judged before: {same} of them the same{kappa}"
