"""download: the sources of the benchmark → data/raw/<benchmark>/rows/<source>.*.jsonl."""

from bears.config import checkout, root_of
from bears.config.pipeline import Paths, exit_with
from bears.config.shape import Source
from bears.files.records import write_json
from bears.files.shown import complain
from bears.layout import FETCHED, LOCAL
from bears.sources.convert import convert, report_of
from bears.sources.source import reader_of


def main(
    paths: Paths,
    *,
    contents: dict[str, str],  # noqa: ARG001
    mirror: str | None,
    sources: dict[str, Source],
) -> None:
    """Fetch and check every source, and convert its rows to documents and questions.

    Args:
        paths: of the rows and of their provenance.
        contents: not used; a change of it makes DVC run this stage again.
        mirror: a folder that takes the place of the hub.
        sources: by their keys in the configuration.
    """
    folder = checkout() / mirror if mirror else None
    provenance = []
    for name, source in sources.items():
        out = paths["rows"] / name
        # Papers that are fetched one by one are kept here, outside of what DVC manages.
        local = checkout() / LOCAL
        entry = convert(source, reader_of(source), folder, root_of(source.path), out, local, name)
        provenance.append(entry)
        if source.hub and not source.revision and "hub" in entry:
            commit = " ".join(filter(None, [entry["hub"], entry.get("revision")]))
            print(
                f"{name}: conf pins no revision; using the first one seen here: {commit} "
                f"({FETCHED}). `bears source pin` writes it into conf"
            )
    write_json(paths["provenance"], provenance)
    for name, entry in zip(sources, provenance, strict=True):
        if trusted := [f for f in entry["files"] if f.get("checksum") == "first fetch"]:
            pins = ", ".join(f"{file['name']}: {file['sha256']}" for file in trusted)
            print(
                f"{entry['source']}: conf has no digest for {len(trusted)} files; trusting the "
                f"first download. To check it everywhere, add to the source: sha256: {{{pins}}}"
            )
        for note, count in entry.get("notes", {}).items():
            print(f"{entry['source']}: {count} {note}")
        report = report_of(paths["rows"] / name)
        if report.is_file():
            print(f"{entry['source']}: report on single records: {report}")
        for record, reason in entry.get("failures", {}).items():
            complain(f"{entry['source']}: {record} was left out: {reason}")
        for warning in entry.get("warnings", []):
            complain(f"warning: {warning}")


if __name__ == "__main__":
    exit_with("download", main)
