"""Guard the files of a stage, so that an output is always what its inputs made.

Inputs are checked against their manifests, and locked while they are read. Outputs get manifests,
unless an input has changed meanwhile or DVC has ended.
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
from bears.layout import CONFIG, LOCKS

PATIENCE_S = 30.0
State = dict[Path, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class StageFiles:
    """The files and folders of a stage.

    Args:
        reads: the outputs of other stages that it reads, by option.
        promised: the options of ``reads`` that have the path in dvc.yaml, and so a manifest.
        sealed: the outputs that get manifests.
        writes: everything that is written.
        watched: everything that must not change meanwhile.
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
        FormatError: an input differs from its manifest, or has none.
        StageConflict: another process works on the same files, an input has changed meanwhile, or
            DVC, which started the stage, has ended.
    """
    parent, before = os.getppid(), _states(files.watched)
    with locked_paths([*files.reads.values(), CONFIG], files.writes, stage):
        _check_unchanged(before, files.watched)
        made_from = _checked(files)
        yield
        _check_unchanged(before, files.watched)
        # A shell between DVC and this process hides that DVC has ended; then only the lock helps.
        if "DVC_STAGE" in os.environ and os.getppid() != parent:
            raise StageConflict("DVC, which started this, has ended; run it again")
        seal(files.sealed, made_from)


@contextmanager
def locked_paths(reads: Iterable[Path], writes: Iterable[Path], stage: str) -> Iterator[None]:
    """Lock what is read against writers, and what is written against everyone.

    Reading a file also locks its folder, since a folder is written as a whole. The paths need not
    exist.

    Raises:
        StageConflict: another process has held one of the locks for `PATIENCE_S`.
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
            f"{changed[0]} was changed while this ran, so its results may be of neither state; run "
            "it again"
        )


def _states(watched: Sequence[Path]) -> State:
    found: State = {}
    for top in watched:
        for path in [top, *top.rglob("*")]:
            if path.is_file() and path.parent.name != "__pycache__":
                status = path.stat()
                found[path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found
