"""What a reader makes of the questions: with the gold, without, with a part, with other documents.

The requests are those of a generator's answers (`bears.answers`), and so are their keys: who reads,
and how, is one of conf/generator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from bears.answers.citations import cited
from bears.answers.prompts import AnswerPrompt
from bears.answers.shown import show
from bears.answers.task import AnswerRequest, AnswerTask
from bears.language.yes_no import says_unanswerable
from bears.llm.kept import PublishedMemory
from bears.llm.use import FILL, CheckedReply, Needs, all_of
from bears.llm.wire import ChatAnswer
from bears.questions.form import Fault, Form, Written
from bears.questions.pool import DocumentPool
from bears.questions.reading import Asked, Reading
from bears.questions.settings import MadeSettings, ReadingPrompt
from bears.questions.units import Unit
from bears.types import Document


@dataclass
class CheckedQuestions(Needs[AnswerRequest]):
    """What is needed, and what is known of each question whose answers are all there.

    Args:
        faults: question_id to what the reader's answers say against it.
        also: question_id to documents that answer it too.
        read: question_id to what was answered where.
    """

    faults: dict[str, list[Fault]] = field(default_factory=dict)
    also: dict[str, list[str]] = field(default_factory=dict)
    read: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckTask(AnswerTask):
    """Answering made questions to see what they are worth: a `bears.llm.use.Use`.

    What a reader cannot answer from its gold is asked no further, and so on.

    Args:
        prompts: what is said where other than the question's answer is asked for.
        made: thresholds, and which filters are off.
        form: how texts of the language are compared.
        pool: where other documents are.
        drafts: unit to the question to be read, of those that are asked at all.
    """

    prompts: Mapping[str, ReadingPrompt]
    made: MadeSettings
    form: Form
    pool: DocumentPool
    drafts: Mapping[Unit, Written]

    remedy = FILL
    advice = "publish without them, and count them as not answered: memory publish --give-up"

    @property
    def wanted(self) -> str:
        """What may be missing."""
        return f"readings of made questions by {self.settings.name}"

    def prompt_of(self, request: AnswerRequest) -> AnswerPrompt:
        """What is said first."""
        return self.prompts.get(request.field) or super().prompt_of(request)

    def check(self, request: AnswerRequest, answer: ChatAnswer) -> CheckedReply:
        """What is wrong with an answer. A list without end is as good as one with it."""
        endless = request.field in self.prompts and answer.finish_reason == "length"
        whole = replace(answer, finish_reason="stop") if endless else answer
        return super().check(request, whole)

    def resolve(self, known: PublishedMemory) -> CheckedQuestions:
        """Ask of each question what its earlier answers lead to."""
        found = CheckedQuestions()
        for unit, draft in self.drafts.items():
            read = partial(self._read, known, found, unit, draft)
            reading = Reading(self.made, self.form, self.pool, unit, draft, read)
            faults = reading.faults()
            if faults is not None:
                found.faults[unit.question_id] = faults
                found.also[unit.question_id] = reading.also
        return found

    def complete(self, known: PublishedMemory) -> CheckedQuestions:
        """As `resolve`. Raises MemoryMiss where something was never asked."""
        return all_of(self.resolve(known), self.wanted)

    def _read(
        self,
        known: PublishedMemory,
        found: CheckedQuestions,
        unit: Unit,
        draft: Written,
        asked: Asked,
        documents: Sequence[Document],
    ) -> str | None:
        """What is said, without markers; see `Reading`."""
        texts = show(documents, self.settings.tokens).texts
        words = self.prompts[asked].question if asked in self.prompts else "{question}"
        text = words.format(**asdict(draft))
        request = AnswerRequest(unit.question_id, text, (), texts, asked)
        entry = found.ask(lambda each: known.get(self.key(each), ""), request)
        if entry is None:
            return None
        answer = cited(entry, len(texts)).text
        answer = "" if says_unanswerable(answer, self.language.unanswerable) else answer
        of = f" {documents[0].doc_id}" if asked.endswith("other document") else ""
        found.read.setdefault(unit.question_id, {})[asked + of] = answer
        return answer
