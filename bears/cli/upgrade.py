"""``bears upgrade``: renew what `bears init` wrote."""

import re
from difflib import unified_diff
from pathlib import Path

from bears.cli.init import COPIED, PLOTS, commit, run
from bears.config import gone, read_mapping
from bears.config.packaged import SHIPPED, pipeline
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.files.records import write_text
from bears.layout import PARAMS, PIPELINE

KEPT = Path(f"{PIPELINE}.orig")


def upgrade(*, yes: bool = False) -> None:
    """Renew dvc.yaml and params.yaml after an upgrade of the package.

    Writes the pipeline of this version, adds new groups to params.yaml, removes those that are
    gone, and commits both; your words stay. If you edited dvc.yaml, it prints what would change,
    and changes nothing.

    Args:
        yes: replace dvc.yaml although it was edited; the old one is kept as dvc.yaml.orig
    """
    if Path.cwd() == SHIPPED.resolve():
        raise ConfigurationError("this is the checkout of BEARS; `git pull` upgrades it")
    shipped = [*COPIED, *(PLOTS / template.name for template in (SHIPPED / PLOTS).iterdir())]
    texts = {path: read_text(SHIPPED / path) for path in shipped}
    texts |= {PARAMS: _selection(), PIPELINE: pipeline()}
    old = {path: read_text(path) if path.exists() else "" for path in texts}
    changed = [path for path in texts if texts[path] != old[path]]
    # What people edited is theirs; the selection keeps their words anyway.
    edited = [p for p in changed if old[p] and p != PARAMS and not _as_committed(p)]
    for path in (PARAMS, PIPELINE) if PIPELINE in edited else (PARAMS,):
        before, after = (each[path].splitlines(keepends=True) for each in (old, texts))
        print("".join(unified_diff(before, after, str(path), f"{path}, upgraded")), end="")
    if PIPELINE in edited:
        if not yes:
            raise ConfigurationError(
                f"{PIPELINE} was edited, and would change as shown above; `bears upgrade --yes` "
                f"does that, and keeps the old one as {KEPT}"
            )
        write_text(KEPT, old[PIPELINE])
    written = [path for path in changed if path == PIPELINE or path not in edited]
    for path in written:
        write_text(path, texts[path])
    commit(Path(), written, "upgrade")
    print(f"renewed: {', '.join(map(str, written))}\nnext: dvc repro" if written else "up to date")


COMMAND = upgrade


def _as_committed(path: Path) -> bool:
    """Return whether a file is as `commit` left it."""
    words = ["-1", "--pretty=%H", "-E", "--grep=^bears: (add|upgrade) a project$", "--", str(path)]
    last = run(Path(), "git", "log", *words)
    return run(Path(), "git", "show", f"{last}:./{path}") == read_text(path).strip()


def _selection() -> str:
    """Return params.yaml without the groups that are gone, and with the new ones."""
    selected = read_mapping(PARAMS, "restore it from git")
    text = read_text(PARAMS).rstrip("\n") + "\n"
    for group in gone(selected):
        text = re.sub(rf"^{re.escape(group)}:.*\n(?:[ -].*\n)*", "", text, flags=re.M)
    shipped = re.findall(r"^((\w+):.*\n)", read_text(SHIPPED / PARAMS), re.M)
    return text + "".join(line for line, group in shipped if group not in selected)
