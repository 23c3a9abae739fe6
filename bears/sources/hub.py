"""Find the tables of a source on the hub by its shape, at a commit that is written down."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from bears.config.shape import Part, Source
from bears.errors import SourceError
from bears.files.intake.hub import commit_of, configs_of, exists, files_of, splits_of
from bears.sources.first_fetch import first_seen
from bears.sources.source import layout_of, same_split


def found_on_hub(source: Source, record: Path) -> Source:
    """Return ``source`` with a commit and a part for each of its tables.

    Args:
        source: one with a shape and a hub.
        record: the folder with the record of what was first resolved.

    Raises:
        SourceError, FormatError: the hub does not answer, or does not have what the shape needs.
    """
    source = replace(source, revision=source.revision or _commit(source.hub, record))
    if source.files or set(source.parts) >= set(layout_of(source) or {"rows"}):
        return source
    configs = configs_of(source.hub, source.revision)
    if layout_of(source):
        parts = _of_benchmark(source, configs, record)
    elif configs:
        config = _one(source, "config", source.config, configs)
        parts = {"rows": _table(source, source.hub, source.revision, config, (source.split,))}
    else:
        raise SourceError(
            f"source {source.name}: {source.hub} has a loading script, which is not run. Give "
            f"its files that hold rows: sources.{source.name}.files=[data/dev.json]; the hub "
            "may have parquet files of it on its branch refs/convert/parquet"
        )
    return replace(source, parts={**parts, **source.parts})


def _commit(hub: str, record: Path) -> str:
    return first_seen(record, hub, lambda: commit_of(hub))


def _table(source: Source, hub: str, revision: str, config: str, wanted: Sequence[str]) -> Part:
    """Return the table of the first of the splits that there is."""
    splits = splits_of(hub, revision, config)
    there = [name for split in wanted for name in same_split(split) if name in splits]
    # A corpus has all splits in one, which may have any name.
    asked = source.split if len(wanted) == 1 else ""
    split = there[0] if there else _one(source, "split", asked, splits, hub)
    return Part(hub=hub, revision=revision, config=config, split=split)


def _of_benchmark(source: Source, configs: Sequence[str], record: Path) -> dict[str, Part]:
    """Return the tables of a benchmark: configurations, or else files of BEIR's layout.

    BEIR has the judgements in another dataset, which is called ``NAME-qrels``.
    """
    hub, revision, beside = source.hub, source.revision, f"{source.hub}-qrels"
    tables = {name: _named(name, source.config, configs) for name in layout_of(source)}
    tables["qrels"] = tables["qrels"] or _named("default", source.config, configs)
    parts: dict[str, Part] = {}
    if tables["corpus"] and tables["queries"]:
        for name, config in tables.items():
            wanted = (source.split,) if name == "qrels" else (source.split, name)
            if config:
                parts[name] = _table(source, hub, revision, config, wanted)
            elif exists(beside):
                revision = _commit(beside, record)
                config = _one(source, "config", source.config, configs_of(beside, revision), beside)
                parts[name] = _table(source, beside, revision, config, wanted)
    else:
        paths = files_of(hub, revision)
        for name, part in layout_of(source).items():
            if any(fnmatchcase(path, pattern) for path in paths for pattern in part.files):
                parts[name] = Part(part.files, hub, revision)
            elif name == "qrels" and exists(beside):
                parts[name] = Part(part.files, beside, _commit(beside, record))
    if missing := [name for name in layout_of(source) if name not in parts]:
        raise SourceError(
            f"source {source.name}: {hub} has no {' and no '.join(missing)}. Its configurations "
            f"are {', '.join(configs) or 'none'}, its files "
            f"{', '.join(files_of(hub, source.revision)[:30])}. If they have other names, give "
            f"sources.{source.name}.config=PREFIX or .parts"
        )
    return parts


def _named(table: str, prefix: str, configs: Sequence[str]) -> str:
    """Return the configuration of a table; MTEB calls those of one language ``de-corpus``."""
    names = [f"{prefix}-{table}", f"{table}-{prefix}", f"{prefix}_{table}"] if prefix else [table]
    return next((name for name in names if name in configs), "")


def _one(source: Source, key: str, wanted: str, names: Collection[str], hub: str = "") -> str:
    """Return the name that is wanted, or the only one there is."""
    if not wanted and len(names) == 1:
        return next(iter(names))
    if found := [name for name in same_split(wanted) if name in names]:
        return found[0]
    raise SourceError(
        f"source {source.name}: its {key} is {wanted!r}; {hub or source.hub} has "
        f"{', '.join(names) or 'none'}. Choose: {key}=NAME, "
        f"as an override sources.{source.name}.{key}=NAME"
    )
