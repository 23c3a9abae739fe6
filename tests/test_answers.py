"""Answers: what is the same answer in a language, and QASPER's official scores of them."""

from __future__ import annotations

import json
import random
import re
import string
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bears.cli import main
from bears.cli.metrics import ANSWERS
from bears.errors import FormatError
from bears.evaluation.answers.evidence_f1 import evidence_f1
from bears.evaluation.answers.exact_match import exact_match
from bears.evaluation.answers.predictions import read_predictions
from bears.evaluation.answers.references import references_of, with_references
from bears.evaluation.answers.score import (
    AnswerScore,
    Prediction,
    score_answers,
    summarise_answers,
)
from bears.evaluation.answers.token_f1 import token_f1
from bears.evaluation.answers.unanswerable_detection import unanswerable_detection
from bears.evaluation.answers.yes_no_accuracy import yes_no_accuracy
from bears.evaluation.measure import WHOLE_RANKING, WITH_CUTOFF
from bears.formats.records import write_lines, write_records
from bears.language.normalisation import normalisation_of, without_citations
from bears.ledger.entries import Ledger
from bears.sampling.mixture import Mixture, Quota
from bears.sampling.sample import sample
from bears.sampling.whole import WholeSettings, sample_whole
from bears.sources import qasper, squad
from bears.sources.parts import Parts
from bears.sources.qasper_papers import type_and_text
from bears.types import Answer, Document, Question
from tests.workspace import ROOT


def normal(text: str, language: str) -> str:
    return normalisation_of(language).normal_form(text)


def tokens(text: str, language: str) -> list[str]:
    return normalisation_of(language).tokens(normal(text, language))


def f1(answer: str, reference: str, language: str = "en") -> float:
    return token_f1(answer, reference, normalisation_of(language))


# --- What is the same answer ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Battle, of\nHastings!", "battle of hastings"),
        ("An apple a day", "apple day"),
        ("a-an-the", "aanthe"),  # punctuation goes first, so no article is left
        ("U.S.A. (1,000 $)", "usa 1000"),
        ("theatre", "theatre"),
        ("“quoted”", "“quoted”"),  # only ASCII punctuation goes
        ("the", ""),
    ],
)
def test_english_is_normalised_as_squad_does(text: str, expected: str) -> None:
    assert normal(text, "en") == normal(text, "en-GB") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("臺北市", ["台", "北", "市"]),
        ("蘋果iPhone 15手機", ["蘋", "果", "iphone", "15", "手", "機"]),
        ("iPhone15", ["iphone15"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("1,000.5萬人", ["10005", "萬", "人"]),
        ("《紅樓夢》（曹雪芹）", ["紅", "樓", "夢", "曹", "雪", "芹"]),
        ("約翰·史密斯", ["約", "翰", "史", "密", "斯"]),
        ("A、B", ["a", "b"]),
        ("。！", []),
    ],
)
def test_chinese_tokens_are_characters_and_runs_of_letters(text: str, expected: list[str]) -> None:
    assert tokens(text, "zh-Hant-TW") == expected


def test_marks_stay_with_their_letter_in_other_scripts_without_spaces() -> None:
    assert tokens("น้ำ", "th") == ["น้", "ำ"] or tokens("น้ำ", "th") == ["น้ํ", "า"]
    assert tokens("カ\u3099ス", "ja") == ["ガ", "ス"]


def test_korean_compares_marks_as_spaces_and_counts_syllables() -> None:
    assert normal("《홍길동전》(洪吉童傳)", "ko") == "홍길동전 洪吉童傳"
    assert tokens("서울 시, 대한민국", "ko") == list("서울시대한민국")
    decomposed = "\u1112\u1161\u11ab"
    assert normal(decomposed, "ko") == "한"
    assert f1("서울시", "서울", "ko") == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))


def test_slovenian_keeps_its_letters_and_small_words() -> None:
    assert normal("»Čebelar«, – v 1.830 m!", "sl") == "čebelar v 1830 m"
    assert tokens("A ta hiša", "sl") == ["a", "ta", "hiša"]
    assert f1("v hiši", "v hiši", "sl") == 1


