"""Find out what the fields of a file of questions are, by their values."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any

from bears.errors import SourceError
from bears.files.intake.yaml_text import table_of
from bears.language.quotations import SEED, Holders, letters_of
from bears.language.refusals import refuses
from bears.sources.folder.named import Files
from bears.types import Turn

ROLES = ("question", "answer", "document", "quotation", "conversation", "turn", "history")
NEVER_GUESSED = ("weight", "decision")
"""Of the questions that were drawn from traces: roles of a field only if a person says so."""
_TABLE = table_of(__file__)
NAMES: Mapping[str, Sequence[str]] = _TABLE["names"]
"""What other tools call these fields, in lower case and without signs. Names decide between fields
whose values say the same, and whether an answer that a document has is a quotation."""
STEMS = {role: tuple(stems) for role, stems in _TABLE["stems"].items()}
"""Parts of the names of such fields."""
SPEAKERS = {word: role for role, words in _TABLE["speakers"].items() for word in words}
"""Who says a message, as interfaces of models write it, to our role; empty: not a turn."""
ENDS_ASKING = re.compile(r"[?？؟\u037e՞]\W*$")
CODE = re.compile(r"\S*[\d_]\S*")
"""An id or a number."""
NOTHING = " -–—/.…"
"""What people write where there is nothing."""
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
NO_ANSWER = re.compile(r"(un-?|not[ _-])answerable|no[ _-]?answer|out[ _-]of[ _-]scope", re.I)
LONG = 20
"""Letters of a sentence; a shorter text that a document has is rather an answer."""
NEARLY, NEARLY_ALL = 0.1, 0.8
"""Shares that differ by less are equally good."""


@dataclass(frozen=True)
class Cell:
    """One value of a field.

    Args:
        row: the number of its row, from 0.
        path: the lists that it is in, each with its position there.
        inner: whether it is in a list within a list, whose values are alternatives.
        turns: all messages, if it is what a user said last in a list of messages.
    """

    row: int
    path: tuple[tuple[str, int], ...]
    value: str
    inner: bool = False
    turns: tuple[Turn, ...] = ()

    @property
    def asks(self) -> bool:
        """Return whether it ends like a question."""
        return bool(ENDS_ASKING.search(self.value))

    @property
    def group(self) -> tuple[tuple[str, int], ...]:
        """Return the path that it has in common with its alternatives."""
        return self.path[:-1] if self.inner else self.path

    def beside(self, other: "Cell") -> bool:
        """Return whether it is at the same places of those lists that both are in."""
        places = dict(other.path)
        return all(places.get(name, place) == place for name, place in self.path)


@dataclass
class Field:
    """All values of one field.

    Args:
        name: its name, after those of the objects that it is in.
    """

    name: str
    cells: list[Cell] = field(default_factory=list)

    @cached_property
    def groups(self) -> list[list[Cell]]:
        """Return the values that are alternatives of each other."""
        found: dict[Any, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault((cell.row, cell.group), []).append(cell)
        return list(found.values())

    def share(self, holds: Callable[[str], object]) -> float:
        """Return the share of its values of which one alternative has a property."""
        true = sum(any(holds(cell.value) for cell in group) for group in self.groups)
        return true / len(self.groups)

    @property
    def spoken(self) -> bool:
        """Return whether its values are what users said."""
        return any(cell.turns for cell in self.cells)

    def named(self, role: str) -> int:
        """Return 3 for our name of a role, 2 for another tool's, 1 for a part of one, else 0.

        A name without any role is called as the object that it is in, such as ``answers.text``.
        """
        outer, _, name = self.name.rpartition(".")
        if not outer or any(self._called(name, other) for other in ROLES):
            return self._called(name, role)
        return min(Field(outer).named(role), 1)

    @staticmethod
    def _called(name: str, role: str) -> int:
        plain = re.sub(r"\W|_", "", name).lower()
        if plain == role:
            return 3
        if plain in NAMES[role]:
            return 2
        words = re.findall(r"[^\W\d_A-Z]+|[A-Z][^\W\d_A-Z]*|[A-Z]+", name)
        return int(any(word.lower().startswith(STEMS[role]) for word in words))


@dataclass(frozen=True)
class FieldReading:
    """Which field has what; None: no field.

    Args:
        table: for each field its name, what it is taken as, an example, and how much was found.
    """

    fields: Mapping[str, Field | None]
    table: Sequence[tuple[str, str, str, str]]

    def cells(self, role: str) -> Iterator[Cell]:
        """Yield the values of a role."""
        own = self.fields.get(role)
        return iter(own.cells if own else ())


def fields_of(rows: Iterable[Any]) -> dict[str, Field]:
    """Return the fields of rows by their names, with the values that are not empty."""
    found: dict[str, Field] = {}
    for number, row in enumerate(rows):
        for name, cell in _leaves(row, "", Cell(number, (), "")):
            if cell.value.strip(NOTHING):
                found.setdefault(name, Field(name)).cells.append(cell)
    return found


def _leaves(value: Any, name: str, at: Cell) -> Iterator[tuple[str, Cell]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{name}.{key}" if name else str(key), at)
    elif isinstance(value, list | tuple) and (turns := messages_in(value)):
        yield from _spoken(turns, name, at)
    elif isinstance(value, list | tuple):
        # A list within a list has a name of its own.
        depth = sum(list_.rstrip("]") == name for list_, _ in at.path)
        for place, part in enumerate(value):
            path = (*at.path, (name + "]" * depth, place))
            yield from _leaves(part, name, replace(at, path=path, inner=depth > 0))
    elif value is not None:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        yield name, replace(at, value=text.strip())


def messages_in(listed: Sequence[Any]) -> tuple[Turn, ...]:
    """Return the messages of a list of them; empty if a part of it has no speaker.

    What a message says is the longest of its texts.
    """
    if not listed or not all(isinstance(each, Mapping) for each in listed):
        return ()
    speaker = next(
        (k for k in listed[0] if all(str(m.get(k)).lower() in SPEAKERS for m in listed)), ""
    )
    lengths = Counter[str]()
    for each in listed:
        lengths.update({key: len(_words(part)) for key, part in each.items() if key != speaker})
    if not speaker or not lengths:
        return ()
    [(text, _)] = lengths.most_common(1)
    said = [Turn(SPEAKERS[str(m[speaker]).lower()], _words(m.get(text)).strip()) for m in listed]
    return tuple(turn for turn in said if turn.role and turn.content)


def _words(content: Any) -> str:
    """Return the text of a message, which may be a list of parts."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _spoken(turns: tuple[Turn, ...], name: str, at: Cell) -> Iterator[tuple[str, Cell]]:
    """Yield what a user said last, and what was replied to it."""
    last = max((n for n, turn in enumerate(turns) if turn.role == "user"), default=-1)
    if last >= 0:
        yield name, replace(at, value=turns[last].content, turns=turns)
    for turn in turns[last + 1 :]:
        yield f"{name}.reply", replace(at, value=turn.content)


