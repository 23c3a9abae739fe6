"""What a source streams from the hub: found by its shape, at a commit that is written down."""

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from bears.errors import FormatError, SourceError
from bears.files.intake.hub_rows import commit_of, configs_of, exists, files_of, splits_of
from bears.sources.first_fetch import first_seen
from bears.sources.source import Part, Source, same_split

CONVERTED = "refs/convert/parquet"
"""The branch to which the hub converts what only a script could read."""


def found_on_hub(source: Source, kept: Path) -> Source:
    """``source`` with a commit and a part for each of its tables.

    Args:
        source: one with a shape and a hub.
        kept: the folder with the record of what was first resolved.

    Raises:
        SourceError, FormatError: the hub does not answer, or does not have what the shape needs.
    """
    revision = source.revision or _commit(source.hub, kept)
    source = replace(source, revision=revision)
    if source.files or set(source.parts) >= set(source.layout or {"rows"}):
        return source
    parts = _of_benchmark(source, kept) if source.layout else {"rows": _alone(source, kept)}
    return replace(source, parts={**parts, **source.parts})


def _commit(hub: str, kept: Path) -> str:
    return first_seen(kept, hub, lambda: commit_of(hub))


def _alone(source: Source, kept: Path) -> Part:
    configs = configs_of(source.hub, source.revision)
    if not configs:
        return _converted(source, kept)
    config = _one(source, "config", source.config, configs)
    splits = splits_of(source.hub, source.revision, config)
    split = _one(source, "split", source.split, splits)
    return Part(hub=source.hub, revision=source.revision, config=config, split=split)


def _converted(source: Source, kept: Path) -> Part:
    """The hub's own conversion of a dataset of which only a script knows how it is read."""
    address = f"{source.hub}@{CONVERTED}"
    try:
        revision = first_seen(kept, address, lambda: commit_of(source.hub, CONVERTED))
        paths = [path for path in files_of(source.hub, revision) if path.endswith(".parquet")]
    except FormatError:
        paths = []
    folders = sorted({path.rpartition("/")[0] for path in paths})
    if not folders:
        raise SourceError(
            f"source {source.name}: {source.hub} has a loading script, which is not run, and no "
            "data that can be read without. Give those of its files that hold rows: "
            f"sources.{source.name}.files=[data/dev.json]"
        )
    config = _one(source, "config", source.config, sorted({f.split("/")[0] for f in folders}))
    splits = [folder.partition("/")[2] for folder in folders if folder.startswith(f"{config}/")]
    split = _one(source, "split", source.split, splits)
    return Part((f"{config}/{split}/*.parquet",), source.hub, revision)


def _of_benchmark(source: Source, kept: Path) -> dict[str, Part]:
    configs = configs_of(source.hub, source.revision)
    tables = {name: _named(name, source.config, configs) for name in ("corpus", "queries")}
    if not all(tables.values()):
        return _as_files(source, configs, kept)
    parts = {
        name: Part(
            hub=source.hub,
            revision=source.revision,
            config=config,
            split=_split(source, source.hub, source.revision, config, (source.split, name)),
        )
        for name, config in tables.items()
    }
    return parts | {"qrels": _qrels(source, configs, kept)}


def _qrels(source: Source, configs: Sequence[str], kept: Path) -> Part:
    """The judgements: beside the corpus, or in the dataset that BEIR calls ``NAME-qrels``."""
    hub, revision = source.hub, source.revision
    config = _named("qrels", source.config, configs) or _named("default", source.config, configs)
    if not config:
        hub = f"{source.hub}-qrels"
        if not exists(hub):
            raise SourceError(
                f"source {source.name}: {source.hub} has the configurations {', '.join(configs)}; "
                f"none is called qrels or default, and there is no dataset {hub}"
            )
        revision = _commit(hub, kept)
        config = _one(source, "config", source.config, configs_of(hub, revision), hub)
    splits = splits_of(hub, revision, config)
    return Part(
        hub=hub,
        revision=revision,
        config=config,
        split=_one(source, "split", source.split, splits, hub),
    )


def _as_files(source: Source, configs: Sequence[str], kept: Path) -> dict[str, Part]:
    """A dataset that has the files of BEIR's layout, and nothing that says what they are."""
    paths = files_of(source.hub, source.revision)
    parts = {}
    for name, part in source.layout.items():
        hub, revision = source.hub, source.revision
        if not any(fnmatchcase(path, each) for path in paths for each in part.files):
            hub = f"{source.hub}-qrels"
            if name != "qrels" or not exists(hub):
                raise SourceError(
                    f"source {source.name}: no {name} in {source.hub}: its configurations are "
                    f"{', '.join(configs) or 'none'}, its files {', '.join(paths[:30])}; where "
                    f"they are called otherwise give sources.{source.name}.config=PREFIX or .parts"
                )
            revision = _commit(hub, kept)
        parts[name] = Part(part.files, hub, revision)
    return parts


def _named(table: str, prefix: str, configs: Sequence[str]) -> str:
    """The configuration of a table; MTEB's with several languages are called ``de-corpus``."""
    names = [f"{prefix}-{table}", f"{table}-{prefix}", f"{prefix}_{table}"] if prefix else [table]
    return next((name for name in names if name in configs), "")


def _split(source: Source, hub: str, revision: str, config: str, wanted: Sequence[str]) -> str:
    splits = splits_of(hub, revision, config)
    found = [name for each in wanted for name in same_split(each) if name in splits]
    return found[0] if found else _one(source, "split", "", splits, hub)


def _one(source: Source, key: str, wanted: str, names: Sequence[str], hub: str = "") -> str:
    """The name that is wanted, or the only one there is."""
    if not wanted and len(names) == 1:
        return names[0]
    if found := [name for name in same_split(wanted) if name in names]:
        return found[0]
    raise SourceError(
        f"source {source.name}: its {key} is {wanted!r}; {hub or source.hub} has "
        f"{', '.join(names) or 'none'}. Choose: {key}=NAME, "
        f"as an override sources.{source.name}.{key}=NAME"
    )
