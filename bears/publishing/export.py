"""Write a finished benchmark in every format, with a card and an attestation."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bears.config import parse
from bears.config.ledger.entries import Ledger
from bears.config.typed import pick
from bears.files.records import sha256_of, write_json, write_lines, write_text
from bears.publishing import parquet
from bears.publishing.attestation import ATTESTATION, Attestation, attest
from bears.publishing.card import CARD, card
from bears.publishing.finished import Finished
from bears.results.records import EXPORTED

BEIR = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")


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
        for doc_id, grade in question.grades.items()
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


PROVENANCE = (CARD, EXPORTED, "lineage.jsonl")
"""The files that say where the records come from."""


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
    parquet.write_parquet(finished, folder)
    attestation = attest(finished)
    write_text(folder / CARD, card(finished, attestation))
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    digests = {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}
    attestation = replace(attestation, files=digests)
    write_json(folder / ATTESTATION, asdict(attestation))
    return attestation


def unlike_export(folder: Path, made: Attestation, fresh: Path) -> list[str]:
    """Return the names of the files of an export that differ from those of a fresh one.

    Args:
        folder: the export.
        made: the attestation of the fresh one.
        fresh: its folder.
    """
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    names = sorted(present.union(made.files) - {ATTESTATION})
    both = present.intersection(made.files)
    return [name for name in names if name not in both or not _same(folder / name, fresh / name)]


def _same(one: Path, other: Path) -> bool:
    if sha256_of(one) == sha256_of(other):
        return True
    # The bytes of parquet depend on the version of pyarrow.
    return one.suffix == ".parquet" and parquet.rows_as_now(one) == parquet.rows_as_now(other)


def _exported_part(finished: Finished) -> dict[str, Any]:
    """Return the part of a configuration that scoring against an export needs."""
    sources = {
        name: {"name": source.name, "path": Path(source.path).name, "split": source.split}
        for name, source in finished.sources.items()
    }
    keys = ("benchmark", "sources", "evaluate", "retrieve")
    rest = pick(finished.config, keys, "the configuration")
    decisions = [
        {k: v for k, v in asdict(each).items() if v and k not in ("reason", "author")}
        for each in parse(Ledger, {"judgements": finished.config["judgements"]}, "").judgements
    ]
    ledger = {"ledger": {"judgements": decisions}} if decisions else {}
    return {**rest, "sources": sources, **ledger}