def read_fields(
    fields: Mapping[str, Field], files: Files, holders: Holders, fixed: Mapping[str, str]
) -> FieldReading:
    """Return which field is the question, the answer, the document and so on.

    The document is the field whose values are found among the files, the quotation the one whose
    values are in the texts as they are, and the question the one that asks. An answer is known by
    its name, or because texts have it too. A conversation is called so and several rows are of one,
    its turns are numbers, and its history is a list of messages.

    Args:
        fields: as `fields_of` returns them.
        files: of the documents.
        holders: of all values, in the texts of the documents.
        fixed: a role to the name of its field, as a person gave it; empty for none.

    Raises:
        SourceError: a field that is given is not there, no field is the question, two fields may
            have the same role, or the one that should name documents names none.
    """
    every = list(fields.values())
    in_files = {each.name: each.share(lambda v: _found(files, v)) for each in every}
    quoted = {each.name: each.share(lambda v: _stands(holders, v)) for each in every}
    chosen: dict[str, Field | None] = {"question": question_field(fields, fixed)}

    def choose(role: str, scores: Mapping[str, float]) -> None:
        if role in fixed:
            chosen[role] = _fixed(role, fixed[role], every)
            return
        taken = [each for each in chosen.values() if each]
        left = {name: score for name, score in scores.items() if fields[name] not in taken}
        chosen[role] = _best(role, [(score, fields[name]) for name, score in left.items()])

    meant = {n for n, each in fields.items() if each.named("document") == 3 and quoted[n] < 0.5}
    meant |= {n for n, each in fields.items() if in_files[n] and each.named("document")}
    choose("document", {n: s for n, s in in_files.items() if s >= 0.5 or n in meant})
    choose("quotation", {n: s for n, s in quoted.items() if _quotes(s, fields[n])})
    choose("history", {n: 1.0 for n, each in fields.items() if each.spoken})
    choose("conversation", {n: 1.0 for n, each in fields.items() if _joins_rows(each)})
    # A column without any value is not among the fields.
    chosen |= {role: fields.get(fixed[role]) for role in NEVER_GUESSED if role in fixed}
    joined = chosen["conversation"]
    choose("turn", {n: 1.0 for n, each in fields.items() if joined and _numbers(each)})
    # A reply before the question does not answer it.
    said = {
        f"{each.name}.reply" for each in every if each.spoken and each is not chosen["question"]
    }
    answers = (each for each in every if each.name not in said)
    choose("answer", {e.name: 1.0 for e in answers if _answers(e, quoted[e.name])})
    if not (chosen["document"] or chosen["quotation"] or "document" in fixed):
        _refuse_lost(every, chosen, files)
    shares = {"document": in_files, "quotation": quoted}
    return FieldReading(chosen, [_line(each, chosen, shares) for each in every])


