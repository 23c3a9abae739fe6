"""What surrounds the work of a stage, so that an output is what its inputs made.

Inputs are checked against their manifests, and locked while they are read. Outputs get manifests,
unless an input changed meanwhile or DVC is gone.
"""

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bears.errors import FormatError, StageConflict
from bears.files.lock import locked
from bears.files.manifest import check, seal

CONFIG = Path("data/config.yaml")
LOCKS = Path(".bears/locks")
PATIENCE_S = 30.0
State = dict[Path, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class StageFiles:
    """Where a stage's data and code are.

    Args:
        reads: option to the output of another stage.
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
def guarded(stage: str, files: StageFiles) -> Iterator[None]:
    """Check the inputs, let the stage work, and seal its outputs.

    Raises:
        FormatError: an input is not what its manifest says, or has none.
        StageConflict: another process works on the same files, an input has changed meanwhile, or
            DVC, which started the stage, has ended.
    """
    parent, before = os.getppid(), _states(files.watched)
    with locked_paths([*files.reads.values(), CONFIG], files.writes, stage):
        _check_unchanged(before, files.watched)
        made_from = _checked(files)
        yield
        _check_unchanged(before, files.watched)
        # A shell in between ends with DVC as little as this does; then the lock alone protects.
        if "DVC_STAGE" in os.environ and os.getppid() != parent:
            raise StageConflict("DVC, which started this, has ended; run it again")
        seal(files.sealed, made_from)


@contextmanager
def locked_paths(reads: Iterable[Path], writes: Iterable[Path], stage: str) -> Iterator[None]:
    """Keep what is read from writers, and what is written from everybody.

    A file's reader also locks its folder, since a folder is written as a whole. The paths need not
    exist.

    Raises:
        StageConflict: another process has held one of them for `PATIENCE_S`.
    """
    written = {path.resolve() for path in writes}
    read = {place for path in reads for place in (path.resolve(), path.resolve().parent)}
    LOCKS.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for path in sorted(read | written):
            place = LOCKS / hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
            shared = path not in written
            held.enter_context(locked(place, str(path), stage, shared, PATIENCE_S))
        yield


def _checked(files: StageFiles) -> dict[str, str]:
    """Return the digests of the inputs that have a manifest, by their options."""
    found = {}
    for option, path in files.reads.items():
        try:
            sha256 = check(path, option in files.promised)
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
