"""Which state of a benchmark a result is of: two results can be compared if it is the same one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from bears.formats.digest import digest_of, sha256_of
from bears.formats.records import document_count


@dataclass(frozen=True, slots=True)
class BenchmarkState:
    """A benchmark's records, and what a person calls them.

    Args:
        name: of the benchmark.
        source: what is read where one name stands for several sets (``nfcorpus, test``).
        questions, documents: how many there are.
        queries, corpus: sha256 of the questions with their gold, and of the documents, each as
            the pipeline writes them, in hexadecimal.
        state: the beginning of the digest of both, for people to compare.
    """

    name: str
    source: str
    questions: int
    documents: int
    queries: str
    corpus: str
    state: str


def records_digest(queries: str, corpus: str) -> str:
    """One sha256 over those of the questions and of the documents."""
    return digest_of({"queries": queries, "corpus": corpus})


def benchmark_state(
    name: str,
    sources: Mapping[str, Mapping[str, Any]],
    questions: int,
    queries: Path,
    corpus: Path,
) -> BenchmarkState:
    """The state of the benchmark whose records lie in two files.

    Args:
        name: of the benchmark.
        sources: as the configuration has them.
        questions: how many there are.
        queries, corpus: as the pipeline writes them.
    """
    digests = sha256_of(queries), sha256_of(corpus)
    sizes = questions, document_count(corpus)
    state = records_digest(*digests)[:12]
    return BenchmarkState(name, source_of(sources), *sizes, *digests, state)


def source_of(sources: Mapping[str, Mapping[str, Any]]) -> str:
    """What a benchmark of one source reads: a folder's or the source's name, and the split.

    Empty for a benchmark of several sources, whose name says it. Where the folder lies is nobody's
    business.
    """
    if len(sources) != 1:
        return ""
    (source,) = sources.values()
    folder = PurePath(source.get("path") or "").name or str(source.get("name", ""))
    return ", ".join(filter(None, (folder, str(source.get("split") or ""))))
