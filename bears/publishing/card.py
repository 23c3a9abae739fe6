"""The dataset card: what the set is made of, under which licence, and how to make it again."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from bears.files.shown import markdown, markdown_table, one_line
from bears.publishing import parquet
from bears.publishing.attestation import Attestation
from bears.publishing.finished import Finished
from bears.publishing.licences import follows


def card(finished: Finished, attestation: Attestation) -> str:
    """README.md with the front matter that dataset hubs read."""
    licence, remarks = follows(_licences(finished))
    parts = [
        f"---\n{yaml.safe_dump(_front_matter(finished, licence), sort_keys=False)}---",
        f"# {markdown(finished.name)}",
        *map(markdown, finished.about),
        f"Language: {markdown(finished.config['benchmark']['language'])}.",
        "## Composition\n\n" + _composition(finished),
        "## Sources and licences\n\n" + _sources(finished),
        f"The licence that follows for the whole: **{markdown(licence)}**."
        + "".join(f" Note: {markdown(remark)}." for remark in remarks),
        "## Verification\n\n" + _verification(finished),
        "## Make it again\n\n" + _regenerate(finished, attestation),
    ]
    return "\n\n".join(parts) + "\n"


def _licences(finished: Finished) -> list[str]:
    return [source["licence"] for source in finished.config["sources"].values()]


def _front_matter(finished: Finished, licence: str) -> dict[str, Any]:
    known = licence != "NOASSERTION" and not licence.startswith("LicenseRef-")
    return {
        "pretty_name": finished.name,
        "language": [finished.config["benchmark"]["language"]],
        "license": licence.lower() if known else "other",
        "task_categories": ["text-retrieval", "question-answering"],
        "size_categories": [_size(len(finished.documents))],
        "configs": [
            {"config_name": name, "data_files": [{"split": "test", "path": path}]}
            for name, path in parquet.FILES.items()
        ],
    }


def _size(documents: int) -> str:
    """The hub's own names for sizes."""
    names = ("1K", "10K", "100K", "1M", "10M", "100M", "1B")
    # A thousand has four digits; ten times as many have one more.
    power = min(max(len(str(documents)), 3), 9) - 3
    return f"{names[power - 1]}<n<{names[power]}" if power else "n<1K"


def _composition(finished: Finished) -> str:
    questions = Counter((q.source_dataset, q.question_type) for q in finished.questions)
    documents = Counter(d.original_source for d in finished.documents)
    gold = Counter(d.original_source for d in finished.documents if d.is_gold)
    asked = [[source, kind, n] for (source, kind), n in sorted(questions.items())]
    pool = [[source, n, gold[source]] for source, n in sorted(documents.items())]
    return "\n\n".join(
        (
            _table(["source", "type", "questions"], asked),
            _table(["source", "documents", "of them gold"], pool),
        )
    )


def _sources(finished: Finished) -> str:
    rows = []
    for row in finished.provenance:
        origin = row.get("hub") or row.get("mirror_of") or _shipped(row.get("path", ""))
        revision = row.get("revision", "")
        files = "; ".join(f"{file['name']} sha256 {file['sha256']}" for file in row["files"])
        rows.append([row["source"], origin, revision, row["licence"], files])
    return _table(["source", "from", "revision", "licence", "files"], rows)


def _shipped(path: str) -> str:
    # Where a folder lay on somebody's machine is nobody's business.
    return "a local folder" if Path(path).is_absolute() else path


def _verification(finished: Finished) -> str:
    counts = Counter((f["severity"], f["check"]) for f in finished.findings)
    if not counts:
        return "Every check passed without a finding."
    rows = [[severity, check, n] for (severity, check), n in sorted(counts.items())]
    return _table(["severity", "check", "findings"], rows)


def _regenerate(finished: Finished, attestation: Attestation) -> str:
    return (
        "In a checkout of the pipeline with the same configuration and translation memory:\n\n"
        f"```\ndvc exp run -S benchmark={one_line(finished.name)}\n"
        "python -m bears attest FOLDER   # this folder\n```\n\n"
        f"Root digest: `{attestation.root}`"
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return markdown_table(header, [[str(cell) for cell in row] for row in rows]).rstrip("\n")
