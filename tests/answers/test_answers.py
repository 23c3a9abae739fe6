"""Answers: what is the same answer in a language, and QASPER's official scores of them."""

from __future__ import annotations

import json
import random
import re
import shutil
import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bears.cli import main
from bears.config.ledger.entries import Ledger
from bears.errors import FormatError
from bears.evaluation.answers.measures import (
    evidence_f1,
    exact_match,
    token_f1,
    unanswerable_detection,
    yes_no_accuracy,
)
from bears.evaluation.answers.predictions import Given, answers_of, read_answers
from bears.evaluation.answers.score import (
    AnswerScore,
    by_answer_type,
    mean_scores,
    references_of,
    score_answers,
    with_references,
)
from bears.evaluation.evaluate import METRICS
from bears.files.records import write_json, write_lines, write_records
from bears.files.spreadsheet import csv_text, read_cells
from bears.language.normalization import normalization_of, without_citations
from bears.layout import LEADERBOARD
from bears.results.board import read_board
from bears.results.origins import system_in_csv
from bears.sampling.lineage import Sample
from bears.sampling.mixture import Quota, Recipe
from bears.sampling.sample import sample
from bears.sampling.whole import Chosen, Whole, sample_whole
from bears.sources import qasper, squad
from bears.sources.qasper import type_and_text
from bears.trace import Trace
from bears.types import Answer, Chunk, Document, Question
from benchmarks.references import ANSWERS
from tests.sampled import collected
from tests.sources.files import parts_of, row, workbook
from tests.workspace import ROOT


def read_predictions(
    path: Path, questions: Sequence[Question], documents: Collection[Document]
) -> Mapping[str, Trace]:
    (found,) = answers_of(read_answers(path), questions, documents)
    # Without what a trace has besides.
    given = {key: (each.answer, each.evidence) for key, each in found.items()}
    return {
        key: Trace(question_id=key, answer=answer, evidence=evidence)
        for key, (answer, evidence) in given.items()
        if answer is not None
    }


def predicted(question_id: str, answer: str, evidence: Sequence[str] | None = None) -> Trace:
    cited = None if evidence is None else tuple(map(Chunk, evidence))
    return Trace(question_id=question_id, answer=answer, evidence=cited)


def normal(text: str, language: str) -> str:
    return normalization_of(language).normal_form(text)


def tokens(text: str, language: str) -> list[str]:
    return normalization_of(language).tokens(normal(text, language))


def f1(answer: str, reference: str, language: str = "en") -> float:
    return token_f1(answer, reference, normalization_of(language))


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


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("the cat sat", "a cat sat down", 2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3)),
        ("cat cat", "cat", 2 * (1 / 2) * 1 / (1 / 2 + 1)),  # counted as often as both have it
        ("Paris", "paris.", 1),
        ("London", "Paris", 0),
        ("", "Paris", 0),
        ("the", "a", 0),  # nothing is in common where both are empty
    ],
)
def test_token_f1(answer: str, reference: str, expected: float) -> None:
    assert f1(answer, reference) == expected


def test_exact_match_compares_normal_forms() -> None:
    rules = normalization_of("en")
    assert exact_match("The Beatles", "beatles!", rules) == 1
    assert exact_match("Beatles band", "beatles", rules) == 0
    assert exact_match("台北", "臺北", normalization_of("zh")) == 1


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
        ("是，他們都是", "zh-Hant-TW", 1),
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
    said = ("This question is unanswerable.", "Unanswerable", "", "I do not know")
    assert [unanswerable_detection(answer) for answer in said] == [1, 1, 0, 0]


def question(question_id: str, *answers: Answer, gold_answer: str = "") -> Question:
    gold = tuple(dict.fromkeys(d for answer in answers for d in answer.evidence_doc_ids or ()))
    return Question(
        question_id, "?", gold_answer, gold, "qasper", "ad-hoc", answers=answers, group="paper"
    )


EXTRACTIVE = Answer("extractive", "BERT-Base, QANet", ("p1", "p2"))
FREE = Answer("free-form", "They use BERT.", ("p1",))
YES = Answer("yes-no", "Yes", ("p3",))
NO = Answer("yes-no", "No", ())
NONE = Answer("unanswerable", "", ())


