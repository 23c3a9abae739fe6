"""params.yaml against conf/, and what the selected benchmark needs besides."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bears.cli.doctor.finding import Finding, git, put_aside


def check(root: Path) -> Iterator[Finding]:
    """The words of params.yaml, the configuration that they give, and its memory."""
    from bears.config import compose, read_selection
    from bears.errors import BearsError

    try:
        config = compose(root / "conf", read_selection(root / "params.yaml"))
    except (BearsError, OSError, UnicodeDecodeError) as error:
        what = f"params.yaml and conf/ give no configuration: {' '.join(str(error).split())}"
        yield Finding(what, put_aside(root, "params.yaml", "conf"))
        return
    yield from _composed(root, config)
    yield from _memory(root, config)


def _composed(root: Path, config: dict[str, Any]) -> Iterator[Finding]:
    from bears.config import read_mapping
    from bears.config.guard import CONFIG
    from bears.config.pipeline import LANGUAGE
    from bears.errors import BearsError

    try:
        kept = {
            **read_mapping(root / CONFIG, "make it"),
            "language": read_mapping(root / LANGUAGE, "make it"),
        }
    except (BearsError, OSError, UnicodeDecodeError) as error:
        yield Finding(f"the composed configuration cannot be read: {error}", "dvc repro config")
        return
    if changed := sorted(key for key in kept | config if kept.get(key) != config.get(key)):
        yield Finding(
            f"{', '.join(changed)} changed in params.yaml or conf/ since the last `dvc repro`, "
            "which takes it up"
        )


def _memory(root: Path, config: Mapping[str, Any]) -> Iterator[Finding]:
    from bears.errors import BearsError
    from bears.language.tags import languages_of
    from bears.llm.kept import load
    from bears.translation.translator import NAME

    benchmark, target = config["benchmark"], config["language"]["name"]
    languages = languages_of(config["sources"], [], benchmark["language"], target)
    path = f"data/memory/{benchmark['name']}.jsonl"
    committed = (git(root, "cat-file", "-s", f"HEAD:./{path}") or "0").strip() != "0"
    mend = put_aside(root, path) if committed else "python -m bears memory fill"
    try:
        empty = not load(root / path, NAME)
    except (BearsError, OSError, UnicodeDecodeError) as error:
        yield Finding(f"the memory of translations cannot be read: {error}", mend)
        return
    if empty and set(languages.values()) != {target}:
        sources = ", ".join(name for name, tag in languages.items() if tag != target)
        what = f"{path} is empty or not there, and {sources} must be translated into {target}"
        yield Finding(what, mend)