def test_the_english_rules_would_lose_most_chinese_answers(shared_data: Path) -> None:
    """METRICS.md: 79 % of DRCD's gold answers become one token or nothing."""
    articles = json.loads((shared_data / "raw" / "drcd.json").read_bytes())
    answers = [
        qa["answers"][0]["text"]
        for article in articles
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]

    def lost(language: str) -> float:
        return sum(len(tokens(answer, language)) <= 1 for answer in answers) / len(answers)

    assert len(answers) == 3493
    assert lost("en") > 0.78
    assert lost("zh-Hant-TW") < 0.1


def test_citation_markers_are_no_part_of_an_answer() -> None:
    assert without_citations("Yes [CITE:12], it is.[CITE:3][CITE:4,5]") == "Yes, it is."
    assert without_citations("[1] CITE:12") == "[1] CITE:12"


# --- One answer against one reference ------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("the cat sat", "a cat sat down", 2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3)),
        (
            "cat cat",
            "cat",
            2 * (1 / 2) * 1 / (1 / 2 + 1),
        ),  # a token counts as often as both have it
        ("Paris", "paris.", 1),
        ("London", "Paris", 0),
        ("", "Paris", 0),
        ("the", "a", 0),  # nothing is in common where both are empty
    ],
)
def test_token_f1(answer: str, reference: str, expected: float) -> None:
    assert f1(answer, reference) == expected


def test_exact_match_compares_normal_forms() -> None:
    rules = normalisation_of("en")
    assert exact_match("The Beatles", "beatles!", rules) == 1
    assert exact_match("Beatles band", "beatles", rules) == 0
    assert exact_match("台北", "臺北", normalisation_of("zh")) == 1


@pytest.mark.parametrize(
    ("evidence", "reference", "expected"),
    [
        ([], [], 1),
        ([], ["p"], 0),
        (["p"], [], 0),
        (["p", "q"], ["p"], 2 * (1 / 2) * 1 / (1 / 2 + 1)),
        (["p", "p"], ["p"], 2 * (1 / 2) * 1 / (1 / 2 + 1)),
    ],
)
def test_evidence_f1(evidence: list[str], reference: list[str], expected: float) -> None:
    assert evidence_f1(evidence, reference) == expected


@pytest.mark.parametrize(
    ("answer", "language", "expected"),
    [
        ("Yes", "en", 1),
        ("Yes, they do; no doubt.", "en", 1),
        ("The answer is no, not yes", "en", 0),
        ("They know yesterday", "en", 0),
        ("是的", "zh-Hant-TW", 1),
        ("不是", "zh-Hant-TW", 0),
        ("네, 맞습니다", "ko", 1),
        ("네트워크", "ko", 0),
        ("Da, drži.", "sl", 1),
        ("", "en", 0),
    ],
)
def test_the_first_word_of_yes_or_no_decides(answer: str, language: str, expected: float) -> None:
    assert yes_no_accuracy(answer, ["Yes"], language) == expected


def test_unanswerable_is_looked_for_among_other_words() -> None:
    assert unanswerable_detection("This question is unanswerable.") == 1
    assert unanswerable_detection("Unanswerable") == 1
    assert unanswerable_detection("") == unanswerable_detection("I do not know") == 0


# --- Questions with several annotators, as QASPER's official evaluation has it -------------------


def question(question_id: str, *answers: Answer, gold_answer: str = "") -> Question:
    gold = tuple(dict.fromkeys(d for answer in answers for d in answer.evidence_doc_ids))
    return Question(
        question_id, "?", gold_answer, gold, "qasper", "ad-hoc", answers=answers, group="paper"
    )


EXTRACTIVE = Answer("extractive", "BERT-Base, QANet", ("p1", "p2"))
FREE = Answer("free-form", "They use BERT.", ("p1",))
YES = Answer("yes-no", "Yes", ("p3",))
NO = Answer("yes-no", "No", ())
NONE = Answer("unanswerable", "", ())


def score(answer: str, *references: Answer, evidence: tuple[str, ...] = ()) -> AnswerScore:
    predictions = {"q": Prediction(answer, evidence)}
    return score_answers([question("q", *references)], predictions, "en")["q"]