def score(answer: str, *references: Answer, evidence: tuple[str, ...] = ()) -> AnswerScore:
    predictions = {"q": predicted("q", answer, evidence)}
    return score_answers([question("q", *references)], predictions, "en")["q"]


def test_the_best_reference_counts_and_gives_its_type() -> None:
    scored = score("BERT", EXTRACTIVE, FREE, evidence=("p1",))
    assert scored.answer_f1 == 2 * 1 * (1 / 3) / (1 + 1 / 3)  # bert among they use bert
    assert scored.type == "free-form"
    assert scored.evidence_f1 == 1
    assert scored.exact_match == 0


def test_evidence_of_a_question_with_unknown_gold_is_undefined_whatever_is_cited() -> None:
    """Half of the evidence of the one question with gold is right, so the mean is .5."""
    known = Question("k", "?", "yes", ("p1", "p2", "p3"), "s", "ad-hoc")
    unknown = replace(known, question_id="u", gold_doc_ids=(), judged=False)
    questions = [
        known,
        unknown,
        replace(unknown, question_id="v"),
        replace(unknown, question_id="w"),
    ]
    named = {"k": ("p1",), "u": ("p9",), "v": ()}
    predictions = {key: predicted(key, "yes", evidence) for key, evidence in named.items()}
    scores = score_answers(questions, predictions, "en")
    assert [scores[key].evidence_f1 for key in "kuvw"] == [0.5, None, None, None]
    assert mean_scores(scores.values())["evidence_f1"] == 0.5


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
    scores = score_answers(questions, {"q1": predicted("q1", "Yes", ("p3",))}, "en")
    assert scores["q2"] == AnswerScore(0, 0, 0, 0, 0, None, None, 0)
    assert scores["q3"] == AnswerScore()
    means = mean_scores(scores.values())
    assert (means["answer_f1"], means["exact_match"], means["evidence_f1"]) == (0.5,) * 3
    kinds = by_answer_type(scores.values())
    assert kinds == {"yes-no": {"answer_f1": 1, "exact_match": 1, "n": 1}}


ASCII_WORD = frozenset(string.ascii_letters + string.digits + "_")


def seed_tokens(text: str) -> list[str]:
    """Do what CiteBite's normalization says, one character at a time."""
    spaced = (each if each in ASCII_WORD or each.isspace() else " " for each in text.lower())
    return "".join(spaced).split()


def seed_f1(answer: str, reference: str) -> float:
    found, wanted = seed_tokens(answer), seed_tokens(reference)
    same = 0
    for token in found:
        if token in wanted:
            wanted.remove(token)
            same += 1
    if not same:
        return 0.0
    precision, recall = same / len(found), same / len(seed_tokens(reference))
    return 2 * precision * recall / (precision + recall)


def test_citebite_keeps_articles_and_splits_words_at_other_characters() -> None:
    free = Answer("free-form", "BLEU score", ())
    scored = score("the BLEU score", free)
    assert (scored.citebite_f1, scored.citebite_em, scored.answer_f1) == (0.8, 0, 1)
    split = score("F1-score: naïve", Answer("free-form", "f1 score na ve", ()))
    assert (split.citebite_f1, split.citebite_em) == (1, 1)
    assert score("…", free).citebite_f1 == 0
    (only,) = score_answers(
        [question("q", free)], {"q": predicted("q", "BLEU score")}, "ko"
    ).values()
    assert (only.citebite_f1, only.citebite_em, only.answer_f1) == (None, None, 1)


@given(st.text(), st.lists(st.text(), min_size=1, max_size=3))
@example("The cat_1, the\u00a0cat!", ["cat_1 the the", "the cat"])
def test_citebite_is_its_own_program(answer: str, texts: list[str]) -> None:
    scored = score(answer, *(Answer("free-form", text, ()) for text in texts))
    answer = without_citations(answer)
    assert scored.citebite_f1 == pytest.approx(max(seed_f1(answer, text) for text in texts))
    same = [seed_tokens(answer) == seed_tokens(text) for text in texts]
    assert scored.citebite_em == float(any(same))


