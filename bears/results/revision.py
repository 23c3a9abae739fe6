"""Reading a state of the project from git and DVC's cache, without a checkout."""

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from bears.config.ledger.entries import Ledger, PairDecision
from bears.config.typed import parse
from bears.errors import FormatError
from bears.files.intake.files import decoded, json_value, read_whole
from bears.files.intake.yaml_text import yaml_value
from bears.files.manifest import check
from bears.layout import CODE, CONFIG, EVERY, PARAMS, pattern

WORKSPACE = "workspace"
SHARED_CODE = ("download", "sample", "translate", "evaluate")
"""Stages whose code does not depend on the retriever, the generator or the judge."""
NEWEST_FIRST = ("--sort=refname", "--sort=-committerdate", "--format=%(refname) %(objectname)")
RUN, WITHIN, ANSWERED = map(pattern, (EVERY.run("*"), EVERY.within("*"), EVERY.answers("*")))
CHUNKS = pattern(EVERY.chunks("*"))
VERDICTS = pattern(EVERY.answers("*").with_suffix(".questions.csv"))
OF_SYSTEM = (RUN, CHUNKS, ANSWERED, VERDICTS)
"""What a retriever and a generator wrote."""
OF_RUN = ("benchmark", "rewriter", "generator", "judge")
"""The choices that a run in DVC's cache knows by their own names."""


@dataclass(frozen=True)
class Revision:
    """A state of the project: a commit, or (``commit`` empty) the files in the workspace.

    Args:
        name: the user's name for it.
        commit: in hexadecimal.
    """

    name: str
    commit: str = ""

    def text(self, path: Path) -> str:
        """Return a file that git tracks. Raises FormatError."""
        where = f"{self.name}: {path}"
        if not self.commit:
            return decoded(read_whole(path), where)
        found = git("cat-file", "blob", f"{self.commit}:./{path}")
        if found is None:
            raise FormatError(f"{where}: no such file; is it a state of this project?")
        return decoded(found, where)

    @cached_property
    def selection(self) -> Mapping[str, Any]:
        """Return params.yaml. Raises FormatError."""
        return self._mapping(PARAMS)

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """Return data/config.yaml. Raises FormatError."""
        return _present(self._mapping(CONFIG))

    @property
    def code(self) -> dict[str, str]:
        """Return the digests of the code that all systems share; empty if they cannot be read.

        `evaluate` runs the code of the chunking, so systems with another one do not share its.
        """
        try:
            digests, chunking = self._mapping(CODE), self.config.get("chunking")
        except FormatError:
            return {}
        found = {stage: str(digests[stage]) for stage in SHARED_CODE if stage in digests}
        if "evaluate" in found and isinstance(chunking, dict):
            found[f"evaluate with chunking={chunking.get('name')}"] = found.pop("evaluate")
        return found

    @property
    def decisions(self) -> Sequence[PairDecision]:
        """Return people's decisions about documents, as far as its settings have them."""
        parts = {"judgements": self.config.get("judgements", ())}
        return parse(Ledger, parts, f"{self.name}: ledger").judgements

    def metrics(self, path: Path) -> Mapping[str, Any]:
        """Return a file of metrics; empty if it cannot be read."""
        try:
            found = json_value(self.text(path).encode())
        except FormatError:
            return {}
        return found if isinstance(found, dict) else {}

    def _mapping(self, path: Path) -> Mapping[str, Any]:
        found = yaml_value(self.text(path), f"{self.name}: {path}")
        if not isinstance(found, dict):
            raise FormatError(f"{self.name}: {path}: expected a mapping")
        return found

    @cached_property
    def outputs(self) -> Mapping[str, str]:
        """Return path to md5 of every output in dvc.lock. Raises FormatError."""
        lock = self._mapping(Path("dvc.lock"))
        try:
            outs = [out for stage in lock["stages"].values() for out in stage.get("outs", ())]
            return {str(out["path"]): str(out["md5"]) for out in outs}
        except (AttributeError, KeyError, TypeError):
            raise FormatError(f"{self.name}: dvc.lock: not as DVC writes it") from None

    def output(self, pattern: str) -> Path | None:
        """Return the file of an output whose whole path matches ``pattern``; None without one.

        Raises:
            FormatError: its content was deleted or is damaged.
        """
        path = next((path for path in self.outputs if re.fullmatch(pattern, path)), None)
        if path is None:
            return None
        if self.commit:
            return self._cached(self.outputs[path], path)
        if (file := Path(path)).is_file():
            check(file)
        return file

    def within(self, pattern: str, name: str) -> Path | None:
        """Return a file of an output that is a folder."""
        return next(iter(self.parts(pattern, name)), None)

    def parts(self, pattern: str, name: str) -> list[Path]:
        """Return the files of this name in an output that is a folder."""
        folder = self.output(pattern)
        if folder is None or not self.commit:
            return sorted(folder.rglob(name)) if folder else []
        parts = [part for part in json_value(folder) if Path(part["relpath"]).name == name]
        return [self._cached(part["md5"], name) for part in parts]

    def _cached(self, digest: str, path: str) -> Path:
        place = cache_folder(Path()) / "files" / "md5" / digest[:2] / digest[2:]
        if not place.is_file():
            raise FormatError(
                f"{self.name}: {path} is not in DVC's cache ({place}): it was never made here, or "
                f"was deleted. To make it: `dvc exp apply {self.name}`, `dvc repro`"
            )
        found = hashlib.md5(read_whole(place), usedforsecurity=False).hexdigest()
        if found != digest.removesuffix(".dir"):
            raise FormatError(f"{place} in DVC's cache is damaged; remove it")
        return place


