"""From a benchmark before and after translation to the work of reading it a second time."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bears.config import Config, parse
from bears.errors import FormatError, MemoryCorrupt
from bears.language.tags import languages_of
from bears.llm.kept import PublishedMemory
from bears.llm.models import estimate
from bears.llm.prompt import broken
from bears.llm.use import CheckedReply, Needs, all_of
from bears.llm.wire import ChatAnswer, ChatRequest
from bears.translation.reading.remarks import SCHEMA, Remark, check, kept_remarks, tenable
from bears.translation.reading.settings import ReaderSettings
from bears.types import Document, Finding, Question

REPLY_TOKENS = (8, 200)
"""The least and the most of an answer in practice."""
MOST_REPLY_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """One translation beside its source."""

    record_id: str
    field: str
    source: str
    translation: str

    @property
    def text(self) -> str:
        """Both, so that a person can read the memory."""
        return f"{self.source}\n→ {self.translation}"


@dataclass
class Readings(Needs[ReadingRequest]):
    """What is needed, and the remarks on the texts that were read."""

    remarks: list[tuple[ReadingRequest, list[Remark]]] = field(default_factory=list)


@dataclass(frozen=True)
class ReadingTask:
    """Reading one benchmark's translations: a `bears.llm.use.Use`.

    Args:
        settings: who reads.
        language: title and native_name of the translations' language, for the prompt.
        requests: every translation.
    """

    settings: ReaderSettings
    language: Mapping[str, str]
    requests: Sequence[ReadingRequest]

    name = "proofreading"
    advice = "choose another reader: a text that no model takes can be left to a person"

    @property
    def wanted(self) -> str:
        """What may be missing."""
        return f"readings by {self.settings.name}"

    def resolve(self, known: PublishedMemory) -> Readings:
        """Look every translation up. Raises MemoryCorrupt where an entry is no reading."""
        found = Readings()
        for request in self.requests:
            answer = found.ask(lambda each: known.get(self.key(each), ""), request)
            if answer is not None:
                found.remarks.append((request, _remarks(request, answer)))
        return found

    def key(self, request: ReadingRequest) -> str:
        """Over the model and all that it is told."""
        version, words = self.settings.prompt.version, self._messages(request, [])
        return self.settings.key_of_said(self.name, version, *words)

    def ask(self, request: ReadingRequest, reasons: list[str]) -> ChatRequest:
        """What is sent for a translation, with the reasons why earlier answers were not taken."""
        system, user = self._messages(request, reasons)
        parameters = self.settings.request
        return ChatRequest(self.key(request), system, user, SCHEMA, MOST_REPLY_TOKENS, parameters)

    def output_tokens(self, request: ReadingRequest) -> tuple[float, float]:
        """The least and the most tokens of an answer in practice."""
        return REPLY_TOKENS[0], min(REPLY_TOKENS[1], estimate(request.text)[1])

    def check(self, request: ReadingRequest, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with an answer."""
        del request
        return check(answer)

    def findings(self, known: PublishedMemory) -> list[Finding]:
        """A warning for each remark. Raises MemoryMiss where a translation was never read."""
        chosen = f"reader={self.settings.name}"
        remedy = (
            f"To have them read: python -m bears memory fill {chosen}, then python -m bears memory "
            f"publish {chosen}"
        )
        found = all_of(self.resolve(known), self.wanted, remedy)
        return [
            Finding("reading", "warning", request.record_id, _message(remark), request.field)
            for request, remarks in found.remarks
            for remark in remarks
        ]

    def _messages(self, request: ReadingRequest, reasons: Sequence[str]) -> tuple[str, str]:
        system = self.settings.prompt.system.format(**self.language).strip()
        if reasons:
            system += f"\n\nYour last answer was not taken: {'; '.join(reasons)}. Mend that."
        # As JSON, and without words of chat templates, so that no text can end where it stands
        # and go on as something else.
        shown = {"source": request.source, "translation": request.translation}
        return system, broken(json.dumps(shown, ensure_ascii=False, indent=1))


def read_task(
    config: Config,
    raw: tuple[Sequence[Question], Sequence[Document]],
    translated: tuple[Sequence[Question], Sequence[Document]],
) -> ReadingTask:
    """What is to be read.

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


def _requests(
    raw: tuple[Sequence[Question], Sequence[Document]],
    translated: tuple[Sequence[Question], Sequence[Document]],
    native: set[str],
) -> Iterator[ReadingRequest]:
    questions = {q.question_id: q for q in raw[0] if q.source_dataset not in native}
    for question in translated[0]:
        if before := questions.get(question.question_id):
            # An answer alone tells little of what it means.
            pair = (_asked(before), _asked(question))
            yield ReadingRequest(question.question_id, "question", *pair)
    documents = {d.doc_id: d for d in raw[1] if d.original_source not in native}
    for document in translated[1]:
        if source := documents.get(document.doc_id):
            pair = (source.content, document.content)
            yield ReadingRequest(document.doc_id, "content", *pair)


def _asked(question: Question) -> str:
    return "\n".join(filter(None, (question.question, question.gold_answer)))


def _remarks(request: ReadingRequest, answer: str) -> list[Remark]:
    try:
        return tenable(kept_remarks(answer), request.source, request.translation)
    except FormatError as error:
        raise MemoryCorrupt(f"the reading of {request.text!r:.60} is none: {error}") from None


def _message(remark: Remark) -> str:
    before, after = remark["source"], remark["translation"]
    said = {"lost": f"{before!r}", "added": f"{after!r}", "changed": f"{before!r} → {after!r}"}
    return f"{remark['kind']}: {said[remark['kind']]}"
