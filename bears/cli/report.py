"""``python -m bears report``: one HTML page about a benchmark and all that was measured on it."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.cli.compared_systems import ran
from bears.cli.doctor.objects import cache_folder
from bears.cli.prices import dollars
from bears.cli.selection import composed, main_of, results_of
from bears.errors import FormatError
from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.revision import WORKSPACE, Revision, commit_of, configuration_at
from bears.evaluation.comparison.values import System
from bears.evaluation.timing import read_timing
from bears.files.digest import sha256_of
from bears.files.records import read_json, read_questions, write_text
from bears.publishing.report.benchmark import BenchmarkFolders
from bears.publishing.report.comparison import Comparison, parse_comparison
from bears.publishing.report.report import report
from bears.publishing.report.system import SystemFiles
from bears.types import Question

DATA = Path("data")
OUT = Path("report.html")
RUN = r"data/[^/]+/runs/(?P<retriever>[^/]+)(?<!\.within)\.trec"
WITHIN = r"data/[^/]+/runs/[^/]+\.within\.trec"
ANSWERS = r"data/[^/]+/answers/[^/]+"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``report``."""
    parser.description = (
        "Write one HTML file about the benchmark and every run of it that is here or in DVC's "
        "cache: which system to take and how sure that is, intervals, recall, time, and every "
        "question with what each system found. It needs no network."
    )
    parser.add_argument("--out", type=Path, default=OUT, help=f"default: {OUT}")
    parser.add_argument("--benchmark", default="", help="default: the one in params.yaml")
    parser.add_argument(
        "--comparison",
        type=Path,
        metavar="FILE.json",
        help="what `compare --format json` printed; default: all systems are compared here",
    )
    parser.add_argument("--measure", default="", help="the one that decides, such as recall@10")
    parser.add_argument("--top", type=_count, default=10, help="documents of a system; default: 10")
    parser.add_argument(
        "--all-commits", action="store_true", help="experiments of every commit, not of HEAD alone"
    )
    parser.set_defaults(run=_report)


def _count(word: str) -> int:
    if not (word.isdecimal() and 0 < int(word) <= 100):
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 1 to 100")
    return int(word)


def _report(arguments: argparse.Namespace) -> None:
    config = composed(arguments.benchmark, [])
    name = config["benchmark"]["name"]
    translated, _ = results_of(name, None)
    questions = read_questions(translated / "queries.json")
    systems = _systems(name, translated, arguments.all_commits)
    folders = BenchmarkFolders(
        translated,
        DATA / name / "sampled",
        DATA / name / "verified",
        DATA / "raw" / name / "sources.json",
        DATA / name / "audited",
        DATA / name / "tax",
    )
    files = [_files(system, questions, translated) for system in systems]
    main = arguments.measure or _main(config, systems)
    comparison = _comparison(arguments.comparison, systems, main)
    text = report(config, folders, questions, files, comparison, main, arguments.top)
    write_text(arguments.out, text)
    what = f"{len(files)} systems" if len(files) > 1 else "1 system"
    print(f"{arguments.out}: {what} on {name}, {len(text.encode()) / 1e6:.1f} MB")


def _systems(name: str, translated: Path, all_commits: bool) -> list[System]:
    """What ran on the very records that lie here, with its rankings."""
    state = {"queries": sha256_of(translated / "queries.json")}
    state["corpus"] = sha256_of(translated / "corpus.json")
    for group in ran(all_commits):
        here = [each for each in group if state.items() <= each.benchmark.items() and each.run]
        if here:
            return here
    raise FormatError(f"no run on {name} as it lies in {translated}; `dvc repro` makes one")


def _main(config: Mapping[str, Any], systems: Sequence[System]) -> str:
    """The measure that orders the benchmark; where it is not measured, the first that is."""
    wanted = main_of(config)
    there = list(map(str, systems[0].values.columns))
    return wanted if wanted in there or not there else there[0]


def _comparison(file: Path | None, systems: Sequence[System], main: str) -> Comparison | None:
    if file:
        compared = parse_comparison(read_json(file), str(file))
        state = str(systems[0].benchmark["state"])
        if (said := compared.get("state", "")) not in ("", state):
            raise FormatError(
                f"{file} is of state {said!r:.40} of {compared.get('benchmark', '')!r:.80}, the "
                f"page of {state}; compare the systems of this one, or leave out --comparison"
            )
        return compared
    if len(systems) == 1 or not len(systems[0].values.columns):
        return None
    return parse_comparison(compare(systems, (), main), "compare")


def _files(system: System, questions: Sequence[Question], translated: Path) -> SystemFiles:
    """What the page shows of a system; its rankings and answers are those of its revision."""
    values = system.values.loc[[question.question_id for question in questions]]
    word = system.what if system.what != WORKSPACE and commit_of(system.what) else WORKSPACE
    commit = "" if word == WORKSPACE else commit_of(word)
    revision = Revision(word, commit, cache_folder(Path()))
    found = (revision.output(rf"{ANSWERS}{end}") for end in (r"\.jsonl", r"\.questions\.csv"))
    answers, judgements = found
    within = revision.output(WITHIN)
    priced = dollars(configuration_at(revision), translated, system.run, within)
    paid = zip(("usd_low", "usd_high"), priced or (), strict=False)
    return SystemFiles(
        system.name,
        system.run or Path(),
        {str(measure): values[measure].to_numpy(float) for measure in values},
        (answers, judgements) if answers and judgements else None,
        {**dict(_cost(revision.outputs, system.run or Path())), **dict(paid)},
    )


def _cost(outputs: Mapping[str, str], run: Path) -> Iterator[tuple[str, float]]:
    """What a run cost, where its timing is still here: that is no output of DVC."""
    for path in outputs:
        if match := re.fullmatch(RUN, path):
            place, retriever = Path(path).parent, match["retriever"]
            if timing := read_timing(place / f"{retriever}.timing.json", sha256_of(run)):
                total = timing["stages_ms"]["total"]
                yield from (("p50_ms", total["p50"]), ("p95_ms", total["p95"]))
                indexing = place.parent / "index" / f"{retriever}.timing.json"
                known: Any = read_json(indexing) if indexing.is_file() else {}
                for name in ("index_s", "index_bytes"):
                    if isinstance(known, dict) and isinstance(known.get(name), int | float):
                        yield name, float(known[name])
