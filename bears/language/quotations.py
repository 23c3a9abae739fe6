"""Find a quotation in a text that was wrapped, converted or edited since it was quoted."""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import islice, takewhile
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from bears.language.scripts import HAN, HANGUL, KANA, SOUTH_EAST_ASIAN, ignorable
from bears.types import Question, Span

LINK = re.compile(r"(?<=\])\([^()\s]*\)")
SIMILAR = 90.0
"""The least similarity of a passage that counts as the quotation, of 100: the share of equal
letters and digits in the best alignment (`rapidfuzz.fuzz.ratio`)."""
CLEAR = 5.0
"""How much less similar the second-best passage must be."""
SHORTEST, LONGEST = 20, 100_000
"""The fewest and most letters and digits of a quotation that is found by its similarity."""
SEED, SEEDS, OFTEN = 6, 400, 1000
"""Letters that a similar passage has too, how many such pieces of a quotation are searched, and
how often each."""
MOST = 10_000
"""How many places of a quotation's letters are looked at; they may be parts of words."""
ALIKE, LIKELY = 5, 20
"""A text with one in so many of a quotation's pieces, and half as many as any other text, may have
a similar passage; and how many texts are looked at."""
AT_ONCE, TABLE, MIXER = 20, 24, np.uint64(0x9E3779B97F4A7C15)
"""Texts that are looked through at once, bits of a digest for its first look-up, and the odd factor
that mixes digests."""
EDGE = 400
"""Letters at both ends of a quotation by which its place is found."""
TRIED = 2_000
"""Letters of the quotation that are aligned with likely places, but at four places at least."""
DIGITS = r"\d+(?:[.,']{}\d+)*(?:[eE][+-]?\d+(?!\w))?"
GROUPED = re.compile(r"(?<![\d.,'])\d{1,3}(?:[ ,'\u2019\xa0\u2009\u202f]\d{3})+(?![\d,'.]*\d)")
"""A whole number with separators between its thousands, which countries write differently."""
SIGNED = r"(?:(?<![\w)\]-])-[^\w\s]?(?=\.?\d))?(?:(?<![\w.])\.)?"
UNIT = "[$%‰°¢-¥₠-⃏]"
ALONE = re.compile(SIGNED + DIGITS.format(""))
"""A number with its sign."""
NUMBER = re.compile(rf"(?:{UNIT}\s?)?{SIGNED}{DIGITS.format('')}(?:\s?{UNIT})?")
"""A number with its sign, and a unit that is a symbol."""
LISTED = re.compile(SIGNED + DIGITS.format(r"\s?"))
"""A number with its sign; a space may have come after its comma."""
SIGN = re.compile(
    r"(?<=\S)[ \t]*([^\w\s])(?=\s*[-\w(.])|(?<=\d)\s?([^\w\s]|[^\W\d])" rf"|({UNIT})(?=\s?\d)"
)
"""What may compare, add or measure: between two words, or after a number."""
ESCAPED = ("\\n", "\\r", "\\t")
"""White space as JSON writes it, which some texts have in place of it."""
MARKUP = re.compile("[|~←-⇿]")
"""Signs of tables and lists."""
TWO = {">=": "≥", "<=": "≤", "!=": "≠", "٫": ".", "٬": ",", "٪": "%", "−": "-"}
WITHIN_TOKENS = re.compile(f"[^\\W_{HAN}{KANA}{HANGUL}{SOUTH_EAST_ASIAN}]")
"""A letter or a digit that goes on a token, as in 101A."""
WITHIN_WORDS = re.compile(f"[^\\W\\d_{HAN}{KANA}{HANGUL}{SOUTH_EAST_ASIAN}]")
"""A letter that goes on a word; those of other scripts are a word, or have suffixes glued on."""


class _Letters(dict[int, str]):
    """The letters that each character stands for, computed when it is met first."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _letters(chr(code))
        return found


LETTERS = _Letters()
Places = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Two arrays of the same length: a row and a column each."""


class Match(NamedTuple):
    """The first place of a quotation.

    Attributes:
        start, end: in characters, the end exclusive.
        similarity: of letters and digits, 100 if they are equal.
        times: how often the text has it.
    """

    start: int
    end: int
    similarity: float = 100.0
    times: int = 1


