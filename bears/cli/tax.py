"""``python -m bears tax``: what translation costs a retriever."""

import argparse
import math
from functools import cache
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.cli.selection import add_selection, composed, results_of
from bears.cli.translation_tax.records import TextSide, read_sides
from bears.cli.translation_tax.tax import Values, taxes, values_by_question
from bears.config import Config
from bears.errors import ConfigurationError, FormatError
from bears.evaluation.measure import parse_measure
from bears.files.benchmark_state import benchmark_state, heading
from bears.files.manifest import check
from bears.files.records import to_json, write_json
from bears.files.spreadsheet import write_csv
from bears.language.tags import check_tag, languages_of

DATA = Path("data")
MEASURES = ("ndcg@10", "strict@10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``tax``."""
    parser.description = (
        "Ask the same questions of the same documents before and after their translation, and once "
        "more without what stands in parentheses, where translators put the original's words. Each "
        "side is searched as texts of its language are. Differences are translated less original, "
        "with a paired 95 % interval."
    )
    parser.add_argument("--retriever", default="", help="default: the one in params.yaml")
    parser.add_argument(
        "--folder",
        type=Path,
        help="a published set (queries_raw.json, corpus_raw.json, queries.json, corpus.json) in "
        "place of what the pipeline made of the benchmark",
    )
    parser.add_argument(
        "--language",
        default="",
        metavar="TAG",
        help="of the original texts of sources of FOLDER that the benchmark does not know",
    )
    parser.add_argument("--format", default="table", choices=("table", "json"))
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="the values of each question")
    add_selection(parser)
    parser.set_defaults(run=_tax)


def _tax(arguments: argparse.Namespace) -> None:
    @cache
    def configured(language: str) -> Config:
        words = [f"benchmark.language='{language}'"] if language else []
        words += [f"retriever={arguments.retriever}"] if arguments.retriever else []
        # An exact search that leaves nothing behind, whatever store the benchmark is searched in.
        words = ["vector_store=memory", *words, *arguments.overrides]
        return composed(arguments.benchmark, words)

    config = configured("")
    folders = _folders(config, arguments.folder)
    original, translated = read_sides(*folders)
    languages = _translated(config, original, arguments.language)
    measures = [parse_measure(name) for name in MEASURES]
    values = values_by_question(original, translated, languages, configured, measures)
    result = {**_about(config, folders[1], translated, values, languages), **taxes(values)}
    if arguments.out:
        _write(arguments.out, values, original, translated)
    # What an override changed is no figure of the retriever by its name.
    if arguments.folder is None and not arguments.overrides:
        write_json(DATA / result["benchmark"] / "tax" / f"{result['retriever']}.json", result)
    print(to_json(result) if arguments.format == "json" else _table(result))


def _folders(config: Config, folder: Path | None) -> tuple[Path, Path]:
    """Where the texts before and after translation lie."""
    if folder is not None:
        return folder, folder
    name = config["benchmark"]["name"]
    translated, _ = results_of(name, None)
    sampled = DATA / name / "sampled"
    if not sampled.is_dir():
        raise FormatError(f"{sampled} does not exist; `dvc exp run -S benchmark={name}` makes it")
    check(sampled)
    return sampled, translated


def _translated(config: Config, original: TextSide, unknown: str) -> dict[str, str]:
    """Each source whose texts were translated, to their language before that."""
    kept, target = config["benchmark"]["language"], config["language"]["name"]
    languages = languages_of(config["sources"], original.sources, kept, target)
    strangers = sorted(original.sources - languages.keys())
    if unknown:
        check_tag(unknown, "--language")
        languages |= dict.fromkeys(strangers, unknown)
    elif strangers:
        raise ConfigurationError(
            f"{config['benchmark']['name']} does not know the source {strangers[0]!r:.80}; say in "
            "which language its original texts are: --language en"
        )
    return {source: tag for source, tag in languages.items() if tag != target}


def _about(
    config: Config,
    folder: Path,
    translated: TextSide,
    values: Values,
    languages: dict[str, str],
) -> dict[str, Any]:
    """Of what a tax is."""
    files = folder / "queries.json", folder / "corpus.json"
    name = config["benchmark"]["name"]
    state = benchmark_state(name, config["sources"], len(translated.questions), *files)
    documents = {d.doc_id for d in translated.documents if d.original_source in languages}
    return {
        **{"benchmark": name, "state": state.state, "retriever": config["retriever"]["name"]},
        "original_languages": sorted(set(languages.values())),
        "language": config["benchmark"]["language"],
        **{"questions": len(values["original"]), "documents": len(documents)},
        **({"generated": str(state.generated)} if state.generated else {}),
    }


def _table(result: dict[str, Any]) -> str:
    rows = [
        [
            f"{measure}{words}",
            *(f"{of[key]:.3f}" for key in ("original", "translated")),
            f"{of['difference']:+.3f}",
            f"{of['low']:+.3f} to {of['high']:+.3f}",
            of["n"],
        ]
        for words, part in (("", result), (", no parentheses", result["without_parentheses"]))
        for measure in MEASURES
        if (of := part[measure])["n"]
    ]
    about = {key: result[key] for key in ("state", "questions")}
    told = heading({"name": result["benchmark"], **about}, result["retriever"])
    told += f" over {result['documents']} documents, {', '.join(result['original_languages'])} "
    told += f"against {result['language']}"
    told += f"\n{result['generated']}" if "generated" in result else ""
    header = ["", "original", "translated", "difference", "95 % interval", "n"]
    return f"{told}\n\n{tabulate(rows, headers=header, disable_numparse=True)}"


def _write(path: Path, values: Values, original: TextSide, translated: TextSide) -> None:
    """A row a question, with its value of each measure on every side, empty where undefined."""
    before = {question.question_id: question.question for question in original.questions}
    after = {question.question_id: question for question in translated.questions}
    columns = {f"{side}.{m}": values[side][m] for m in values["original"] for side in values}
    rows = []
    for each, *found in zip(values["original"].index, *columns.values(), strict=True):
        asked = after[each]
        about = [each, asked.source_dataset, asked.question_type, before[each], asked.question]
        rows.append([*about, *(None if math.isnan(value) else value for value in found)])
    header = ["question_id", "source_dataset", "question_type", "original", "translated"]
    write_csv(path, [*header, *columns], rows)
