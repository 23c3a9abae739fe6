"""Croissant 1.0 metadata (MLCommons, http://mlcommons.org/croissant/1.0) of an export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bears.formats.digest import sha256_of
from bears.publishing import parquet
from bears.publishing.benchmark import Finished
from bears.publishing.licences import follows

_FIELDS: dict[str, dict[str, str]] = {
    "queries": {
        "question_id": "sc:Text",
        "question": "sc:Text",
        "gold_answer": "sc:Text",
        "source_dataset": "sc:Text",
        "question_type": "sc:Text",
        "judged": "sc:Boolean",
        "group": "sc:Text",
    },
    "corpus": {
        "doc_id": "sc:Text",
        "content": "sc:Text",
        "original_source": "sc:Text",
        "original_id": "sc:Text",
        "is_gold": "sc:Boolean",
        "group": "sc:Text",
    },
    "qrels": {"question_id": "sc:Text", "doc_id": "sc:Text", "grade": "sc:Integer"},
}

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(finished: Finished, folder: Path) -> dict[str, Any]:
    """Metadata of the parquet files that lie in ``folder``, as JSON-LD."""
    licence, _ = follows(source["licence"] for source in finished.config["sources"].values())
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": finished.name,
        "description": f"{len(finished.questions)} questions over {len(finished.documents)} "
        "documents, for measuring retrievers.",
        "license": f"https://spdx.org/licenses/{licence}",
        "url": f"urn:bears:{finished.name}",
        "version": "1.0.0",
        "isLiveDataset": False,
        "inLanguage": finished.config["benchmark"]["language"],
        "distribution": [_file(name, folder) for name in parquet.FILES],
        "recordSet": [
            _records(name, path) for name, path in zip(_FIELDS, parquet.FILES, strict=True)
        ],
    }


def _file(name: str, folder: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": "application/x-parquet",
        "contentSize": f"{(folder / name).stat().st_size} B",
        "sha256": sha256_of(folder / name),
    }


def _records(name: str, path: str) -> dict[str, Any]:
    fields: Sequence[tuple[str, str]] = list(_FIELDS[name].items())
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": f"{name}/{column}",
                "dataType": kind,
                "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
            }
            for column, kind in fields
        ],
    }
