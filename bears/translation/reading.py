"""Proofreading: a model compares a translation with its source and lists what differs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from typing_extensions import TypedDict

from bears.config.shape import BenchmarkLanguage, LanguageNames, SourceSettings
from bears.config.typed import Keys
from bears.errors import FormatError
from bears.language.tags import languages_of
from bears.llm.flat import FlatUse, shown
from bears.llm.kept import KeptReplies
from bears.llm.models import estimate
from bears.llm.prompt import SystemPrompt
from bears.llm.settings import AskingSettings
from bears.llm.shape import Shape
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer
from bears.types import Document, Finding, Question

Records = tuple[Sequence[Question], Sequence[Document]]
REPLY_TOKENS = (8, 200)
"""The fewest and the most tokens of an answer in practice."""
MOST, LONGEST = 20, 300
"""The most remarks that are kept for one text, and the longest quotation in characters."""


class Remark(TypedDict):
    """One difference: the words of the source and of the translation."""

    kind: Literal["lost", "changed", "added"]
    source: str
    translation: str


class Remarks(TypedDict):
    """A model's answer, and the form that is kept."""

    remarks: list[Remark]


SHAPE = Shape(Remarks)


@dataclass(frozen=True, kw_only=True)
class ReaderSettings(AskingSettings):
    """One conf/reader/<name>.yaml that has a model."""

    where: ClassVar[str] = "reader"

    prompt: SystemPrompt


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """One translation and its source."""

    record_id: str
    field: str
    source: str
    translation: str

    @property
    def text(self) -> str:
        """Return both, for people who read the kept replies."""
        return f"{self.source}\n→ {self.translation}"


@dataclass(frozen=True)
class ReadingTask(FlatUse[ReadingRequest]):
    """The proofreading of one benchmark's translations.

    Args:
        settings: who reads.
        language: title and native_name of the translations' language, for the prompt.
        translations: all of them.
    """

    settings: ReaderSettings
    language: Mapping[str, str]
    translations: Sequence[ReadingRequest]

    name = "proofreading"
    advice = "choose another reader: a text that no model accepts can be left to a person"
    schema = SHAPE.schema
    most_tokens = 1024

    @property
    def wanted(self) -> str:
        return f"readings by {self.settings.name}"

    @property
    def remedy(self) -> str:  # type: ignore[override]
        chosen = f"reader={self.settings.name}"
        return f"To get them: bears replies fill {chosen}, then bears replies publish {chosen}"

    def requests(self) -> Sequence[ReadingRequest]:
        return self.translations

    def version(self, request: ReadingRequest) -> int:  # noqa: ARG002
        return self.settings.prompt.version

    def messages(self, request: ReadingRequest, reasons: Sequence[str]) -> tuple[str, str]:
        system = self.settings.prompt.system.format(**self.language).strip()
        if reasons:
            why = "; ".join(reasons)
            system += f"\n\nYour last answer was not taken: {why}. Mend that."  # prompt
        return system, shown({"source": request.source, "translation": request.translation})

    def output_tokens(self, request: ReadingRequest) -> tuple[float, float]:
        return REPLY_TOKENS[0], min(REPLY_TOKENS[1], estimate(request.text)[1])

    def check(self, request: ReadingRequest, answer: ChatAnswer) -> CheckedReply:
        """Keep the remarks, shortened. `tenable` decides later whether they can be true."""
        del request
        return check(answer)

    def findings(self, known: KeptReplies) -> list[Finding]:
        """Return a warning for each remark that can be true.

        Raises:
            RepliesMissing: a translation has no reply.
            RepliesCorrupt: a reply is not valid.
        """
        return [
            Finding("reading", "warning", request.record_id, _message(remark), request.field)
            for request, line in self.replies(known)
            for remark in remarks_of(request, line)
        ]


def remarks_of(request: ReadingRequest, line: str) -> list[Remark]:
    """Return the remarks of a kept line that can be true. Raises RepliesCorrupt."""
    remarks = SHAPE.kept(line, f"the reading of {request.text!r:.60}")["remarks"]
    return tenable(remarks, request.source, request.translation)


def check(answer: ChatAnswer) -> CheckedReply:
    """Return the part of an answer to keep."""
    try:
        remarks = SHAPE.read(answer)["remarks"]
    except FormatError as error:
        return CheckedReply("", [str(error)], [])
    kept = [
        Remark(
            kind=remark["kind"],
            source=_short(remark["source"]),
            translation=_short(remark["translation"]),
        )
        for remark in remarks[:MOST]
    ]
    return CheckedReply(SHAPE.line({"remarks": kept}), [], [])


def tenable(remarks: Sequence[Remark], source: str, translation: str) -> list[Remark]:
    """Return the remarks whose quotations are where they should be, each once.

    Lost words must not be in the translation in their original form. Added words must not be in
    the source, like the original of a name in parentheses.
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


@dataclass(frozen=True)
class ReadingKeys(Keys):
    """The keys of the configuration that proofreading reads."""

    benchmark: BenchmarkLanguage
    language: LanguageNames
    reader: ReaderSettings
    sources: dict[str, SourceSettings]


def read_task(keys: ReadingKeys, raw: Records, translated: Records) -> ReadingTask:
    """Return the translations to read.

    Args:
        keys: the configuration.
        raw, translated: questions and documents, before translation and after it.

    Raises:
        ConfigurationError: something does not fit.
    """
    target = keys.language
    names = {*(q.source_dataset for q in raw[0]), *(d.original_source for d in raw[1])}
    languages = languages_of(keys.sources, names, keys.benchmark.language, target.name)
    native = {name for name, language in languages.items() if language == target.name}
    language = {"title": target.title, "native_name": target.native_name}
    return ReadingTask(keys.reader, language, [*_requests(raw, translated, native)])


def _requests(raw: Records, translated: Records, native: set[str]) -> Iterator[ReadingRequest]:
    questions = {q.question_id: q for q in raw[0] if q.source_dataset not in native}
    for question in translated[0]:
        if before := questions.get(question.question_id):
            # An answer is read with its question, since alone it is ambiguous.
            pair = (_with_answer(before), _with_answer(question))
            yield ReadingRequest(question.question_id, "question", *pair)
    documents = {d.doc_id: d for d in raw[1] if d.original_source not in native}
    for document in translated[1]:
        if source := documents.get(document.doc_id):
            yield ReadingRequest(document.doc_id, "content", source.content, document.content)


def _with_answer(question: Question) -> str:
    return "\n".join(filter(None, (question.question, question.gold_answer)))


def _message(remark: Remark) -> str:
    quotations = [repr(text) for text in (remark["source"], remark["translation"]) if text]
    shown = {"lost": quotations[:1], "added": quotations[-1:], "changed": quotations}
    return f"{remark['kind']}: {' → '.join(shown[remark['kind']])}"


def _short(text: str) -> str:
    return " ".join(text.split())[:LONGEST]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