def test_the_type_of_a_question_does_not_depend_on_the_answer(tmp_path: Path) -> None:
    asked = [
        replace(question("q1", YES), question_type="yes-no"),
        replace(question("q2", FREE), question_type="free-form"),
        replace(question("q3", NONE), question_type="unanswerable"),
        replace(question("q4", FREE, EXTRACTIVE), question_type="extractive"),
    ]
    answers = {"q1": "Yes, it is", "q4": FREE.text}
    file = written(tmp_path / "a.jsonl", answers)
    command = scoring(tmp_path, file, "--out", str(tmp_path / "s.json"))
    write_records(tmp_path / "queries.json", asked)
    assert main(command) == 0
    results = json.loads((tmp_path / "s.json").read_bytes())
    found = results["by_type"]
    assert {kind: row["n"] for kind, row in found.items()} == dict.fromkeys(found, 1)
    assert found["yes-no"]["yes_no_accuracy"] == 1
    assert found["unanswerable"]["unanswerable_detection"] == 0
    assert found["extractive"]["answer_f1"] == 1
    assert found["free-form"]["answer_f1"] == 0
    # The official table counts the answer to the fourth question as free form.
    assert results["by_answer_type"]["free-form"]["n"] == 1


def test_keywords_are_counted_where_an_annotator_used_them() -> None:
    questions = [question("q1", YES, FREE), question("q2", NO), question("q3", NONE, FREE)]
    predictions = {
        "q1": predicted("q1", "Yes, they do"),
        "q2": predicted("q2", "yes"),
        "q3": predicted("q3", "It is unanswerable"),
    }
    scores = score_answers(questions, predictions, "en")
    means = mean_scores(scores.values())
    assert means["evidence_f1"] is None
    assert (means["yes_no_accuracy"], means["unanswerable_detection"]) == (1 / 2, 1)
    assert [scores[key].yes_no for key in ("q1", "q2", "q3")] == [1, 0, None]
    assert [scores[key].unanswerable for key in ("q1", "q2", "q3")] == [None, None, 1]


def test_a_gold_answer_without_a_type_is_the_one_reference() -> None:
    plain = question("q1", gold_answer="臺北市")
    scored = score_answers([plain], {"q1": predicted("q1", "台北 [CITE:1]")}, "zh-Hant-TW")["q1"]
    assert scored.answer_f1 == 2 * 1 * (2 / 3) / (1 + 2 / 3)
    assert scored.type == "free-form"


def official_f1(answer: str, reference: str) -> float:
    """The official rules once more, in other words, to compare with."""

    def words(text: str) -> list[str]:
        for mark in string.punctuation:
            text = text.replace(mark, "")
        return [w for w in re.sub(r"\b(a|an|the)\b", " ", text.lower()).split() if w]

    found, wanted = words(answer), words(reference)
    same = (Counter(found) & Counter(wanted)).total()
    return 0 if same == 0 else 2 * same / (len(found) + len(wanted))


def official_evidence_f1(named: list[str], answers: list[dict[str, Any]], text_only: bool) -> float:
    """Return what the script gives with ``--text_evidence_only`` or without it."""
    values = []
    for answer in answers:
        texts = [] if answer["unanswerable"] else answer["evidence"]
        gold = [text for text in texts if not (text_only and "FLOAT SELECTED" in text)]
        same = len({*named} & {*gold})
        values.append(2 * same / (len(named) + len(gold)) if named or gold else 1.0)
    return max(values)


def benchmark_of(path: Path, floats: bool) -> Sample[Chosen]:
    """Return all questions of six papers."""
    rows = list(qasper.read_qasper(parts_of("qasper", {"papers": [path]}, floats=floats)))
    return sample_whole(Whole("qasper"), {"qasper": collected(rows)}, Ledger())


@pytest.fixture
def six_papers(shared_data: Path) -> Path:
    return shared_data / "qasper" / "qasper-dev-v0.3.sample.json"


def said(reference: Answer) -> str:
    return "Unanswerable" if reference.type == "unanswerable" else reference.text


