"""Find the files of a source: on the hub at a pinned commit, in ir_datasets, a mirror or a folder.

A commit's hash does not bind what the hub serves for its files. So the digest of what came first is
recorded, outside of git and DVC, and everything later is compared with it.

The package ir_datasets downloads its sets at first use into a folder of its own:
``IR_DATASETS_HOME`` in the environment, or ~/.ir_datasets.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from typing import Any

from bears.config.shape import Part, Source
from bears.errors import SourceError
from bears.files.intake.files import read_whole
from bears.files.intake.hub import commit_of, configs_of, exists, fetched, files_of, splits_of
from bears.files.lock import locked_folder
from bears.files.records import json_as, sha256_of, write_json, write_lines
from bears.layout import FETCHED, LOCAL
from bears.sources.rows import SUFFIXES
from bears.sources.source import layout_of, on_hub, same_split

TABLES = {"docs": "corpus", "queries": "queries", "qrels": "qrels"}
"""What a dataset has, to BEIR's word for it."""
RECORD = FETCHED.name


def dataset_of(name: str) -> Any:
    """Return a dataset with documents, queries and judgements; nothing is downloaded.

    Raises:
        SourceError: the package is missing, or has no such dataset, or the dataset lacks a part.
    """
    try:
        # Only this source needs it.
        import ir_datasets

        dataset = ir_datasets.load(name)
    except ImportError:
        needed = "pip install 'bears-bench[ir-datasets]'"
        raise SourceError(f"{name} is a dataset of ir_datasets; to read it: {needed}") from None
    except KeyError:
        raise SourceError(f"ir_datasets has no {name!r:.80}; see `ir_datasets list`") from None
    if missing := [part for part in TABLES if not dataset.has(part)]:
        raise SourceError(
            f"{name} has no {' and no '.join(missing)}; choose a dataset that has all"
        )
    return dataset


def write_tables(name: str, folder: Path) -> Path:
    """Write a dataset in BEIR's layout, row by row, and return its folder within ``folder``.

    The text of a document or query is the one that ir_datasets calls its default.

    Raises:
        SourceError: as `dataset_of` does; or it cannot be downloaded or read.
    """
    dataset = dataset_of(name)
    place = folder / "ir_datasets" / re.sub(r"\W+", "-", name)
    try:
        for part, table in TABLES.items():
            write_lines(place / f"{table}.jsonl", map(_row, getattr(dataset, f"{part}_iter")()))
    except Exception as error:
        # It documents no errors.
        raise SourceError(f"{name} of ir_datasets cannot be read ({error!r:.200})") from None
    return place


def _row(record: Any) -> dict[str, Any]:
    if hasattr(record, "relevance"):
        return {"query-id": record.query_id, "corpus-id": record.doc_id, "score": record.relevance}
    # The id is the first field of a document and of a query.
    return {"_id": record[0], "text": record.default_text()}


def check_file(source: Source, path: Path, record: Path, address: str = "") -> None:
    """Compare the digest of a file with that of conf, or else with what came first.

    Args:
        source: its ``sha256`` goes before what came first.
        path: the file. If it is from the hub and wrong, it is removed.
        record: the folder of the record, an object of addresses and digests.
        address: on the hub, ``owner/name@revision/path``; empty: it is not from there.

    Raises:
        SourceError: the digest differs.
        FormatError: the record is damaged.
    """
    found, pin = sha256_of(path), source.pin_of(path)
    trust, became = "", "left where it is"
    if pin or not address:
        expected, known = source.sha256.get(pin, found), "conf says"
    else:
        expected, known = first_seen(record, address, lambda: found), "it had when first fetched"
        trust = f" To trust what is there now, remove its line from {record / RECORD}."
    if found == expected:
        return
    if address:
        # The file that its link in the hub's cache points to, too.
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        became = "removed, so that the next run fetches it again"
    raise SourceError(
        f"source {source.name}: {address or pin} has sha256 {found}, expected {expected}, as "
        f"{known}: the copy here was damaged, or the original has changed.{trust} The file is "
        f"{became}"
    )


def first_seen(folder: Path, address: str, look: Callable[[], str]) -> str:
    """Return the commit or digest that was first seen at an address, which ``look`` gives if new.

    Raises:
        FormatError: the record is damaged; or ``look`` raises it.
    """
    record = folder / RECORD
    with locked_folder(record):
        damaged = f"{record} is damaged; remove it, and what the hub gives next is trusted"
        content = read_whole(record) if record.exists() else "{}"
        known = json_as(dict[str, str], content, damaged)
        if address not in known:
            known[address] = look()
            write_json(record, dict(sorted(known.items())))
    return known[address]


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


