"""index: the verified corpus → the retriever's index."""

from __future__ import annotations

from bears.configuration import Config, build
from bears.formats.digest import check_digest
from bears.formats.records import read_documents
from bears.pipeline import Paths, exit_with


def main(config: Config, paths: Paths) -> None:
    """Build the index of the selected retriever."""
    check_digest(paths["corpus"], paths["verified"])
    paths["out"].mkdir(parents=True, exist_ok=True)
    retriever = build(config["retriever"], "retriever")
    retriever.index(read_documents(paths["corpus"]), paths["out"])


if __name__ == "__main__":
    exit_with("index", main)
