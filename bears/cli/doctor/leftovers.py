"""What killed runs left: processes that nobody waits for, and files that are not whole."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bears.cli.doctor.finding import Finding, size_of
from bears.cli.doctor.objects import cache_folder
from bears.cli.doctor.processes import at_work, holder, runs, words_of

BEARS = Path(".bears")


def orphans(root: Path) -> Iterator[Finding]:
    """Stages that DVC began and that go on without it: the next run would meet their outputs."""
    import psutil

    for process in at_work(root):
        words = words_of(process)
        stage = next((word for word in words if word.startswith("stages.")), "")
        try:
            begun_by_dvc = "DVC_ROOT" in process.environ()
            alone = not any(runs(parent, "dvc") for parent in process.parents())
        except (psutil.Error, OSError):
            continue
        if stage and "-m" in words and begun_by_dvc and alone:
            what = f"process {process.pid} runs {stage} here, but the dvc that began it is gone"
            yield Finding(what, f"kill {process.pid}")


def scratch(root: Path) -> Iterator[Finding]:
    """Temporary files beside outputs and in DVC's cache, and unpacked points of searches."""
    found = [
        path
        for name in ("data", "metrics", "conf", ".bears", str(cache_folder(root)))
        for path in (root / name).rglob(".*.tmp")
    ]
    points = Path(tempfile.gettempdir()).glob("bears-points-*")
    found += [path for path in points if path.stat().st_uid == os.getuid()]
    for path in sorted(found):
        shown = path.relative_to(root) if path.is_relative_to(root) else path
        if who := holder(path):
            yield Finding(f"{shown} ({size_of(path)}) is being written or read by {who}")
        else:
            yield Finding(
                f"{shown} ({size_of(path)}) was left by a run that was killed",
                f"rm -r {shlex.quote(str(shown))}",
            )
    for folder in sorted((root / BEARS / "index" / "vectors").glob("*")):
        who = holder(folder) or "kept vectors of a model, removed after a month without use"
        yield Finding(f"{folder.relative_to(root)} ({size_of(folder)}): {who}")