class QuotedText:
    """A text in which quotations are searched.

    Args:
        text: the text.
        dropped: headers and footers that were left out of it, whose numbers quotations may have.
        cut: whether quotations may begin and end within words and numbers, as chunks do.
    """

    def __init__(self, text: str, dropped: Iterable[str] = (), cut: bool = False) -> None:
        self.text, self._cut = text, cut
        self._folded = cache(partial(_folded, text))
        self._dropped = {number for each in dropped for number in _numbers(each, ALONE)}

    def find(self, quotation: str, similar: bool = True) -> Match | None:
        """Return the place of a quotation, or None.

        It is searched exactly, but for white space; then by its letters and digits; then by
        similarity. A word is found as a whole word, and a number as the same number, with its
        point and sign. A passage is similar enough if it reaches `SIMILAR`, has the quotation's
        numbers, and every other passage is less similar by `CLEAR`.

        Args:
            similar: whether to search by similarity.
        """
        for fold in (_visible, _letters):
            if found := [*self._passages(quotation, fold)]:
                return found[0]._replace(times=len(found))
        return self._similar(quotation) if similar else None

    def _passages(self, quotation: str, fold: Callable[[str], str]) -> Iterator[Match]:
        folded, places = self._folded(fold)
        wanted, quoted = _folded(quotation, fold)
        numbers, signs = _numbers(quotation), _signs(quotation)
        edges = _edges(quotation, quoted[0], quoted[-1] + 1) if wanted else ("", "")
        at = folded.find(wanted) if wanted else -1
        for _ in range(MOST):
            if at < 0:
                return
            last = at + len(wanted)
            start, end = places[at], places[last - 1] + 1
            # One character may have become several.
            part = places[last - 1] in places[last : last + 1]
            inside = part or self._within(start) or self._within(end)
            inside |= _edges(self.text, start, end) != edges
            whole = self._cut or not inside
            at = folded.find(wanted, last if whole else at + 1)
            if whole:
                start, end = (start, end) if self._cut else self._with_numbers(start, end)
                there = self.text[start:end]
                if _numbers(there) == numbers and not _contrary(there, signs):
                    yield Match(start, end)

    def _similar(self, quotation: str) -> Match | None:
        wanted, (folded, places) = letters_of(quotation), self._folded(_letters)
        if not SHORTEST <= len(wanted) <= min(LONGEST, len(folded)):
            return None
        likely = _likely(wanted, folded)
        score, first, last = max((_aligned(wanted, folded, at) for at in likely), default=(0, 0, 0))
        if score < SIMILAR:
            return None
        others = folded[:first] + "\0" * (last - first) + folded[last:]
        if any(_aligned(wanted, others, at)[0] > score - CLEAR for at in likely):
            return None
        start, end = self._with_numbers(places[first], places[last - 1] + 1)
        while self._within(start, WITHIN_WORDS):
            start -= 1
        while self._within(end, WITHIN_WORDS):
            end += 1
        passage = self.text[start:end]
        # Words between two numbers may have gone.
        numbers, there = _numbers(quotation, ALONE), _numbers(passage, ALONE)
        missing = numbers - there
        # A page's number was within the quotation, and no other number is in its place.
        if missing and (there - numbers or missing.keys() - self._dropped):
            return None
        # In a long passage, signs that are no longer beside a number say little.
        if len(wanted) <= EDGE and _contrary(passage, _signs(quotation)):
            return None
        # A passage with the same letters was refused before, for its signs or numbers.
        similarity = fuzz.ratio(wanted, letters_of(passage))
        return Match(start, end, similarity) if similarity < 100 else None

    def _with_numbers(self, start: int, end: int) -> tuple[int, int]:
        """Return a range with the whole of the numbers that it begins and ends in."""
        near = max(0, start - 40)
        for number in NUMBER.finditer(_plain(self.text[near : end + 40])):
            first, last = near + number.start(), near + number.end()
            if first < end and start < last:
                start, end = min(start, first), max(end, last)
        return start, end

    def _within(self, place: int, kind: re.Pattern[str] = WITHIN_TOKENS) -> bool:
        """Return whether a token goes on from the character before a place to the one after it."""
        if _is_vowel(self.text[place : place + 1] or " "):
            return True
        if self.text[max(0, place - 2) : place] in ESCAPED and self.text[place].isdigit():
            return False
        before = reversed(self.text[max(0, place - 9) : place])
        sides = (
            next((c for c in s if _seen(c)), " ") for s in (before, self.text[place : place + 9])
        )
        return all(map(kind.match, sides))


