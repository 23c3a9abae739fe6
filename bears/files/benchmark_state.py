"""Which state of a benchmark a result is of: two results can be compared if it is the same one."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path, PurePath
from typing import Any

from bears.files.digest import digest_of, sha256_of
from bears.files.intake.files import opened
from bears.files.records import document_count, read_questions
from bears.files.shown import one_line
from bears.types import Generated


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
        generated: where a model wrote questions of it; its numbers are never shown without.
    """

    name: str
    source: str
    questions: int
    documents: int
    queries: str
    corpus: str
    state: str
    generated: Generated | None = None

    def __str__(self) -> str:
        return heading(self.told())

    def told(self) -> dict[str, Any]:
        """As it stands beside a result; ``generated`` only where it is so."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        made = plain.pop("generated")
        return {**plain, **({"generated": True, **asdict(made)} if made else {})}


def heading(benchmark: Mapping[str, Any], system: str = "") -> str:
    """Return what the numbers of a table are of: the first line of every table of results.

    Args:
        benchmark: as `BenchmarkState.told` gives it; only ``name`` and ``questions`` are required.
        system: the retriever, or what else was measured.
    """
    source, state = (str(benchmark.get(key) or "") for key in ("source", "state"))
    parts = [
        f"{benchmark['name']} ({source})" if source else str(benchmark["name"]),
        f"state {state}" if state else "",
        f"{benchmark['questions']} questions",
    ]
    told = ", ".join(filter(None, parts))
    told = "; ".join(filter(None, (told, told_of(benchmark))))
    return one_line(f"{system} on {told}" if system else told, 500)


def told_of(benchmark: Mapping[str, Any]) -> str:
    """In words, where a model wrote questions of what `BenchmarkState.told` gave; else empty."""
    if not benchmark.get("generated"):
        return ""
    return str(Generated(*(benchmark.get(each.name, "?") for each in fields(Generated))))


def generated_in(queries: Path) -> Generated | None:
    """What a file of questions says of those that a model wrote.

    Only where the word is in it at all is it parsed: no other text has its quotation marks bare.
    """
    with opened(queries) as stream:
        if not any(b'"generated":' in line for line in stream):
            return None
    return next((each.generated for each in read_questions(queries) if each.generated), None)


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
    made = generated_in(queries)
    return BenchmarkState(name, source_of(sources), *sizes, *digests, state, made)


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
