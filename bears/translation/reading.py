"""A second, independent reading of translations: a model says what was lost, changed or added."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import TypedDict

from bears.config import Config, parse
from bears.errors import FormatError
from bears.language.tags import languages_of
from bears.llm.flat import FlatUse, shown
from bears.llm.kept import PublishedMemory
from bears.llm.models import estimate
from bears.llm.prompt import SystemPrompt
from bears.llm.settings import AskingSettings
from bears.llm.shape import Shape
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer
from bears.types import Document, Finding, Question

Records = tuple[Sequence[Question], Sequence[Document]]
REPLY_TOKENS = (8, 200)
"""The least and the most of an answer in practice."""
MOST, LONGEST = 20, 300
"""Remarks that are kept of one text, and characters of a quotation."""


class Remark(TypedDict):
    """One place where a translation says something else: words of the source and of it."""

    kind: Literal["lost", "changed", "added"]
    source: str
    translation: str


class Remarks(TypedDict):
    """What a model answers, and what is kept of it."""

    remarks: list[Remark]


SHAPE = Shape(Remarks)


@dataclass(frozen=True, kw_only=True)
class ReaderSettings(AskingSettings):
    """One conf/reader/<name>.yaml that asks a model."""

    where: ClassVar[str] = "reader"

    prompt: SystemPrompt


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """One translation beside its source."""

    record_id: str
    field: str
    source: str
    translation: str

    @property
    def text(self) -> str:
        """Both, so that a person can read what is kept."""
        return f"{self.source}\n→ {self.translation}"


@dataclass(frozen=True)
class ReadingTask(FlatUse[ReadingRequest]):
    """Reading one benchmark's translations.

    Args:
        settings: who reads.
        language: title and native_name of the translations' language, for the prompt.
        translations: all of them.
    """

    settings: ReaderSettings
    language: Mapping[str, str]
    translations: Sequence[ReadingRequest]

    name = "proofreading"
    advice = "choose another reader: a text that no model takes can be left to a person"
    schema = SHAPE.schema
    most_tokens = 1024

    @property
    def wanted(self) -> str:
        return f"readings by {self.settings.name}"

    @property
    def remedy(self) -> str:  # type: ignore[override]
        chosen = f"reader={self.settings.name}"
        return (
            f"To have them read: python -m bears memory fill {chosen}, then python -m bears memory "
            f"publish {chosen}"
        )

    def requests(self) -> Sequence[ReadingRequest]:
        return self.translations

    def version(self, request: ReadingRequest) -> int:  # noqa: ARG002
        return self.settings.prompt.version

    def messages(self, request: ReadingRequest, reasons: Sequence[str]) -> tuple[str, str]:
        system = self.settings.prompt.system.format(**self.language).strip()
        if reasons:
            system += f"\n\nYour last answer was not taken: {'; '.join(reasons)}. Mend that."
        return system, shown({"source": request.source, "translation": request.translation})

    def output_tokens(self, request: ReadingRequest) -> tuple[float, float]:
        return REPLY_TOKENS[0], min(REPLY_TOKENS[1], estimate(request.text)[1])

    def check(self, request: ReadingRequest, answer: ChatAnswer) -> CheckedReply:
        """Keep the remarks, shortened; whether they are true is `tenable`'s question."""
        del request
        return check(answer)

    def findings(self, known: PublishedMemory) -> list[Finding]:
        """Return a warning for each remark that can be true.

        Raises:
            MemoryMiss: a translation was never read.
            MemoryCorrupt: an entry is not a reading.
        """
        return [
            Finding("reading", "warning", request.record_id, _message(remark), request.field)
            for request, line in self.replies(known)
            for remark in remarks_of(request, line)
        ]


def remarks_of(request: ReadingRequest, line: str) -> list[Remark]:
    """Return the remarks of a kept line that can be true. Raises MemoryCorrupt."""
    said = SHAPE.kept(line, f"the reading of {request.text!r:.60}")["remarks"]
    return tenable(said, request.source, request.translation)


def check(answer: ChatAnswer) -> CheckedReply:
    """Return what is kept of an answer."""
    try:
        remarks = SHAPE.read(answer)["remarks"]
    except FormatError as error:
        return CheckedReply("", [str(error)], [])
    kept = [
        Remark(
            kind=one["kind"], source=_short(one["source"]), translation=_short(one["translation"])
        )
        for one in remarks[:MOST]
    ]
    return CheckedReply(SHAPE.line({"remarks": kept}), [], [])


def tenable(remarks: Sequence[Remark], source: str, translation: str) -> list[Remark]:
    """Return the remarks whose quotations are where they are said to be, each once.

    What is lost is not in the translation as it was, what was added is not in the source, as the
    original of a name in parentheses is.
    """
    source, translation = _plain(source), _plain(translation)
    found = []
    for remark in remarks:
        before, after = _plain(remark["source"]), _plain(remark["translation"])
        quoted_before, quoted_after = before in source, after in translation
        holds = {
            "lost": before and quoted_before and before not in translation,
            "added": after and quoted_after and after.strip("()（） ") not in source,
            "changed": before and after and quoted_before and quoted_after and before != after,
        }
        if holds[remark["kind"]] and remark not in found:
            found.append(remark)
    return found


def read_task(config: Config, raw: Records, translated: Records) -> ReadingTask:
    """Return what is to be read.

    Args:
        config: with the keys benchmark.language, language, reader and sources.
        raw, translated: questions and documents, before translation and after it.

    Raises:
        ConfigurationError: something does not fit.
    """
    settings = parse(ReaderSettings, config["reader"], "reader")
    target, kept = config["language"], config["benchmark"]["language"]
    names = {*(q.source_dataset for q in raw[0]), *(d.original_source for d in raw[1])}
    languages = languages_of(config["sources"], names, kept, target["name"])
    native = {name for name, language in languages.items() if language == target["name"]}
    language = {"title": target["title"], "native_name": target["native_name"]}
    return ReadingTask(settings, language, [*_requests(raw, translated, native)])


def _requests(raw: Records, translated: Records, native: set[str]) -> Iterator[ReadingRequest]:
    questions = {q.question_id: q for q in raw[0] if q.source_dataset not in native}
    for question in translated[0]:
        if before := questions.get(question.question_id):
            # An answer alone tells little of what it means.
            pair = (_asked(before), _asked(question))
            yield ReadingRequest(question.question_id, "question", *pair)
    documents = {d.doc_id: d for d in raw[1] if d.original_source not in native}
    for document in translated[1]:
        if source := documents.get(document.doc_id):
            yield ReadingRequest(document.doc_id, "content", source.content, document.content)


def _asked(question: Question) -> str:
    return "\n".join(filter(None, (question.question, question.gold_answer)))


def _message(remark: Remark) -> str:
    before, after = remark["source"], remark["translation"]
    said = {"lost": f"{before!r}", "added": f"{after!r}", "changed": f"{before!r} → {after!r}"}
    return f"{remark['kind']}: {said[remark['kind']]}"


def _short(text: str) -> str:
    return " ".join(text.split())[:LONGEST]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
