"""Find the pieces that a person means who names a file, or quotes from one."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import accumulate

from bears.language.yes_no import WORDS, yes_or_no
from bears.sources.folder.documents import KINDS
from bears.sources.folder.walk import identifier_of

LINK = re.compile(r"\]\([^()\s]*\)")
SHORTEST = 4
"""The fewest letters and digits of an answer that is searched for in the pieces of a file."""


@dataclass(frozen=True)
class Found:
    """The ids of pieces, and a remark on how they were found."""

    pieces: tuple[str, ...]
    remark: str = ""


class Places:
    """Finds the pieces of a folder by the names and quotations that people use.

    Args:
        files: a file's id to its pieces: id to text, in order.
        stand_ins: a piece that was dropped to the one that replaces it.
        left_out: a file's id to why it is not a document.
    """

    def __init__(
        self,
        files: Mapping[str, Mapping[str, str]],
        stand_ins: Mapping[str, str],
        left_out: Mapping[str, str],
    ) -> None:
        self._files, self._stand_ins, self._left_out = files, stand_ins, left_out
        self._pieces = {piece: file for file, pieces in files.items() for piece in pieces}
        self._plain = {file: _Plain(pieces) for file, pieces in files.items()}

    def find(self, document: str, answer: str) -> Found:
        """Return the pieces that are meant.

        Args:
            document: a file's path or name, a piece's id, or a quotation.
            answer: to the question. It selects those pieces of a file that hold it. A yes, a no,
                or an answer shorter than `SHORTEST` selects the whole file.

        Raises:
            ValueError: why they cannot be found.
        """
        # What looks like an id may be the path of another file.
        if document in self._pieces and identifier_of(document) not in self._files:
            return self._kept([document])
        if not (file := self._file(document)):
            return self._kept(self._quoted(document))
        pieces = list(self._files[file])
        if len(pieces) == 1:
            return self._kept(pieces)
        remark = f"{file} was cut into {len(pieces)} pieces, and the gold is "
        if not _selects(answer):
            why = f"the answer is missing, a yes or a no, or shorter than {SHORTEST} letters"
            return self._kept(pieces, f"{remark}all of them: {why}")
        holding = [piece for piece in pieces if _holds(self._files[file][piece], answer)]
        remark += f"the {len(holding)} that hold the answer" if holding else "all of them"
        return self._kept(holding or pieces, remark)

    def _kept(self, pieces: Sequence[str], remark: str = "") -> Found:
        return Found(tuple(dict.fromkeys(self._stand_ins.get(p, p) for p in pieces)), remark)

    def _file(self, document: str) -> str:
        """Return the id of the file with this path or name, or an empty text."""
        path = identifier_of(document.strip().replace("\\", "/").removeprefix("./"))
        known = [*self._files, *self._left_out]
        named = [path] if path in known else [f for f in known if f.rpartition("/")[2] == path]
        if len(named) > 1:
            raise ValueError(f"{document!r:.80} may be {', '.join(named[:5])}; give the path")
        if named and named[0] not in self._files:
            raise ValueError(f"{named[0]} is left out: {self._left_out[named[0]]}")
        if not named and path.lower().endswith(tuple(KINDS)) and " " not in document.strip():
            near = get_close_matches(path, self._files, 3)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise ValueError(f"there is no file {document!r:.80}{hint}")
        return named[0] if named else ""

    def _quoted(self, document: str) -> list[str]:
        wanted = plain(document)
        if not wanted:
            raise ValueError(f"{document!r:.80} is not a path and quotes no word")
        found = [span for text in self._plain.values() for span in text.spans(wanted)]
        meant = {tuple(self._stand_ins.get(piece, piece) for piece in span) for span in found}
        if not meant:
            raise ValueError(f"{document!r:.80} matches no document path and no document text")
        if len(meant) > 1:
            places = ", ".join(sorted(span[0] for span in meant)[:5])
            raise ValueError(
                f"{document!r:.80} is in {len(meant)} places: {places}; quote more of it, or "
                "name one of these"
            )
        return [*meant.pop()]


class _Plain:
    """The pieces of a file as one text that has only letters and digits."""

    def __init__(self, pieces: Mapping[str, str]) -> None:
        texts = [plain(text) for text in pieces.values()]
        self._ids, self._text = list(pieces), "".join(texts)
        self._starts = [0, *accumulate(map(len, texts))][:-1]

    def spans(self, wanted: str) -> Iterator[tuple[str, ...]]:
        """Yield the pieces of each occurrence, several if it continues in the next one."""
        place = self._text.find(wanted)
        while place >= 0:
            first = bisect_right(self._starts, place) - 1
            last = bisect_right(self._starts, place + len(wanted) - 1) - 1
            yield tuple(self._ids[first : last + 1])
            place = self._text.find(wanted, place + len(wanted))


def plain(text: str) -> str:
    """Return the letters and digits of a text, so that marks and line breaks do not matter."""
    folded = unicodedata.normalize("NFKC", LINK.sub("]", text)).casefold()
    return "".join(filter(str.isalnum, folded))


def _selects(answer: str) -> bool:
    """Return whether the pieces that hold an answer can be taken for those that give it."""
    return len(plain(answer)) >= SHORTEST and not any(yes_or_no(answer, tag) for tag in WORDS)


def _holds(text: str, answer: str) -> bool:
    """Return whether a text holds an answer as whole words."""
    wanted, within = (" ".join(each.casefold().split()) for each in (answer, text))
    # Scripts without spaces have no whole words.
    begin = r"(?<![^\W_])" if wanted[0].isascii() else ""
    end = r"(?![^\W_])" if wanted[-1].isascii() else ""
    return re.search(begin + re.escape(wanted) + end, within) is not None