def locate(
    source: Source,
    mirror: Path | None,
    root: Path,
    record: Path = LOCAL,
    first_only: Collection[str] = (),
) -> dict[str, list[Path]]:
    """Return the local files of every part, fetched from the hub if needed, each digest checked.

    Args:
        source: what to find; its ``path`` is a file, or the folder of its parts.
        mirror: a folder that replaces the hub. It holds ``<source>.json``, ``.jsonl`` or
            ``.parquet``, or for a source of parts a folder of its name; None for the hub itself.
        root: what a relative ``path`` is relative to.
        record: the folder with the record of first fetches.
        first_only: parts of which the hub's first file is enough.

    Raises:
        SourceError: a file is absent, or has another digest than expected.
        FormatError: it cannot be fetched.
    """
    local = None
    if source.path:
        local = root / Path(source.path).expanduser()
    elif mirror is not None:
        local = mirror / source.name if layout_of(source) else _in_mirror(source, mirror)
    if local is None:
        parts = on_hub(source) if source.hub else layout_of(source)
        found = {
            name: _on_hub(source, name, part, record, name in first_only)
            for name, part in parts.items()
        }
    elif layout := layout_of(source):
        found = {name: _local(source, name, part, local) for name, part in layout.items()}
    else:
        found = {"rows": _tables(source, local)}
    files = list(chain.from_iterable(found.values()))
    # A mirror's files may have other names than the hub's.
    if local is None or (source.path and not source.hub):
        names = [source.pin_of(path) or path.name for path in files]
        if unknown := sorted(set(source.sha256) - set(names)):
            raise SourceError(
                f"source {source.name}: sha256 names {', '.join(unknown)}, but the files are "
                f"{', '.join(names)}; a digest under another name would check nothing"
            )
    for path in files if local else ():
        if source.pin_of(path):
            check_file(source, path, record)
    return found


def _tables(source: Source, path: Path) -> list[Path]:
    """Return the file that a source is, or those files of a folder whose paths name its split."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise SourceError(f"source {source.name}: {path} does not exist")
    there = sorted(p for p in path.rglob("*") if p.is_file() and p.name.endswith(SUFFIXES))
    words = "|".join(re.escape(name) for name in same_split(source.split))
    split = re.compile(rf"(?<![a-z])({words})(?![a-z])", re.I)
    found = [p for p in there if not source.split or split.search(str(p.relative_to(path)))]
    if not found:
        raise SourceError(
            f"source {source.name}: {path} has no file that ends with {', '.join(SUFFIXES)}"
            + (f" and is called after the split {source.split!r}" if source.split else "")
            + f"; there: {_listed(str(p.relative_to(path)) for p in there)}"
        )
    return found


def _in_mirror(source: Source, mirror: Path) -> Path:
    names = [f"{source.name}{suffix}" for suffix in SUFFIXES] + [source.name]
    found = [mirror / name for name in names if (mirror / name).exists()]
    if len(found) != 1:
        there = (path.name for path in sorted(mirror.glob("*")))
        raise SourceError(
            f"source {source.name}: expected exactly one of {', '.join(names)} in the mirror "
            f"{mirror}, found {_listed(path.name for path in found)}; there: {_listed(there)}"
        )
    return found[0]


def _local(source: Source, name: str, part: Part, folder: Path) -> list[Path]:
    if folder.is_file() and len(layout_of(source)) == 1:
        return [folder]
    if not folder.is_dir():
        raise SourceError(
            f"source {source.name}: {folder} is not a folder; it should hold {_held(part)}. Put "
            f"it there, or name another: sources.{source.name}.path=FOLDER"
        )
    for pattern in part.files:
        if pattern == ".":
            return [folder]
        absolute = Path(pattern).is_absolute()
        matches = [Path(pattern)] if absolute else sorted(folder.glob(pattern))
        if files := [path for path in matches if path.is_file()]:
            return files
    there = sorted(str(p.relative_to(folder)) for p in [*folder.glob("*"), *folder.glob("*/*")])
    raise _no_match(source, name, part, str(folder), there)


def _held(part: Part) -> str:
    return "the documents" if "." in part.files else " or ".join(part.files)


def _on_hub(source: Source, name: str, part: Part, record: Path, first_only: bool) -> list[Path]:
    if not part.hub:
        raise SourceError(
            f"source {source.name} has neither hub nor path. Give the folder of its files as an "
            f"override, sources.{source.name}.path=FOLDER, or put a folder {source.name} into a "
            f"folder FOLDER and take -S mirror=FOLDER; it should hold {_held(part)}"
        )
    files = list(part.files)
    if not files:
        files = splits_of(part.hub, part.revision, part.config)[part.split]
        files = files[:1] if first_only or source.limit else files
    folder, there = fetched(part.hub, part.revision, files)
    matches = [[path for path in there if fnmatchcase(path, pattern)] for pattern in files]
    # The first pattern that matches, but every file of a split.
    chosen = next(filter(None, matches), []) if part.files else [*chain.from_iterable(matches)]
    if not chosen:
        raise _no_match(source, name, part, f"{part.hub} at {part.revision}", there)
    for path in chosen:
        check_file(source, folder / path, record, f"{part.hub}@{part.revision}/{path}")
    return [folder / path for path in chosen]


def _no_match(
    source: Source, name: str, part: Part, where: str, there: Sequence[str]
) -> SourceError:
    named = source.split and any(source.split in pattern for pattern in part.files)
    key = f"split=NAME, as an override sources.{source.name}.split=NAME"
    return SourceError(
        f"source {source.name}, part {name}: no file matches {' or '.join(part.files)} in {where}; "
        f"there: {_listed(there)}" + (f". Choose: {key}" if named else "")
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(islice(names, 30)) or "nothing"
