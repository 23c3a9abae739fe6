"""The benchmark's card: what it is made of, whose it is, what was found in it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bears.publishing.report.benchmark import Benchmark


def card(benchmark: Benchmark) -> dict[str, Any]:
    """Composition, origins, findings and digests; a row whose source is None is of all."""
    counts = Counter((q.source_dataset, q.question_type) for q in benchmark.questions)
    kinds = sorted({kind for _, kind in counts})
    rows: list[list[Any]] = [
        [source, *(counts[source, kind] for kind in kinds), *benchmark.pool.get(source, (0, 0))]
        for source in sorted({source for source, _ in counts} | benchmark.pool.keys())
    ]
    if len(rows) > 1:
        totals = zip(*(row[1:] for row in rows), strict=True)
        rows.append([None, *(sum(column) for column in totals)])
    found = Counter((str(row["severity"]), str(row["check"])) for row in benchmark.findings)
    return {
        "documents": sum(total for total, _ in benchmark.pool.values()),
        "kinds": kinds,
        "composition": rows,
        "provenance": [_origin(row) for row in benchmark.provenance],
        "findings": sorted(found.items()),
        "candidates": _candidates(benchmark.candidates),
        "digests": list(benchmark.digests.items()),
    }


def _candidates(rows: Sequence[Mapping[str, Any]] | None) -> dict[str, int] | None:
    """How many documents may answer, of how many questions, and how many nobody decided on."""
    if rows is None:
        return None
    undecided = sum(not row.get("decision") for row in rows)
    return {"n": len(rows), "of": len({row["question_id"] for row in rows}), "open": undecided}


def _origin(row: Mapping[str, Any]) -> dict[str, Any]:
    path = str(row.get("path") or "")
    # Where a folder lay on somebody's machine is nobody's business.
    shipped = "" if path.startswith(("/", "~")) or path[1:2] == ":" else path
    return {
        "source": row["source"],
        "origin": row.get("hub") or row.get("mirror_of") or shipped,
        "revision": row.get("revision", ""),
        "licence": row["licence"],
        "files": row["files"],
    }
