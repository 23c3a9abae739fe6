"""Take answers from a system that runs elsewhere, with the passages that it gave."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bears.answers.citations import Cited, cited
from bears.errors import FormatError
from bears.files.progress import Progress
from bears.files.shown import complain
from bears.language.yes_no import LITERAL, says_unanswerable
from bears.retrieval.outside.matching import PassageMatcher, Reply, matched
from bears.retrieval.outside.system import OutsideSettings, OutsideSystem
from bears.trace import Citation, Trace
from bears.types import Positive, Question

NUMBERS = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")
"""The citations of most systems: ``[1]``, ``[2, 3]``."""


@dataclass(frozen=True)
class OutsideGenerator(OutsideSettings):
    """A system that answers questions from passages that it finds itself.

    Args:
        repeats: how often each question is asked.
    """

    part = "generator"
    repeats: Positive = 1

    def answered(
        self, questions: Sequence[Question], documents: Mapping[str, str], unanswerable: str
    ) -> Iterator[Trace]:
        """Yield the trace of each question, once for each repeat.

        ``shown`` has the passages that match a document. Any other one that is cited counts in
        ``cited_not_given``.

        Args:
            questions: all of the benchmark.
            documents: doc_id to text.
            unanswerable: how the language says that there is no answer.

        Raises:
            StoreError: the system fails on more questions than it may.
        """
        system, matcher, unmatched = OutsideSystem(self), PassageMatcher(documents), 0
        rounds = [(at, each) for at in range(1, self.repeats + 1) for each in questions]
        for repeat, question in Progress(rounds, unit=" questions"):
            turns = [f"{turn.role}: {turn.content}" for turn in question.turns]
            asked = "\n".join([*turns, question.question])
            reply = system.reply(asked, repeat)
            if reply is None:
                error = system.failed[asked, repeat]
                yield Trace(question_id=question.question_id, answer="", error=error)
                continue
            chunks = matcher.chunks(reply.passages)
            found = self.answer_in(reply, unanswerable)
            shown = tuple(filter(matched, chunks))
            unmatched += len(chunks) - len(shown)
            evidence = tuple(filter(matched, (chunks[position] for position in found.positions)))
            yield replace(
                matcher.trace(question.question_id, reply, chunks),
                answer=found.text,
                evidence=evidence,
                citations=tuple(
                    Citation(end, chunks[at]) for end, at in found.places if matched(chunks[at])
                ),
                shown=shown,
                cited_not_given=found.unknown + len(found.positions) - len(evidence),
            )
        system.finish()
        if unmatched:
            complain(f"generate: warning: {unmatched:,} passages match no document, or several")

    def answer_in(self, reply: Reply, unanswerable: str) -> Cited:
        """Return the answer in a reply, as `answered` has it. Raises FormatError without one."""
        if reply.answer is None:
            raise FormatError(
                f"{self.call or self.url or self.url_env} returned no answer; expected "
                '{"answer": …, "passages": […]}'
            )
        found = cited(NUMBERS.sub(r"[CITE:\1]", reply.answer), len(reply.passages))
        silent = says_unanswerable(found.text, unanswerable)
        return replace(found, text=LITERAL) if silent else found
