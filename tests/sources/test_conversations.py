"""Golden sets whose questions are asked one after the other, in the forms that people keep."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bears.cli import main
from bears.errors import SourceError
from bears.files.spreadsheet import read_named
from bears.sources.folder.read import read_own
from bears.types import Question, SourceQuestion, Turn
from tests.sources.files import parts_of
from tests.sources.test_golden import DOCUMENTS, write

TALKS = [
    [
        ("How many days of leave are there?", "24 days", "hr/Leave policy.md"),
        ("And what about unused ones?", "They lapse", "hr/Leave policy.md"),
        ("Thanks! Can I work remotely?", "After 60 days", "hr/remote_work.md"),
    ],
    [("When do core hours begin?", "At ten", "hr/remote_work.md")],
    [
        ("Ab wann braucht man einen Beleg?", "Ab 40 Euro", "Ausgaben 2026.txt"),
        ("And what about unused ones?", "That is not said there", "Überstunden/regeln.txt"),
    ],
]
"""Conversations; their second questions have the same words."""


def before(talk: list[tuple[str, str, str]], turn: int) -> tuple[Turn, ...]:
    """Return the conversation before a turn."""
    pairs = [(Turn("user", q), Turn("assistant", a)) for q, a, _ in talk[:turn]]
    return tuple(turn for pair in pairs for turn in pair)


EXPECTED = {
    (question, before(talk, turn)): document
    for talk in TALKS
    for turn, (question, _, document) in enumerate(talk)
}


def message(who: str, what: str, form: tuple[str, str, str, str]) -> dict[str, Any]:
    speaker, text, user, assistant = form
    return {speaker: user if who == "user" else assistant, text: what}


def rows_of(form: str, speak: tuple[str, str, str, str], names: dict[str, str]) -> list[Any]:
    """Return the conversations in one of the forms."""

    def spoken(talk: list[tuple[str, str, str]], turn: int, last: bool) -> list[dict[str, Any]]:
        said = [message(each.role, each.content, speak) for each in before(talk, turn)]
        return [*said, *([message("user", talk[turn][0], speak)] if last else [])]

    def own(talk: int, turn: int) -> dict[str, Any]:
        _, answer, document = TALKS[talk][turn]
        return {names["answer"]: answer, names["document"]: document}

    places = [(talk, turn) for talk, own in enumerate(TALKS) for turn in range(len(own))]
    match form:
        case "columns" | "order":
            numbered = form == "columns"
            return [
                {
                    names["conversation"]: f"c{talk}",
                    **({names["turn"]: turn + 1} if numbered else {}),
                    "question": TALKS[talk][turn][0],
                    **own(talk, turn),
                }
                for talk, turn in (places[::-1] if numbered else places)
            ]
        case "messages":
            return [
                {"input": spoken(TALKS[talk], turn, True), **own(talk, turn)}
                for talk, turn in places
            ]
        case "history" | "text" | "texts" | "pairs" | "objects":
            earlier: dict[str, Callable[..., Any]] = {
                "history": lambda talk, turn: spoken(talk, turn, False),
                "text": lambda talk, turn: "\n".join(
                    f"{speak[2 if each.role == 'user' else 3]}: {each.content}"
                    for each in before(talk, turn)
                ),
                "texts": lambda talk, turn: [each.content for each in before(talk, turn)],
                "pairs": lambda talk, turn: [[q, a] for q, a, _ in talk[:turn]],
                "objects": lambda talk, turn: [{"q": q, "said": a} for q, a, _ in talk[:turn]],
            }
            return [
                {
                    "question": TALKS[talk][turn][0],
                    "chat_history": earlier[form](TALKS[talk], turn),
                    **own(talk, turn),
                }
                for talk, turn in places
            ]
        case "parallel":
            return [
                {
                    names["conversation"]: f"c{talk}",
                    "questions": [q for q, _, _ in each],
                    names["answer"]: [{"text": a} for _, a, _ in each],
                    names["document"]: [document for _, _, document in each],
                }
                for talk, each in enumerate(TALKS)
            ]
        case "mtrag":
            return [
                {
                    "conversation_id": f"c{talk}",
                    "task_id": f"c{talk}<::>{turn + 1}",
                    "task_type": "rag",
                    "turn": turn + 1,
                    "contexts": [{"document_id": TALKS[talk][turn][2], "score": 1.5 + turn}],
                    "input": [
                        {**each, "metadata": {"author_type": "human", "created_at": 17247}}
                        for each in spoken(TALKS[talk], turn, True)
                    ],
                    "targets": [message("assistant", TALKS[talk][turn][1], speak)],
                    "answerability": ["ANSWERABLE"],
                    "Multi-Turn": ["Follow-up"] if turn else None,
                }
                for talk, turn in places
            ]
    return [
        {
            "id": f"c{talk}",
            "turns": [{"query": q, **own(talk, turn)} for turn, (q, _, _) in enumerate(each)],
        }
        for talk, each in enumerate(TALKS)
    ]


def read(
    file: Path, folder: Path, fields: Mapping[str, str] = MappingProxyType({})
) -> list[list[Question]]:
    """Return the questions of a file, those of a conversation together."""
    with TemporaryDirectory() as kept:
        tables = {"folder": [folder]}
        parts = parts_of("own", tables, Path(kept), dict(fields), questions=str(file))
        rows = [
            [r.question for r in row if isinstance(r, SourceQuestion)] for row in read_own(parts)
        ]
    return [row for row in rows if row]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for path, text in DOCUMENTS.items():
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text(text, "utf-8")
    return folder


SPEAK = [
    ("role", "content", "user", "assistant"),
    ("speaker", "text", "user", "agent"),
    ("from", "value", "human", "gpt"),
    ("type", "message", "Human", "AI"),
]
FORMS = [
    *("columns", "order", "messages", "history", "mtrag", "nested"),
    *("text", "texts", "pairs", "objects", "parallel"),
]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(FORMS),
    st.sampled_from(SPEAK),
    st.fixed_dictionaries(
        {
            "answer": st.sampled_from(["answer", "expected_answer", "ideal"]),
            "document": st.sampled_from(["source", "gold_docs", "file"]),
            "conversation": st.sampled_from(["conversation", "thread_id", "sessionId", "dialog"]),
            "turn": st.sampled_from(["turn", "turn_number", "turnIndex"]),
        }
    ),
    st.sampled_from(["json", "json wrapped", "jsonl", "yaml", "csv", "parquet"]),
)
def test_each_question_comes_after_its_earlier_turns(
    folder: Path, form: str, speak: tuple[str, str, str, str], names: dict[str, str], end: str
) -> None:
    with TemporaryDirectory() as made:
        file = write(Path(made), end, rows_of(form, speak, names))
        found = read(file, folder)
    assert {(q.question, q.turns): q.gold_doc_ids for own in found for q in own} == {
        key: (document.replace(" ", "%20"),) for key, document in EXPECTED.items()
    }
    together = sorted(sorted(q.question for q in own) for own in found)
    assert together == sorted(sorted(question for question, _, _ in talk) for talk in TALKS)
    assert len({q.question_id for own in found for q in own}) == len(EXPECTED)


def test_what_rows_have_in_common_is_no_conversation(folder: Path, tmp_path: Path) -> None:
    rows = [
        {"chat_model": "gpt-4o", "threading": "on", "question": q, "document": document, "n": n}
        for n, (q, _, document) in enumerate(each for talk in TALKS for each in talk[:1])
    ]
    found = read(write(tmp_path, "json", rows), folder)
    assert [(len(own), own[0].turns) for own in found] == [(1, ())] * len(rows)


@pytest.mark.parametrize("end", ["json", "json wrapped", "jsonl", "yaml", "parquet"])
@pytest.mark.parametrize("form", ["qas", "parallel", "paraphrases", "SQuAD"])
def test_several_questions_in_a_row_are_independent_unless_a_person_says_so(
    folder: Path, tmp_path: Path, form: str, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {
        "hr/Leave policy.md": ["How many days of leave are there?", "What of unused ones?"],
        "hr/remote_work.md": ["When do core hours begin?", "Who may work remotely?", "How often?"],
    }
    rows: dict[str, Callable[..., Any]] = {
        "qas": lambda own: {"qas": [{"question": each, "n": 1} for each in own]},
        "parallel": lambda own: {
            "questions": own,
            "answers": [{"text": f"{each[:-1]}."} for each in own],
        },
        "paraphrases": lambda own: {"question": own},
        "SQuAD": lambda own: {
            "paragraphs": [
                {"context": "", "qas": [{"question": each, "answers": [{"text": "x"}]}]}
                for each in own
            ]
        },
    }
    golden = [{"document": doc, **rows[form](own)} for doc, own in asked.items()]
    file = write(tmp_path, end, golden)
    found = [q for own in read(file, folder) for q in own]
    assert {(q.question, q.turns): q.gold_doc_ids for q in found} == {
        (each, ()): (doc.replace(" ", "%20"),) for doc, own in asked.items() for each in own
    }
    assert "--set 'conversation=(row)'" in capsys.readouterr().err
    if form != "SQuAD":
        turns = [q for own in read(file, folder, {"conversation": "(row)"}) for q in own]
        asked_before = {q.question: [t.content for t in q.turns if t.role == "user"] for q in turns}
        assert asked_before == {
            each: own[:n] for own in asked.values() for n, each in enumerate(own)
        }


def test_two_questions_of_one_turn_are_refused(folder: Path, tmp_path: Path) -> None:
    rows = [
        {"conversation": "c", "turn": 1, "question": "Who?", "document": "hr/remote_work.md"},
        {"conversation": "c", "turn": 1, "question": "What?", "document": "hr/remote_work.md"},
    ]
    file = tmp_path / "golden.json"
    file.write_text(json.dumps(rows), "utf-8")
    with pytest.raises(SourceError, match="turn 1 of conversation 'c' has two questions"):
        read(file, folder)


@pytest.mark.slow
@pytest.mark.usefixtures("dvc_starts_once", "code_read_once")
def test_metrics_have_each_turn_by_itself_and_a_rewriter_finds_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second question of each conversation shares no word with its document."""
    topics = ["violin", "glacier", "bakery", "submarine", "orchard"]
    folder = tmp_path / "documents"
    folder.mkdir()
    rows = []
    for n, topic in enumerate(topics):
        text = f"The {topic} was restored by a carpenter in 19{n}4, and it is open on Mondays."
        (folder / f"{topic}.md").write_text(text, "utf-8")
        first = f"Who restored the {topic}?"
        rows += [
            {"thread": topic, "turn": 1, "question": first, "answer": "a carpenter"},
            {"thread": topic, "turn": 2, "question": "How come?", "answer": "no reason given"},
        ]
        rows[-2]["file"] = rows[-1]["file"] = f"{topic}.md"
    golden = tmp_path / "golden.json"
    golden.write_text(json.dumps(rows), "utf-8")
    project = tmp_path / "talks"
    words = ["init", str(project), "--documents", str(folder), "--questions", str(golden)]
    assert main(words) == 0
    for rewriter, second in (("none", 0.0), ("user", 1.0)):
        params = (project / "params.yaml").read_text("utf-8")
        (project / "params.yaml").write_text(
            params.replace("rewriter: none", f"rewriter: {rewriter}"), "utf-8"
        )
        subprocess.run(["dvc", "repro"], cwd=project, check=True, capture_output=True)
        found = json.loads((project / "metrics/retrieval.json").read_text("utf-8"))
        assert found["clusters"] == {"n": 5}
        by_turn = {turn: (own["n"], own["success@1"]) for turn, own in found["by_turn"].items()}
        assert by_turn == {"turn 1": (5, 1.0), "turn 2": (5, second)}
    monkeypatch.chdir(project)
    assert main(["judgements", "pool", "pool.csv"]) == 0
    asked = {row["question"] for _, row in read_named(Path("pool.csv"))[1]}
    before = "user: Who restored the violin?\nassistant: a carpenter\nHow come?"
    assert asked >= {before, "Who restored the violin?"}
