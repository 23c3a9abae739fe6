"""The state of a benchmark: two results can be compared if their states are equal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bears.files.intake.files import opened
from bears.files.records import digest_of, document_count, read_questions, sha256_of
from bears.files.visible import one_line
from bears.types import Generated


@dataclass(frozen=True, slots=True)
class BenchmarkState:
    """A benchmark's records and their names.

    Args:
        name: of the benchmark.
        source: the set, if several sets share the name (``nfcorpus, test``).
        questions, documents: how many there are.
        queries, corpus: sha256 of the files of the questions with their gold and of the documents,
            in hexadecimal.
        state: the beginning of the digest of both and of the decisions, for people to compare.
        decisions: how many decisions of people are in the gold.
        generated: set if a model wrote questions; then it is shown with all results.
    """

    name: str
    source: str
    questions: int
    documents: int
    queries: str
    corpus: str
    state: str
    decisions: int = 0
    generated: Generated | None = None

    def __str__(self) -> str:
        return heading(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return the state as it is stored with a result."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        made, decisions = plain.pop("generated"), plain.pop("decisions")
        plain |= {"decisions": decisions} if decisions else {}
        return {**plain, **({"generated": True, **asdict(made)} if made else {})}


def heading(benchmark: Mapping[str, Any], system: str = "") -> str:
    """Return the first line of a table of results: which system and which benchmark.

    Args:
        benchmark: `BenchmarkState.as_dict`; only ``name`` and ``questions`` are required.
        system: the retriever, or whatever else was measured.
    """
    source, state = (str(benchmark.get(key) or "") for key in ("source", "state"))
    said = benchmark.get("decisions", 0)
    parts = [
        f"{benchmark['name']} ({source})" if source else str(benchmark["name"]),
        f"state {state}" if state else "",
        f"{benchmark['questions']} questions",
        f"{said} decision{'s' * (said != 1)} of people" if said else "",
    ]
    text = ", ".join(filter(None, parts))
    text = "; ".join(filter(None, (text, generated_note(benchmark))))
    return one_line(f"{system} on {text}" if system else text, 500)


def generated_note(benchmark: Mapping[str, Any]) -> str:
    """Return a note for `BenchmarkState.as_dict` if a model wrote its questions, else nothing."""
    if not benchmark.get("generated"):
        return ""
    return str(Generated(*(benchmark.get(each.name, "?") for each in fields(Generated))))


def generated_in(queries: Path) -> Generated | None:
    """Return the note of a file of questions on those that a model wrote, if there are any.

    The file is only parsed if it has the key, whose bare quotation marks no text can have.
    """
    with opened(queries) as stream:
        if not any(b'"generated":' in line for line in stream):
            return None
    return next((each.generated for each in read_questions(queries) if each.generated), None)


def records_digest(queries: str, corpus: str, decisions: Sequence[Sequence[str]] = ()) -> str:
    """Return one sha256 over the digests of the questions and documents, and the decisions."""
    decided = {"decisions": decisions} if decisions else {}
    return digest_of({"queries": queries, "corpus": corpus, **decided})


def benchmark_state(
    name: str,
    source: str,
    questions: int,
    queries: Path,
    corpus: Path,
    decisions: Sequence[Sequence[str]] = (),
) -> BenchmarkState:
    """Return the state of the benchmark in two files.

    Args:
        name: of the benchmark.
        source: which set of questions, if the name stands for several.
        questions: how many there are.
        queries, corpus: files of the pipeline.
        decisions: what people say about documents, if the gold has it.
    """
    digests = sha256_of(queries), sha256_of(corpus)
    sizes = questions, document_count(corpus)
    state = records_digest(*digests, decisions)[:12]
    made = generated_in(queries)
    return BenchmarkState(name, source, *sizes, *digests, state, len(decisions), made)
