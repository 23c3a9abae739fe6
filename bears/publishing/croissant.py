"""Describe an export as Croissant 1.0 metadata (http://mlcommons.org/croissant/1.0)."""

from pathlib import Path
from typing import Any

from bears.files.digest import sha256_of
from bears.publishing import parquet
from bears.publishing.finished import Finished
from bears.publishing.licences import strictest

_KINDS = {"string": "sc:Text", "bool": "sc:Boolean", "int64": "sc:Integer"}
"""Parquet's column types and Croissant's names for them; lists are left out."""

_OWN_TERMS = """
citeAs column extract field fileObject fileProperty fileSet format includes isLiveDataset jsonPath
key md5 parentField path recordSet references regex repeated replace separator source subField
transform
"""
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _OWN_TERMS.split()},
}


def croissant(finished: Finished, folder: Path) -> dict[str, Any]:
    """Return metadata of the parquet files in ``folder``, as JSON-LD."""
    benchmark, sources = finished.settings.benchmark, finished.settings.sources
    licence, _ = strictest(source.licence for source in sources.values())
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": finished.name,
        "description": " ".join(finished.about),
        "license": f"https://spdx.org/licenses/{licence}",
        "url": f"urn:bears:{finished.name}",
        "citeAs": benchmark.cite_as,
        "datePublished": benchmark.date_published,
        "version": "1.0.0",
        "isLiveDataset": False,
        "inLanguage": benchmark.language,
        "distribution": [_file(path, folder) for path in parquet.FILES.values()],
        "recordSet": [_records(name, path, folder) for name, path in parquet.FILES.items()],
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


def _records(name: str, path: str, folder: Path) -> dict[str, Any]:
    from pyarrow.parquet import read_schema

    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": f"{name}/{column.name}",
                "dataType": _KINDS[str(column.type)],
                "source": {"fileObject": {"@id": path}, "extract": {"column": column.name}},
            }
            for column in read_schema(folder / path)
            if str(column.type) in _KINDS
        ],
    }
