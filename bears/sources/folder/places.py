"""Finding the pieces that somebody means who names a file, or quotes from one."""

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
"""Letters and digits from which an answer is looked for in the pieces of a file."""


@dataclass(frozen=True)
class Found:
    """The ids of pieces, and what there is to say of how they were found."""

    pieces: tuple[str, ...]
    remark: str = ""


class Places:
    """The pieces of a folder, as people speak of them.

    Args:
        files: a file's id to its pieces: id to text, in order.
        stand_ins: a piece that was dropped to the one that says the same.
        left_out: a file's id to why it is not among the documents.
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

    def find(self, said: str, answer: str) -> Found:
        """The pieces that are meant.

        Args:
            said: a file's path or name, a piece's id, or a quotation.
            answer: to the question. Of a file that was cut, it selects the pieces that hold it; a
                yes, a no, or an answer shorter than `SHORTEST` selects the whole file.

        Raises:
            ValueError: why nobody can tell; to be read after "document".
        """
        # What looks like an id may be the path of another file.
        if said in self._pieces and identifier_of(said) not in self._files:
            return self._kept([said])
        if not (file := self._file(said)):
            return self._kept(self._quoted(said))
        pieces = list(self._files[file])
        if len(pieces) == 1:
            return self._kept(pieces)
        told = f"{file} was cut into {len(pieces)} pieces, and the gold is "
        if not _selects(answer):
            why = f"the answer is missing, a yes or a no, or shorter than {SHORTEST} letters"
            return self._kept(pieces, f"{told}all of them: {why}")
        holding = [piece for piece in pieces if _stands(answer, self._files[file][piece])]
        told += f"the {len(holding)} in which the answer stands" if holding else "all of them"
        return self._kept(holding or pieces, told)

    def _kept(self, pieces: Sequence[str], remark: str = "") -> Found:
        return Found(tuple(dict.fromkeys(self._stand_ins.get(p, p) for p in pieces)), remark)

    def _file(self, said: str) -> str:
        """The file that is called so, by its path or by its name alone; empty for none."""
        path = identifier_of(said.strip().replace("\\", "/").removeprefix("./"))
        known = [*self._files, *self._left_out]
        named = [path] if path in known else [f for f in known if f.rpartition("/")[2] == path]
        if len(named) > 1:
            raise ValueError(f"{said!r:.80} may be {', '.join(named[:5])}; give the path")
        if named and named[0] not in self._files:
            raise ValueError(f"{named[0]} is left out: {self._left_out[named[0]]}")
        if not named and path.lower().endswith(tuple(KINDS)) and " " not in said.strip():
            near = get_close_matches(path, self._files, 3)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise ValueError(f"there is no file {said!r:.80}{hint}")
        return named[0] if named else ""

    def _quoted(self, said: str) -> list[str]:
        wanted = plain(said)
        if not wanted:
            raise ValueError(f"{said!r:.80} is no path and quotes no word")
        found = [span for text in self._plain.values() for span in text.spans(wanted)]
        meant = {tuple(self._stand_ins.get(piece, piece) for piece in span) for span in found}
        if not meant:
            raise ValueError(f"{said!r:.80} is no path of a document, and stands in none of them")
        if len(meant) > 1:
            places = ", ".join(sorted(span[0] for span in meant)[:5])
            raise ValueError(
                f"{said!r:.80} stands in {len(meant)} places: {places}; quote more of it, or "
                "name one of these"
            )
        return [*meant.pop()]


class _Plain:
    """The pieces of a file as one text of nothing but letters and digits."""

    def __init__(self, pieces: Mapping[str, str]) -> None:
        texts = [plain(text) for text in pieces.values()]
        self._ids, self._text = list(pieces), "".join(texts)
        self._starts = [0, *accumulate(map(len, texts))][:-1]

    def spans(self, wanted: str) -> Iterator[tuple[str, ...]]:
        """The pieces of each occurrence, several where it goes on in the next one."""
        place = self._text.find(wanted)
        while place >= 0:
            first = bisect_right(self._starts, place) - 1
            last = bisect_right(self._starts, place + len(wanted) - 1) - 1
            yield tuple(self._ids[first : last + 1])
            place = self._text.find(wanted, place + len(wanted))


def plain(text: str) -> str:
    """The letters and digits of a text, so that marks and line breaks make no difference."""
    folded = unicodedata.normalize("NFKC", LINK.sub("]", text)).casefold()
    return "".join(filter(str.isalnum, folded))


def _selects(answer: str) -> bool:
    """Return whether the pieces that hold an answer can be taken for those that give it."""
    return len(plain(answer)) >= SHORTEST and not any(yes_or_no(answer, tag) for tag in WORDS)


def _stands(answer: str, text: str) -> bool:
    """Whether an answer stands in a text as whole words."""
    wanted, within = (" ".join(each.casefold().split()) for each in (answer, text))
    # Scripts without spaces have no whole words.
    begin = r"(?<![^\W_])" if wanted[0].isascii() else ""
    end = r"(?![^\W_])" if wanted[-1].isascii() else ""
    return re.search(begin + re.escape(wanted) + end, within) is not None
