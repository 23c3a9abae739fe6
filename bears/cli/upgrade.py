"""``bears upgrade``: renew the pipeline and the selection of a project."""

import re
from difflib import unified_diff
from pathlib import Path

from bears.cli.init import commit, run
from bears.config import read_mapping
from bears.config.packaged import SHIPPED, conf_file, pipeline
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.files.records import write_text
from bears.layout import PARAMS, PIPELINE


def upgrade(*, yes: bool = False) -> None:
    """Write dvc.yaml and params.yaml anew after an upgrade of the package.

    Writes the pipeline of this version, adds new groups to params.yaml, removes those that are
    gone, and commits both; your words stay. Prints what changes. If you edited dvc.yaml, it changes
    nothing.

    Args:
        yes: replace dvc.yaml although it was edited; the old one is kept as dvc.yaml.orig
    """
    if Path.cwd() == SHIPPED.resolve():
        raise ConfigurationError("this is the checkout of BEARS; `git pull` upgrades it")
    new = {PARAMS: _selection(), PIPELINE: pipeline()}
    old = {path: read_text(path) for path in new}
    changed = [path for path in new if new[path] != old[path]]
    for path in changed:
        before, after = (each[path].splitlines(keepends=True) for each in (old, new))
        print("".join(unified_diff(before, after, str(path), f"{path}, upgraded")), end="")
    if PIPELINE in changed and not _as_committed(PIPELINE):
        kept = Path(f"{PIPELINE}.orig")
        if not yes:
            raise ConfigurationError(
                f"{PIPELINE} was edited, and would change as shown above; `bears upgrade --yes` "
                f"does that, and keeps the old one as {kept}"
            )
        write_text(kept, old[PIPELINE])
    for path in changed:
        write_text(path, new[path])
    commit(Path(), changed, "upgrade")
    print("next: dvc repro" if changed else "up to date")


COMMAND = upgrade


def _as_committed(path: Path) -> bool:
    """Return whether a file is as `commit` left it."""
    words = ["-1", "--pretty=%H", "-E", "--grep=^bears: (add|upgrade) a project$", "--", str(path)]
    last = run(Path(), "git", "log", *words)
    return run(Path(), "git", "show", f"{last}:./{path}") == read_text(path).strip()


def _selection() -> str:
    """Return params.yaml without the groups that are gone, and with the new ones."""
    selected = read_mapping(PARAMS, "restore it from git")
    text, ours = read_text(PARAMS).rstrip("\n") + "\n", read_mapping(SHIPPED / PARAMS)
    for group in {name for name in selected.keys() - ours if not conf_file(name).is_dir()}:
        text = re.sub(rf"^{re.escape(group)}:.*\n(?:[ -].*\n)*", "", text, flags=re.M)
    shipped = re.findall(r"^((\w+):.*\n)", read_text(SHIPPED / PARAMS), re.M)
    return text + "".join(line for line, group in shipped if group not in selected)