def test_garbled_answers_score_as_the_official_rules_say(six_papers: Path) -> None:
    papers, dice = benchmark_of(six_papers, floats=False).questions, random.Random(11)
    assert len(papers) == 39
    pool = [word for q in papers for reference in q.answers for word in said(reference).split()]
    predictions = {}
    for asked in papers[:-5]:
        words = said(dice.choice(asked.answers)).split() + dice.sample(pool, 3)
        kept = [word for word in words if dice.random() < 0.7]
        evidence = [
            t for r in asked.answers for t in r.evidence_doc_ids or () if dice.random() < 0.6
        ]
        predictions[asked.question_id] = predicted(
            asked.question_id, " ".join(kept), (*evidence, "elsewhere")
        )
    scores = score_answers(papers, predictions, "en")
    by_type: dict[str, list[float]] = {}
    for asked in papers[:-5]:
        answer = predictions[asked.question_id].answer or ""
        values = [official_f1(answer, said(reference)) for reference in asked.answers]
        best = max(range(len(values)), key=lambda i: (values[i], -i))
        scored = scores[asked.question_id]
        assert scored.answer_f1 == pytest.approx(values[best], abs=1e-12)
        assert scored.type == asked.answers[best].type
        by_type.setdefault(asked.answers[best].type, []).append(values[best])
    mean, kinds = mean_scores(scores.values())["answer_f1"], by_answer_type(scores.values())
    everything = [value for values in by_type.values() for value in values]
    assert mean is not None
    assert 0.2 < mean < 0.9
    assert mean == pytest.approx(sum(everything) / len(papers), abs=1e-12)
    assert kinds.keys() == by_type.keys()
    for kind, own in kinds.items():
        values = by_type[kind]
        assert own["n"] == len(values)
        assert own["answer_f1"] == pytest.approx(sum(values) / len(values), abs=1e-12)


@pytest.mark.parametrize(("floats", "annotator"), [(True, 0), (True, -1), (False, 0)])
def test_the_gold_of_real_papers_scores_as_in_the_official_script(
    six_papers: Path, tmp_path: Path, floats: bool, annotator: int
) -> None:
    benchmark = benchmark_of(six_papers, floats)
    questions = [q for paper in json.loads(six_papers.read_bytes()).values() for q in paper["qas"]]
    annotated = [[each["answer"] for each in asked["answers"]] for asked in questions]
    given = [
        {
            "question_id": asked["question_id"],
            "predicted_answer": type_and_text(answers[annotator])[1],
            "predicted_evidence": answers[annotator]["evidence"],
        }
        for asked, answers in zip(questions, annotated, strict=True)
    ]
    assert sum("FLOAT" in text for row in given for text in row["predicted_evidence"]) > 3
    file = written(tmp_path / "gold.jsonl", *given)
    found = read_predictions(file, benchmark.questions, list(benchmark.documents))
    summary = mean_scores(score_answers(benchmark.questions, found, "en").values())
    assert (summary["answer_f1"], summary["exact_match"]) == (1, 1)
    official = [
        official_evidence_f1(row["predicted_evidence"], answers, text_only=not floats)
        for row, answers in zip(given, annotated, strict=True)
    ]
    assert summary["evidence_f1"] == pytest.approx(sum(official) / len(official), abs=1e-12)
    assert (summary["evidence_f1"] == 1) is floats


def test_a_caption_that_no_figure_has_is_wrong_where_captions_are_documents(
    tmp_path: Path,
) -> None:
    caption = Document("paper:float:0", "Table 1: Tea.", "qasper", "0", True, group="paper")
    texts = ["FLOAT SELECTED: Table 1: Tea.", "FLOAT SELECTED: Table 9: Coffee."]
    row = {"question_id": "q1", "predicted_answer": "Yes", "predicted_evidence": texts}
    file = written(tmp_path / "p.jsonl", row)
    found = read_predictions(file, QUESTIONS, [*DOCUMENTS, caption])
    assert found["q1"].evidence == (Chunk("paper:float:0"), Chunk(texts[1]))
    assert read_predictions(file, QUESTIONS, DOCUMENTS)["q1"].evidence == tuple(map(Chunk, texts))


