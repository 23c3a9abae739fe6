"""Count which stages run again after each of the last commits that touch code.

The digests are those of today's `bears.config.code`, over the code of each commit and of its
parent, with the choices that are in data/config.yaml now.

    python -m benchmarks.staleness [COMMIT [NUMBER]]
"""

import io
import sys
import tarfile
from collections import Counter
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

from bears.config import read_mapping
from bears.config.code import Modules, code_digests
from bears.config.pipeline import configuration_of_stages
from bears.layout import CONFIG, LANGUAGE

CODE = ("bears", "stages")
LIBRARY = Path("bears", "__init__.py")
"""Today's, since an earlier one names the library in a way that counts now."""


def main(last: str, number: int) -> None:
    """Print the stages that each commit makes stale, and how many commits touch how many stages."""
    config = {**read_mapping(CONFIG, "compose it"), "language": read_mapping(LANGUAGE)}
    chosen = configuration_of_stages(config)
    listed = _git("log", f"-{number}", "--no-merges", "--format=%h %p %s", last, "--", *CODE)
    counts = Counter[int]()
    for line in listed.decode().splitlines():
        commit, parent, subject = line.split(" ", 2)
        before, after = (_digests(each, chosen) for each in (parent, commit))
        stale = [stage for stage in after if after[stage] != before.get(stage)]
        counts[len(stale)] += 1
        print(f"{commit}  {len(stale):2}  {subject[:60]}  {' '.join(stale)}")
    print(*(f"{n} commits: {stages} stages" for stages, n in sorted(counts.items())), sep="\n")


def _digests(commit: str, chosen: dict[str, dict[str, object]]) -> dict[str, str]:
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(_git("archive", commit, *CODE))) as archive:
            archive.extractall(folder, filter="data")
        (Path(folder) / LIBRARY).write_bytes(LIBRARY.read_bytes())
        return code_digests(Modules(Path(folder)), chosen)


def _git(*words: str) -> bytes:
    return run(["git", *words], capture_output=True, check=True).stdout


if __name__ == "__main__":
    words = sys.argv[1:]
    main(words[0] if words else "HEAD", int(words[1]) if len(words) > 1 else 40)
