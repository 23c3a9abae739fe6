"""``bears tax``: what translation costs a retriever."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from tabulate import tabulate

from bears.cli.selection import composed, files_of, made, records_of, selected
from bears.config import Config
from bears.config.shape import source_of
from bears.errors import ConfigurationError, FormatError
from bears.evaluation.bootstrap import RESAMPLES
from bears.evaluation.clusters import Clusters
from bears.evaluation.comparison.pairs import pairs_of
from bears.evaluation.comparison.result import plain
from bears.evaluation.comparison.values import clusters_in
from bears.evaluation.evaluate import evaluate, gold_of
from bears.evaluation.measure import Measure, parse_measure
from bears.files.benchmark_state import benchmark_state, heading
from bears.files.records import read_documents, read_questions, to_json, write_json
from bears.files.spreadsheet import write_csv
from bears.language.tags import check_tag, languages_of
from bears.layout import BenchmarkFiles
from bears.library.index import Index
from bears.results.system import frames_of
from bears.types import Document, Question

SIDES = ("original", "translated", "without_parentheses")
KINDS = "kinds"
Values = Mapping[str, pd.DataFrame]
"""Each of `SIDES` to a row for each question and a column for each measure, and their kinds."""
MEASURES = ("ndcg@10", "strict@10")


@dataclass(frozen=True)
class TextSide:
    """Questions with their documents, before or after translation."""

    questions: Sequence[Question]
    documents: Sequence[Document]

    def of(self, sources: set[str]) -> "TextSide":
        """Return the questions and documents of some sources."""
        return TextSide(
            [q for q in self.questions if q.source_dataset in sources],
            [d for d in self.documents if d.original_source in sources],
        )

    def bare(self) -> "TextSide":
        """Return the same texts without parentheses."""
        return TextSide(
            [replace(q, question=without_parentheses(q.question)) for q in self.questions],
            [replace(d, content=without_parentheses(d.content)) for d in self.documents],
        )

    @property
    def sources(self) -> set[str]:
        """Return the names of all sources."""
        names = {question.source_dataset for question in self.questions}
        return names | {document.original_source for document in self.documents}


def without_parentheses(text: str) -> str:
    """Remove parentheses and their content; one without a partner stays.

    Translators put the original's words there.
    """
    shorter = re.sub(r"[(（][^()（）]*[)）]", "", text)
    return shorter if shorter == text else without_parentheses(shorter)


def measure_tax(
    overrides: Sequence[str] = (),
    *,
    retriever: str = "",
    folder: Path | None = None,
    language: str = "",
    format: Literal["table", "json"] = "table",
    out: Path | None = None,
    benchmark: str = "",
) -> None:
    """Measure what translation costs a retriever.

    Searches the same questions in the same documents before and after their translation, and once
    more without parentheses, where translators put the original's words. Each side is searched with
    the settings of its language. Differences are translated minus original, with a paired 95 %
    interval.

    Args:
        retriever: default: the one in params.yaml
        folder: a published set (queries_raw.json, corpus_raw.json, queries.json, corpus.json)
            instead of the pipeline's records
        language: BCP 47 tag of the original texts of sources of FOLDER that the benchmark lacks
        format: default: table
        out: a CSV file for the values of each question
    """

    @cache
    def configured(language: str) -> Config:
        words = [f"benchmark.language='{language}'"] if language else []
        words += [f"retriever={retriever}"] if retriever else []
        # An exact search that leaves nothing behind, whatever the benchmark's vector store is.
        return composed(benchmark, ["vector_store=memory", *words, *overrides])

    config = configured("")
    if folder:
        sampled = translated = folder
    else:
        sampled = files_of(config).sampled
        translated = records_of(selected(config).benchmark.name).folder
        made(config, "sample", sampled)
    before, after = read_sides(sampled, translated)
    languages = _languages(config, before, language)
    measures = [parse_measure(name) for name in MEASURES]
    values = values_by_question(before, after, languages, configured, measures)
    result = {**_about(config, translated, after, values, languages), **taxes(values)}
    if out:
        _write(out, values, before, after)
    # Results with overrides would not be figures of the retriever with this name.
    if folder is None and not overrides:
        write_json(BenchmarkFiles(result["benchmark"]).tax(result["retriever"]), result)
    print(to_json(result) if format == "json" else _table(result))


COMMAND = measure_tax


def read_sides(original: Path, translated: Path) -> tuple[TextSide, TextSide]:
    """Read both sides of a benchmark from the folders of its records.

    Raises:
        FormatError: a file is absent or malformed, or the two sides have different records.
    """
    before, after = (
        TextSide(
            read_questions(folder / f"queries{ending}"), read_documents(folder / f"corpus{ending}")
        )
        for folder, ending in ((original, "_raw.json"), (translated, ".json"))
    )
    keys = [
        {(q.question_id, q.source_dataset, q.gold_doc_ids) for q in side.questions}
        | {(d.doc_id, d.original_source) for d in side.documents}
        for side in (before, after)
    ]
    if differ := keys[0] ^ keys[1]:
        raise FormatError(
            f"{original} and {translated} have different records: {len(differ)} are on one side "
            f"only or have another source or gold, such as {min(differ)[0]!r:.80}; if the pipeline "
            "made them, run `dvc repro`"
        )
    return before, after


def values_by_question(
    original: TextSide,
    translated: TextSide,
    languages: Mapping[str, str],
    configured: Callable[[str], Config],
    measures: Sequence[Measure],
) -> Values:
    """Return the scores of the translated questions on every side.

    On every side, the questions of one language are searched in the documents of that language.

    Args:
        languages: source to the language of its original texts, for translated sources only.
        configured: return the configuration for texts of a language; for "", of the translated
            texts.

    Raises:
        BearsError: no question was translated, or a part of the configuration does not fit.
    """
    found: dict[str, list[pd.DataFrame]] = {side: [] for side in (*SIDES, KINDS)}
    for language in sorted(set(languages.values())):
        sources = {source for source, tag in languages.items() if tag == language}
        before, after = original.of(sources), translated.of(sources)
        if not before.questions:
            continue
        sides = ((before, language), (after, ""), (after.bare(), ""))
        for name, (side, tag) in zip(SIDES, sides, strict=True):
            run = Index(side.documents, configured(tag)).run(side.questions)
            evaluation = evaluate(run, gold_of(side.questions), measures)
            frame, kinds = frames_of(evaluation, side.questions)
            found[name].append(frame)
        found[KINDS].append(kinds)
    if not found["original"]:
        raise FormatError("no question was translated, so there is nothing to compare")
    return {side: pd.concat(frames) for side, frames in found.items()}


def taxes(values: Values) -> dict[str, Any]:
    """Return ``original``, ``translated``, ``difference``, ``low``, ``high``, ``n`` by measure.

    The difference is translated minus original, with its paired 95 % interval. The same under
    ``without_parentheses`` is for the translated texts without them.
    """
    clusters = clusters_in(values[KINDS])
    tax = dict(_differences(values["original"], values["translated"], clusters))
    bare = dict(_differences(values["original"], values["without_parentheses"], clusters))
    return {**tax, "without_parentheses": bare}


def _differences(
    original: pd.DataFrame, translated: pd.DataFrame, clusters: Clusters | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    columns = {
        str(measure): np.column_stack([translated[measure], original[measure]])
        for measure in original
    }
    pairs = pairs_of(columns, ("translated", "original"), RESAMPLES, None, clusters)
    for row in pairs.to_dict("records"):
        named = {"original": row["mean_b"], "translated": row["mean_a"]}
        named |= {str(key): row[key] for key in ("difference", "low", "high", "n")}
        yield str(row["measure"]), {key: plain(value) for key, value in named.items()}


def _languages(config: Config, original: TextSide, unknown: str) -> dict[str, str]:
    """Return each source whose texts were translated, with its original language."""
    chosen = selected(config)
    kept, target = chosen.benchmark.language, chosen.language.name
    languages = languages_of(chosen.sources, original.sources, kept, target)
    strangers = sorted(original.sources - languages.keys())
    if unknown:
        check_tag(unknown, "--language")
        languages |= dict.fromkeys(strangers, unknown)
    elif strangers:
        raise ConfigurationError(
            f"{chosen.benchmark.name} does not know the source {strangers[0]!r:.80}; give "
            "the language of its original texts: --language en"
        )
    return {source: tag for source, tag in languages.items() if tag != target}


def _about(
    config: Config, folder: Path, after: TextSide, values: Values, languages: dict[str, str]
) -> dict[str, Any]:
    """Return the benchmark, the retriever and the sizes that a tax belongs to."""
    files = folder / "queries.json", folder / "corpus.json"
    chosen = selected(config)
    name, source = chosen.benchmark.name, source_of(chosen.sources)
    state = benchmark_state(name, source, len(after.questions), *files)
    return {
        **{"benchmark": name, "state": state.state, "retriever": chosen.retriever.name},
        "original_languages": sorted(set(languages.values())),
        "language": chosen.benchmark.language,
        "questions": len(values["original"]),
        "documents": len({d.doc_id for d in after.of(set(languages)).documents}),
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
    about = {"name": result["benchmark"], **{key: result[key] for key in ("state", "questions")}}
    title = (
        f"{heading(about, result['retriever'])} over {result['documents']} documents, "
        f"{', '.join(result['original_languages'])} against {result['language']}"
    )
    title += f"\n{result['generated']}" if "generated" in result else ""
    header = ["", "original", "translated", "difference", "95 % interval", "n"]
    return f"{title}\n\n{tabulate(rows, headers=header, disable_numparse=True)}"


def _write(path: Path, values: Values, original: TextSide, translated: TextSide) -> None:
    """Write a row per question, with its values on every side, empty if undefined."""
    before = {question.question_id: question.question for question in original.questions}
    after = {question.question_id: question for question in translated.questions}
    columns = {f"{side}.{m}": values[side][m] for m in values["original"] for side in SIDES}
    rows = []
    for key, *found in zip(values["original"].index, *columns.values(), strict=True):
        question = after[key]
        about = [key, question.source_dataset, question.question_type]
        cells = (None if math.isnan(value) else value for value in found)
        rows.append([*about, before[key], question.question, *cells])
    header = ["question_id", "source_dataset", "question_type", "original", "translated"]
    write_csv(path, [*header, *columns], rows)