@pytest.mark.slow
def test_every_annotator_of_drcd_counts_and_the_records_keep_their_first(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drcd = collected(squad.read_squad(parts_of("drcd", {"rows": [shared_data / "raw/drcd.json"]})))
    mixture = Recipe(1, 700, (Quota("drcd", 500),), ("drcd",))
    drawn = sample(mixture, {"drcd": drcd}, Ledger())
    annotated = {each.question.question: each.references for each in drcd.questions}
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
    assert main(command) == 1
    assert "add --language TAG" in capsys.readouterr().err
    write_json(tmp_path / "translated" / "sidecar.json", {"language": "zh-Hant-TW"})
    found = []
    # What conf says of these three today is another language, none, and the selected one.
    for name in ("beir", "any", "mini"):
        assert main([*command, "--benchmark", name]) == 0
        found.append(json.loads((tmp_path / "s.json").read_bytes()))
    assert len({each["all"]["answer_f1"] for each in found}) == 1
    first_only = found[-1]["all"]
    write_lines(tmp_path / "sampled" / "lineage.jsonl", drawn.lineage)
    assert main(command) == 0
    scored = json.loads((tmp_path / "s.json").read_bytes())["all"]
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
    scored = score_answers([asked], {"q1": predicted("q1", said)}, language)["q1"]
    assert scored.yes_no == accuracy
    assert references_of(asked, language)[0].type == kind


QUESTIONS = [question("q1", YES), question("q2", EXTRACTIVE, FREE), question("q3", NONE)]
DOCUMENTS = [
    Document(f"p{n}", f"Paragraph {n} of\n the paper.", "qasper", f"{n}", True, group="paper")
    for n in (1, 2, 3)
]


def written(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"question_id": "q9", "answer": "Yes"}, "there is no question 'q9'"),
        ({"question_id": "q1", "answer": "Yes"}, "'q1' is answered twice"),
        ({"question_id": "q2"}, "answer: Field required"),
        ({"answer": "x"}, "question_id: Field required"),
        ({"question_id": "q2", "answer": 1.5}, "answer: Input should be a valid string"),
        ({"question_id": "q2", "answer": "x" * 100_001}, "answer: String should have at most"),
        ({"question_id": "q2", "answer": "x", "evidence": [1]}, "evidence.0: Input should be"),
        ({"question_id": True, "answer": "x"}, "question_id: Input should be a valid string"),
        (["q2", "x"], "expected an object"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, row: Any, problem: str) -> None:
    path = written(tmp_path / "p.jsonl", {"question_id": "q1", "answer": "Yes"}, row)
    with pytest.raises(FormatError, match=re.escape(f"{path}, line 2: {problem}")):
        read_predictions(path, QUESTIONS, DOCUMENTS)


SAID = [
    {"question_id": "q1", "answer": "Yes", "evidence": ["p3"]},
    {"question_id": "q2", "answer": '=BERT, "large"\n第二', "evidence": ["p1", "p2"]},
]
OFFICIAL = [
    {
        "question_id": row["question_id"],
        "predicted_answer": row["answer"],
        "predicted_evidence": [f"Paragraph {each[1]} of the paper." for each in row["evidence"]],
    }
    for row in SAID
]
PIPELINES = [
    {**row, "shown": ["p1"], "cut": [], "left_out": [], "cited_not_given": 0} for row in SAID
]
WITH_EVIDENCE = {
    "JSON Lines": "".join(json.dumps(row) + "\n" for row in SAID),
    "the pipeline's own": "".join(json.dumps(row, sort_keys=True) + "\n" for row in PIPELINES),
    "QASPER's predictions": "".join(json.dumps(row) + "\r\n" for row in OFFICIAL),
    "blank lines between": "\n" + "\n\n".join(json.dumps(row) for row in SAID),
    "a list": json.dumps(SAID),
    "a list on many lines": json.dumps(SAID, indent=2, ensure_ascii=False),
    "results": json.dumps({"system": "ours", "results": SAID}),
    "results, and rankings": json.dumps({"results": [{**row, "doc_ids": ["p9"]} for row in SAID]}),
    "objects by question": json.dumps({row["question_id"]: row for row in SAID}, indent=1),
    "CSV": csv_text(
        ["question_id", "answer", "evidence"],
        [[row["question_id"], row["answer"], json.dumps(row["evidence"])] for row in SAID],
    ),
    "a spreadsheet's CSV": csv_text(
        ["predicted_evidence", "question_id", "notes", "predicted_answer"],
        [[json.dumps(r["evidence"]), r["question_id"], "", r["answer"]] for r in SAID],
    ).replace("\r", ""),
}


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("form", WITH_EVIDENCE)
def test_the_form_of_a_file_shows_in_its_content(form: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.txt"
    path.write_bytes((mark + WITH_EVIDENCE[form]).encode())
    assert read_predictions(path, QUESTIONS, DOCUMENTS) == {
        "q1": predicted("q1", "Yes", ("p3",)),
        "q2": predicted("q2", '=BERT, "large"\n第二', ("p1", "p2")),
    }


@pytest.mark.parametrize("indent", [None, 1])
def test_squads_predictions_and_one_line_alone_are_told_apart(
    indent: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"q1": "Yes", "q2": None}, indent=indent))
    assert read_predictions(path, QUESTIONS, DOCUMENTS) == {"q1": predicted("q1", "Yes")}
    path.write_text(json.dumps(SAID[0], indent=indent))
    assert read_predictions(path, QUESTIONS, DOCUMENTS) == {"q1": predicted("q1", "Yes", ("p3",))}
    path.write_text(json.dumps({"eval_id": 7, "answer": "네", "topk": ["p1"]}, indent=indent))
    numbered = [question("7", YES)]
    assert read_predictions(path, numbered, DOCUMENTS) == {"7": predicted("7", "네")}


