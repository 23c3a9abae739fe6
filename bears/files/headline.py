"""The dozen figures that `dvc metrics show` and `dvc metrics diff` print."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.files.records import write_json
from bears.files.shown import complain

GROUPS = ("by_type", "by_source", "by_turn")
"""The blocks of results that have means of groups of questions."""


def write_headline(
    path: Path,
    names: Mapping[str, Sequence[str]],
    retrieval: Mapping[str, Any],
    answers: Mapping[str, Any],
) -> None:
    """Write the figures for DVC as a flat mapping, after the name of the system and its benchmark.

    Args:
        path: of the file.
        names: under ``retrieval`` and ``answers`` a figure of all questions (``ndcg@10``), or of a
            group of them, which is a type, a source or ``within`` (``multi-hop.strict@10``).
            Figures that the results lack are left out, with a warning.
        retrieval: the content of metrics/retrieval.json.
        answers: the content of metrics/answers.json; empty without a generator. Values that
            people's labels correct lead.
    """
    records = retrieval["benchmark"]
    figures = {"benchmark": records["name"], "retriever": retrieval["retriever"]}
    figures |= {"n": retrieval["all"]["n"], "state": records["state"]}
    about = ("source", "decisions", "generated", "kept", "written")
    figures |= {name: records[name] for name in about if records.get(name)}
    figures |= _figures(retrieval, names["retrieval"])
    if answers:
        people = {name: one["value"] for name, one in answers.get("by_people", {}).items()}
        led = {**answers, "all": {**answers["all"], **people}}
        figures |= _figures(led, names["answers"])
    write_json(path, figures)


def _figures(results: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    figures = {}
    for name in names:
        group, _, figure = name.rpartition(".")
        means = _group(results, group)
        if figure in means:
            figures[name] = means[figure]
        else:
            complain(f"headline: {name} is not among the results; `headline` in conf/ asks for it")
    return figures


def _group(results: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if name in ("", "within"):
        means: Mapping[str, Any] = (results.get(name, {}) if name else results).get("all", {})
        return means
    return next((results[by][name] for by in GROUPS if name in results.get(by, {})), {})
