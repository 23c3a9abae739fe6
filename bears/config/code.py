"""Digest the code that each stage can run, so that an edit makes the right stages stale."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import resolve_name
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bears.config.reads import reads_of
from bears.errors import ConfigurationError
from bears.files.records import sha256_of

TARGET = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:@\d+)?")
"""The name of a class or function in a configuration, or of a measure with its cutoff."""
CARRIERS = {"wordllama": "wordllama", "Stemmer": "PyStemmer", "rjieba": "rjieba"}
"""Packages that carry a model or rules, to their distributions, whose versions count as code."""
CARRIED = "package:"
"""In a configuration, the beginning of the name of a package that is a model."""
SAYING = (
    *("bears.config.edge", "bears.errors", "bears.files.progress", "bears.files.shown"),
    *("bears.layout", "stages"),
)
"""Modules whose edits can change no output, so they don't count: they only say things, end a
program, or start it under the project's Python (``stages``). `bears.layout` spells paths,
and DVC watches them in dvc.yaml."""
OURS = ("bears", "stages")
SHOWN = 16
"""Hexadecimal digits of a digest in data/code.yaml."""


def code_digests(modules: "Modules", configurations: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of the code behind each stage.

    The code of a stage is its program, every module that the program imports, directly or not,
    and the modules of the classes and functions that its configuration names, with the files that
    these read (`bears.config.reads`). Comments and formatting do not count; in our own code neither
    do docstrings and what only says something (`SAYING`, and calls of it). Nor do the versions of
    Python and of packages, except of those that carry a model or rules.

    Args:
        modules: of the project and of this package.
        configurations: the part of the configuration that each stage reads, by the stage's name.
    """
    digests = {}
    for stage, configuration in configurations.items():
        texts = [each for each in parts_of(configuration) if isinstance(each, str)]
        targets = (TARGET.fullmatch(text.replace(":", ".")) for text in texts)
        names = [f"stages.{stage}", *(target[1] for target in targets if target)]
        models = [text.removeprefix(CARRIED) for text in texts if text.startswith(CARRIED)]
        digests[stage] = modules.digest(names, models)
    return digests


class Modules:
    """The modules of a project and of this package, each parsed once.

    Args:
        project: the folder with the project's own modules.
        ours: the folders that hold ``bears`` and ``stages``, if they are others.
    """

    def __init__(self, project: Path, ours: Mapping[str, Path] = MappingProxyType({})) -> None:
        self._project, self._ours = project, ours
        self._read, self._named = cache(self._parse), cache(self._with_packages)

    def digest(self, names: Iterable[str], packages: Iterable[str] = ()) -> str:
        """Return one digest for the modules of ``names``, all that they import, and packages.

        Args:
            packages: distributions whose versions count.
        """
        names = list(names)
        found = [each for each in sorted(self.closure(names).items()) if each[0] not in SAYING]
        found += [(package, _version(package)) for package in sorted(set(packages))]
        found += [each for name in sorted(names) for each in reads_of(name, self._project)]
        lines = "".join(f"{module} {code}\n" for module, code in found)
        return sha256(lines.encode()).hexdigest()[:SHOWN]

    def closure(self, names: Iterable[str]) -> dict[str, str]:
        """Return the digest of each module that importing ``names`` runs, by the module's name."""
        waiting, found = list(names), dict[str, str]()
        while waiting:
            for module in self._named(waiting.pop()):
                if module not in found:
                    found[module], imported = self._read(module)
                    waiting += imported
        return found

    def files(self, names: Iterable[str]) -> set[str]:
        """Return the files of `closure` that are in the project, relative to it."""
        paths = [path for path in map(self._file, self.closure(names)) if path]
        own = [path for path in paths if path.is_relative_to(self._project)]
        return {str(path.relative_to(self._project)) for path in own}

    def _with_packages(self, name: str) -> list[str]:
        """Return the module that defines ``name`` and the packages around it, which run first."""
        words = name.split(".")
        prefixes = (".".join(words[:n]) for n in range(1, len(words) + 1))
        return [module for module in prefixes if self._file(module)]

    def _file(self, module: str) -> Path | None:
        words = module.split(".")
        path = self._ours.get(words[0], self._project).joinpath(*words)
        # As Python does, take a package before a module of the same name.
        files = (path / "__init__.py", path.with_suffix(".py"))
        return next((file for file in files if file.is_file()), None)

    def _parse(self, module: str) -> tuple[str, list[str]]:
        """Return the digest of one module, and the names that it imports from this project."""
        file = self._file(module)
        assert file is not None
        words, imported = list[str](), list[str]()
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except SyntaxError as error:
            raise ConfigurationError(
                f"{file}, line {error.lineno}: {error.msg}; correct the code"
            ) from None
        _walk(tree, words, imported)
        if module.partition(".")[0] not in OURS:
            # A function may read its own docstring, as a prompt.
            words = [ast.dump(tree)]
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        full = list[str]()
        for name in imported:
            # As in Python, a name beyond the project cannot be imported.
            with suppress(ImportError):
                full.append(resolve_name(name, package))
        roots = {name.partition(".")[0] for name in full}
        if (table := file.with_suffix(".yaml")).is_file():
            words.append(sha256_of(table))
        carriers = sorted(CARRIERS[name] for name in roots & CARRIERS.keys())
        words += [f"{name} {_version(name)}" for name in carriers]
        return sha256("\0".join(words).encode()).hexdigest(), full


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "missing"


def parts_of(value: Any) -> Iterator[Any]:
    """Yield a plain value and all values in it, at any depth, but not the names in mappings."""
    yield value
    inner = list(value.values()) if isinstance(value, dict) else value
    for part in inner if isinstance(inner, list) else ():
        yield from parts_of(part)


def _walk(node: ast.AST, words: list[str], imported: list[str]) -> None:
    """Append the content of a syntax tree to ``words``, and its imports to ``imported``."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return  # a docstring
        case ast.Import():
            imported += [alias.name for alias in node.names]
        case ast.ImportFrom():
            base = "." * node.level + (f"{node.module}." if node.module else "")
            imported += [base + alias.name for alias in node.names]
            if node.module in SAYING:
                return
        case ast.Expr(value=called) | ast.withitem(context_expr=called) if _says(called, imported):
            return
        case ast.Raise(exc=ast.Call(func=error) as made) if _says(made, imported):
            node = ast.Raise(error, node.cause)
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name),
            args=[ast.Constant(value=str(module)), *_],
        ) if name in ("import_module", "__import__"):
            imported.append(module)
    words.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        # Newer versions of Python add fields, which are empty for the same code.
        if value is None or value == []:
            continue
        words.append(name)
        for part in value if isinstance(value, list) else [value]:
            match part:
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    for otherwise in part.orelse:
                        _walk(otherwise, words, imported)
                case ast.AST():
                    _walk(part, words, imported)
                case _:
                    words.append(repr(part))
        words.append("")


def _says(node: ast.AST, imported: Collection[str]) -> bool:
    """Return whether a node is a call of ``print``, or of what a module of `SAYING` defines."""
    match node:
        case ast.Call(func=ast.Name(id="print"), keywords=options):
            # In a file, the text is an output.
            return all(option.arg not in ("file", None) for option in options)
        case ast.Call(func=ast.Name(id=name)):
            return any(f"{module}.{name}" in imported for module in SAYING)
    return False