@pytest.mark.parametrize(
    "content",
    [
        *("", " \n\n", "[]", "{}", "5", '"Yes"', "Yes\n", "question_id,answer\n"),
        *("q1 Q0 p1 1 0.5 run\n", "id,answer\nq1,Yes\n", "question_id,text\nq1,Yes\n"),
        *('[["q1", "Yes"]]', '{"q1": ["Yes"]}', '{"q1": {"text": "Yes"}}', '{"results": 5}'),
        '{"question_id": "q1", "answer": "Yes"}\n{"question_id": "q2", "ans',
        "question_id,answer,evidence\nq1,Yes,p1\n",
        "question_id,answer\nq1,Yes\nq1,Yes\n",
    ],
)
def test_what_is_no_file_of_answers_is_refused_in_a_sentence(content: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=re.escape(str(path))):
        read_predictions(path, QUESTIONS, DOCUMENTS)


def test_evidence_may_be_ids_or_texts_and_in_pdfs_the_most_of_a_text(tmp_path: Path) -> None:
    texts = ["We train a small model on much data.", "Its score is seventy and rising every day."]
    chunks = [
        Document(f"paper:pdf:{n}", f"12 {text} See", "qasper", f"{n}", True, group="paper")
        for n, text in enumerate(texts)
    ]
    named = [texts[1].upper(), "paper:pdf:0", "Nothing of this is in the paper at all."]
    path = written(tmp_path / "p.jsonl", {"question_id": "q1", "answer": "", "evidence": named})
    expected = ("paper:pdf:1", "paper:pdf:0", named[2])
    assert read_predictions(path, QUESTIONS, chunks)["q1"].evidence == tuple(map(Chunk, expected))
    assert read_predictions(path, QUESTIONS, DOCUMENTS)["q1"].evidence == tuple(map(Chunk, named))


def scoring(folder: Path, path: Path, *options: str) -> list[str]:
    write_records(folder / "queries.json", QUESTIONS)
    write_records(folder / "corpus.json", DOCUMENTS)
    write_json(folder / "sidecar.json", {"language": "en"})
    options = ("--benchmark", "qasper", "--folder", str(folder), *options)
    return ["answers", "score", str(path), *options]


def test_the_command_scores_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path / "predictions.jsonl",
        {"question_id": "q1", "answer": "Yes", "evidence": ["p3"]},
        {"question_id": "q2", "answer": "They use BERT", "evidence": ["p1", "p2"]},
    )
    assert main(scoring(tmp_path, path, "--out", str(tmp_path / "scores.json"))) == 0
    shown = capsys.readouterr()
    cells = [line.split() for line in shown.out.splitlines()]
    assert ["all", "3", "0.66667", "0.66667"] in cells
    assert ["free-form", "1", "1.00000", "1.00000"] in cells
    assert ["cause:", "no_answer", "1"] in cells
    assert ["evidence_f1", "0.667"] in cells
    assert shown.err == "warning: 1 questions are not in the file; they score 0\n"
    scores = json.loads((tmp_path / "scores.json").read_bytes())
    means = scores["all"]
    assert means["answer_f1"] == means["evidence_f1"] == 0.66667
    assert (means["answered"], means["pass_rate"]) == (2, None)
    assert scores["faults"] == {"missing": 1}


