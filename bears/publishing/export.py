"""Write a finished benchmark in every format, with a card and an attestation.

The parquet files have fixed columns, which MTEB loads as a retrieval task.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from bears.config.typed import pick
from bears.files.intake.tables import parquet_rows
from bears.files.intake.yaml_text import table_of
from bears.files.page import part
from bears.files.records import atomic_write, sha256_of, write_json, write_lines, write_text
from bears.files.shown import markdown, markdown_table
from bears.files.visible import one_line
from bears.publishing.attestation import ATTESTATION, Attestation, attest, whole
from bears.publishing.finished import Finished, origin_of
from bears.results.records import EXPORTED
from bears.types import Judgement

_TABLE = table_of(__file__)
PARQUET: Mapping[str, Mapping[str, tuple[str, str]]] = _TABLE["parquet"]
"""The columns of each file as MTEB calls them, with our fields and their types.

MTEB asks for a title. Ours is in the text.
"""
# From the most permissive to the strictest; SPDX identifiers. A later version of a share-alike
# licence may be used for what was received under an earlier one (CC BY-SA 3.0 §4b).
_STRICTNESS: Sequence[str] = _TABLE["strictness"]
BEIR = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")


def write_parquet(finished: Finished, folder: Path) -> None:
    """Write queries, corpus and qrels.

    The bytes depend on the version of pyarrow; the rows do not. MTEB makes batches of all columns
    of the queries, so that none of them has lists.
    """
    # The import takes 0.1 s, and only an export needs it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    judgements = [
        Judgement(q.question_id, doc_id, grade)
        for q in finished.questions
        for doc_id, grade in q.judgements.items()
    ]
    tables = {"queries": finished.questions, "corpus": finished.documents, "qrels": judgements}
    for name, records in tables.items():
        columns = {
            column: pa.array([getattr(record, field) if field else "" for record in records], kind)
            for column, (field, kind) in PARQUET[name].items()
        }
        with atomic_write(folder / _parquet(name)) as stream:
            pq.write_table(pa.table(columns), stream)


def _parquet(name: str) -> str:
    return f"parquet/{name}.parquet"


def strictest(licences: Iterable[str]) -> tuple[str, list[str]]:
    """Return the licence of a whole, and remarks about it.

    Args:
        licences: SPDX identifiers. ``LicenseRef-…`` and ``NOASSERTION`` are terms of their own.

    Returns:
        The strictest identifier, and remarks. The identifier is ``NOASSERTION`` if a part states no
        licence, because then its owner has to be asked.
    """
    parts = sorted(set(licences))
    remarks = []
    own = [name for name in parts if name not in _STRICTNESS]
    if any("NC" in name for name in parts) and any(
        "-SA-" in name and "NC" not in name for name in parts
    ):
        remarks.append(
            "a share-alike part and a non-commercial part cannot both be met by one adapted work; "
            "use the set as a collection whose parts keep their own licences"
        )
    if any(not name.startswith("LicenseRef-") for name in own):
        remarks.append("a part states no licence: its owner has to be asked before it is shared")
        return "NOASSERTION", remarks
    if own:
        remarks.append(f"{', '.join(own)}: read its own terms, which hold for the whole")
        return own[0], remarks
    return max(parts, key=_STRICTNESS.index, default="NOASSERTION"), remarks


CARD = "README.md"
SIZES = ("1K", "10K", "100K", "1M", "10M", "100M", "1B")
"""Dataset hubs name sizes like this."""


def card(finished: Finished, attestation: Attestation) -> str:
    """Return README.md with the front matter that dataset hubs read."""
    licence, remarks = strictest(s.licence for s in finished.sources.values())
    questions = Counter((q.source_dataset, q.question_type) for q in finished.questions)
    documents = Counter(d.original_source for d in finished.documents)
    gold = Counter(d.original_source for d in finished.documents if d.is_gold)
    findings = Counter((f["severity"], f["check"]) for f in finished.findings)
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"escaped": markdown, "line": one_line}
    environment.globals |= {"table": markdown_table}
    return environment.from_string(part("bears.publishing", "card.md.j2")).render(
        finished=finished,
        front=yaml.safe_dump(_front_matter(finished, licence), sort_keys=False),
        questions=[[*place, str(n)] for place, n in sorted(questions.items())],
        documents=[[name, str(n), str(gold[name])] for name, n in sorted(documents.items())],
        sources=[*map(_source, finished.provenance)],
        licence=licence,
        remarks=remarks,
        findings=[[*check, str(n)] for check, n in sorted(findings.items())],
        root=attestation.root,
    )


def _front_matter(finished: Finished, licence: str) -> dict[str, Any]:
    known = licence != "NOASSERTION" and not licence.startswith("LicenseRef-")
    # A thousand has four digits, and each size is ten times the one before.
    power = min(max(len(str(len(finished.documents))), 3), 9) - 3
    return {
        "pretty_name": finished.benchmark.name,
        "language": [finished.benchmark.language],
        "license": licence.lower() if known else "other",
        "task_categories": ["text-retrieval", "question-answering"],
        "size_categories": [f"{SIZES[power - 1]}<n<{SIZES[power]}" if power else "n<1K"],
        "configs": [
            {"config_name": name, "data_files": [{"split": "test", "path": _parquet(name)}]}
            for name in PARQUET
        ],
    }


def _source(row: Mapping[str, Any]) -> list[str]:
    files = "; ".join(f"{file['name']} sha256 {file['sha256']}" for file in row["files"])
    origin = origin_of(row) or "a local folder"
    return [row["source"], origin, row.get("revision", ""), row["licence"], files]


def write_beir(finished: Finished, folder: Path) -> None:
    """Write corpus.jsonl, queries.jsonl and qrels/test.tsv.

    BEIR's judgements cannot say that no document is right. Such a question has no line in them,
    and ``no_retrieval`` in its metadata.
    """
    write_lines(folder / BEIR[0], _corpus(finished))
    write_lines(folder / BEIR[1], _queries(finished))
    lines = [
        f"{question.question_id}\t{doc_id}\t{grade}\n"
        for question in finished.questions
        for doc_id, grade in question.judgements.items()
    ]
    write_text(folder / BEIR[2], "query-id\tcorpus-id\tscore\n" + "".join(lines))


def _corpus(finished: Finished) -> Iterator[dict[str, Any]]:
    for document in finished.documents:
        metadata = {"source": document.original_source, "source_id": document.original_id}
        yield {
            "_id": document.doc_id,
            "title": "",
            "text": document.content,
            "metadata": metadata | ({"group": document.group} if document.group else {}),
        }


def _queries(finished: Finished) -> Iterator[dict[str, Any]]:
    for question in finished.questions:
        metadata: dict[str, Any] = {
            "answer": question.gold_answer,
            "source": question.source_dataset,
            "type": question.question_type,
        }
        if question.generated:
            metadata["generated"] = True
        if question.group:
            metadata["group"] = question.group
        if question.judged and not question.gold_doc_ids:
            metadata["no_retrieval"] = True
        yield {"_id": question.question_id, "text": question.question, "metadata": metadata}


def write_export(finished: Finished, folder: Path) -> Attestation:
    """Write every format into ``folder``, then the attestation, and return the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    # Without the lineage, answers would be scored against their first annotator alone.
    files = finished.files
    for path in (files.queries, files.corpus, files.lineage):
        if path != files.lineage or path.is_file():
            shutil.copyfile(path, folder / path.name)
    write_json(folder / EXPORTED, _exported_part(finished))
    write_beir(finished, folder)
    write_parquet(finished, folder)
    attestation = attest(finished)
    write_text(folder / CARD, card(finished, attestation))
    attestation = whole(replace(attestation, files=digests_in(folder)))
    write_json(folder / ATTESTATION, asdict(attestation))
    return attestation


