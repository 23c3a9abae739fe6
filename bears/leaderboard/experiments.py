"""Rows of the leaderboard out of DVC's experiments."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bears.formats.digest import digest_of
from bears.leaderboard.row import ANSWERS, RETRIEVAL, UNSCORED, LeaderboardRow

CONFIG = "data/config.yaml"
RESULTS, ANSWERED = "metrics/retrieval.json", "metrics/answers.json"

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


def entries(shown: Any) -> list[LeaderboardRow]:
    """The results among what ``dvc exp show --json`` prints.

    Revisions and experiments without results (failed, queued) are passed over. Of several with
    the same key the first counts: the workspace, then the newest. What only a later one was asked
    for is taken from there, if all that both were asked for is equal.
    """
    found: dict[tuple[str, ...], LeaderboardRow] = {}
    for state in _states(shown):
        entry = _entry(state)
        if entry is not None:
            found[entry.key] = _joined(found.get(entry.key, entry), entry)
    return list(found.values())


def _joined(first: LeaderboardRow, other: LeaderboardRow) -> LeaderboardRow:
    both = first.values.keys() & other.values.keys()
    if not both or any(first.values[name] != other.values[name] for name in both):
        return first
    return replace(first, values={**other.values, **first.values})


def workspace(shown: Any) -> LeaderboardRow | None:
    """The result in the workspace, if there is one."""
    first = next(_parts(shown), {})
    return _entry(_part(first, "data")) if first.get("rev") == "workspace" else None


def _states(shown: Any) -> Iterator[Mapping[str, Any]]:
    for revision in _parts(shown):
        yield _part(revision, "data")
        for experiment in _parts(revision.get("experiments")):
            for state in _parts(experiment.get("revs")):
                yield _part(state, "data")


def _entry(state: Mapping[str, Any]) -> LeaderboardRow | None:
    config = _content(state, "params", CONFIG)
    results = _content(state, "metrics", RESULTS)
    means, benchmark = _part(results, "all"), _part(results, "benchmark")
    retriever = _part(config, "retriever")
    if not means or not retriever or "benchmark" not in config:
        return None
    answers = _answers(config, _part(_content(state, "metrics", ANSWERED), "all"))
    values = {name: means[name] for name in RETRIEVAL if name in means} | answers.pop("values", {})
    row = {
        "benchmark": str(_content(state, "params", "params.yaml").get("benchmark", "")),
        "source": str(benchmark.get("source", "")),
        "state": str(benchmark.get("state", "")),
        "system": str(retriever.get("name", "")),
        "configuration": configuration_digest(config),
        "origin": "experiment",
        "vector_store": _store(retriever),
        "chunking": str(_part(config, "chunking").get("name", "")),
        "questions": means.get("n"),
        "documents": benchmark.get("documents"),
        "answered": means.get("answered"),
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


def _content(state: Mapping[str, Any], kind: str, file: str) -> Mapping[str, Any]:
    return _part(_part(_part(state, kind), file), "data")


def _parts(value: Any) -> Iterator[Mapping[str, Any]]:
    return (part for part in (value if isinstance(value, list) else []) if isinstance(part, dict))


def _part(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}
