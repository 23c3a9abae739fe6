"""``bears tax``: what translation costs a retriever."""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from tabulate import tabulate

from bears.cli.selection import composed, files_of, made, records_of, selected
from bears.cli.translation_tax import TextSide, Values, read_sides, taxes, values_by_question
from bears.config import Config
from bears.config.shape import source_of
from bears.errors import ConfigurationError
from bears.evaluation.measure import parse_measure
from bears.files.benchmark_state import benchmark_state, heading
from bears.files.records import to_json, write_json
from bears.files.spreadsheet import write_csv
from bears.language.tags import check_tag, languages_of
from bears.layout import BenchmarkFiles

MEASURES = ("ndcg@10", "strict@10")


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
    columns = {f"{side}.{m}": values[side][m] for m in values["original"] for side in values}
    rows = []
    for key, *found in zip(values["original"].index, *columns.values(), strict=True):
        question = after[key]
        about = [key, question.source_dataset, question.question_type]
        cells = (None if math.isnan(value) else value for value in found)
        rows.append([*about, before[key], question.question, *cells])
    header = ["question_id", "source_dataset", "question_type", "original", "translated"]
    write_csv(path, [*header, *columns], rows)
