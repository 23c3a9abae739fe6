"""``bears report``: an HTML page about a benchmark and everything that was measured on it."""

from collections import Counter
from collections.abc import Sequence
from os.path import relpath
from pathlib import Path
from urllib.parse import quote

from bears.errors import ConfigurationError, FormatError
from bears.evaluation.evaluate import our_name
from bears.files.records import write_text
from bears.layout import BenchmarkFiles
from bears.publishing.report.advice import Prefer
from bears.publishing.report.page import report
from bears.results.origins import ran_on
from bears.results.pool import SHEET, to_judge
from bears.results.system import with_searches
from bears.selection.configuration import composed, records_of, selected
from bears.selection.systems import chosen, with_traced


def write_report(
    systems: Sequence[str] = (),
    *,
    out: Path = Path("report.html"),
    benchmark: str = "",
    measure: str = "",
    top: int = 10,
    prefer: Prefer = "quality",
    judge: Path | None = None,
    all_commits: bool = False,
) -> None:
    """Write one HTML file about the benchmark and its runs, here or in DVC's cache.

    It shows which system to take and how certain that is, intervals, recall, time, and every
    question with what each system found. The page needs no network.

    Args:
        systems: as for `bears compare`; default: HEAD, its experiments and the workspace
        out: default: report.html
        measure: the measure that decides, such as recall@10
        top: documents of each system, 1 to 100; default: 10
        prefer: what chooses among systems that do not differ significantly; default: quality
        judge: also write a page on which people judge those found documents that have no judgement
            yet; each question links to its own
    """
    if not 1 <= top <= 100:
        raise ConfigurationError(f"--top is {top}; expected a whole number from 1 to 100")
    choice = selected(composed(benchmark))
    name = choice.benchmark.name
    records = records_of(name)
    found = (
        chosen(systems, name, least=1)
        if systems
        else with_traced(ran_on(records, all_commits), name)
    )
    if len(found) < 2 and not systems:
        # After a commit, what ran before it is still what people want to compare.
        found = with_traced(ran_on(records, all_commits=True), name)
    shown = with_searches(found, [measure])
    if not shown:
        raise FormatError(f"no run on {name} as it is in {records.folder}; `dvc repro` makes one")
    state = records.state.as_dict()["state"]
    if others := [system.name for system in shown if system.benchmark.get("state") != state]:
        raise FormatError(f"{others[0]!r:.80} is not of {name} as it is now; measure it again")
    main = our_name(measure) or records.evaluate.main
    order = [question.question_id for question in records.questions]
    described = [system.only(order) for system in shown]
    asked, said, address = Counter[str](), "", ""
    if judge:
        rows = to_judge(records, {each.name: each.found for each in described}, top, False)
        said = f"; {judge}: {SHEET.write(judge, rows, ['judgements', 'import'])}"
        asked.update(row["record_id"] for row in rows)
        address = quote(Path(relpath(judge, out.parent)).as_posix())
    text = report(
        records,
        choice.sources,
        BenchmarkFiles(name),
        described,
        main,
        top,
        prefer,
        decides=bool(measure),
        judge=(address, asked),
    )
    write_text(out, text)
    what = f"{len(shown)} systems" if len(shown) > 1 else "1 system"
    print(f"{out}: {what} on {name}, {len(text.encode()) / 1e6:.1f} MB{said}")


COMMAND = write_report
