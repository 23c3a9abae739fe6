"""The runs whose documents are pooled for people to judge."""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from bears.errors import FormatError
from bears.files.shown import complain, one_line
from bears.files.trec import read_table
from bears.results.revision import revisions
from bears.types import Run


def pooled_runs(
    words: Sequence[str], benchmark: str, questions: Collection[str], documents: Collection[str]
) -> dict[str, Run]:
    """What a person calls a run, to the run.

    Args:
        words: retrievers, experiments, revisions or files; none: all that ran.
        benchmark: its name.
        questions, documents: its ids. A run that has others is of another state of it: one that
            nobody named is then passed over, and said.

    Raises:
        FormatError: a word names nothing, a named file is of another benchmark, or nothing ran.
    """
    ran = list(_ran(benchmark))
    found: dict[str, Run] = {}
    for word in words:
        named = [(word, Path(word))] if Path(word).is_file() else []
        named = named or [(name, path) for name, path in ran if word in name.strip(")").split(" (")]
        if not named:
            names = ", ".join(one_line(name) for name, _ in ran) or "nothing"
            raise FormatError(
                f"{word!r:.80}: no file, and nothing of {benchmark} that ran is called so; there "
                f"is {names}. A retriever runs by: dvc exp run -S retriever=NAME"
            )
        found |= {name: _read(path, questions, documents) for name, path in named}
    for name, path in () if words else ran:
        try:
            found[name] = _read(path, questions, documents)
        except FormatError as error:
            complain(f"bears: passed over: {name}: {error}")
    if not found:
        raise FormatError(f"nothing ran on {benchmark} as it is now; run `dvc repro`")
    return found


def _ran(benchmark: str) -> Iterator[tuple[str, Path]]:
    """The retriever and the revision of each run that is here or in DVC's cache, each run once."""
    known = set()
    for revision in revisions(all_commits=True):
        try:
            selected = revision.selection
            outputs = revision.outputs
        except FormatError:
            continue  # A commit from before there were results.
        runs = rf"data/{re.escape(benchmark)}/runs/[^/]+(?<!\.within)\.trec"
        digest = next((made for path, made in outputs.items() if re.fullmatch(runs, path)), "")
        if selected.get("benchmark") != benchmark or not digest or digest in known:
            continue
        known.add(digest)
        try:
            if path := revision.output(runs):
                yield f"{selected.get('retriever')} ({revision.name})", path
        except FormatError as error:
            complain(f"bears: passed over: {error}")


def _read(path: Path, questions: Collection[str], documents: Collection[str]) -> Run:
    table = read_table(path, questions)
    if unknown := next((doc_id for doc_id in table.doc_ids if doc_id not in documents), ""):
        raise FormatError(
            f"{path}: its document {unknown!r:.80} is not in the benchmark as it is now"
        )
    return table.rankings()