def digests_in(folder: Path) -> dict[str, str]:
    """Return the sha256 of each file of an export, but for the attestation itself."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: sha256_of(path) for name, path in names.items() if name != ATTESTATION}


def unlike_export(folder: Path, made: Attestation, fresh: Path) -> list[str]:
    """Return the names of what differs between an export and a fresh one.

    Args:
        folder: the export.
        made: the attestation of the fresh one.
        fresh: its folder.
    """
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    names = {*made.files, *(path.relative_to(folder).as_posix() for path in paths)}
    return [
        name
        for name in sorted(names - {ATTESTATION})
        if name not in made.files or not _same(folder / name, fresh / name)
    ]


def _same(one: Path, other: Path) -> bool:
    # A link may lead to another file tomorrow.
    if one.is_symlink() or not one.is_file():
        return False
    if sha256_of(one) == sha256_of(other):
        return True
    # The bytes of parquet depend on the version of pyarrow.
    return one.suffix == ".parquet" and [*parquet_rows(one)] == [*parquet_rows(other)]


def _exported_part(finished: Finished) -> dict[str, Any]:
    """Return the part of a configuration that scoring against an export needs."""
    sources = {
        name: {"name": source.name, "path": Path(source.path).name, "split": source.split}
        for name, source in finished.sources.items()
    }
    keys = ("benchmark", "sources", "evaluate", "retrieve")
    exported = {**pick(finished.config, keys, "the configuration"), "sources": sources}
    ledger = {
        part: [
            {k: v for k, v in entry.items() if v and k not in ("reason", "author")}
            for entry in finished.config[part]
        ]
        for part in ("judgements", "nuggets")
        if finished.config.get(part)
    }
    return exported | ({"ledger": ledger} if ledger else {})
