"""Rows of the leaderboard out of revisions of the project: DVC's experiments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bears.files.benchmark_state import told_of
from bears.files.digest import digest_of
from bears.publishing.leaderboard.row import ANSWERS, MAIN, RETRIEVAL, UNSCORED, LeaderboardRow

DECIDING = (
    "sample",
    "sources",
    "ledger",
    "translator",
    "chunking",
    "retriever",
    "rewriter",
    "retrieve",
)
"""The parts of a configuration that a result depends on, beside the digest of its language."""


@dataclass(frozen=True)
class State:
    """What a revision of the project holds, each file as it was read; empty where there is none.

    Args:
        selection: params.yaml.
        config: data/config.yaml.
        results: metrics/retrieval.json.
        answers: metrics/answers.json.
    """

    selection: Mapping[str, Any]
    config: Mapping[str, Any]
    results: Mapping[str, Any]
    answers: Mapping[str, Any]


def entries(states: Iterable[State]) -> list[LeaderboardRow]:
    """The results of revisions: of the workspace first, then of the newest.

    Revisions and experiments without results (failed, queued) are passed over. Of several with
    the same key the first counts. What only a later one was asked for is taken from there, if all
    that both were asked for is equal.
    """
    found: dict[tuple[str, ...], LeaderboardRow] = {}
    for state in states:
        entry = entry_of(state)
        if entry is not None:
            found[entry.key] = _joined(found.get(entry.key, entry), entry)
    return list(found.values())


def _joined(first: LeaderboardRow, other: LeaderboardRow) -> LeaderboardRow:
    both = first.values.keys() & other.values.keys()
    if not both or any(first.values[name] != other.values[name] for name in both):
        return first
    return replace(first, values={**other.values, **first.values})


def entry_of(state: State) -> LeaderboardRow | None:
    """The row of a revision; None where it has no results."""
    config = state.config
    means, benchmark = _part(state.results, "all"), _part(state.results, "benchmark")
    retriever = _part(config, "retriever")
    if not means or not retriever or "benchmark" not in config:
        return None
    answers = _answers(config, _part(state.answers, "all"))
    values = {name: means[name] for name in RETRIEVAL if name in means} | answers.pop("values", {})
    row = {
        "benchmark": str(state.selection.get("benchmark", "")),
        "source": str(benchmark.get("source", "")),
        "state": str(benchmark.get("state", "")),
        "system": str(retriever.get("name", "")),
        "configuration": configuration_digest(config),
        "origin": "experiment",
        "vector_store": _store(retriever),
        "chunking": str(_part(config, "chunking").get("name", "")),
        "questions": means.get("n"),
        "documents": benchmark.get("documents"),
        "generated": told_of(benchmark),
        "answered": means.get("answered"),
        "audited": _part(state.results, "audited").get(_part(config, "evaluate").get("main", MAIN)),
        "values": values,
        **answers,
    }
    try:
        return TypeAdapter(LeaderboardRow).validate_python(row)
    except ValidationError:
        return None  # Of a commit whose files somebody changed by hand.


def _answers(config: Mapping[str, Any], means: Mapping[str, Any]) -> dict[str, Any]:
    """What the row of a configuration says of its answers; nothing where there are none."""
    if not means:
        return {}
    decided = {key: config.get(key) for key in ("generator", "judge")}
    judge = str(_part(config, "judge").get("name", "none"))
    return {
        "generator": str(_part(config, "generator").get("name", "")),
        "judge": "" if judge == "none" else judge,
        "answers": digest_of(decided)[:12],
        "values": {name: means[name] for name in ANSWERS if name in means},
        "warnings": UNSCORED if means.get("unscored") else "",
    }


def _store(retriever: Mapping[str, Any]) -> str:
    """The vector store of a retriever, or of one that it is made of."""
    store = retriever.get("vector_store")
    if isinstance(store, dict):
        return str(store.get("name", ""))
    parts = (_store(part) for part in retriever.values() if isinstance(part, dict))
    return next(filter(None, parts), "")


def configuration_digest(config: Mapping[str, Any]) -> str:
    """Twelve hexadecimal digits over the settings that a result depends on.

    The engine is not one of them: it says where vectors are made, not which.
    """
    return digest_of(decided(config))[:12]


def decided(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that `configuration_digest` is over."""
    settings = {key: _without_engine(config.get(key)) for key in DECIDING}
    if _part(config, "rewriter").get("name", "none") != "none":
        settings["rewriter"] = config["rewriter"]
    return {**settings, "digest": {"language": _part(config, "digest").get("language")}}


def _without_engine(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_engine(part) for key, part in value.items() if key != "engine"}


def _part(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}
