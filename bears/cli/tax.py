"""``bears tax``: what translation costs a retriever."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from tabulate import tabulate

from bears.config import Config
from bears.config.source import source_of
from bears.config.typed import configured
from bears.errors import ConfigurationError, FormatError
from bears.evaluation.comparison.pairs import pairs_of
from bears.evaluation.comparison.result import plain
from bears.evaluation.comparison.values import clusters_in
from bears.evaluation.evaluate import evaluate, gold_of
from bears.evaluation.means import RESAMPLES
from bears.evaluation.measure import parse_measure
from bears.files.benchmark_state import benchmark_state, heading
from bears.files.records import read_documents, read_questions, to_json
from bears.language.tags import languages_of
from bears.layout import lineage_beside
from bears.library.index import Index
from bears.results.system import frames_of
from bears.selection.configuration import composed, files_of, made, records_of, selected
from bears.types import Document, Question

MEASURE = "ndcg@10"
SIDES = ("translated", "original")
"""In the order of a difference: the first minus the second."""


@dataclass(frozen=True)
class TextSide:
    """Questions with their documents, before or after translation; and their lineage, if any."""

    questions: Sequence[Question]
    documents: Sequence[Document]
    lineage: Path | None

    def of(self, sources: set[str]) -> "TextSide":
        """Return the questions and documents of some sources."""
        return TextSide(
            [q for q in self.questions if q.source_dataset in sources],
            [d for d in self.documents if d.original_source in sources],
            self.lineage,
        )

    @property
    def sources(self) -> set[str]:
        """Return the names of all sources."""
        names = {question.source_dataset for question in self.questions}
        return names | {document.original_source for document in self.documents}


def measure_tax(
    overrides: Sequence[str] = (),
    *,
    retriever: str = "",
    folder: Path | None = None,
    format: Literal["table", "json"] = "table",
    benchmark: str = "",
) -> None:
    """Measure what translation costs a retriever.

    Searches the same questions in the same documents before and after their translation, each side
    with the settings of its language. The difference in ndcg@10 is translated minus original, with
    a paired 95 % interval.

    Args:
        retriever: default: the one in params.yaml
        folder: a published set (queries_raw.json, corpus_raw.json, queries.json, corpus.json)
            instead of the pipeline's records
        format: default: table
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
    languages = _languages(config, before)
    values = values_by_side(before, after, languages, configured)
    result = {**_about(config, translated, after, len(values), languages), **tax_of(values)}
    print(to_json(result) if format == "json" else _table(result))


COMMAND = measure_tax


def read_sides(original: Path, translated: Path) -> tuple[TextSide, TextSide]:
    """Read both sides of a benchmark from the folders of its records.

    Raises:
        FormatError: a file is absent or malformed, or the two sides have different records.
    """
    before, after = (
        TextSide(
            read_questions(folder / f"queries{ending}"),
            read_documents(folder / f"corpus{ending}"),
            lineage_beside(translated),
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


def values_by_side(
    original: TextSide,
    translated: TextSide,
    languages: Mapping[str, str],
    composed_for: Callable[[str], Config],
) -> pd.DataFrame:
    """Return the score of each translated question with gold on both `SIDES`, and its cluster.

    On either side, the questions of one language are searched in the documents of that language.

    Args:
        languages: source to the language of its original texts, for translated sources only.
        composed_for: return the configuration for texts of a language; for "", of the translated
            texts.

    Raises:
        BearsError: no question was translated, or a part of the configuration does not fit.
    """
    found = []
    for language in sorted(set(languages.values())):
        sources = {source for source, tag in languages.items() if tag == language}
        if not any(question.source_dataset in sources for question in original.questions):
            continue
        columns: dict[Any, pd.Series[Any]] = {}
        for name, texts, tag in zip(SIDES, (translated, original), ("", language), strict=True):
            side = texts.of(sources)
            run = configured(Index, composed_for(tag))(side.documents).run(side.questions)
            evaluation = evaluate(run, gold_of(side.questions), [parse_measure(MEASURE)])
            values, kinds = frames_of(evaluation, side.questions, side.lineage)
            columns |= {**kinds, name: values[MEASURE]}
        found.append(pd.DataFrame(columns).dropna(subset=[*SIDES]))
    if not any(map(len, found)):
        raise FormatError("no question was translated, so there is nothing to compare")
    return pd.concat(found)


def tax_of(values: pd.DataFrame) -> dict[str, Any]:
    """Return ``original``, ``translated``, ``difference``, ``low`` and ``high``."""
    columns = {MEASURE: values[[*SIDES]].to_numpy()}
    pairs = pairs_of(columns, SIDES, RESAMPLES, clusters=clusters_in(values))
    (row,) = pairs.to_dict("records")
    found = {"original": row["mean_b"], "translated": row["mean_a"]}
    found |= {str(key): row[key] for key in ("difference", "low", "high")}
    return {key: plain(value) for key, value in found.items()}


def _languages(config: Config, original: TextSide) -> dict[str, str]:
    """Return each source whose texts were translated, with its original language."""
    chosen = selected(config)
    kept, target = chosen.benchmark.language, chosen.language.name
    languages = languages_of(chosen.sources, original.sources, kept, target)
    if strangers := sorted(original.sources - languages.keys()):
        raise ConfigurationError(
            f"{chosen.benchmark.name} does not know the source {strangers[0]!r:.80}, nor the "
            "language of its original texts; name the benchmark that has it: --benchmark NAME"
        )
    return {source: tag for source, tag in languages.items() if tag != target}


def _about(
    config: Config, folder: Path, after: TextSide, questions: int, languages: dict[str, str]
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
        "questions": questions,
        "documents": len({d.doc_id for d in after.of(set(languages)).documents}),
        **({"generated": str(state.generated)} if state.generated else {}),
    }


def _table(result: dict[str, Any]) -> str:
    row = [f"{result[key]:.3f}" for key in ("original", "translated")]
    row.append(f"{result['difference']:+.3f}")
    ends = [f"{end:+.3f}" for end in (result["low"], result["high"]) if end is not None]
    row.append(" to ".join(ends))
    about = {"name": result["benchmark"], **{key: result[key] for key in ("state", "questions")}}
    title = (
        f"{heading(about, result['retriever'])} over {result['documents']} documents, "
        f"{', '.join(result['original_languages'])} against {result['language']}"
    )
    title += f"\n{result['generated']}" if "generated" in result else ""
    header = ["", "original", "translated", "difference", "95 % interval"]
    return f"{title}\n\n{tabulate([[MEASURE, *row]], headers=header, disable_numparse=True)}"
