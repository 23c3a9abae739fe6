"""Build the prompt from a question and the documents to show."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bears.config.shape import WrittenIn
from bears.llm.flat import broken, check_names
from bears.llm.use import key_of
from bears.types import ForbidsExtra, Turn


@dataclass(frozen=True)
class AnswerPrompt(ForbidsExtra):
    """One conf/prompt/<name>.yaml; its version and its text enter every key.

    Args:
        documents, no_documents: the system message with and without documents; each may name
            {title}, {native_name}, {variant} and {unanswerable} of the language, and the first
            {mark}.
    """

    name: str
    version: int
    documents: str
    no_documents: str

    def __post_init__(self) -> None:
        known = {"title", "native_name", "variant", "unanswerable"}
        check_names(f"prompt {self.name}, documents", self.documents, {*known, "mark"})
        check_names(f"prompt {self.name}, no_documents", self.no_documents, known)


def messages(
    question: str,
    turns: Sequence[Turn],
    texts: Sequence[str],
    prompt: AnswerPrompt,
    language: WrittenIn,
) -> tuple[str, str]:
    """Return the system and the user message; words of chat templates in them are broken.

    Args:
        question: the last question, after the earlier ``turns`` of a conversation.
        texts: of the documents to show, in order.
    """
    mark = mark_of(question, texts)
    template = prompt.documents if texts else prompt.no_documents
    system = template.format(mark=mark, **asdict(language)).strip()
    parts = [
        f'<{mark} number="{number}">\n{broken(text).strip()}\n</{mark}>'
        for number, text in enumerate(texts, start=1)
    ]
    if turns:
        lines = "\n".join(f"{turn.role}: {broken(turn.content)}" for turn in turns)
        parts.append(f"The conversation so far:\n{lines}")
    return system, "\n\n".join([*parts, f"Question: {broken(question)}"])


def mark_of(question: str, texts: Sequence[str]) -> str:
    """Return a tag for the documents, made of their digest, so that none of them contains it."""
    return "document-" + key_of({"question": question, "texts": texts})[:8]
