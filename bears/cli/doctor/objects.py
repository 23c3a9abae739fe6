"""The content of DVC's cache and of the outputs, checked against their digests.

DVC trusts the name of a cached file, and an output with unchanged size and time, so it does not
notice a flipped bit.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from operator import itemgetter
from pathlib import Path
from typing import Any

from bears.config import read_mapping
from bears.errors import FormatError
from bears.files.manifest import check as check_manifest
from bears.files.progress import Progress
from bears.results.revision import cache_folder


@dataclass(frozen=True)
class Damage:
    """Something that is wrong with a checkout.

    Args:
        what: one sentence that names the file or process.
        fix: a command for the checkout's root that fixes it.
    """

    what: str
    fix: str


Files = dict[str, Path]
"""md5 in hexadecimal to a file with that digest."""


def check(root: Path) -> Iterator[Damage]:
    """Check every object of the cache, and every output in the workspace."""
    damaged = _damaged(cache_folder(root) / "files" / "md5")
    wrong = []
    for stage, path, digest in _outputs(root):
        found, files = _present(root / path)
        if found and found != digest:
            what = f"{path} is not what {stage} made according to dvc.lock"
            wrong.append(Damage(what, _again(root, stage)))
        elif digest in damaged and (digest.endswith(".dir") or not found):
            what = f"in DVC's cache, {path} of {stage} is damaged"
            wrong.append(Damage(what, _again(root, stage, damaged.pop(digest))))
        elif found and (problem := _unsealed(root / path)):
            wrong.append(Damage(problem, _again(root, stage)))
        for name in files.keys() & damaged.keys():
            whole, object_ = files[name].relative_to(root), damaged.pop(name)
            what = f"in DVC's cache, {whole} of {stage} is damaged; the workspace has it intact"
            yield Damage(what, f"install -m 444 {_quoted(whole)} {_quoted(object_)}")
    for object_ in damaged.values():
        what = f"{object_} in DVC's cache is damaged, and there is no other copy here"
        yield Damage(what, f"rm -f {_quoted(object_)}")
    # Last, so that a new output does not meet a damaged object with its name.
    yield from wrong


def _again(root: Path, stage: str, *objects: Path) -> str:
    """Return the command that remakes an output and what depends on it.

    The run cache goes too: it may hold outputs of damaged files under the digests of intact ones.
    Deleting it only costs time.
    """
    lost = " ".join(map(_quoted, [*objects, cache_folder(root) / "runs"]))
    return f"rm -rf {lost} && dvc repro --force --downstream {stage}"


def _unsealed(path: Path) -> str:
    """Return why an output's own manifest refuses it, if it was damaged before DVC saw it."""
    try:
        check_manifest(path)
    except FormatError as error:
        return str(error).split(". ")[0]
    return ""


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _damaged(objects: Path) -> Files:
    """Return the objects whose content does not match their name."""
    named = {
        path.parent.name + path.name: path
        for path in sorted(objects.glob("??/*"))
        if path.is_file()
    }
    return {
        name: path
        for name, path in Progress(named.items(), "DVC's cache", unit=" files")
        if re.fullmatch(r"[0-9a-f]{32}(\.dir)?", name) and _md5(path) != name[:32]
    }


def _outputs(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield stage, path and digest of every output in dvc.lock."""
    stages: dict[str, Any] = read_mapping(root / "dvc.lock").get("stages", {})
    for stage, known in stages.items():
        for out in known.get("outs", []):
            yield stage, out["path"], out["md5"]


def _present(path: Path) -> tuple[str, Files]:
    """Return an output's digest as DVC computes it, "" if absent, and its files by theirs."""
    if not path.is_dir():
        digest = _md5(path) if path.is_file() else ""
        return digest, {digest: path} if digest else {}
    files = [
        file for file in path.rglob("*") if file.is_file() and not fnmatch(file.name, ".*.tmp")
    ]
    entries = [{"md5": _md5(file), "relpath": file.relative_to(path).as_posix()} for file in files]
    entries.sort(key=itemgetter("relpath"))
    written = json.dumps(entries, sort_keys=True).encode()
    digest = f"{hashlib.md5(written, usedforsecurity=False).hexdigest()}.dir"
    return digest, {entry["md5"]: path / entry["relpath"] for entry in entries}


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()
