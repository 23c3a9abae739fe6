"""``bears judgements``: people's decisions on documents, out as a page or a table and back in."""

from collections import Counter
from pathlib import Path

from bears.config.ledger.update import open_ledger
from bears.errors import FormatError
from bears.files.records import stream_documents
from bears.files.visible import one_line
from bears.layout import ledger_of
from bears.results.pool import DECISIONS, SHEET, read_judgements, to_judge
from bears.selection.configuration import composed, records_of, selected
from bears.selection.systems import runs_to_judge


def pool(
    file: Path,
    *,
    depth: int = 10,
    systems: str = "",
    without_gold: bool = False,
    benchmark: str = "",
) -> None:
    """Write a page or a table of retrieved documents, or passages, that have no judgement yet.

    A person decides on each: relevant, partial or not. The page (.html) works in any browser,
    without a network, and saves a file for `import`. The rows are the first
    chunks of every system's ranking, or what `audit` found. They show neither systems nor ranks.
    Questions without gold come first: they count for nothing until somebody judges.

    Args:
        file: a page (.html) or a CSV file
        depth: chunks of each ranking; default: 10
        systems: retrievers, experiments, commits, run files or `audit`, separated by commas;
            default: all that ran here
        without_gold: only questions whose relevant documents are unknown
    """
    if depth < 1:
        raise FormatError(f"--depth is {depth}; expected at least 1")
    config = composed(benchmark)
    records = records_of(selected(config).benchmark.name)
    words = [word.strip() for word in systems.split(",") if word.strip()]
    runs = runs_to_judge(words, config, records)
    rows = to_judge(records, runs, depth, without_gold)
    said = SHEET.write(file, rows, ["judgements", "import"])
    asked = {row["record_id"] for row in rows}
    print(
        f"{file}: {len(rows)} documents to judge for {len(asked)} questions, the first {depth} of "
        f"{', '.join(map(one_line, runs))}; people judged {len(records.decided.kept)} before; "
        f"{said}"
    )
    unknown = asked.intersection(q.question_id for q in records.source if not q.judged)
    first = sum(row["record_id"] in unknown for row in rows)
    if len(rows) > first > 0:
        print(
            f"the first {first} are for the {len(unknown)} questions without gold, which count "
            "for nothing until somebody judges; --without-gold writes these alone"
        )


def import_decisions(
    file: Path, *, author: str = "", replace_: bool = False, benchmark: str = ""
) -> None:
    """Add the decisions in a table to the ledger.

    They go to conf/ledger/BENCHMARK.yaml. If pairs of question and document were judged before, the
    agreement of both judgements is printed; different decisions are refused.

    Args:
        file: a table that `pool` wrote, with decisions in it, or what its page saved
        author: who decided, for rows without an author
        replace_: overwrite earlier decisions
    """
    name = selected(composed(benchmark)).benchmark.name
    records = records_of(name)
    questions = {q.question_id: q for q in records.questions}
    documents = {each.doc_id: each for each in stream_documents(records.corpus)}
    path = ledger_of(name)
    with open_ledger(path) as ledger:
        new = read_judgements(file, questions, documents, author)
        taken = ledger.take("judgements", new, file, "pairs were judged", replace_).kept
    counts = Counter(one.decision for one in taken)
    summary = ", ".join(f"{counts[name]} {name}" for name in DECISIONS)
    print(f"{path}: {len(taken)} judgements ({summary}); `dvc repro` measures with them")


COMMAND = {"pool": pool, "import": import_decisions}
