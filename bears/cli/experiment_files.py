"""The results of everything that ran, out of DVC's cache: nothing is checked out."""

import hashlib
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bears.configuration import checkout
from bears.doctor.objects import cache_folder
from bears.intake.yaml_text import yaml_value

LOCK = "dvc.lock"


@dataclass(frozen=True)
class Results:
    """Files of one run.

    Args:
        name: unique among the results of a benchmark.
        run, questions: the run, and its values by question.
        answers: a generator's name to its answers and to their judgements.
    """

    name: str
    retriever: str
    run: Path
    questions: Path
    answers: Mapping[str, tuple[Path, Path]] = field(default_factory=dict)


def results(benchmark: str, translated: Path) -> list[Results]:
    """Of the workspace, of HEAD and of every experiment of DVC, the runs over these very records.

    A run that several of them have is there once; of runs of one retriever all but the first are
    called by their experiment too.
    """
    state = {name: _md5(translated / name) for name in ("queries.json", "corpus.json")}
    found: dict[str, Results] = {}
    for revision, lock in _locks():
        outs = _outs(lock, benchmark, state)
        for path, digest in outs.items():
            if path.endswith(".trec") and not path.endswith(".within.trec"):
                each = _result(benchmark, Path(path).stem, revision, outs)
                if each:
                    found[digest] = _joined(found.get(digest, each), each)
    named = list(found.values())
    taken: set[str] = set()
    for at, each in enumerate(named):
        if each.retriever not in taken:
            named[at] = replace(each, name=each.retriever)
            taken.add(each.retriever)
    return sorted(named, key=lambda each: each.name)


def _joined(first: Results, other: Results) -> Results:
    return replace(first, answers={**other.answers, **first.answers})


def _locks() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A name and what dvc.lock says, of the workspace and of all that git knows of."""
    here = Path(LOCK)
    yield "workspace", yaml_value(here) if here.is_file() else {}
    refs = _git(
        "for-each-ref",
        "--sort=-committerdate",
        "--sort=refname",
        "--format=%(refname)",
        "refs/exps",
    )
    experiments = [ref for ref in refs.splitlines() if not ref.startswith("refs/exps/exec/")]
    for ref in ["HEAD", *experiments]:
        if lock := _git("show", f"{ref}:{LOCK}"):
            yield ref.rpartition("/")[2], yaml_value(lock, f"{LOCK} of {ref}") or {}


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def _outs(lock: Any, benchmark: str, state: Mapping[str, str]) -> dict[str, str]:
    """Path to md5 of what the last stages wrote, if they worked on records of these md5."""
    stages = lock.get("stages") if isinstance(lock, dict) else None
    outs: dict[str, str] = {}
    for name in ("retrieve", "evaluate", "generate", "judge"):
        stage = stages.get(name) if isinstance(stages, dict) else None
        if not isinstance(stage, dict):
            continue
        read = {row.get("path"): row.get("md5") for row in stage.get("deps") or ()}
        wanted = {f"data/{benchmark}/translated/{file}": md5 for file, md5 in state.items()}
        if (
            any(read.get(path, md5) != md5 for path, md5 in wanted.items())
            or not wanted.keys() & read
        ):
            continue
        outs |= {
            row["path"]: str(row.get("md5")) for row in stage.get("outs") or () if "path" in row
        }
    return outs


def _result(
    benchmark: str, retriever: str, revision: str, outs: Mapping[str, str]
) -> Results | None:
    runs, answers = f"data/{benchmark}/runs/{retriever}", f"data/{benchmark}/answers/{retriever}."
    run, questions = _file(f"{runs}.trec", outs), _file(f"{runs}.questions.csv", outs)
    if run is None or questions is None:
        return None
    generators = {
        path.removeprefix(answers).removesuffix(".jsonl")
        for path in outs
        if path.startswith(answers) and path.endswith(".jsonl")
    }
    given = {}
    for generator in sorted(generators - {"none"}):
        names = (f"{answers}{generator}.jsonl", f"{answers}{generator}.questions.csv")
        written, judged = (_file(name, outs) for name in names)
        if written and judged:
            given[generator] = written, judged
    return Results(f"{retriever} ({revision})", retriever, run, questions, given)


def _file(path: str, outs: Mapping[str, str]) -> Path | None:
    """Where content of this md5 lies: in the workspace under its name, or in DVC's cache."""
    digest = outs.get(path, "")
    here = Path(path)
    cached = cache_folder(checkout()) / "files" / "md5" / digest[:2] / digest[2:]
    for place in (here, cached):
        # DVC takes an object of its cache for what its name says; this looks.
        if place.is_file() and _md5(place) == digest:
            return place
    return None


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()