def test_the_best_reference_counts_and_gives_its_type() -> None:
    scored = score("BERT", EXTRACTIVE, FREE, evidence=("p1",))
    assert scored.answer_f1 == 2 * 1 * (1 / 3) / (1 + 1 / 3)  # bert among they use bert
    assert scored.type == "free-form"
    assert scored.evidence_f1 == 1
    assert scored.exact_match == 0


def test_evidence_and_answer_may_match_different_references() -> None:
    scored = score("BERT-Base, QANet", EXTRACTIVE, FREE, evidence=("p1",))
    assert (scored.answer_f1, scored.type, scored.evidence_f1) == (1, "extractive", 1)


def test_of_equally_good_references_the_first_gives_the_type() -> None:
    assert score("nothing of it", FREE, YES).type == "free-form"
    assert score("nothing of it", YES, FREE).type == "yes-no"


def test_unanswerable_yes_and_no_are_literal() -> None:
    assert score("Unanswerable", NONE).answer_f1 == 1
    assert score("", NONE).answer_f1 == 0
    assert score("yes", YES).answer_f1 == 1
    assert score("Yes, they do", YES).answer_f1 == 2 * (1 / 3) * 1 / (1 / 3 + 1)
    assert score("Unanswerable", NONE, evidence=()).evidence_f1 == 1
    assert score("Unanswerable", NONE, evidence=("p1",)).evidence_f1 == 0


def test_a_missing_answer_scores_0_everywhere_and_has_no_type() -> None:
    questions = [question("q1", YES), question("q2", FREE, NONE), question("q3")]
    scores = score_answers(questions, {"q1": Prediction("Yes", ("p3",))}, "en")
    assert scores["q2"] == AnswerScore(0, 0, 0, None, None, 0)
    assert scores["q3"] == AnswerScore(None, None, None, None, None, None)
    summary = summarise_answers(scores, answered=1)
    assert {name: summary[name] for name in ("answer_f1", "exact_match", "evidence_f1")} == {
        "answer_f1": 1 / 2,
        "exact_match": 1 / 2,
        "evidence_f1": 1 / 2,
    }
    assert summary["by_type"]["yes-no"] == {"answer_f1": 1, "exact_match": 1, "n": 1}
    assert summary["by_type"]["free-form"] == {"answer_f1": None, "exact_match": None, "n": 0}
    assert (summary["n"], summary["answered"], summary["n_undefined"]) == (3, 1, 1)


def test_keywords_are_counted_where_an_annotator_used_them() -> None:
    questions = [question("q1", YES, FREE), question("q2", NO), question("q3", NONE, FREE)]
    predictions = {
        "q1": Prediction("Yes, they do"),
        "q2": Prediction("yes"),
        "q3": Prediction("It is unanswerable"),
    }
    summary = summarise_answers(score_answers(questions, predictions, "en"), 3)
    assert (summary["yes_no_accuracy"], summary["n_yes_no"]) == (1 / 2, 2)
    assert (summary["unanswerable_detection"], summary["n_unanswerable"]) == (1, 1)


def test_without_any_evidence_its_score_is_undefined() -> None:
    scores = score_answers([question("q1", YES)], {"q1": Prediction("Yes")}, "en")
    assert scores["q1"].evidence_f1 is None
    assert summarise_answers(scores, 1)["evidence_f1"] is None


def test_a_gold_answer_without_a_type_is_the_one_reference() -> None:
    plain = question("q1", gold_answer="臺北市")
    scored = score_answers([plain], {"q1": Prediction("台北 [CITE:1]")}, "zh-Hant-TW")["q1"]
    assert scored.answer_f1 == 2 * 1 * (2 / 3) / (1 + 2 / 3)
    assert scored.type == "free-form"


def test_an_answer_to_no_question_is_refused() -> None:
    with pytest.raises(FormatError, match="of no question: 'q9'"):
        score_answers([question("q1", YES)], {"q9": Prediction("Yes")}, "en")


# --- The official evaluation on real papers ------------------------------------------------------


def official_f1(answer: str, reference: str) -> float:
    """The official rules once more, in other words, to compare with."""

    def words(text: str) -> list[str]:
        for mark in string.punctuation:
            text = text.replace(mark, "")
        return [w for w in re.sub(r"\b(a|an|the)\b", " ", text.lower()).split() if w]

    found, wanted = words(answer), words(reference)
    same = (Counter(found) & Counter(wanted)).total()
    return 0 if same == 0 else 2 * same / (len(found) + len(wanted))