def test_what_went_wrong_with_a_question_stands_beside_its_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(
        tmp_path / "predictions.jsonl",
        {"question_id": "q1", "answer": None, "error": "timeout\x1b[2J after 60 s"},
        {"question_id": "q2", "answer": "BERT", "evidence": ["p1", "p7"]},
        {"question_id": "q3", "answer": " "},
        {"question_id": "q9", "answer": "?"},
    )
    command = scoring(tmp_path, path, "--questions", str(tmp_path / "q.csv"))
    assert main(command) == 1
    assert "line 4: there is no question 'q9'; --ignore-unknown" in capsys.readouterr().err
    assert not (tmp_path / "q.csv").exists()
    assert main([*command, "--ignore-unknown"]) == 0
    header, *rows = (cells for _, cells in read_cells(tmp_path / "q.csv"))
    found = [dict(zip(header, cells, strict=True)) for cells in rows]
    assert {row["question_id"]: row["error"] for row in found} == {
        "q1": "no answer; timeout\\u001b[2J after 60 s",
        "q2": "1 of 2 named as evidence are not documents",
        "q3": "an empty answer",
    }
    assert [row["gold_answers"] for row in found] == [
        "Yes",
        "BERT-Base, QANet / They use BERT.",
        "Unanswerable",
    ]
    assert [row["answer_type"] for row in found] == ["", "free-form", "unanswerable"]
    assert [row["answer_f1"] for row in found] == ["0.0", "0.5", "0.0"]
    assert capsys.readouterr().err.splitlines() == [
        "warning: 1 questions are not in this benchmark, and are skipped",
        "warning: 1 answers are null; they score 0",
        "warning: 1 answers are empty",
        "warning: 1 answers have an error that the system reported",
        "warning: 1 answers name evidence that is not a document",
    ]


AGAIN = [
    *({"question_id": "q1", "answer": "Yes"}, {"question_id": "q2", "answer": "BERT"}),
    *({"question_id": "q1", "answer": "No"}, {"question_id": "q2", "answer": "They use BERT."}),
]


def test_several_answers_of_each_question_are_repeats_and_their_mean_is_its_score(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "p.jsonl", *AGAIN)
    out, table = tmp_path / "s.json", tmp_path / "q.csv"
    assert main([*scoring(tmp_path, path, "--out", str(out)), "--questions", str(table)]) == 0
    scores = json.loads(out.read_bytes())
    # Yes of two; 1/2 ("use BERT", without "they") and 1; the third question has no answer.
    values = system_in_csv(table).values["answer_f1"]
    assert [values[q] for q in ("q1", "q2", "q3")] == [0.5, 0.75, 0]
    means = scores["all"]
    assert means["answer_f1"] == pytest.approx(1.25 / 3, abs=5e-6)
    assert (means["n"], means["answered"], scores["faults"]) == (3, 2, {"missing": 1})
    header, *rows = (cells for _, cells in read_cells(table))
    of = header.index("repeat")
    assert [(row[0], row[of]) for row in rows] == [(f"q{n}", r) for r in "12" for n in (1, 2, 3)]


TRACED = {"searches": [{"query": "x", "passages": []}]}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (AGAIN[:3], "line 3: 'q1' is answered twice; remove one"),
        (AGAIN[:2] * 2, "line 3: 'q1' is answered twice; remove one"),
        (AGAIN, ""),
        ([{**row, **TRACED} for row in AGAIN[:3]], ""),
        ([{**row, **TRACED} for row in AGAIN[:2] * 2], ""),
    ],
)
def test_an_answer_that_is_there_twice_by_mistake_is_refused(
    rows: list[dict[str, Any]], problem: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "p.jsonl", *rows)
    with pytest.raises(FormatError, match=re.escape(problem)) if problem else nullcontext():
        found = answers_of(read_answers(path), QUESTIONS, DOCUMENTS)
        assert len(found) == 2


def test_a_file_that_holds_the_gold_is_suspected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [question(f"q{n}", FREE) for n in range(10)]
    path = written(
        tmp_path / "p.jsonl", *({"question_id": q.question_id, "answer": FREE.text} for q in asked)
    )
    command = scoring(tmp_path, path)
    write_records(tmp_path / "queries.json", asked)
    assert main(command) == 0
    assert "does the file hold the gold?" in capsys.readouterr().err


