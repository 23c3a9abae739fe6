"""What ragas asks models, as a `bears.llm.use.Use`: its requests, and the replies that it gets.

A request often depends on the reply to another, so a fill has several rounds.
"""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, ClassVar

from pydantic import PositiveInt

from bears.answers.ragas.rows import RagasRow
from bears.answers.ragas.run import Evaluate, Evaluated, RagasRequest
from bears.config.typed import build
from bears.llm.models import AskingSettings, Model
from bears.llm.use import CheckedReply, KeptReplies, KeptReply, Needs, Use
from bears.llm.wire import ChatAnswer, ChatRequest, EmbeddingRequest
from bears.retrieval.vectors import Encoder, Vectors

STRICTNESS = 3
"""How many questions answer relevancy generates from an answer."""
LIMITS = ("max_tokens", "max_completion_tokens")
"""Names of the length of the longest answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RagasSettings(AskingSettings):
    """One conf/ragas/<name>.yaml, which has the meaning of each field."""

    where: ClassVar[str] = "ragas"

    embeddings: str
    answer_tokens: PositiveInt
    encoder: Mapping[str, Any] | None = None


class VectorRequest(ChatRequest):
    """A request for vectors, which are kept as the JSON that ragas reads.

    Its parameters are the whole body.
    """

    path: ClassVar[str] = EmbeddingRequest.path
    holds: ClassVar[str] = EmbeddingRequest.holds

    def body(self, name: str, model: Model, plain: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Return the JSON body."""
        return {**self.parameters}

    def read(self, body: Any) -> ChatAnswer:
        """Read an answer. Raises ValueError if it has not a good vector for each text."""
        texts = self.parameters["input"]
        found = EmbeddingRequest((texts,) if isinstance(texts, str) else texts, 0).read(body)
        return ChatAnswer(_written(found.vectors), "stop", None, found.input_tokens, 0, "")


def _written(vectors: Vectors) -> str:
    """Return vectors as the JSON that ragas reads."""
    texts = [b64encode(vector.astype("<f4")).decode() for vector in vectors]
    data = [{"index": n, "embedding": text} for n, text in enumerate(texts)]
    return json.dumps({"data": data})


class RagasUse(Use[RagasRequest]):
    """The requests of ragas for some rows.

    Args:
        rows: what to score.
        settings: the models.
        evaluate: see `bears.answers.ragas.run.running`.
    """

    name = "ragas"
    advice = "raise ragas.answer_tokens if answers are cut off"

    def __init__(
        self, rows: Sequence[RagasRow], settings: RagasSettings, evaluate: Evaluate
    ) -> None:
        self.rows, self.settings, self._evaluate = rows, settings, evaluate
        self.found = Evaluated()
        """What ragas printed with the replies that were last known."""
        self.encoder: Encoder | None = None
        """What makes the vectors on this machine; None: they are asked for, and kept."""
        if settings.encoder:
            self.encoder = build(settings.encoder, "ragas.encoder")
        self._made = dict[str, KeptReply]()
        self._known = -1

    @property
    def wanted(self) -> str:
        """Return a name for what may be missing."""
        asked = [self.settings.model, *([] if self.encoder else [self.settings.embeddings])]
        return f"replies to ragas by {' and '.join(asked)}"

    def resolve(self, known: KeptReplies) -> Needs[RagasRequest]:
        """Run ragas, unless nothing was added to the replies since it ran."""
        if len(known) != self._known:
            self.found, self._known = self._evaluate(known), len(known)
            while self.encoder and (new := self._vectors(self.encoder)):
                self._made |= new
                self.found = self._evaluate(KeptReplies(new.values()))
        needs = Needs[RagasRequest]()
        for key, request in {each.key: each for each in self.found.requests}.items():
            if key not in self._made:
                needs.ask(lambda each: known.get(each.key, ""), request)
        if needs.missing:
            needs.waiting = self._waiting(needs)
        return needs

    def _vectors(self, encoder: Encoder) -> dict[str, KeptReply]:
        """Return the vectors that were requested and are not made yet, by key."""
        asked = {each.key: each for each in self.found.requests if "input" in each.body}
        return {
            key: KeptReply(key, "", each.field, "", _written(encoder.documents(each.texts)))
            for key, each in asked.items()
            if key not in self._made
        }

    def _waiting(self, needs: Needs[RagasRequest]) -> list[RagasRequest]:
        """Estimate which requests depend on the missing replies; their texts aren't known yet.

        Faithfulness sends two requests, answer relevancy `STRICTNESS` and two for vectors (of the
        question, and of the generated ones), context precision one per context, and context recall
        one.
        """
        seen = Counter(entry.field for entry in needs.used.values())
        seen.update(each.field for each in needs.missing)
        answered = [row for row in self.rows if row.answer]
        chats = sum((2 if row.contexts else 0) + STRICTNESS for row in answered) + sum(
            len(row.contexts) + 1 for row in self.rows if row.contexts and row.ground_truth
        )
        like = [each for each in needs.missing if each.field == "chat"]
        asking = [] if self.encoder else answered
        texts = [RagasRequest("", {"input": row.question + row.answer}) for row in asking]
        return [
            *islice(cycle(like), max(chats - seen["chat"], 0)),
            *islice(cycle(texts), max(2 * len(texts) - seen["embeddings"], 0)),
        ]

    def key(self, request: RagasRequest) -> str:
        """Return the key of the program."""
        return request.key

    def ask(self, request: RagasRequest, reasons: list[str]) -> ChatRequest:  # noqa: ARG002
        """Build the request; ragas words it, whatever was wrong with the last reply."""
        body, text = request.body, "\n".join(request.texts)
        if request.field == "embeddings":
            return VectorRequest(request.key, "", text, max_output_tokens=0, parameters=body)
        most = int(self.output_tokens(request)[1])
        # The client sets the limit, by the name that the model takes.
        others = {name: value for name, value in body.items() if name not in LIMITS}
        return ChatRequest(request.key, "", text, max_output_tokens=most, parameters=others)

    def output_tokens(self, request: RagasRequest) -> tuple[float, float]:
        """Return that an answer may be as long as ragas allows."""
        return 0, max(request.body.get(name, 0) for name in LIMITS)

    def check(self, request: RagasRequest, answer: ChatAnswer) -> CheckedReply:
        """Keep whole answers, as ragas reads them."""
        if answer.flaw or request.field == "embeddings":
            return CheckedReply(answer.text, [answer.flaw] if answer.flaw else [], [])
        message = {"role": "assistant", "content": answer.text}
        choice = {"index": 0, "finish_reason": answer.finish_reason, "message": message}
        reply = {"model": answer.model, "choices": [choice]}
        return CheckedReply(json.dumps(reply, ensure_ascii=False), [], [])