def official_references(answers: list[dict[str, Any]]) -> list[Answer]:
    references = []
    for answer in (each["answer"] for each in answers):
        evidence = tuple(text for text in answer["evidence"] if "FLOAT SELECTED" not in text)
        if answer["unanswerable"]:
            references.append(Answer("unanswerable", "", ()))
        elif answer["extractive_spans"]:
            spans = ", ".join(answer["extractive_spans"])
            references.append(Answer("extractive", spans, evidence))
        elif answer["free_form_answer"]:
            references.append(Answer("free-form", answer["free_form_answer"], evidence))
        else:
            references.append(Answer("yes-no", "Yes" if answer["yes_no"] else "No", evidence))
    return references


@pytest.fixture(scope="module")
def papers(shared_data: Path) -> list[Question]:
    """The questions of six papers, with the texts of their evidence in place of ids."""
    content = json.loads((shared_data / "qasper" / "qasper-dev-v0.3.sample.json").read_bytes())
    return [
        question(asked["question_id"], *official_references(asked["answers"]))
        for paper in content.values()
        for asked in paper["qas"]
    ]


def said(reference: Answer) -> str:
    return "Unanswerable" if reference.type == "unanswerable" else reference.text


def test_an_annotators_own_answers_are_perfect(papers: list[Question]) -> None:
    for last in (0, -1):
        predictions = {
            q.question_id: Prediction(said(q.answers[last]), q.answers[last].evidence_doc_ids)
            for q in papers
        }
        summary = summarise_answers(score_answers(papers, predictions, "en"), len(papers))
        assert summary["n"] == summary["answered"] == len(papers) == 39
        assert (summary["answer_f1"], summary["exact_match"], summary["evidence_f1"]) == (1, 1, 1)
        assert sum(row["n"] for row in summary["by_type"].values()) == 39


def test_garbled_answers_score_as_the_official_rules_say(papers: list[Question]) -> None:
    dice = random.Random(11)
    pool = [word for q in papers for reference in q.answers for word in said(reference).split()]
    predictions = {}
    for asked in papers[:-5]:
        words = said(dice.choice(asked.answers)).split() + dice.sample(pool, 3)
        kept = [word for word in words if dice.random() < 0.7]
        evidence = [t for r in asked.answers for t in r.evidence_doc_ids if dice.random() < 0.6]
        predictions[asked.question_id] = Prediction(" ".join(kept), (*evidence, "elsewhere"))
    scores = score_answers(papers, predictions, "en")
    by_type: dict[str, list[float]] = {}
    for asked in papers[:-5]:
        answer = predictions[asked.question_id].answer
        values = [official_f1(answer, said(reference)) for reference in asked.answers]
        best = max(range(len(values)), key=lambda i: (values[i], -i))
        scored = scores[asked.question_id]
        assert scored.answer_f1 == pytest.approx(values[best], abs=1e-12)
        assert scored.type == asked.answers[best].type
        by_type.setdefault(asked.answers[best].type, []).append(values[best])
    summary = summarise_answers(scores, len(predictions))
    everything = [value for values in by_type.values() for value in values]
    assert 0.2 < summary["answer_f1"] < 0.9
    assert summary["answer_f1"] == pytest.approx(sum(everything) / len(papers), abs=1e-12)
    for kind, values in by_type.items():
        mean = pytest.approx(sum(values) / len(values), abs=1e-12)
        assert summary["by_type"][kind]["answer_f1"] == mean


