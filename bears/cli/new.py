"""``bears new``: add a benchmark to a project."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.cli.source import changed, described, settings_of
from bears.config import compose, conf_text, read_selection
from bears.errors import BearsError, ConfigurationError
from bears.files.records import write_text
from bears.files.visible import one_line
from bears.layout import CONF, PARAMS
from bears.results.drawn import ROLES, draw_benchmark
from bears.sources.folder.asked import ENDINGS, looks_asked
from bears.sources.folder.read import QUESTIONS, questions_file
from bears.sources.inspection import Look
from bears.sources.location import dataset_of

SHAPES = ("beir", "multi-hop", "squad", "qa-with-passages", "pairs")
BASES = ("own", "beir", "any")
DETAILS = ("count", "set_")
"""Options that say how a benchmark is made, not of what."""
SHOWN = 5
NAME = re.compile(r"\w[\w.-]*")
PLAIN = re.compile(r"(?!(null|true|false|on|off|yes|no|nan|inf)$)[a-z][\w.-]*", re.I | re.A)
"""Names that YAML and Hydra take for a text without quotation marks."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What a benchmark is made of, as options of `bears init` and `bears new`.

    Args:
        documents: a folder of documents
        questions: a file of questions about them: JSON, JSON Lines, YAML, CSV, TSV, .xlsx or
            Parquet; default: the file `questions` in the folder, with one of these endings
        traces: a file or folder of traces, from which questions of users are drawn; may be given
            repeatedly; without documents, the passages in them are the documents
        count: how many questions to draw from traces; default: 100
        hub: OWNER/NAME of a dataset on the hub
        rows: a file of rows: JSON, JSON Lines, CSV or Parquet
        beir: a folder with corpus.jsonl, queries.jsonl and qrels/
        ir_dataset: a dataset of the package ir_datasets, such as beir/nfcorpus/test
        source: a word of conf/source
        benchmark: a benchmark to start from; for a new project, one that ships with the package
        set_: SETTING=VALUE of its source, such as on_bad_row=skip, or ROLE=FIELD for the fields of
            questions, such as document=expected_file
    """

    documents: Path | None = None
    questions: Path | None = None
    traces: Sequence[Path] = ()
    count: int = 100
    hub: str = ""
    rows: Path | None = None
    beir: Path | None = None
    ir_dataset: str = ""
    source: str = ""
    benchmark: str = ""
    set_: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ConfigurationError(f"--count is {self.count}; expected a number from 1")
        if self.questions and self.traces:
            raise ConfigurationError("--questions and --traces are given; expected one of them")
        if self.questions and not self.documents:
            raise ConfigurationError("--questions needs --documents FOLDER, which they are about")
        given = self.given
        if len(given) > 1 + bool((self.questions or self.traces) and self.documents):
            raise ConfigurationError(f"{' and '.join(given)} are given; expected one of them")

    @property
    def given(self) -> list[str]:
        """Return the options that name something that it is made of."""
        values = {name: value for name, value in vars(self).items() if name not in DETAILS}
        return [f"--{name.replace('_', '-')}" for name, value in values.items() if value]


def new(name: str, origin: Origin) -> None:
    """Add a benchmark to the project.

    Writes conf/benchmark/NAME.yaml and prints what was guessed. Run it with
    `dvc exp run -S benchmark=NAME`.

    Args:
        name: a word for the benchmark
    """
    if not origin.given:
        raise ConfigurationError("say what it is made of, such as --documents FOLDER")
    asked = add(name, origin, Path())
    choice = f"benchmark={quoted(name)}"
    choice = f'"{choice}"' if "'" in choice else choice
    graded = f" {GRADED}" if origin.traces else ""
    print(f"next: dvc exp run -S {choice}{graded}" if asked else WITHOUT_QUESTIONS)


COMMAND = new
GRADED = """-S judge=relevance -S 'overrides=["judge.fill=auto","judge.budget=1"]'"""
"""What users asked has no gold: a model grades what is found, for at most a dollar."""
WITHOUT_QUESTIONS = (
    f"next: write {QUESTIONS}.csv or {QUESTIONS}.xlsx in that folder, with the columns question, "
    "answer, document and quotation, or name a file of questions: --questions FILE. Or let a model "
    "write the questions: in the file above, replace `own` under `defaults` by `made-own`; "
    "docs/made-questions.md describes that"
)


def quoted(name: str) -> str:
    """Return the name of a benchmark as params.yaml and ``-S`` need it."""
    return name if PLAIN.fullmatch(name) else f"'{name}'"


def add(name: str, origin: Origin, project: Path) -> bool:
    """Write conf/benchmark/NAME.yaml of a project; return whether there are questions.

    Raises:
        ConfigurationError: the name does not fit or is taken, or the description is refused.
        BearsError: the data cannot be read.
    """
    known = settings_of(origin.set_)
    file = project / CONF / "benchmark" / f"{name}.yaml"
    if not NAME.fullmatch(name) or name in (*BASES, origin.benchmark):
        raise ConfigurationError(
            f"{name!r:.80} cannot name a benchmark: use letters, digits, dots, - and _; "
            f"{', '.join(BASES)} are taken, and so is the one that it starts from"
        )
    if file.exists():
        raise ConfigurationError(f"{file} exists; choose another name, or remove it")
    drawn = ""
    if origin.traces:
        made = draw_benchmark(project, name, origin.traces, origin.documents, origin.count)
        documents, questions, drawn = made
        origin = Origin(documents=documents, questions=questions)
        known = {**known, "fields": {**ROLES, **known.get("fields", {})}}
    base, comment, settings, look = _guessed(name, origin, project, known)
    override = [{"override /source@sources.any": origin.source}] if origin.source else []
    value: dict[str, Any] = {"defaults": [base, *override, "_self_"], "benchmark": {"name": name}}
    if settings:
        value["sources"] = {base: settings}
    text = f"# @package _global_\n# {comment}\n"
    write_text(file, text + conf_text(value))
    try:
        selection = read_selection(project / PARAMS)
        compose(project / CONF, selection | {"benchmark": name, "overrides": []})
    except BearsError:
        file.unlink()
        raise
    print(f"{file}: {comment}")
    if look:
        _print(look, project)
    if drawn:
        print(f"  {drawn}")
    return look is None or bool(look.questions or look.without_gold)


def _guessed(
    name: str, origin: Origin, project: Path, known: Mapping[str, Any]
) -> tuple[str, str, Mapping[str, Any], Look | None]:
    """Return the benchmark to extend, a comment, the settings of its source, and what is there."""
    if origin.benchmark:
        return origin.benchmark, f"{origin.benchmark} under another name.", {}, None
    if origin.source:
        return "any", f"All of the source {origin.source}.", {}, None
    if word := origin.ir_dataset:
        settings = {"name": name, "ir_dataset": word, "split": word.rpartition("/")[2]}
        settings["language"] = dataset_of(word).docs_lang() or "en"
        about = f"its licence is unknown, see https://ir-datasets.com/{word.partition('/')[0]}.html"
        return "beir", f"The set {word} of ir_datasets; {about}", settings, None
    shapes: Sequence[str] = SHAPES
    given: dict[str, Any] = {"name": re.sub(r"\W+", "_", name)}
    if origin.hub:
        place = given["hub"] = origin.hub
    else:
        folder = origin.documents or origin.beir or origin.rows
        assert folder is not None
        if not folder.exists():
            raise ConfigurationError(f"{folder} does not exist")
        place = str(folder.resolve())
        if folder.resolve().is_relative_to(project.resolve()):
            place = folder.resolve().relative_to(project.resolve()).as_posix()
        given["path"] = place
        shapes = SHAPES[1:] if origin.rows else ("own",) if origin.documents else ("beir",)
        if origin.beir:
            splits = {path.stem for path in (folder / "qrels").glob("*.tsv")} or {"test"}
            given["split"] = "test" if "test" in splits else min(splits)
        if origin.documents and (table := origin.questions or _questions_in(folder)):
            given["settings"] = {"questions": os.path.relpath(table.resolve(), folder.resolve())}
    shapes = (known["shape"],) if "shape" in known else shapes
    look = described({**given, **known}, shapes, project)
    base = look.source.shape if look.source.shape in BASES else "any"
    settings = changed(look.source) | {"name": name}
    if base != "any":
        settings.pop("shape")
    what = {"own": "The documents in", "beir": "The set in BEIR's layout in"}
    return base, f"{what.get(base, 'The rows of')} {one_line(place)}.", settings, look


def _questions_in(folder: Path) -> Path | None:
    """Return the only file of a folder that has questions, unless one has the usual name."""
    if questions_file(folder):
        return None
    files = (path for path in sorted(folder.glob("*.*")) if path.suffix.lower() in ENDINGS)
    found = [path for path in files if looks_asked(path)]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ConfigurationError(
            f"{names} in {folder} have questions; name one: --questions {found[0]}"
        )
    return found[0] if found else None


def _print(look: Look, project: Path) -> None:
    """Print what was found and guessed."""
    source = look.source
    table = questions_file(project / source.path, source.settings.get("questions", ""))
    lines = [
        f"language: {source.language}, guessed; licence: {source.licence}",
        f"{'at least ' * look.cut}{look.documents} documents, {look.questions} questions with gold"
        + (f" in {table.name}" if table and source.shape == "own" and look.questions else ""),
    ]
    if look.fields:
        rows = [[one_line(f"{cell:.40}") for cell in row] for row in look.fields]
        shown = tabulate(rows, headers=["field", "taken as", "example", "found"])
        lines += [f"  {line}" for line in shown.split("\n")]
    if look.unanswerable and source.shape == "own":
        lines.append(f"questions without an answer: {look.unanswerable}")
    if look.without_gold and source.shape == "own":
        lines.append(
            f"questions without gold: {look.without_gold}; they are kept, and count once people "
            "judged what was found for them (`bears judgements pool`)"
        )
    if look.questions:
        lines.append(f"the first question: {one_line(look.question):.200}")
        lines.append(f"its gold: {one_line(look.gold):.200}")
    reasons = Counter(look.left_out.values())
    for reason, count in reasons.most_common(SHOWN):
        first = next(name for name, why in look.left_out.items() if why == reason)
        lines.append(f"left out: {count} file(s), such as {one_line(first)}: {reason}")
    print("".join(f"  {line}\n" for line in lines), end="")
