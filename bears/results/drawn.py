"""A benchmark from traces: questions that stand for all that users asked."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import islice, pairwise
from pathlib import Path
from random import Random

from rapidfuzz import fuzz, process

from bears.answers.citations import as_ours, cited
from bears.answers.outside import citing
from bears.errors import FormatError
from bears.files.records import write_text
from bears.files.spreadsheet import write_csv
from bears.files.traces import write_traces
from bears.identity import identifier_of, own_question_id
from bears.language.declared import identified
from bears.language.personal import masked
from bears.layout import LOCAL, TRACES, traced_of
from bears.results.recorded import Recorded
from bears.results.recorded_files import read_recorded
from bears.retrieval.outside.matching import Passage, PassageMatcher
from bears.sources.folder.read import texts_of
from bears.trace import Trace
from bears.types import Chunk, Turn

ALIKE = 90
"""Questions with the same numbers are nearly the same from this similarity on, of 100."""
LOOKED_AT = 200
"""From how many questions their language is taken."""
AT_ONCE = 500
"""How many questions are compared with all others at a time."""
COLUMNS = ("decision", "question", "history", "weight", "asked", "first", "last", "masked")
"""Of the table in which people accept or drop questions."""
ROLES = {name: name for name in ("question", "weight", "decision")}
"""What the reader of questions needs to know of these columns."""


@dataclass(frozen=True)
class DrawnQuestion:
    """A question, in the words that most of its users chose, without what must not be kept.

    Args:
        turns: the conversation before it.
        asked: of all traces, those with this question or nearly this one.
        drawn: those of them that were drawn.
        masked: how often each kind of data was masked.
    """

    text: str
    turns: tuple[Turn, ...]
    asked: Sequence[Recorded]
    drawn: Sequence[Recorded]
    masked: Mapping[str, int]

    def question_id(self, source: str) -> str:
        """Return the id that the source of a folder gives it."""
        return own_question_id(source, (turn.content for turn in self.turns), self.text)

    def row(self) -> list[str | int]:
        """Return its row of the table, without a decision."""
        # Traces may lack their time.
        times = [datetime.fromtimestamp(each.start, UTC) for each in self.asked if each.start]
        first, last = (f"{of(times):%Y-%m-%d}" if times else "" for of in (min, max))
        history = json.dumps([asdict(turn) for turn in self.turns], ensure_ascii=False)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.masked.items()))
        said = history if self.turns else ""
        return ["", self.text, said, len(self.drawn), len(self.asked), first, last, kinds]


def draw(every: Iterable[Recorded], count: int, language: str, seed: int) -> list[DrawnQuestion]:
    """Draw traces, and return their questions, each with those of its traces that were drawn.

    The traces are cut into ``count`` stretches of time with as many traces each, and one of each is
    drawn. So every trace is as likely, and the mean over draws is an estimate of the mean over all
    traces. A question that many users asked is drawn several times.

    Args:
        every: traces; those without a question are left out.
        count: how many to draw; all, if there are no more.
        language: BCP 47 tag of the questions.
    """
    ordered = sorted((each for each in every if each.question), key=lambda each: each.start)
    kept = {text: masked(text, language) for text in {each.question for each in ordered}}
    plain = [kept[each.question][0] for each in ordered]
    before = _before(ordered, plain)
    groups = _groups([_with_turns(*each) for each in zip(plain, before, strict=True)])
    members, drawn = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for place, group in enumerate(groups):
        members[group].append(place)
    rng, total = Random(seed), len(ordered)
    stretches = min(count, total)
    for start, end in pairwise(place * total // stretches for place in range(stretches + 1)):
        place = rng.randrange(start, end)
        drawn[groups[place]].append(place)
    found = []
    for group, own in drawn.items():
        [(text, _)] = Counter(plain[place] for place in members[group]).most_common(1)
        usual = next(place for place in members[group] if plain[place] == text)
        asked, of_draws = ([ordered[place] for place in each] for each in (members[group], own))
        said = [Turn(turn.role, masked(turn.content, language)[0]) for turn in before[usual]]
        kinds = kept[ordered[usual].question][1]
        found.append(DrawnQuestion(text, tuple(said), asked, of_draws, kinds))
    return found


def _before(ordered: Sequence[Recorded], plain: Sequence[str]) -> list[tuple[Turn, ...]]:
    """Return the conversation before each trace."""
    said = defaultdict[str, tuple[Turn, ...]](tuple)
    before = []
    for each, question in zip(ordered, plain, strict=True):
        before.append(said[each.session] if each.session else ())
        if each.session:
            said[each.session] += (Turn("user", question),)
            if answer := each.reply.answer:
                said[each.session] += (Turn("assistant", answer),)
    return before


def _with_turns(question: str, turns: Sequence[Turn]) -> str:
    """Return a question after the earlier ones, without which it may mean something else."""
    return "\n".join([*(turn.content for turn in turns if turn.role == "user"), question])


def _groups(texts: Sequence[str]) -> list[int]:
    """Return the group of each text: one for all that are nearly the same as its first one.

    Texts with other numbers are never the same.
    """
    forms = [" ".join(re.findall(r"\w+", text.casefold())) or text for text in texts]
    known = [form for form, _ in Counter(forms).most_common()]
    numbers = [re.findall(r"\d+", form) for form in known]
    leader: dict[int, int] = {}
    for start in range(0, len(known), AT_ONCE):
        rows = known[start : start + AT_ONCE]
        scores = process.cdist(
            rows, known[: start + len(rows)], scorer=fuzz.ratio, score_cutoff=ALIKE, workers=-1
        )
        for place, row in enumerate(scores, start=start):
            alike = (int(other) for other in row[:place].nonzero()[0])
            first = (o for o in alike if leader[o] == o and numbers[o] == numbers[place])
            leader[place] = next(first, place)
    place_of = {form: place for place, form in enumerate(known)}
    return [leader[place_of[form]] for form in forms]


SEED = 20_231_122


def draw_benchmark(
    project: Path, name: str, files: Sequence[Path], documents: Path | None, count: int
) -> tuple[Path, Path, str]:
    """Draw the questions of a benchmark from traces, into the folder `TRACES` of a project.

    Git ignores that folder. It has the table in which people accept or drop questions, and the
    traces of the system that were drawn.

    Args:
        project: its folder.
        name: of the benchmark's source.
        files: of the traces, see `bears.results.recorded_files.read_recorded`.
        documents: their folder; None: a folder is made of the passages that were found.
        count: how many questions to draw.

    Returns:
        The folder of the documents, the table, and a sentence about what was drawn and masked.

    Raises:
        FormatError: the traces cannot be read, or have no question or no passage.
        BearsError: the documents cannot be read.
    """
    traces = project / traced_of(name)
    folder, table = traces.parent, traces.with_name("questions.csv")
    if table.exists():
        raise FormatError(f"{table} is there, with people's decisions; move it to draw anew")
    write_text(project / TRACES / ".gitignore", "*\n")
    if documents is None:
        passages = PassageTexts()
        every, _ = read_recorded(files, passages)
        documents = folder / "documents"
        passages.write(documents, _language(every))
    matcher = PassageMatcher(texts_of(documents, project / LOCAL))
    every, tools = read_recorded(files, matcher)
    silent = sum(not each.question for each in every)
    if silent == len(every):
        raise FormatError(f"none of {silent} traces says what a user asked")
    language = _language(every)
    questions = draw(every, count, language, SEED)
    write_csv(table, COLUMNS, [each.row() for each in questions])
    write_traces(traces, traces_of(questions, name, matcher, language))
    kinds = sum((Counter(each.masked) for each in questions), Counter[str]())
    drawn = sum(len(each.drawn) for each in questions)
    found = any(step.passages is not None for each in every for step in each.reply.steps)
    retrievers = "those of retrievers" if found else "none"
    said = (
        f"{drawn} of {len(every)} traces drawn, which ask {len(questions)} questions; "
        f"{f'{silent} do not say what a user asked; ' if silent else ''}masked: "
        f"{', '.join(f'{n} {kind}' for kind, n in sorted(kinds.items())) or 'nothing'}; searches: "
        f"{', '.join(tools) or retrievers}\n  write accept or drop for each question in {table}; "
        f"the system's own traces are in {traces}"
    )
    return documents, table, said


def _language(every: Iterable[Recorded]) -> str:
    """Return the language of what users ask, as far as it is certain."""
    return identified("\n".join(islice((each.question for each in every), LOOKED_AT))) or "en"


def trace_of(key: str, each: Recorded, matcher: PassageMatcher) -> tuple[Trace, list[str]]:
    """Return the trace of a question, and what in its answer only looks like a citation."""
    chunks = matcher.chunks(each.reply.passages)
    trace = matcher.trace(key, each.reply, chunks)
    if not trace.answer or trace.evidence is not None:
        return trace, []
    text, unread = as_ours(trace.answer, len(chunks))
    found = cited(text, len(chunks))
    known = found.positions or found.unknown
    return citing(trace, found, chunks) if known else trace, unread


def traces_of(
    questions: Iterable[DrawnQuestion], source: str, matcher: PassageMatcher, language: str
) -> Iterator[Trace]:
    """Yield the traces that were drawn, without what must not be kept.

    Args:
        source: the name of the source that has the questions.
    """
    for question in questions:
        for each in question.drawn:
            trace, _ = trace_of(question.question_id(source), each, matcher)
            answer = trace.answer and masked(trace.answer, language)[0]
            # Where the text changes, the places of its citations are others.
            same = answer == trace.answer
            searches = trace.searches and tuple(
                replace(search, query=masked(search.query, language)[0])
                for search in trace.searches
            )
            citations = trace.citations if same else None
            error = trace.error and masked(trace.error, language)[0]
            yield replace(trace, answer=answer, searches=searches, citations=citations, error=error)


class PassageTexts(PassageMatcher):
    """Collects the texts of passages, where the documents themselves are not there."""

    def __init__(self) -> None:
        super().__init__({})
        self._texts = defaultdict[str, dict[str, None]](dict)

    def keep(self, passage: Passage) -> Passage:
        """Remember the text of a passage that names its document."""
        if self.match(passage):
            self._texts[passage.source or passage.id][passage.text] = None
        return passage

    def match(self, passage: Passage) -> Chunk | None:
        """Return a chunk if a passage has a text and the name of its document."""
        name = passage.source or passage.id
        return Chunk(name) if name and passage.text.strip() else None

    def write(self, folder: Path, language: str) -> None:
        """Write a file for each document, with what was found of it.

        Raises:
            FormatError: no trace has a passage with the name of its document.
        """
        for name, texts in self._texts.items():
            words = re.sub(r"[^\w.-]+", "-", identifier_of(name)).strip("-.") or "document"
            text = "\n\n".join(masked(each, language)[0] for each in texts)
            write_text(folder / f"{words[-150:]}.txt", text)
        if not self._texts:
            raise FormatError(
                "no trace has the text of a passage with the name of its document; name the folder "
                "of the documents: --documents FOLDER"
            )