def question_field(fields: Mapping[str, Field], fixed: Mapping[str, str]) -> Field:
    """Return the field with the questions. Raises what `read_fields` raises."""
    every = list(fields.values())
    if "question" in fixed:
        found = _fixed("question", fixed["question"], every)
    else:
        asks = (each.spoken or each.share(ENDS_ASKING.search) >= 0.5 for each in every)
        asking = [(float(own), each) for own, each in zip(asks, every, strict=True)]
        found = _best("question", [(s, each) for s, each in asking if s or _named_question(each)])
    if not found:
        names = ", ".join(each.name for each in every)
        raise SourceError(
            f"no field has questions; its fields are {names or 'none'}; expected question, and "
            "where they are known answer, document and quotation; name it: --set question=FIELD"
        )
    return found


def _found(files: Files, value: str) -> bool:
    try:
        return bool(files.find(value))
    except ValueError:
        return True


def _fixed(role: str, name: str, every: Sequence[Field]) -> Field | None:
    found = [each for each in every if name == each.name]
    if name and not found:
        names = ", ".join(each.name for each in every)
        raise SourceError(f"no field {name!r:.80} for {role}; there are {names}")
    return found[0] if found else None


def _best(role: str, candidates: Sequence[tuple[float, Field]]) -> Field | None:
    """Return the field with the highest share; of several the one with the better name.

    Raises:
        SourceError: two fields are equally good, and have different values.
    """
    most = max((share for share, _ in candidates), default=0.0)
    good = [each for share, each in candidates if share >= most - NEARLY]
    name = max((each.named(role) for each in good), default=0)
    best = [each for each in good if each.named(role) == name]
    said = {tuple((cell.row, cell.value) for cell in each.cells): each for each in best}
    if len(said) > 1:
        names = [each.name for each in said.values()]
        raise SourceError(
            f"{role} may be {' or '.join(names)}; say which: --set {role}={names[0]}, or "
            f"--set {role}= for none"
        )
    return best[0] if best else None


