"""download: the sources of the benchmark → data/raw/<benchmark>/rows/<source>.*.jsonl."""

from pathlib import Path

from bears.config import Config, checkout, parse
from bears.config.pipeline import Paths, exit_with
from bears.files.records import write_json
from bears.files.shown import complain
from bears.sources.convert import convert, report_of
from bears.sources.source import Source, reader_of

# Papers that were fetched one by one, outside of what DVC manages: asked for once, kept for good.
FETCHED = Path(".bears")


def main(config: Config, paths: Paths) -> None:
    """Fetch every source, check it, and bring its rows into one shape."""
    mirror = checkout() / config["mirror"] if config["mirror"] else None
    provenance = []
    for name, value in config["sources"].items():
        source = parse(Source, value, f"sources.{name}")
        out = paths["rows"] / name
        fetched = checkout() / FETCHED
        entry = convert(source, reader_of(source), mirror, _root(source), out, fetched, name)
        provenance.append(entry)
        if source.hub and not source.revision and "hub" in entry:
            commit = " ".join(filter(None, [entry["hub"], entry.get("revision")]))
            print(
                f"{name}: conf names no revision; the first that was seen here is taken: {commit} "
                f"({FETCHED}/fetched.json). `python -m bears source pin` writes it into conf"
            )
    write_json(paths["provenance"], provenance)
    for name, entry in zip(config["sources"], provenance, strict=True):
        trusted = [file for file in entry["files"] if file.get("checksum") == "first fetch"]
        if trusted:
            pins = ", ".join(f"{file['name']}: {file['sha256']}" for file in trusted)
            print(
                f"{entry['source']}: no digest is known of {len(trusted)} files; what came first "
                f"is trusted here. For everyone, in its file in conf: sha256: {{{pins}}}"
            )
        for note, count in entry.get("notes", {}).items():
            print(f"{entry['source']}: {count} {note}")
        report = report_of(paths["rows"] / name)
        if report.is_file():
            print(f"{entry['source']}: what became of single records: {report}")
        for record, reason in entry.get("failures", {}).items():
            complain(f"{entry['source']}: {record} is left out: {reason}")
        for warning in entry.get("warnings", []):
            complain(f"warning: {warning}")


def _root(source: Source) -> Path:
    """Where a relative path begins: what git does not track is only in the user's own checkout."""
    return Path.cwd() if (Path.cwd() / source.path).exists() else checkout()


if __name__ == "__main__":
    exit_with("download", main)