@pytest.mark.parametrize("floats", [True, False])
def test_the_gold_of_real_papers_is_perfect_by_itself(
    shared_data: Path, tmp_path: Path, floats: bool
) -> None:
    path = shared_data / "qasper" / "qasper-dev-v0.3.sample.json"
    rows = list(qasper.read(Parts("qasper", {"papers": [path]}, {"floats": floats})))
    benchmark = sample_whole(WholeSettings("whole", "qasper"), {"qasper": rows}, Ledger())
    given = [
        {
            "question_id": asked["question_id"],
            "predicted_answer": type_and_text(asked["answers"][0]["answer"])[1],
            "predicted_evidence": asked["answers"][0]["answer"]["evidence"],
        }
        for paper in json.loads(path.read_bytes()).values()
        for asked in paper["qas"]
    ]
    assert sum("FLOAT" in text for row in given for text in row["predicted_evidence"]) > 3
    file = written(tmp_path / "gold.jsonl", *given)
    found = read_predictions(file, benchmark.questions, list(benchmark.documents()))
    summary = summarise_answers(score_answers(benchmark.questions, found, "en"), len(found))
    assert (summary["answer_f1"], summary["exact_match"], summary["evidence_f1"]) == (1, 1, 1)


def test_a_caption_that_no_figure_has_is_wrong_where_captions_are_documents(
    tmp_path: Path,
) -> None:
    caption = Document("paper:float:0", "Table 1: Tea.", "qasper", "0", True, group="paper")
    texts = ["FLOAT SELECTED: Table 1: Tea.", "FLOAT SELECTED: Table 9: Coffee."]
    row = {"question_id": "q1", "predicted_answer": "Yes", "predicted_evidence": texts}
    file = written(tmp_path / "p.jsonl", row)
    found = read_predictions(file, QUESTIONS, [*DOCUMENTS, caption])
    assert found["q1"].evidence == ("paper:float:0", texts[1])
    assert read_predictions(file, QUESTIONS, DOCUMENTS)["q1"].evidence == ()


# --- Sources of articles, with several annotators and no types -----------------------------------


def test_every_annotator_of_drcd_counts_and_the_records_keep_their_first(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    articles = list(squad.read(Parts("drcd", {"rows": [shared_data / "raw/drcd.json"]})))
    mixture = Mixture("bears", 1, 700, (Quota("drcd", 500),), ("drcd",))
    drawn = sample(mixture, {"drcd": articles}, Ledger())
    annotated = {q.question: q.answers for a in articles for p in a.paragraphs for q in p.questions}
    firsts = [annotated[question.question][0] for question in drawn.questions]
    assert [question.gold_answer for question in drawn.questions] == firsts
    assert not any(question.answers for question in drawn.questions)

    write_records(tmp_path / "translated" / "queries.json", drawn.questions)
    write_records(tmp_path / "translated" / "corpus.json", drawn.documents)
    # As the second annotator answers.
    rows = [
        {"question_id": q.question_id, "answer": annotated[q.question][-1]} for q in drawn.questions
    ]
    command = ["answers", "score", str(written(tmp_path / "p.jsonl", *rows)), "--benchmark", "mini"]
    command += ["--folder", str(tmp_path / "translated"), "--out", str(tmp_path / "s.json")]
    assert main(command) == 0
    first_only = json.loads((tmp_path / "s.json").read_bytes())
    write_lines(tmp_path / "sampled" / "lineage.jsonl", drawn.lineage)
    assert main(command) == 0
    scored = json.loads((tmp_path / "s.json").read_bytes())
    assert (scored["answer_f1"], scored["exact_match"]) == (1, 1)
    assert first_only["answer_f1"] < 0.96
    assert first_only["exact_match"] < 0.9
    capsys.readouterr()


def test_references_of_a_translated_or_corrected_answer_are_not_its_equals() -> None:
    asked = question("q1", gold_answer="臺北市")
    [told] = with_references([asked], {"q1": ["臺北市", "台北"]}, "zh-Hant-TW")
    assert [answer.text for answer in told.answers] == ["臺北市", "台北"]
    for other in (["Taipei City", "Taipei"], []):
        assert with_references([asked], {"q1": other}, "zh-Hant-TW") == [asked]
    typed = question("q1", YES, gold_answer="Yes")
    assert with_references([typed], {"q1": ["Yes", "No"]}, "en") == [typed]


@pytest.mark.parametrize(
    ("gold", "language", "kind", "said", "accuracy"),
    [
        ("是", "zh-Hant-TW", "yes-no", "是的，沒錯。", 1),
        ("否", "zh-Hant-TW", "yes-no", "不是", 1),
        ("否", "zh-Hant-TW", "yes-no", "是", 0),
        ("yes", "en", "yes-no", "Yes, both are.", 1),
        ("아니요", "ko", "yes-no", "아니요.", 1),
        ("No", "de", "free-form", "No", None),
        ("是非題", "zh-Hant-TW", "free-form", "是非題", None),
    ],
)
def test_a_gold_answer_of_yes_or_no_makes_a_yes_no_question(
    gold: str, language: str, kind: str, said: str, accuracy: float | None
) -> None:
    asked = question("q1", gold_answer=gold)
    scored = score_answers([asked], {"q1": Prediction(said)}, language)["q1"]
    assert scored.yes_no == accuracy
    assert references_of(asked, language)[0].type == kind


# --- Files, and the command ----------------------------------------------------------------------

QUESTIONS = [question("q1", YES), question("q2", EXTRACTIVE, FREE), question("q3", NONE)]
DOCUMENTS = [
    Document(f"p{n}", f"Paragraph {n} of\n the paper.", "qasper", f"{n}", True, group="paper")
    for n in (1, 2, 3)
]


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_our_form_and_the_official_one_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path / "predictions.jsonl",
        {"question_id": "q1", "answer": "Yes", "evidence": ["p3"]},
        {"question_id": "q2", "answer": "BERT", "model": "ignored"},
        {
            "question_id": "q3",
            "predicted_answer": "Unanswerable",
            "predicted_evidence": [" Paragraph 1 of the  paper.", "Not in it."],
        },
    )
    assert read_predictions(path, QUESTIONS, DOCUMENTS) == {
        "q1": Prediction("Yes", ("p3",)),
        "q2": Prediction("BERT", None),
        "q3": Prediction("Unanswerable", ("p1", "Not in it.")),
    }


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"question_id": "q9", "answer": "Yes"}, "there is no question 'q9'"),
        ({"question_id": "q1", "answer": "Yes"}, "'q1' is answered already"),
        ({"question_id": "q2"}, "answer: Field required"),
        ({"question_id": "q2", "answer": None}, "answer: Input should be a valid string"),
        ({"question_id": "q2", "answer": "x", "evidence": "p1"}, "evidence: Input should be"),
        ({"question_id": 2, "answer": "x"}, "question_id: Input should be a valid string"),
        ({"question_id": "q2", "predicted_answer": "x"}, "predicted_evidence: Field required"),
        (["q2", "x"], "record: "),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, row: Any, problem: str) -> None:
    path = written(tmp_path / "p.jsonl", {"question_id": "q1", "answer": "Yes"}, row)
    with pytest.raises(FormatError, match=re.escape(f"{path}, line 2: {problem}")):
        read_predictions(path, QUESTIONS, DOCUMENTS)


