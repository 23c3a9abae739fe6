"""translate: sampled records and the memory → the benchmark in its target language."""

from __future__ import annotations

import sys

from bears.configuration import Config, checkout
from bears.configuration.pipeline import Paths, exit_with
from bears.formats.records import write_json, write_records
from bears.translation.project import open_project, sidecar
from bears.translation.session import Session


def main(config: Config, paths: Paths) -> None:
    """Replay the memory; needs no key and no network, unless the translator says fill: auto."""
    project = open_project(config, paths["sampled"], checkout())
    session = Session(project, paths["memory"], checkout(), config["gates"])
    if session.can_fill() and session.resolve().missing:
        report = session.fill()
        session.publish()
        if report.stopped:
            print(f"fill stopped: {report.stopped}", file=sys.stderr)
    questions, documents, found = project.replay(paths["memory"])
    write_records(paths["out"] / "queries.json", questions)
    write_records(paths["out"] / "corpus.json", documents)
    write_json(paths["out"] / "sidecar.json", sidecar(project, questions, found))


if __name__ == "__main__":
    exit_with("translate", main)