@dataclass(frozen=True)
class CachedRun(Revision):
    """A run in DVC's cache, whether its state was committed or not.

    Args:
        entries: what DVC kept of the stages of the run, as far as it did: their parameters, and
            the digests of their files.
        chosen: params.yaml of the workspace, for the choices that the run does not know.
    """

    entries: Sequence[Mapping[str, Any]] = ()
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def text(self, path: Path) -> str:
        """Return a file that the run wrote. Raises FormatError."""
        if str(path) not in self.outputs:
            raise FormatError(f"{self.name}: {path}: no such file")
        return decoded(read_whole(self._cached(self.outputs[str(path)], str(path))), self.name)

    @cached_property
    def outputs(self) -> Mapping[str, str]:
        """Return path to md5 of every file that the run read or wrote."""
        files = [file for entry in self.entries for file in (*entry["deps"], *entry["outs"])]
        return {str(file["path"]): str(file["md5"]) for file in files}

    @cached_property
    def selection(self) -> Mapping[str, Any]:
        """Return the choices of the run."""
        (run,) = (path for path in self.outputs if re.fullmatch(RUN, path))
        known = {group: _name(self.config.get(group)) for group in OF_RUN}
        known |= {group: known[group] or "none" for group in ("generator", "judge")}
        known["vector_store"] = store_of(self.config.get("retriever"))
        chosen = {group: name for group, name in known.items() if name}
        return {**self.chosen, **chosen, "retriever": Path(run).stem}

    def within(self, pattern: str, name: str) -> Path | None:
        """Return a file of an output that is a folder, or that the run read from one."""
        for path, digest in self.outputs.items():
            if Path(path).name == name and re.fullmatch(pattern, str(Path(path).parent)):
                return self._cached(digest, path)
        return super().within(pattern, name)

    def _mapping(self, path: Path) -> Mapping[str, Any]:
        found: dict[str, Any] = {}
        for entry in self.entries:
            found |= entry.get("params", {}).get(str(path), {})
        return found


def _name(part: Any) -> str:
    return str(part.get("name", "")) if isinstance(part, Mapping) else ""


def store_of(retriever: Any) -> str:
    """Return the vector store of a retriever's settings, or of one of its parts."""
    if not isinstance(retriever, Mapping):
        return ""
    own = _name(retriever.get("vector_store"))
    return own or next(filter(None, map(store_of, retriever.values())), "")