def test_the_command_scores_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_records(tmp_path / "queries.json", QUESTIONS)
    write_records(tmp_path / "corpus.json", DOCUMENTS)
    path = written(
        tmp_path / "predictions.jsonl",
        {"question_id": "q1", "answer": "Yes", "evidence": ["p3"]},
        {"question_id": "q2", "answer": "They use BERT", "evidence": ["p1", "p2"]},
    )
    arguments = ["answers", "score", str(path), "--benchmark", "qasper"]
    folder = ["--folder", str(tmp_path), "--out", str(tmp_path / "scores.json")]
    assert main([*arguments, *folder]) == 0
    assert "free-form" in capsys.readouterr().out
    scores = json.loads((tmp_path / "scores.json").read_bytes())
    assert scores["answer_f1"] == scores["evidence_f1"] == 2 / 3
    assert scores["answered"] == 2
    assert scores["questions"]["q2"]["type"] == "free-form"


def test_the_metrics_are_listed_each_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics"]) == 0
    listed = capsys.readouterr().out
    entries = re.split(r"\n(?=\S)", listed)
    described = [entry for entry in entries if not entry.startswith("Of ")]
    measures = {*WITH_CUTOFF.values(), *WHOLE_RANKING.values()}
    files = {path.stem for path in (ROOT / "bears/evaluation/measures").glob("[a-z]*.py")}
    assert {measure.__name__ for measure in measures} == files
    assert len(described) == len(files) + len(ANSWERS)
    for entry in described:
        assert re.match(r"[a-z_0-9@, ]+\n    \S", entry), entry
        assert "    Source: " in entry, entry
        assert "Args:" not in entry