@pytest.mark.slow
def test_rankings_answers_and_verdicts_of_a_system_stand_on_the_leaderboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file that holds both, as a person would hand it in; and two files."""
    both = {"results": [{**SAID[0], "doc_ids": ["p3"]}, {**SAID[1], "doc_ids": ["p2", "p1"]}]}
    path = tmp_path / "both.json"
    path.write_text(json.dumps(both))
    apart = written(tmp_path / "apart.jsonl", *SAID)
    own = [*scoring(tmp_path, path)[3:], "--system", "theirs"]
    (tmp_path / "metrics").mkdir()
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    for file in (path, apart):
        assert main(["submit", "score", str(path), *own]) == 0
        assert main(["answers", "score", str(file), *own]) == 0
        assert main(["answers", "judge", str(file), *own, "--judge", "contains"]) == 0
    rows = read_board(LEADERBOARD)
    assert len(rows) == 1 + 2 + 2
    (ranked,) = [row for row in rows if row.configuration]
    assert (ranked.values["success@1"], ranked.warnings) == (1, "missing_question")
    # Yes is right, and of three words of the other answer one is in "They use BERT."
    scored = [row for row in rows if row.answers and not row.judge]
    found = [row.values["answer_f1"] for row in scored]
    assert found == [pytest.approx((1 + 1 / 3) / 3, abs=1e-5)] * 2
    assert {row.warnings for row in scored} == {"answer_missing"}
    judged = [row for row in rows if row.judge == "contains"]
    assert [row.values["pass_rate"] for row in judged] == [pytest.approx(1 / 3, abs=1e-5)] * 2
    printed = capsys.readouterr().out
    for heading in (r"theirs \(.*\)", r"theirs", r"theirs, judged by contains,"):
        assert re.search(rf"^{heading} on \S+.*, 3 questions$", printed, re.MULTILINE), heading


def test_every_metric_is_defined_with_its_source() -> None:
    defined = re.split(r"\n### ", (ROOT / "docs/definitions.md").read_text("utf-8"))[1:]
    measures = {metric.function for metric in METRICS}
    files = {path.stem for path in (ROOT / "bears/evaluation/measures").glob("[a-z]*.py")}
    assert {measure.__name__ for measure in measures} == files
    assert len(defined) == len(files) + len(ANSWERS)
    for entry in defined:
        assert re.match(r"[A-Za-z_0-9@, `]+\n\n[A-Z]", entry), entry
        assert "\n\nSource: " in entry, entry
        assert "Args:" not in entry


def test_a_known_question_without_an_answer_is_no_unknown_one() -> None:
    asked = [Question("q1", "Who?", "", (), "s", "ad-hoc")]
    given = [Given("line 1", False, Trace(question_id="q1"), False)]
    for ignored in (False, True):
        found = answers_of(given, asked, [], ignored)
        assert found == [{"q1": Trace(question_id="q1")}]


TABLE = "question,answer\nWhat is  CAFE\u0301? ,Rome\nwhy?,because\n"


def test_answers_without_ids_are_matched_by_the_texts_of_the_questions(tmp_path: Path) -> None:
    texts = {"q1": "What is Caf\u00e9?", "q2": "Why?", "q3": "Twice?", "q4": " twice? "}
    asked = [Question(name, text, "", (), "s", "ad-hoc") for name, text in texts.items()]
    rows = [line.split(",") for line in TABLE.splitlines()]
    lined = [{"question": text, "answer": answer} for text, answer in rows[1:]]
    table = tmp_path / "a.csv"
    table.write_text(TABLE, encoding="utf-8")
    book = tmp_path / "a.xlsx"
    book.write_bytes(workbook("".join(row(*cells) for cells in rows)))
    for path in (table, book, written(tmp_path / "a.jsonl", *lined)):
        (found,) = answers_of(read_answers(path), asked, [])
        assert {name: each.answer for name, each in found.items()} == {
            "q1": "Rome",
            "q2": "because",
        }
    for more, problem in {
        "WHY?,no\n": "a.csv, line 4: 'WHY?' is answered twice",
        "Twice?,no\n": "a.csv, line 4: 'Twice?' is the text of the questions q3 and q4; give",
        "Who?,no\n": "a.csv, line 4: there is no question 'Who?'; --ignore-unknown",
    }.items():
        table.write_text(TABLE + more, encoding="utf-8")
        with pytest.raises(FormatError, match=re.escape(problem)):
            answers_of(read_answers(table), asked, [])
    (found,) = answers_of(read_answers(table), asked, [], ignore_unknown=True)
    assert len(found) == 3