def cached_runs(workspace: Revision, all_commits: bool) -> Iterator[CachedRun]:
    """Yield the runs in DVC's cache, newest first: those since HEAD was committed, or all."""
    since = float((git("show", "--no-patch", "--format=%ct", "HEAD") or b"inf").decode())
    cache, kept = cache_folder(Path()), list[tuple[Path, Mapping[str, Any]]]()
    runs = [*(cache / "runs").glob("*/*/*")]
    for path in sorted(runs, key=lambda path: -path.stat().st_mtime):
        entry = yaml_value(decoded(read_whole(path), str(path)), str(path))
        if isinstance(entry, dict) and {"cmd", "deps", "outs", "params"} <= entry.keys():
            kept.append((path, entry))
    # The newest stage that wrote a file comes last, and so counts.
    made = {name: entry for _, entry in reversed(kept) for name in _written(entry, cache)}
    judged = set[tuple[str, str]]()
    for stage in ("stages.judge ", "stages.evaluate "):
        for path, entry in kept:
            if stage not in str(entry["cmd"]) or judged & {*_files(entry["outs"])}:
                continue
            judged |= {*_files(entry["deps"])}
            if all_commits or path.stat().st_mtime >= since:
                entries = _before(entry, made)
                yield CachedRun(path.name[:7], path.name, entries, workspace.selection)


def _files(files: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    yield from ((str(file["path"]), str(file["md5"])) for file in files)


def _written(entry: Mapping[str, Any], cache: Path) -> Iterator[tuple[str, str]]:
    """Yield path and md5 of each file that a stage wrote, also of those in folders."""
    for path, digest in _files(entry["outs"]):
        yield path, digest
        folder = cache / "files" / "md5" / digest[:2] / digest[2:]
        if digest.endswith(".dir") and folder.is_file():
            yield from ((f"{path}/{part['relpath']}", part["md5"]) for part in json_value(folder))


def _before(
    entry: Mapping[str, Any], made: Mapping[tuple[str, str], Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the stages that a stage depends on, and the stage itself at the end."""
    found = {id(entry): entry}
    for each in (waiting := [entry]):
        for file in _files(each["deps"]):
            if (stage := made.get(file)) and id(stage) not in found:
                found[id(stage)] = stage
                waiting.append(stage)
    return [*reversed(found.values())]


def _present(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a configuration of any version with the keys of this one.

    The parts of the ledger were below one key, and DVC's cache had keys such as ``benchmark.name``.
    """
    found: dict[str, Any] = {}
    for key, value in config.items():
        first, _, rest = key.partition(".")
        found[first] = {**found.get(first, {}), rest: value} if rest else value
    return {**found.pop("ledger", {}), **found}


def git(*words: str) -> bytes | None:
    """Return the output of git; None if it fails."""
    done = subprocess.run(["git", *words], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def cache_folder(root: Path) -> Path:
    """Return the folder of DVC's cache, from its configuration."""
    try:
        from dvc.config import Config

        configured = Config(dvc_dir=str(root / ".dvc"))["cache"].get("dir")
    except Exception:  # DVC itself reports what is wrong with its configuration.
        configured = None
    return Path(configured or root / ".dvc" / "cache")


def named(word: str) -> Revision | None:
    """Return the workspace, revision or experiment of this name, or None if nothing has it.

    Raises:
        FormatError: several experiments have this name.
    """
    if word == WORKSPACE:
        return Revision(word)
    own = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
    if own:
        return Revision(word, own.decode().strip())
    found = {commit for name, commit in experiments(all_commits=True) if name == word}
    if len(found) > 1:
        raise FormatError(f"{len(found)} experiments have the name {word}; give the commit of one")
    return Revision(word, found.pop()) if found else None


def experiments(all_commits: bool = False) -> Iterator[tuple[str, str]]:
    """Yield name and commit of each experiment of HEAD or of every commit, newest first."""
    head = (git("rev-parse", "HEAD") or b"").decode().strip()
    listed = git("for-each-ref", *NEWEST_FIRST, "refs/exps/") or b""
    for line in listed.decode().splitlines():
        match = re.fullmatch(r"refs/exps/(\w{2})/(\w{38})/(\S+) (\w+)", line)
        if match and (all_commits or head == match[1] + match[2]):
            yield match[3], match[4]


def revisions(all_commits: bool) -> Iterator[Revision]:
    """Yield HEAD, the experiments and the workspace, with or without results."""
    if head := named("HEAD"):
        yield head
    found = list(experiments(all_commits))
    names = [name for name, _ in found]
    for name, commit in found:
        # Experiments of different commits may share a name.
        yield Revision(name if names.count(name) == 1 else commit[:12], commit)
    yield Revision(WORKSPACE)
