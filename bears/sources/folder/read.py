"""A folder of documents as the rows of a benchmark, and a report of what became of its files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field
from tqdm import tqdm

from bears.configuration import parse
from bears.errors import BearsError, ConfigurationError, SourceError
from bears.sources.folder.asked import questions
from bears.sources.folder.documents import KINDS, Content, read_document
from bears.sources.folder.duplicates import near_duplicates
from bears.sources.folder.margins import margins
from bears.sources.folder.pieces import cut
from bears.sources.folder.places import Places
from bears.sources.folder.walk import files_below, identifier_of
from bears.sources.parts import Parts
from bears.types import Closed, PoolDocument, PoolQuestion

QUESTIONS = "questions.csv"
Share = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True)
class FolderSettings(Closed):
    """How a folder is read.

    Args:
        questions: a CSV file, see `bears.sources.folder.asked`; empty: questions.csv in the folder,
            if there is one.
        encoding: of texts that are not UTF-8 and say nothing themselves, such as ``cp1252``; empty:
            they are left out.
        min_characters, max_characters: of a piece; a document of more is cut at a heading that comes
            after that many, else between paragraphs.
        repeated: a short text near the begin or end of a file is dropped if so large a share of
            the files of its kind, and three of them, have it there; null: never.
        edge: how many blocks are near.
        near_duplicate: a piece is dropped if it shares so much with an earlier one; null: never.
    """

    questions: str = ""
    encoding: str = ""
    min_characters: Annotated[int, Field(ge=1)] = 500
    max_characters: Annotated[int, Field(ge=100)] = 2000
    repeated: Share | None = 0.5
    edge: Annotated[int, Field(ge=1)] = 3
    near_duplicate: Annotated[float, Field(ge=0.5, le=1)] | None = 0.9

    def __post_init__(self) -> None:
        if self.min_characters >= self.max_characters:
            raise ConfigurationError(
                f"settings.min_characters is {self.min_characters}, settings.max_characters "
                f"{self.max_characters}; expected min < max"
            )


@dataclass
class _Folder:
    path: Path
    settings: FolderSettings
    parts: Parts
    contents: dict[str, Content] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def read(self) -> None:
        """Read every file that is a document."""
        found = [each for each in files_below(self.path) if each[0] != self.asked]
        for path, reason in tqdm(found, desc="files", unit=" files", disable=None):
            name = identifier_of(path.relative_to(self.path).as_posix())
            if not reason and path.suffix.lower() not in KINDS:
                reason = "not one of " + " ".join(KINDS)
            try:
                if not reason:
                    most = self.settings.max_characters
                    self.contents[name] = read_document(path, self.settings.encoding, most)
                    self.parts.names[path] = name
                    for what, text in self.contents[name].remarks:
                        self.parts.report.append((name, what, text))
                    continue
            except BearsError as error:
                reason = str(error).replace(f"{path}: ", "").replace(f"{path} ", "it ")
                self.parts.failures[name] = reason
            self.left_out[name] = reason
            self.parts.report.append((name, f"left out: {reason}", ""))
        if not self.contents:
            raise SourceError(f"source {self.parts.name}: {self._nothing(len(found))}")

    def _nothing(self, files: int) -> str:
        first = next(iter(self.left_out.items()), None)
        why = f", of {files} files; {first[0]}: {first[1]}" if first else ""
        return f"there is no document in {self.path}{why}"

    @property
    def asked(self) -> Path:
        return self.path / (self.settings.questions or QUESTIONS)

    def without_repeated(self) -> None:
        """Drop what many files of a kind have at their edges."""
        kinds = sorted({content.kind for content in self.contents.values()})
        for kind in kinds if self.settings.repeated else ():
            same = {n: c for n, c in self.contents.items() if c.kind == kind}
            sheets = [[block.text for block in content.blocks] for content in same.values()]
            found = margins(sheets, self.settings.edge, self.settings.repeated or 1)
            for (name, content), dropped in zip(same.items(), found, strict=True):
                for i in sorted(dropped) if len(dropped) < len(content.blocks) else ():
                    self.parts.report.append((name, "repeated across files, dropped", content.blocks[i].text))
                    self.parts.notes["texts repeated across files dropped"] += 1
                kept = [b for i, b in enumerate(content.blocks) if i not in dropped]
                content.blocks = kept or content.blocks

    def pieces(self) -> dict[str, dict[str, str]]:
        """File to its pieces, id to text."""
        sizes = self.settings.min_characters, self.settings.max_characters
        found = {name: list(cut(content.blocks, *sizes)) for name, content in self.contents.items()}
        return {
            name: {f"{name}#{n}": text for n, text in enumerate(texts, start=1)}
            if len(texts) > 1
            else {name: text for text in texts}
            for name, texts in found.items()
        }

    def stand_ins(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Each piece that says the same as an earlier one, and that one."""
        if self.settings.near_duplicate is None:
            return {}
        ids = list(texts)
        found = {}
        for position, earlier, share in near_duplicates(
            list(texts.values()), self.settings.near_duplicate
        ):
            piece, kept = ids[position], ids[earlier]
            found[piece] = kept
            self.parts.report.append((piece, f"dropped: {share:.0%} the same as {kept}", texts[piece]))
        if found:
            self.parts.notes["pieces dropped that nearly say what another does"] = len(found)
        return found


def read_folder(parts: Parts, path: Path) -> Iterator[PoolDocument | PoolQuestion]:
    """Yield the pieces of a folder's documents, then the questions, if there are any.

    A document keeps its path within the folder as its id; a piece of one that was cut has its number
    after it, ``guide/setup.md#2``.

    Raises:
        ConfigurationError: a setting.
        SourceError: there is no document, or a question cannot be used.
        FormatError: the file of questions is no CSV.
    """
    folder = _Folder(path, parse(FolderSettings, dict(parts.settings), "settings"), parts)
    folder.read()
    folder.without_repeated()
    files = folder.pieces()
    for file, name in parts.names.items():
        parts.count(file, len(files[name]))
    texts = {piece: text for pieces in files.values() for piece, text in pieces.items()}
    stand_ins = folder.stand_ins(texts)
    for piece, text in texts.items():
        if piece not in stand_ins:
            yield PoolDocument(piece, text)
    if folder.settings.questions or folder.asked.exists():
        asked, remarks = questions(folder.asked, parts.name, Places(files, stand_ins, folder.left_out))
        parts.names[folder.asked] = folder.asked.name
        parts.count(folder.asked, len(asked))
        for remark in remarks:
            parts.report.append((f"{folder.asked.name}, line {remark.line}", remark.text, ""))
            parts.notes["questions' golds in several pieces of a file"] += 1
        yield from asked
