"""Take answers from a system that runs elsewhere, with the passages that it gave."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bears.answers.citations import Cited, as_ours, cited
from bears.errors import FormatError
from bears.files.progress import Progress
from bears.files.shown import complain
from bears.language.yes_no import LITERAL, says_unanswerable
from bears.retrieval.outside.matching import PassageMatcher, Reply, matched
from bears.retrieval.outside.system import OutsideSettings, OutsideSystem
from bears.trace import Citation, Trace
from bears.types import Chunk, Positive, Question


def citing(trace: Trace, found: Cited, chunks: Sequence[Chunk]) -> Trace:
    """Return a trace with an answer that cites chunks by their positions."""
    evidence = tuple(filter(matched, (chunks[position] for position in found.positions)))
    return replace(
        trace,
        answer=found.text,
        evidence=evidence,
        citations=tuple(
            Citation(end, chunks[at]) for end, at in found.places if matched(chunks[at])
        ),
        cited_not_given=found.unknown + len(found.positions) - len(evidence),
    )


def unread_marks(marks: Sequence[str]) -> str:
    """Describe what looks like citations and is not read."""
    return f"{len(marks)} marks that look like citations are not read, such as {marks[0]!r:.80}"


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
        unread = list[str]()
        rounds = [(at, each) for at in range(1, self.repeats + 1) for each in questions]
        for repeat, question in Progress(rounds, unit=" questions"):
            reply = system.reply(question.asked, repeat)
            if reply is None:
                error = system.failed[question.asked, repeat]
                yield Trace(question_id=question.question_id, answer="", error=error)
                continue
            chunks = matcher.chunks(reply.passages)
            found = self.answer_in(reply, unanswerable)
            unread += as_ours(reply.answer or "", len(chunks))[1]
            shown = tuple(filter(matched, chunks))
            unmatched += len(chunks) - len(shown)
            trace = matcher.trace(question.question_id, reply, chunks)
            yield replace(citing(trace, found, chunks), shown=shown)
        system.finish()
        if unread:
            complain(f"generate: warning: {unread_marks(unread)}")
        if unmatched:
            complain(f"generate: warning: {unmatched:,} passages match no document, or several")

    def answer_in(self, reply: Reply, unanswerable: str) -> Cited:
        """Return the answer in a reply, as `answered` has it. Raises FormatError without one."""
        if reply.answer is None:
            raise FormatError(
                f"{self.call or self.url or self.url_env} returned no answer; expected "
                '{"answer": …, "passages": […]}'
            )
        shown = len(reply.passages)
        found = cited(as_ours(reply.answer, shown)[0], shown)
        silent = says_unanswerable(found.text, unanswerable)
        return replace(found, text=LITERAL) if silent else found