def _likely(wanted: str, folded: str) -> list[int]:
    """Return the places where a similar passage may begin, the likeliest first."""
    width = max(SHORTEST, len(wanted) // 8)
    votes = Counter[int]()
    for offset in range(0, len(wanted) - SEED + 1, max(1, len(wanted) // SEEDS)):
        seed = re.escape(wanted[offset : offset + SEED])
        for place in islice(re.finditer(seed, folded), OFTEN):
            votes[(place.start() - offset) // width] += 1
    ranked = sorted(votes, key=lambda at: (-votes[at] - votes.get(at + 1, 0), at))
    return [at * width for at in ranked[: max(4, TRIED // len(wanted))]]


def _aligned(wanted: str, folded: str, at: int) -> tuple[float, int, int]:
    """Return the similarity of the passage that begins near ``at``, its start and its end."""
    slack = max(SHORTEST, len(wanted) // 8) * 2
    head, tail = wanted[:EDGE], wanted[-EDGE:]
    near = max(0, at - slack)
    start = near + _ends(head, folded[near : at + slack + len(head)])[0]
    near = max(start, start + len(wanted) - len(tail) - slack)
    end = near + _ends(tail, folded[near : near + len(tail) + 2 * slack])[1]
    return fuzz.ratio(wanted, folded[start:end], score_cutoff=SIMILAR - CLEAR), start, end


def _ends(wanted: str, folded: str) -> tuple[int, int]:
    """Return the range of a text that is most similar, from the first to the last equal letter."""
    found = fuzz.partial_ratio_alignment(wanted, folded)
    if not found:
        return 0, 0
    passage = folded[found.dest_start : found.dest_end]
    equal = [each for each in Indel.opcodes(wanted, passage) if each.tag == "equal"]
    if not equal:
        return 0, 0
    return found.dest_start + equal[0].dest_start, found.dest_start + equal[-1].dest_end


def _plain(text: str) -> str:
    """Return a text with ASCII's digits, points and minus, each in its place."""
    return text if text.isascii() else "".join(map(_plain_character, text))


@cache
def _plain_character(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if unicodedata.category(character) == "Pd":
        return "-"
    wide = unicodedata.normalize("NFKC", character)
    # Of powers and fractions nothing is left to compare with.
    return TWO.get(character, character if wide[0].isalnum() or len(wide) > 1 else wide)


def _edges(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the signs that belong to the first and to the last token of a range, as in C++."""
    # The sign of a number belongs to the number.
    before = "" if text[start : start + 1].isdigit() else text[max(0, start - 9) : start][::-1]
    return _glued(before, "")[::-1], _glued(text[end : end + 9], "-\u2010\u2011")


def _glued(text: str, more: str) -> str:
    """Return the signs that a text begins with, unless a word or a bracket follows them."""
    signs = "".join(takewhile(_is_glued, text)) or (text[:1] if text[:1] in more else "")
    after = text[len(signs) : len(signs) + 1]
    return "" if after.isalnum() or after in ("(", "[", *more) else _plain(signs)


def _is_glued(character: str) -> bool:
    telling = unicodedata.category(character) == "Sm" and character not in "<>="
    return character == "#" or (telling and not MARKUP.match(character))


def _numbers(text: str, form: re.Pattern[str] = LISTED) -> Counter[str]:
    whole = GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), _spelled(text))
    return Counter("".join(found.split()) for found in form.findall(whole))


def _spelled(text: str) -> str:
    """Return `_plain` with fractions as two numbers, and digits below the line as digits."""
    if text.isascii():
        return text
    return "".join(map(_spelled_character, text))


@cache
def _spelled_character(character: str) -> str:
    form = unicodedata.decomposition(character)
    if form.startswith("<fraction>"):
        return f" {normalize('NFKC', character).replace('⁄', '/')}"
    return normalize("NFKC", character) if form.startswith("<sub>") else _plain_character(character)


def _signs(text: str) -> Counter[str]:
    """Return the mathematical and other signs of a text that change its meaning."""
    plain = re.sub("[<>!]=", lambda found: TWO[found[0]], _spelled(text))
    found = ("".join(groups) for groups in SIGN.findall(plain))
    return Counter(sign for sign in found if sign in "%‰°" or _is_telling(sign))


def _is_telling(sign: str) -> bool:
    return unicodedata.category(sign) in ("Sm", "Sc", "No") and not MARKUP.match(sign)


def _contrary(passage: str, signs: Counter[str]) -> bool:
    """Return whether a passage has another sign instead of one of a quotation's."""
    there = _signs(passage)
    return bool(there - signs and signs - there)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, without case, accents and addresses of links."""
    return LINK.sub("", text).translate(LETTERS)


class Holders:
    """The texts that may hold quotations, found by reading all of them once.

    A text that has a quotation has all its pieces of `SEED` letters, and a similar one has many of
    them.

    Args:
        texts: name to text.
        quotations: every quotation that will be asked for.
    """

    def __init__(self, texts: Mapping[str, str], quotations: Iterable[str]) -> None:
        self._names = list(texts)
        self._place = {quotation: n for n, quotation in enumerate(dict.fromkeys(quotations))}
        asked = [np.unique(_pieces(letters_of(each))) for each in self._place]
        self._wanted = np.array([len(pieces) for pieces in asked], np.int64)
        known = np.unique(np.concatenate([np.zeros(1, np.uint64), *asked]))
        rows = np.repeat(np.arange(len(asked)), self._wanted)
        places = [np.searchsorted(known, pieces) for pieces in asked]
        of_quotations = _incidence([(rows, np.concatenate([rows[:0], *places]))], len(asked), known)
        of_texts = _incidence(_known_pieces(texts.values(), known), len(texts), known)
        self._votes = (of_quotations @ of_texts.T).tocsr()

    def of(self, quotation: str, similar: bool = False) -> list[str]:
        """Return the names of the texts that may have a quotation, the likeliest first.

        One of fewer than `SEED` letters may be in all of them.

        Args:
            similar: whether also those that may have a similar passage.
        """
        place = self._place[quotation]
        wanted = self._wanted[place]
        if not wanted:
            return self._names
        row = slice(*self._votes.indptr[place : place + 2])
        votes, texts = self._votes.data[row], self._votes.indices[row]
        least = max(wanted // ALIKE, votes.max(initial=1) // 2) if similar else wanted
        enough = votes >= least
        order = np.lexsort((texts[enough], -votes[enough]))[:LIKELY]
        return [self._names[text] for text in texts[enough][order]]


def _known_pieces(texts: Iterable[str], known: NDArray[np.uint64]) -> Iterator[Places]:
    """Yield the places of texts, and those of known pieces that they have, some at a time."""
    # Few pieces of a text are known ones, and one look into a table of bits leaves out the rest.
    table = np.zeros(1 << TABLE, np.bool_)
    table[known >> np.uint64(64 - TABLE)] = True
    left, begin = map(letters_of, texts), 0
    while batch := [*islice(left, AT_ONCE)]:
        pieces = _pieces("\0".join(batch))
        at = np.flatnonzero(table[pieces >> np.uint64(64 - TABLE)])
        place = np.searchsorted(known[:-1], pieces[at])
        same = known[place] == pieces[at]
        ends = np.cumsum([len(letters) + 1 for letters in batch])
        yield begin + np.searchsorted(ends, at[same], side="right"), place[same]
        begin += len(batch)


def _pieces(letters: str) -> NDArray[np.uint64]:
    """Return the digest of each piece of `SEED` letters."""
    codes = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    size = max(0, len(codes) - SEED + 1)
    digests = np.zeros(size, np.uint64)
    for offset in range(SEED):
        digests = (digests + codes[offset : offset + size]) * MIXER
    return digests


def _incidence(places: Iterable[Places], rows: int, known: NDArray[np.uint64]) -> Any:
    """Return a matrix that has a 1 where a row has a known piece."""
    # Few texts have quotations, and importing it takes as long as all else here.
    from scipy.sparse import csr_array

    nothing = np.zeros(0, np.int64)
    row, piece = map(np.concatenate, zip((nothing, nothing), *places, strict=True))
    found = csr_array((np.ones(len(row), np.int32), (row, piece)), (rows, len(known)))
    found.sum_duplicates()
    found.data[:] = 1
    return found


def _folded(text: str, fold: Callable[[str], str]) -> tuple[str, "array[int]"]:
    """Return what is left of each character of a text, and the position of that character."""
    if fold is _letters:
        text = LINK.sub(lambda found: "\0" * len(found[0]), text)
    parts, places = list[str](), array("L")
    for place, character in enumerate(text):
        if kept := fold(character):
            parts.append(kept)
            places.extend([place] * len(kept))
    return "".join(parts), places


def _visible(character: str) -> str:
    return "" if character.isspace() else character


@cache
def _letters(character: str) -> str:
    plain = unicodedata.normalize("NFKD", _plain_character(character)).casefold()
    return "".join(c for c in plain if c.isalnum() or _is_vowel(c))


def _is_vowel(mark: str) -> bool:
    """Return whether a mark is part of the spelling: vowels, tones and dots of Asian scripts."""
    above = unicodedata.combining(mark)
    spells = unicodedata.category(mark) in ("Mn", "Mc") and (above < 10 or 100 < above < 200)
    return spells and not ignorable(mark)


def _seen(character: str) -> bool:
    return not (unicodedata.category(character)[0] == "M" or ignorable(character))


def found_again(questions: Iterable[Question], contents: Mapping[str, str]) -> Iterable[Question]:
    """Yield the questions with their gold spans where the documents have the quotations now.

    A span whose quotation is not in its document any more is lost.

    Args:
        contents: doc_id to text.
    """
    texts: dict[str, QuotedText] = {}

    def again(span: Span) -> Span:
        text = contents.get(span.doc_id, "")
        if text[span.start : span.end] == span.quotation:
            return span
        match = texts.setdefault(span.doc_id, QuotedText(text)).find(span.quotation)
        start, end = (match.start, match.end) if match else (0, 0)
        return replace(span, start=start, end=end)

    for question in questions:
        spans = tuple(map(again, question.gold_spans))
        yield replace(question, gold_spans=spans) if spans != question.gold_spans else question
