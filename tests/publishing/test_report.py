"""The report: what it says, that nothing in it runs, and that a browser shows it."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from bears.cli.prices import dollars
from bears.cli.report import _comparison
from bears.cli.selection import composed
from bears.cli.uses import ANSWERS as USED_FOR_ANSWERS
from bears.cli.uses import workflow_of
from bears.errors import FormatError
from bears.evaluation.comparison.result import compare
from bears.evaluation.intervals import share_interval
from bears.files.benchmark_state import records_digest
from bears.files.digest import sha256_of
from bears.files.records import read_questions, write_json, write_lines, write_records
from bears.files.spreadsheet import write_csv
from bears.files.trec import run_writer
from bears.publishing.report.answer import answer
from bears.publishing.report.benchmark import BenchmarkFolders
from bears.publishing.report.comparison import Comparison, parse_comparison, ranked
from bears.publishing.report.groups import _rows
from bears.publishing.report.report import report
from bears.publishing.report.words import part, said, words
from bears.results.system import System
from bears.types import Document, Hit, Question
from tests.browser import dom
from tests.workspace import Workspace, finished

RUN = "document.documentElement.setAttribute('data-ran','1')"
HOSTILE = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<!--<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><svg onload="{RUN}">',
    f"'-{RUN}-'",
    f"${{{RUN}}}",
    f"{{{{ '<script>{RUN}</script>' | safe }}}}",
    f'<a href="javascript:{RUN}">x</a>',
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f"\u2028<base href=//x><meta http-equiv=refresh content=0;url=javascript:{RUN}>",
    "\u202e<b>desrever</b>",
)


class Made:
    """A benchmark of some questions and systems, in files as the pipeline writes them."""

    def __init__(self, folder: Path, texts: Sequence[str], names: Sequence[str]) -> None:
        self.folder, self.names, self.ids = folder, names, [f"q{i}" for i in range(len(texts))]
        self.folders = BenchmarkFolders(
            folder / "translated",
            folder / "sampled",
            folder / "verified",
            folder / "sources.json",
            folder / "audited",
            folder / "tax",
        )
        source = texts[0]
        documents = [
            Document(f"d{i}", f"{text} right {i}", source, f"o{i}", True)
            for i, text in enumerate(texts)
        ]
        questions = [
            Question(f"q{i}", f"{text}?", text, (f"d{i}",), source, "single-hop")
            for i, text in enumerate(texts)
        ]
        for name, kept in (("translated", ""), ("sampled", "_raw")):
            write_records(folder / name / f"queries{kept}.json", questions)
            write_records(folder / name / f"corpus{kept}.json", documents)
        origin = {"source": source, "licence": source, "path": source, "revision": source}
        write_json(self.folders.provenance, [{**origin, "files": [{"name": source, "sha256": ""}]}])
        self.config = {"benchmark": {"name": source, "language": "en"}, "sources": {}}
        self.files = [self._system(at, name) for at, name in enumerate(names)]

    def values(self, system: int) -> list[float]:
        """Its hits: the first system has each question, the next every second one, and so on."""
        return [float(i % (system + 1) == 0) for i in range(len(self.ids))]

    def _system(self, at: int, name: str) -> System:
        values = self.values(at)
        run = self.folder / f"{at}.trec"
        with run_writer(run, "tag") as write:
            for i, value in enumerate(values):
                other = f"d{(i + 1) % len(values)}"
                order = [f"d{i}", other] if value else [other, f"d{i}"]
                found = enumerate(dict.fromkeys(order))
                write(f"q{i}", tuple(Hit(doc, 9.0 - rank) for rank, doc in found))
        answers, judged = self.folder / f"{at}.jsonl", self.folder / f"{at}.answers.csv"
        lines = [{"question_id": each, "answer": self.names[0]} for each in self.ids]
        answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        verdicts = [[each, "pass", self.names[0], self.names[0]] for each in self.ids]
        write_csv(judged, ["question_id", "verdict", "cause", "reason"], verdicts)
        cost = {"p50_ms": 0.5 * (at + 1), "p95_ms": 2.0, "index_s": 1.0, "index_bytes": 12345.0}
        frame = pd.DataFrame({"success@1": values}, index=self.ids)
        return System(name, "", frame, run=run, files=(answers, judged), cost=cost)

    def page(self, comparison: Comparison | None = None) -> str:
        questions = read_questions(self.folders.translated / "queries.json")
        return report(self.config, self.folders, questions, self.files, comparison, "success@1", 10)


@pytest.fixture
def hostile(tmp_path: Path) -> Made:
    return Made(tmp_path, HOSTILE, HOSTILE)


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_texts_of_others_are_no_tags_and_no_attributes(hostile: Made) -> None:
    tags = Tags(hostile.page()).found
    assert [attributes.get("type") for tag, attributes in tags if tag == "script"] == [
        "application/json",
        None,
    ]
    assert {tag for tag, _ in tags} & {"img", "iframe", "base", "object", "form"} == set()
    for tag, attributes in tags:
        assert not [
            name for name in attributes if name.startswith("on") or name in ("style", "src")
        ]
        assert (attributes.get("href") or "#").startswith("#"), tag


def test_no_script_runs_in_a_browser_but_the_pages_own(hostile: Made, tmp_path: Path) -> None:
    control = tmp_path / "control.html"
    control.write_text(f"<!DOCTYPE html><html>{HOSTILE[0]}</html>", encoding="utf-8")
    assert 'data-ran="1"' in dom(control).partition(">")[0] + dom(control), "nothing would be seen"
    page = tmp_path / "page.html"
    page.write_text(hostile.page(), encoding="utf-8")
    shown = dom(page, "q=q3")
    top = next(attributes for tag, attributes in Tags(shown).found if tag == "html")
    assert "data-ran" not in top
    assert 'aria-expanded="true"' in shown  # our own script ran, and opened the question


def test_a_link_opens_that_very_question_with_its_gold_marked(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    made = Made(tmp_path, ["alpha", "beta", "gamma"], ["one", "two"])
    page.write_text(made.page(), encoding="utf-8")
    opened = dom(page, "q=q1")
    [button] = re.findall(r'<button[^>]*aria-expanded="true".*?</button>', opened, re.DOTALL)
    assert "beta?" in button
    assert "<mark>beta</mark> right 1" in opened
    assert "<mark>alpha" not in opened


def test_a_document_that_is_called_as_a_question_is_not_its_source_text(tmp_path: Path) -> None:
    made = Made(tmp_path, ("first", "second"), ("one", "two"))
    for path in (*tmp_path.rglob("*.json"), *tmp_path.glob("*.trec")):
        path.write_text(re.sub(r"\bd(?=\d)", "q", path.read_text("utf-8")), encoding="utf-8")
    shown = re.search(r'<script type="application/json" id="data">(.*?)</script>', made.page())
    assert shown
    asked = json.loads(shown[1])["questions"]
    assert [(each["question"], each.get("original", "")) for each in asked] == [
        ("first?", ""),
        ("second?", ""),
    ]


def test_a_page_is_by_no_measure_in_percent(tmp_path: Path) -> None:
    made = Made(tmp_path, ("first", "second"), ("one", "two"))
    made.files[1] = replace(made.files[1], values=pd.DataFrame({"success@1": [100.0, np.nan]}))
    with pytest.raises(FormatError, match="success@1 has values above 1"):
        made.page()


def test_the_questions_that_flip_are_those_that_one_has_and_the_other_lacks(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    made = Made(tmp_path, [f"text{i}" for i in range(9)], ["one", "two"])
    page.write_text(made.page(), encoding="utf-8")
    shown = dom(page, "better=one&than=two")
    ours = [i for i, (a, b) in enumerate(zip(made.values(0), made.values(1), strict=True)) if a > b]
    assert [int(i) for i in re.findall(r'id="head-(\d+)"', shown)] == ours == [1, 3, 5, 7]


def test_a_search_is_of_every_word_and_of_the_answer_too(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    made = Made(tmp_path, ["red fox", "red hen", "blue fox"], ["one"])
    page.write_text(made.page(), encoding="utf-8")
    assert re.findall(r'id="head-(\d+)"', dom(page, f"text={quote('fox red')}")) == ["0"]


def test_a_reader_of_chinese_gets_chinese(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(Made(tmp_path, ["a", "b"], ["one"]).page(), encoding="utf-8")
    assert '<html lang="zh-Hant"' in dom(page, language="zh-TW")
    assert '<html lang="en"' in dom(page)


def test_of_ten_thousand_questions_the_page_says_which_it_leaves_out(tmp_path: Path) -> None:
    made = Made(tmp_path, [f"text {i} " + "x" * 400 for i in range(10_000)], ["one", "two"])
    html = made.page()
    shown, of = re.findall(r"(\d+) of (\d+) questions are on this page", html)[0]
    assert (int(of), len(html) < 2_500_000) == (10_000, True)
    kept = json.loads(re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)[0])["questions"]
    assert len(kept) == int(shown) > 300
    assert {row["values"][0] != row["values"][1] for row in kept} == {True}


def test_a_question_too_large_for_a_page_is_left_out_alone_and_that_is_said(tmp_path: Path) -> None:
    html = Made(tmp_path, ["first", "long " * 40_000, "third", "fourth"], ["one", "two"]).page()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)[0])
    assert [question["id"] for question in data["questions"]] == ["q0", "q2", "q3"]
    assert {document["id"] for document in data["documents"]} >= {"d0", "d2", "d3"}
    assert "more than 150 kB each: 1." in html


def test_of_questions_that_nobody_judged_there_is_a_page_without_an_answer(tmp_path: Path) -> None:
    made = Made(tmp_path, ["first", "second"], ["one", "two"])
    queries = made.folders.translated / "queries.json"
    found = [replace(q, gold_doc_ids=(), judged=False) for q in read_questions(queries)]
    write_records(queries, found)
    made.files = [replace(each, values=each.values[[]]) for each in made.files]
    html = made.page()
    assert "says what each system found and not which to take" in html
    assert "No document is right" not in re.sub(r"<script.*", "", html, flags=re.DOTALL)
    assert html.count('"unjudged":true') == 2


def test_audits_prices_and_what_translation_cost_stand_on_the_page_in_this_state_alone(
    tmp_path: Path,
) -> None:
    made = Made(tmp_path, ["first", "second"], ["one", "two"])
    paid = {**made.files[0].cost, "usd_low": 0.207, "usd_high": 0.811}
    made.files[0] = replace(made.files[0], cost=paid)
    files = (made.folders.translated / name for name in ("queries.json", "corpus.json"))
    state = records_digest(*map(sha256_of, files))[:12]
    sides = dict.fromkeys(("original", "translated", "low", "high"), 0.5)
    for name, known, of in (("here", state, -0.075), ("there", "another", -0.333)):
        tax = {"ndcg@10": {**sides, "difference": of}, "without_parentheses": {}, "questions": 40}
        write_json(made.folders.taxes / f"{name}.json", {**tax, "state": known, "retriever": name})
    decided = [{"question_id": "q1", "doc_id": f"d{i}", "decision": d} for i, d in enumerate(" x")]
    made.folders.audited.mkdir()
    candidates = [{**row, "decision": row["decision"].strip()} for row in decided]
    write_lines(made.folders.audited / "candidates.jsonl", candidates)
    finding = {"severity": "warning", "check": "contains_question", "record_id": "q1"}
    write_lines(made.folders.audited / "findings.jsonl", [{**finding, "message": "in d0"}])
    html = made.page()
    assert "among its right ones: 2, for 1 questions; nobody has decided yet on 1 of" in html
    assert "<td>contains_question</td>" in html
    assert "0.21 – 0.81" in html
    assert "−0.075" in html
    assert "−0.333" not in html


def test_graded_values_of_few_questions_have_the_interval_that_compare_gives_them() -> None:
    values = np.random.default_rng(0).choice([0.3, 0.39, 0.5, 0.63], 40)
    system = System("a", "", pd.DataFrame({"m": values}))
    (row,) = _rows([system], np.ones(40, np.bool_), "m")
    ids = [f"q{i:02}" for i in range(40)]
    both = [System(n, "", pd.DataFrame({"m": values}, index=ids)) for n in ("a", "b")]
    expected = compare(both)["systems"][0]["measures"]["m"]
    assert (row["low"], row["high"]) == pytest.approx((expected["low"], expected["high"]))
    low, high = share_interval(values.tolist())
    assert row["high"] - row["low"] < 0.4 * (high - low)


@pytest.mark.slow
def test_a_thousand_questions_cost_what_the_plan_of_the_memory_says(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace: Workspace = finished(tmp_path_factory.getbasetemp())[0].copied(tmp_path / "project")
    monkeypatch.chdir(workspace.root)
    runs = [Path(f"data/mini/runs/bm25{within}.trec") for within in ("", ".within")]
    config = composed("mini", ["generator=gpt-4.1-mini", "retriever=bm25"])
    plan = workflow_of(config, *USED_FOR_ANSWERS).plan()
    found = dollars(config, Path("data/mini/translated"), runs[0], runs[1])
    assert found == pytest.approx([usd * 1000 / 18 for usd in plan.usd], rel=1e-3)
    unknown = composed("mini", ["generator=gpt-4.1-mini", "generator.model=nobodys"])
    assert dollars(unknown, Path("data/mini/translated"), runs[0], runs[1]) is None


def test_the_same_files_give_the_same_bytes(hostile: Made) -> None:
    assert hostile.page() == hostile.page()


def test_every_word_of_the_page_is_in_both_languages_and_in_use() -> None:
    source = "".join(part(name) for name in ("page.html.j2", "script.js"))
    code = "".join(
        p.read_text(encoding="utf-8") for p in Path("bears/publishing/report").glob("*.py")
    )
    for key, (english, chinese) in words().items():
        holes = [sorted(re.findall(r"\{\w+\}", text)) for text in (english, chinese)]
        assert set(holes[0]) == set(holes[1]), key
        assert key in source + code or key.startswith(("nav_", "measure_", "role_")), key
    asked = re.findall(r"\b(?:t|word)\(['\"](\w+)['\"]", source)
    assert set(asked) <= words().keys()


def test_what_stands_out_is_of_our_words_and_never_of_a_name() -> None:
    spoken = said("answer_untested", a="*<i>*", measure="m", mean=-0.5, b="b")
    assert "<strong><bdi>*&lt;i&gt;*</bdi></strong>" in spoken
    assert "−0.500" in spoken


# ----------------------------------------------------------------------------- the answer


def compared(verdicts: dict[tuple[str, str], str], means: dict[str, float]) -> Comparison:
    systems = [
        {"name": name, "measures": {"m": {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}}}
        for name, mean in means.items()
    ]
    pairs = [
        {
            **{
                "measure": "m",
                "a": a,
                "b": b,
                "n": 30,
                "difference": means[a] - means[b],
                "p_holm": 0.01,
            },
            **{"low": -0.1, "high": 0.3, "smallest_difference": smallest, "verdict": verdict},
        }
        for ((a, b), verdict), smallest in zip(verdicts.items(), (0.2, 0.3, 0.1), strict=False)
    ]
    return parse_comparison({"systems": systems, "pairs": pairs}, "a test")


def systems_of(**milliseconds: float) -> list[System]:
    return [
        System(name, "", pd.DataFrame(), cost={"p50_ms": ms}) for name, ms in milliseconds.items()
    ]


APART = "cannot be told apart"


@pytest.mark.parametrize(
    ("verdicts", "sentences"),
    [
        (["b better", "b better", APART], ["answer_winner", "answer_winner_sure"]),
        (
            [APART, "b better", "a better"],
            ["answer_leaders", "answer_quickest", "answer_smallest"],
        ),
        ([APART, APART, APART], ["answer_none", "answer_quickest", "answer_smallest_range"]),
        # c is no leader: that it is near the best does not take back that a is better.
        ([APART, APART, "a better"], ["answer_leaders", "answer_quickest", "answer_smallest"]),
    ],
)
def test_the_answer_ranks_no_noise(verdicts: list[str], sentences: list[str]) -> None:
    pairs = dict(zip([("a", "b"), ("c", "b"), ("a", "c")], verdicts, strict=True))
    found = answer(compared(pairs, {"a": 0.5, "b": 0.6, "c": 0.3}), systems_of(a=1, b=2, c=3), "m")
    assert [key for key, _ in found] == sentences
    values: dict[str, Any] = found[0][1]
    assert (values["a"], values["difference"]) == ("b", pytest.approx(0.1))
    # Seen from the better one, which is the second of the pair.
    assert (values["low"], values["high"]) == (-0.3, 0.1)
    assert set(values["leaders"]) | set(values["others"]) == {"a", "b", "c"}
    assert values["n"] == 30
    if sentences[-1] == "answer_smallest_range":
        assert found[-1][1] == {"smallest": 0.1, "largest": 0.3}


def test_questions_that_nobody_judged_are_not_counted_as_judged(tmp_path: Path) -> None:
    made = Made(tmp_path, ["first", "second", "third"], ["one", "two"])
    queries = made.folders.translated / "queries.json"
    first, *others = read_questions(queries)
    write_records(queries, [replace(first, gold_doc_ids=(), judged=False), *others])
    html = made.page()
    assert "3 questions, 2 of them judged, over" in html
    assert "2 questions" in html


def test_the_group_after_z_stands_behind_it() -> None:
    found = compared({}, {"of A": 0.1, "of a": 0.9, "of z": 0.2})
    for system in found["systems"]:
        system["measures"]["m"]["group"] = system["name"][-1]
    assert [system["name"] for system in ranked(found, "m")] == ["of a", "of z", "of A"]


def test_a_comparison_of_another_state_of_the_benchmark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"systems": [], "pairs": [], "state": "two"}')
    systems = [System("a", "", pd.DataFrame(), benchmark={"name": "mini", "state": "one"})]
    with pytest.raises(FormatError, match=r"state 'two'.* of one"):
        _comparison(tmp_path / "c.json", systems, "m")


def test_without_a_comparison_nothing_is_recommended() -> None:
    found = answer(compared({}, {"a": 0.5, "b": 0.6}), systems_of(a=1, b=2), "m")
    assert [key for key, _ in found] == ["answer_untested", "answer_untested_sure"]


def test_a_file_that_is_no_comparison_is_refused() -> None:
    with pytest.raises(FormatError, match="compare --format json"):
        parse_comparison({"systems": [{"name": 5}]}, "x.json")


# ----------------------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_command_writes_one_page_that_needs_no_network(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    workspace: Workspace = finished(tmp_path_factory.getbasetemp())[0].copied(tmp_path / "project")
    workspace.python("bears", "report")
    html = workspace.text("report.html")
    assert workspace.git("status", "--short") == ""
    addresses = set(re.findall(r"https?://[^\s\"'<\\]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "0.825" in html  # nDCG@10 of the README's table
    assert "Only <strong><bdi>bm25</bdi></strong> was measured here" in html
    workspace.python("bears", "report", "--out", "again.html")
    assert workspace.text("again.html") == html
