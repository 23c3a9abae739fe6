"""``bears source``: describe a dataset as a source, or pin a source."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bears.config import checkout, conf_text
from bears.config.shape import Part, Source
from bears.config.typed import parse
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.files.intake.yaml_text import yaml_value
from bears.files.records import write_text
from bears.files.visible import one_line
from bears.layout import LOCAL, PIPELINE
from bears.sources.convert import convert
from bears.sources.folder.fields import NEVER_GUESSED, ROLES
from bears.sources.inspection import Look, inspect
from bears.sources.location import found_on_hub
from bears.sources.source import SHAPES, checked, reader_of


def inspect_source(where: str, settings: Sequence[str] = ()) -> None:
    """Describe a dataset as YAML: its shape, fields, language and license.

    Looks at the first rows of a dataset and prints conf/source/NAME.yaml for it, with the first
    question that it would make. Settings that it cannot guess can be given in the words of that
    file: config=xquad.de split=validation 'fields={question: frage}'.

    Args:
        where: hub:OWNER/NAME, or a path
        settings: SETTING=VALUE
    """
    hub = where.removeprefix("hub:")
    # A relative path has a meaning only within a project, where sources resolve it.
    path = hub if PIPELINE.exists() else str(Path(hub).expanduser().absolute())
    place = {"hub": hub} if hub != where else {"path": path}
    name = re.sub(r"\W+", "_", Path(hub).name.split(".")[0]).strip("_").lower() or "source"
    given = settings_of(settings)
    folder = Path(hub).is_dir() and "path" in place
    order = ["beir", "multi-hop", "squad", "qa-with-passages", "pairs"]
    shapes = [given["shape"]] if "shape" in given else [*order, "own"][: None if folder else -1]
    if "path" in place and not folder:
        shapes = [shape for shape in shapes if shape not in SHAPES or not SHAPES[shape].layout]
    print(_shown(described({"name": name, **place, **given}, shapes, Path())), end="")


def described(given: Mapping[str, Any], shapes: Sequence[str], project: Path) -> Look:
    """Return what is in a source, with its settings guessed.

    Args:
        given: the settings that are known.
        shapes: the first that fits is taken.
        project: the folder that its path is relative to.
    """
    usual = {"language": "en", "licence": "NOASSERTION", "shape": shapes[-1]}
    source = checked(parse(Source, {**usual, **given}, "the settings"))
    return inspect(source, shapes, given, project.resolve(), project.resolve() / LOCAL)


def settings_of(words: Sequence[str]) -> dict[str, Any]:
    """Return what SETTING=VALUE gives, and ROLE=FIELD among the fields.

    Raises:
        ConfigurationError: a word is neither.
    """
    known: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in (*ROLES, *NEVER_GUESSED):
            known.setdefault("fields", {})[name] = value
        elif equals and name in {each.name for each in fields(Source)}:
            known[name] = yaml_value(value, name)
        else:
            raise ConfigurationError(
                f"{word!r:.80}: expected SETTING=VALUE, such as split=validation"
            )
    return known


def _shown(look: Look) -> str:
    """Return the source as YAML, after comments that describe its content."""
    source = look.source
    first = {"question": look.question, "answer": look.answer, "gold": look.gold}
    comments = [
        f"conf/source/{source.name}.yaml. Language and licence are guesses: read the set's card.",
        f"Read {'the first ' * look.cut}{look.documents} documents and {look.questions} questions "
        f"with gold, which is {look.gold_documents} documents. The first question:",
        *(f"  {what}: {one_line(text):.200}" for what, text in first.items()),
        f"Then: bears new {source.name} --source {source.name}",
    ]
    if source.hub:
        comments.append(f"Pin its rows too: bears source pin conf/source/{source.name}.yaml")
    return "".join(f"# {line}\n" for line in comments) + conf_text(changed(source))


def changed(source: Source | Part) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    changed = {}
    for each in fields(source):
        value = getattr(source, each.name)
        usual = each.default_factory() if each.default_factory is not MISSING else each.default
        if value not in (usual, {}):
            changed[each.name] = list(value) if isinstance(value, tuple) else value
    return changed


def pin(file: Path) -> None:
    """Write a source's revision, digests and number of rows into its file.

    Reads the whole source: the commit, the digest of every file or table, and the number of rows
    are written. Comments on other lines stay.

    Args:
        file: conf/source/NAME.yaml
    """
    text = read_text(file)
    source = checked(parse(Source, yaml_value(text, str(file)), str(file)))
    record = checkout() / LOCAL
    if source.hub and source.shape and not source.path:
        source = found_on_hub(source, record)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "rows"
        made = convert(source, reader_of(source), None, Path.cwd(), out, record)["files"]
    pins: dict[str, Any] = {"revision": source.revision} if source.revision else {}
    if source.rows is not None or len(made) == 1:
        pins["rows"] = sum(each["rows"] for each in made)
    pins["sha256"] = {each["name"]: each["sha256"] for each in made}
    if source.parts:
        pins["parts"] = {name: changed(part) for name, part in source.parts.items()}
    # The old values go, each with the lines below it that belong to it.
    block = rf"^(?:{'|'.join(pins)}):.*\n(?:[ \t#-].*\n|\n)*"
    write_text(file, re.sub(block, "", text.rstrip("\n") + "\n", flags=re.M) + conf_text(pins))
    print(f"{file}: {', '.join(pins)} say what is there now")


COMMAND = {"inspect": inspect_source, "pin": pin}
