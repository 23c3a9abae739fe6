"""What stands around a stage's work, so that an output is what its inputs made.

Inputs are held against their manifests, and against writers while they are read; outputs get
manifests, unless an input changed meanwhile or DVC is gone.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bears.config.locks import locked
from bears.errors import FormatError, StageConflict
from bears.files.known_digests import KnownDigests
from bears.files.manifest import check, seal

CONFIG = Path("data/config.yaml")
LOCKS, DIGESTS = Path(".bears/locks"), Path(".bears/digests.json")
State = dict[Path, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class StageFiles:
    """Where a stage's data and code lie.

    Args:
        reads: option to the artefact of another stage.
        promised: those options of ``reads`` whose paths are dvc.yaml's own: they have manifests.
        sealed: the outputs that get manifests.
        writes: all files and folders that are written.
        watched: all files and folders that must not change meanwhile.
    """

    reads: Mapping[str, Path]
    promised: Collection[str]
    sealed: Sequence[Path]
    writes: Sequence[Path]
    watched: Sequence[Path]


@contextmanager
def guarded(stage: str, files: StageFiles, checkout: Path) -> Iterator[None]:
    """Check the inputs, let the stage work, and seal its outputs.

    Args:
        stage: its name.
        files: what it reads and writes.
        checkout: the user's, which remembers the digests of large files.

    Raises:
        FormatError: an input is not what its manifest says, or has none.
        StageConflict: another process works on the same files, an input has changed meanwhile, or
            DVC, which started the stage, has ended.
    """
    parent, before = os.getppid(), _states(files.watched)
    digest = KnownDigests(checkout / DIGESTS)
    with locked([*files.reads.values(), CONFIG], files.writes, LOCKS, stage):
        _check_unchanged(before, files.watched)
        made_from = _checked(files, digest)
        yield
        _check_unchanged(before, files.watched)
        # A shell in between ends with DVC as little as this does; then the lock alone protects.
        if "DVC_STAGE" in os.environ and os.getppid() != parent:
            raise StageConflict("DVC, which started this, has ended; run it again")
        seal(files.sealed, made_from, digest)


def _checked(files: StageFiles, digest: KnownDigests) -> dict[str, str]:
    """The digests of the inputs that have a manifest, by their options."""
    found = {}
    for option, path in files.reads.items():
        try:
            sha256 = check(path, digest, option in files.promised)
        except FormatError as error:
            raise FormatError(f"--{option}: {error}") from None
        if sha256 is not None:
            found[option] = sha256
    return found


def _check_unchanged(before: State, watched: Sequence[Path]) -> None:
    after = _states(watched)
    if changed := sorted(path for path in before | after if before.get(path) != after.get(path)):
        raise StageConflict(
            f"{changed[0]} was changed while this ran"
            + (f", and {len(changed) - 1} more files" if changed[1:] else "")
            + ", so its results may be of neither state; run it again"
        )


def _states(watched: Sequence[Path]) -> State:
    found: State = {}
    for top in watched:
        for path in [top, *top.rglob("*")]:
            if path.is_file() and path.parent.name != "__pycache__":
                status = path.stat()
                found[path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found
