"""Find the files that people mean by the names that they write down."""

import re
from collections import defaultdict
from collections.abc import Iterable
from unicodedata import normalize
from urllib.parse import unquote

from rapidfuzz import process

from bears.identity import identifier_of, path_of

LISTED = re.compile(r"\s*[;|,\n]\s*")
"""What separates several names in one cell."""
PLACE = re.compile(r"\s*[:#,;?|@(\[§]|\s")
"""What separates a name from a place in the file, such as a section. White space does so only after
the ending of the name, since names have it too."""


class Files:
    """Finds files by their ids, paths and names.

    Args:
        known: their ids, as `bears.identity.identifier_of` writes paths.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = dict.fromkeys(known)
        self._named = defaultdict[str, list[str]](list)
        for doc_id in self._known:
            name = _parts(doc_id)[-1]
            for each in {name, name.rpartition(".")[0] or name}:
                self._named[each].append(doc_id)

    def find(self, value: str) -> list[str]:
        """Return the ids of the files that a value names; empty if it names none.

        A name may be an id; a path or the end of one, or an address whose path ends so; with or
        without the ending of the file; with percent signs, back slashes, and in any case. A place
        in the file may follow it (``file:section``), or other names of files.

        Raises:
            ValueError: it may be one of several files.
        """
        if found := self._one(value):
            return [found]
        several = [each for each in LISTED.split(value) if each]
        if len(several) > 1 and all(map(self._one, several)):
            return [*dict.fromkeys(map(self._one, several))]
        for place in reversed([*PLACE.finditer(value)]):
            head = value[: place.start()]
            found = self._one(head)
            if found and (not place[0].isspace() or _parts(found)[-1] == _parts(head)[-1]):
                return [found]
        return []

    def near(self, value: str) -> str:
        """Return the name that is most like a value."""
        names = list(map(path_of, self._known))
        found = process.extractOne(value, names, processor=str.casefold, score_cutoff=50)
        return found[0] if found else ""

    def _one(self, value: str) -> str:
        written = value.strip()
        path = identifier_of(written.replace("\\", "/").removeprefix("./"))
        # An id is what it is, before anything in it is read as a path.
        if exact := next((each for each in (path, written) if each in self._known), ""):
            return exact
        parts = _parts(written)
        if not parts:
            return ""
        ends = {doc_id: _common_end(parts, doc_id) for doc_id in self._named.get(parts[-1], ())}
        best = max(filter(None, ends.values()), default=None)
        found = [doc_id for doc_id, end in ends.items() if end and end == best]
        same = [doc_id for doc_id in found if unquote(doc_id).endswith(unquote(written))]
        found = same or found
        if len(found) > 1:
            raise ValueError(f"{value!r:.80} may be {', '.join(found[:5])}; give the path")
        return found[0] if found else ""


def _parts(value: str) -> list[str]:
    """Return the parts of a path, without case; of an address those after its host."""
    plain = normalize("NFC", unquote(value)).casefold().replace("\\", "/")
    path = re.sub(r"^\w+://[^/]*|[?#].*$", "", plain) if "://" in plain else plain
    return [part for part in path.split("/") if part.strip() not in ("", ".")]


def _common_end(parts: list[str], doc_id: str) -> tuple[int, bool] | None:
    """Return how many parts two paths share, and whether the name has its ending too.

    None if neither is the end of the other.
    """
    own = _parts(doc_id)
    length = min(len(own), len(parts))
    if own[-length:-1] != parts[-length:-1]:
        return None
    return length, own[-1] == parts[-1]
