"""translate: sampled records and the memory → the benchmark in its target language."""

from __future__ import annotations

from bears.configuration import Config
from bears.formats.records import read_documents, read_questions, write_records
from bears.pipeline import Paths, exit_with
from bears.translation.memory import Translator, load
from bears.translation.replay import translate


def main(config: Config, paths: Paths) -> None:
    """Replay the memory; needs no key and no network."""
    languages = {name: source["language"] for name, source in config["sources"].items()}
    translator = Translator(
        config["translator"]["name"], config["translator"]["request"], config["language"]["name"]
    )
    questions, documents = translate(
        read_questions(paths["sampled"] / "queries_raw.json"),
        read_documents(paths["sampled"] / "corpus_raw.json"),
        languages,
        load(paths["memory"]),
        translator,
    )
    write_records(paths["out"] / "queries.json", questions)
    write_records(paths["out"] / "corpus.json", documents)


if __name__ == "__main__":
    exit_with("translate", main)
