"""A folder of documents as the rows of a benchmark, and a report of what became of its files."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from bears.config import parse
from bears.errors import BearsError, SourceError
from bears.files.progress import Progress
from bears.files.shown import one_line
from bears.sources.folder.asked import questions
from bears.sources.folder.documents import KINDS, Content, read_document
from bears.sources.folder.duplicates import near_duplicates
from bears.sources.folder.margins import margins
from bears.sources.folder.pieces import cut
from bears.sources.folder.places import Places
from bears.sources.folder.settings import FolderSettings
from bears.sources.folder.walk import files_below, identifier_of, leads_outside
from bears.sources.parts import Parts
from bears.sources.records import PoolDocument, PoolQuestion

QUESTIONS = "questions.csv"
MANY = 3
"""A question with more gold pieces is reported by name, since some of them may be wrong."""


def read_folder(parts: Parts, folder: Path) -> Iterator[PoolDocument | PoolQuestion]:
    """Yield the pieces of a folder's documents, then the questions, if there are any.

    A document keeps its path within the folder as its id; a piece of one that was cut has its
    number after it, ``guide/setup.md#2``. What is left out, dropped or read in an unexpected way
    goes into the report.

    Raises:
        ConfigurationError: a setting.
        SourceError: there is no document, a question cannot be used, or questions.csv is a link
            to a file outside.
        FormatError: the file of questions is no CSV.
    """
    settings = parse(FolderSettings, dict(parts.settings), f"sources.{parts.name}.settings")
    asked = folder / (settings.questions or QUESTIONS)
    if not settings.questions and leads_outside(asked, folder):
        raise SourceError(
            f"{asked} is a link to a file outside of the folder, which is not read. Copy the file "
            f"into the folder, or name it as sources.{parts.name}.settings.questions"
        )
    contents, left_out = _documents(parts, folder, settings, asked)
    if settings.repeated:
        _drop_repeated(parts, contents, settings.edge, settings.repeated)
    files = {name: _pieces(name, content, settings) for name, content in contents.items()}
    for path, name in parts.names.items():
        parts.count(path, len(files[name]))
    texts = {piece: text for pieces in files.values() for piece, text in pieces.items()}
    stand_ins = _stand_ins(parts, texts, settings.near_duplicate)
    yield from (
        PoolDocument(piece, text) for piece, text in texts.items() if piece not in stand_ins
    )
    if settings.questions or asked.exists():
        found, remarks = questions(asked, parts.name, Places(files, stand_ins, left_out))
        parts.count(asked, len(found))
        for line, text in remarks:
            parts.report.append((f"{asked.name}, line {line}", text, ""))
            parts.notes[f"lines of {asked.name} that the report tells of"] += 1
        parts.warnings += [_many(parts.name, one) for one in found if len(one.gold) > MANY]
        yield from found


def _many(source: str, question: PoolQuestion) -> str:
    return (
        f"source {source}: {len(question.gold)} pieces are gold for the question "
        f"{one_line(question.question)!r}, expected at most {MANY}; name the right piece "
        "(guide.md#2) or quote from it under document"
    )


def _documents(
    parts: Parts, folder: Path, settings: FolderSettings, asked: Path
) -> tuple[dict[str, Content], dict[str, str]]:
    """Every file that is a document by its id, and of every other one why it is none."""
    contents: dict[str, Content] = {}
    left_out: dict[str, str] = {}
    for path, reason in Progress(files_below(folder), desc="files", unit=" files"):
        if path == asked:
            continue
        name = identifier_of(path.relative_to(folder).as_posix())
        if not reason and path.suffix.lower() not in KINDS:
            reason = "not one of " + " ".join(KINDS)
        elif not reason:
            try:
                contents[name] = read_document(path, settings.encoding, settings.max_characters)
                parts.names[path] = name
                parts.report += [(name, *remark) for remark in contents[name].remarks]
                continue
            except BearsError as error:
                reason = str(error).replace(f"{path}: ", "").replace(f"{path} ", "it ")
                parts.failures[name] = reason
        left_out[name] = reason
        parts.report.append((name, f"left out: {reason}", ""))
    if not contents:
        such = next((f", such as {name}: {why}" for name, why in left_out.items()), "")
        raise SourceError(
            f"source {parts.name}: there is no document in {folder}, and {len(left_out)} files "
            f"that are left out{such}"
        )
    if left_out:
        parts.notes["files left out"] = len(left_out)
    return contents, left_out


def _drop_repeated(parts: Parts, contents: Mapping[str, Content], edge: int, share: float) -> None:
    """Drop what many files of one kind have at their edges; none of them becomes empty."""
    for kind in sorted({content.kind for content in contents.values()}):
        same = {name: c for name, c in contents.items() if c.kind == kind}
        sheets = [[block.text for block in content.blocks] for content in same.values()]
        for name, found in zip(same, margins(sheets, edge, share), strict=True):
            blocks = same[name].blocks
            kept = [block for i, block in enumerate(blocks) if i not in found]
            if found and kept:
                dropped = [blocks[i].text for i in sorted(found)]
                what = "dropped: other files begin or end with it too"
                parts.report += [(name, what, text) for text in dropped]
                parts.notes["texts dropped that many files begin or end with"] += len(dropped)
                same[name].blocks = kept


def _pieces(name: str, content: Content, settings: FolderSettings) -> dict[str, str]:
    """Id to text."""
    texts = list(cut(content.blocks, settings.min_characters, settings.max_characters))
    if len(texts) == 1:
        return {name: texts[0]}
    return {f"{name}#{number}": text for number, text in enumerate(texts, start=1)}


def _stand_ins(parts: Parts, texts: Mapping[str, str], least: float | None) -> dict[str, str]:
    """Each piece that says nearly the same as an earlier one, and that one."""
    if least is None:
        return {}
    ids, found = list(texts), dict[str, str]()
    for position, earlier, share in near_duplicates(list(texts.values()), least):
        piece, kept = ids[position], ids[earlier]
        found[piece] = kept
        parts.report.append((piece, f"dropped: {share:.0%} the same as {kept}", texts[piece]))
        parts.notes["pieces dropped that nearly say what another does"] += 1
    return found