def _stands(holders: Holders, value: str) -> bool:
    """Return whether a text has a value, which says nothing of a short one."""
    return len(letters_of(value)) >= SEED and bool(holders.of(value))


def _named_question(each: Field) -> bool:
    name = each.named("question")
    return name > 1 or (name == 1 and each.share(CODE.fullmatch) < 0.5)


def _quotes(share: float, each: Field) -> bool:
    """Return whether a field has quotations, and not answers in the words of a document."""
    if share < 0.5:
        return each.named("quotation") == 3
    if each.named("quotation"):
        return True
    # "gold_answer_documents.text" says what of, and the text is a document's.
    answers = each.named("answer") and not each.named("document")
    return not answers and median(len(letters_of(c.value)) for c in each.cells) >= LONG


def _joins_rows(each: Field) -> bool:
    """Return whether it names conversations, of which some have several rows."""
    values = Counter(cell.value for cell in each.cells)
    return each.named("conversation") > 1 and not each.spoken and 1 < len(each.cells) > len(values)


def _numbers(each: Field) -> bool:
    return each.named("turn") > 1 and each.share(re.compile(r"\d{1,9}").fullmatch) == 1


def _answers(each: Field, quoted: float) -> bool:
    values = {cell.value.lower() for cell in each.cells}
    if values <= FLAGS.keys() and not each.named("answer") > 1:
        return False
    if each.named("answer") > 1:
        return True
    if any("answerable" in value for value in values):
        return False
    worded = each.share(lambda value: re.search(r"[^\W\d_]", value)) >= 0.5
    # What many questions have in common is a topic.
    distinct = len(values) > NEARLY_ALL * len(each.cells)
    return worded and (each.named("answer") == 1 or (quoted > NEARLY_ALL and distinct))


def _refuse_lost(every: Sequence[Field], chosen: Mapping[str, Field | None], files: Files) -> None:
    """Refuse a field that seems to name documents, of which none is there."""
    for each in every:
        first = each.cells[0].value
        if each not in chosen.values() and each.named("document"):
            near = files.near(first)
            raise SourceError(
                f"no value of {each.name} is a file of the folder, such as {first!r:.80}"
                f"{f' (the nearest is {near!r:.80})' if near else ''}; if another field names "
                "them: --set document=FIELD, and if none does: --set document="
            )


def _line(
    each: Field, chosen: Mapping[str, Field | None], shares: Mapping[str, Mapping[str, float]]
) -> tuple[str, str, str, str]:
    role = next((role for role, one in chosen.items() if one is each), "")
    total = len(each.groups)
    found = f"{round(shares[role][each.name] * total)} of {total}" if role in shares else f"{total}"
    return each.name, role or "not read", each.cells[0].value, found


def unanswerable_rows(reading: FieldReading, fields: Iterable[Field], language: str) -> set[int]:
    """Return the numbers of the rows without gold that say that there is no answer.

    They say it by their answer; by a word such as *unanswerable*; or by a flag: a field that is
    true or false, and has one value in them and the other in all rows with gold.
    """
    gold = {cell.row for role in ("document", "quotation") for cell in reading.cells(role)}
    question = reading.fields["question"]
    found = {cell.row for cell in reading.cells("answer") if refuses(cell.value, language)}
    for each in (each for each in fields if each is not question):
        values = {cell.row: cell.value.lower() for cell in each.cells}
        flags = {row: FLAGS.get(value) for row, value in values.items()}
        if None in flags.values():
            found |= {row for row, value in values.items() if NO_ANSWER.fullmatch(value)}
            continue
        there = {flags[row] for row in flags.keys() & gold}
        absent = {row for row in flags.keys() - gold if flags[row] not in there}
        if len(there) == 1 and ("answer" in each.name.lower() or len(absent) > 2):
            found |= absent
    return found - gold
