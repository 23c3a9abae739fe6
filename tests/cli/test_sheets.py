"""People decide on a page, in a real browser: what they press is what the ledger has."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from functools import partial
from io import StringIO
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from bears.cli import main
from bears.config import read_ledger
from bears.config.ledger.entries import Ledger
from bears.config.ledger.sheet import WHOLE, Sheet
from bears.config.typed import parse
from bears.files.records import write_records
from bears.translation.review import SHEET as REVIEWS
from bears.types import Chunk, Document, Question
from tests.browser import HOSTILE as ATTACKS
from tests.browser import browser, shown
from tests.cli.test_judgements import audited, project
from tests.cli.test_labels import answers
from tests.workspace import Workspace

__all__ = ["project"]
pytestmark = pytest.mark.slow
QUESTIONS = "data/mini/runs/bm25.questions.csv"
WORDS = ("relevant", "partial", "not")
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
HOSTILE = (
    *ATTACKS,
    "=cmd|' /C calc'!A1",
    "${title} $data {{ policy }}",
    "\u202eright to left",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\U0001f600 " * 300 + "end",
    "(a+)+$ [x] \\ .*",
    "x" * 1_000_000,
)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as running:
        yield running


def bears(*words: str) -> None:
    assert main([*words, "--benchmark", "mini"]) == 0


def pooled(project: Path, texts: list[str], questions: list[str]) -> Path:
    """The page of a pool: each of the texts for each question."""
    translated = project / "data/mini/translated"
    ids = [f"notes%20{n}.md" for n in range(len(texts))]
    asked = [Question(f"q{n}", q, "", (), "s", "ad-hoc") for n, q in enumerate(questions)]
    write_records(translated / "queries.json", asked)
    both = zip(ids, texts, strict=True)
    write_records(
        translated / "corpus.json", [Document(i, text, "s", i, False) for i, text in both]
    )
    lines = [f"q{q} Q0 {d} 1 {-n} t" for q in range(len(questions)) for n, d in enumerate(ids)]
    (project / "run.trec").write_text("\n".join(lines) + "\n", encoding="utf-8")
    depth = str(len(ids))
    bears("judgements", "pool", "pool.html", "--systems", "run.trec", "--depth", depth)
    return project / "pool.html"


def saved(window: Page, path: Path, press: bool = True) -> Path:
    with window.expect_download() as download:
        window.keyboard.press("d") if press else window.locator("[data-command=save]").tap()
    assert download.value.suggested_filename == "pool.json"
    download.value.save_as(path)
    return path


def in_ledger() -> dict[tuple[str, str], tuple[str, str]]:
    found = parse(Ledger, read_ledger(Path("conf/ledger/mini.yaml")), "ledger").judgements
    return {(one.question_id, one.doc_id): (one.decision, one.reason) for one in found}


def place(window: Page) -> tuple[str, str]:
    """The question and the document that the window shows; the first question begins with How."""
    question = window.locator("#text-question").inner_text()
    file = window.locator("article .kind").last.inner_text()
    return ("q0" if question.startswith("How") else "q1"), file.replace(" ", "%20")


def press(
    pressed: dict[tuple[str, str], tuple[str, str]], random: Random, window: Page, count: int
) -> None:
    """Decide on the next items by digits and letters, and remember what was decided."""
    for _ in range(count):
        about, word = place(window), random.choice(WORDS)
        window.keyboard.press(random.choice([word[0], str(WORDS.index(word) + 1)]))
        assert about not in pressed
        pressed[about] = word, ""


def test_forty_decisions_by_keys_a_reload_another_browser_and_the_ledger(
    project: Path, chrome: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [f"Notes number {n} about heating.\n" + "text " * 2000 for n in range(20)]
    page = pooled(project, texts, ["How hot is the heating?", "Who wrote about heating?"])
    assert "open it in a browser, decide, save with the key D" in capsys.readouterr().out
    pressed: dict[tuple[str, str], tuple[str, str]] = {}
    decide = partial(press, pressed, Random(1))
    with shown(chrome, page) as window:
        assert window.locator(".choice small").first.inner_text().startswith("the document answers")
        decide(window, 15)
        assert window.locator("#progress").inner_text().startswith("15 of 40 decided, ")
        window.reload()
        assert window.locator("#progress").inner_text() == "15 of 40 decided"
        decide(window, 1)
        again = [*pressed][-1]
        window.keyboard.press("u")
        assert place(window) == again
        window.keyboard.press("m")
        window.keyboard.type("d not n: a note")
        window.reload()
        assert window.locator("#field-reason").input_value() == "d not n: a note"
        window.keyboard.press("3")
        pressed[again] = "not", "d not n: a note"
        window.keyboard.press("ArrowLeft")
        assert place(window) == again
        window.keyboard.press("k")
        skipped = place(window)
        window.keyboard.press("k")
        assert place(window) != skipped
        window.keyboard.press("b")
        assert place(window) == skipped
        half = saved(window, project / "half.json")
    with shown(chrome, page) as window:
        assert window.locator("#progress").inner_text() == "0 of 40 decided"
        with window.expect_file_chooser() as chooser:
            window.keyboard.press("o")
        chooser.value.set_files(half)
        window.locator("#progress", has_text="16 of 40").wait_for()
        decide(window, 24)
        assert "All 40 are decided." in window.locator("#desk").inner_text()
        assert "bears judgements import" in window.locator("#desk code").inner_text()
        whole = saved(window, project / "pool.json")
    bears("judgements", "import", str(whole), "--author", "Ann")
    assert len(pressed) == 40
    assert in_ledger() == pressed
    bears("judgements", "import", str(half))
    assert "16 pairs were judged before: 16 of them the same" in capsys.readouterr().out


def test_two_answers_by_touch_on_a_phone_in_chinese(
    project: Path, chrome: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = answers(project / "a.csv", {1, 2}), answers(project / "b.csv", set(range(0, 60, 2)))
    assert main(["labels", "next", a, b, "--count", "30", "--out", "pool.html"]) == 0
    capsys.readouterr()
    with shown(chrome, Path("pool.html"), locale="zh-TW", **PHONE) as window:
        assert window.locator("[data-command=skip]").inner_text().startswith("跳過")
        assert window.locator(".choice").first.inner_text() == "正確"
        window.locator(".meanings summary").tap()
        assert "回答所說的與其中一個正確答案相同" in window.locator(".meanings").inner_text()
        for n in range(30):
            for side in "12":
                text = window.locator(f"#text-answer_{side}").inner_text()
                word = "pass" if text.startswith("right") else "fail"
                button = window.locator(f"[data-blank=label_{side}][data-choice={word}]")
                box = button.bounding_box()
                assert box is not None
                assert box["height"] >= 40
                assert box["x"] + box["width"] <= 390
                button.tap()
            assert window.locator("#progress").inner_text().startswith(f"已決定 {n + 1} / 30 項")
        assert window.evaluate("document.documentElement.scrollWidth") <= 390
        done = saved(window, project / "pool.json", press=False)
    words = [str(done), a, b, "--author", "anna"]
    assert main(["labels", "import", *words]) == 0
    said = capsys.readouterr().out
    assert f"{a} is better than {b} by " in said
    assert " on 30 labels; " in said
    assert f"more halve the interval: `bears labels next {a} {b} --count " in said
    rows = json.loads(done.read_text("utf-8"))["rows"]
    draws = parse(Ledger, read_ledger(Path("conf/ledger/mini.yaml")), "").labels
    assert len(draws) == len(rows) == 30
    right = {draw.question_id: draw.labels["anna"] for draw in draws}
    for n in range(60):
        if (question := f"q{n:02}") in right:
            assert right[question] == (n not in {1, 2}, n % 2 == 1)


def test_hostile_texts_stay_texts(project: Path, chrome: Browser) -> None:
    page = pooled(project, list(HOSTILE), ["<b onclick=x>(a+)+$ end=cmd?</b>"])
    assert page.read_text("utf-8").count("<script") == 2
    with shown(chrome, page) as window:
        for _ in HOSTILE:
            which = int(place(window)[1].removeprefix("notes%20").removesuffix(".md"))
            read = window.evaluate("document.getElementById('text-document').textContent")
            assert read == HOSTILE[which]
            assert window.locator("#text-document").get_attribute("dir") == "auto"
            window.keyboard.press("r")
        assert window.locator("html").get_attribute("data-ran") is None
        done = saved(window, project / "pool.json")
    bears("judgements", "import", str(done))
    assert {decision for decision, _ in in_ledger().values()} == {"relevant"}
    assert len(in_ledger()) == len(HOSTILE)


def test_full_storage_and_a_second_tab_are_said(project: Path, chrome: Browser) -> None:
    page = pooled(project, ["one", "two", "three"], ["Which?"])
    full = "() => { Storage.prototype.setItem = () => { throw new DOMException('full') } }"
    with shown(chrome, page) as window:
        other = window.context.new_page()
        other.goto(page.as_uri())
        window.keyboard.press("1")
        other.locator("#warning", has_text="another tab").wait_for()
        assert other.locator("#progress").inner_text() == "1 of 3 decided"
        other.close()
        window.evaluate(full)
        assert window.locator("#warning").is_hidden()
        window.keyboard.press("2")
        assert "This browser keeps nothing" in window.locator("#warning").inner_text()
        window.keyboard.press("3")
        done = saved(window, project / "pool.json")
    assert len(json.loads(done.read_text("utf-8"))["rows"]) == 3
    forbidden = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no') }})"
    context = chrome.new_context()
    context.add_init_script(forbidden)
    window = context.new_page()
    window.goto(page.as_uri())
    assert "the window is private" in window.locator("#warning").inner_text()
    window.keyboard.press("1")
    assert window.locator("#progress").inner_text() == "1 of 3 decided"
    context.close()


def test_a_file_of_something_else_is_not_opened(project: Path, chrome: Browser) -> None:
    page = pooled(project, ["one", "two"], ["Which?"])
    (project / "x.json").write_text('{"rows": [{}]}')
    with shown(chrome, page) as window:
        window.locator("#file").set_input_files(project / "x.json")
        window.locator("#said", has_text="x.json is not what such a page saves").wait_for()
        window.keyboard.press("1")
        done = saved(window, project / "pool.json")
        window.keyboard.press("ArrowLeft")
        window.keyboard.press("2")
        window.locator("#file").set_input_files(done)
        window.locator("#said", has_text="0 decisions taken from pool.json; 1 differ").wait_for()


def test_a_correction_needs_a_text(tmp_path: Path, chrome: Browser) -> None:
    page = tmp_path / "pool.html"
    texts = {"flags": "odd", "source": "Who?", "translation": "誰"}
    REVIEWS.write(page, [{"record_id": f"q{n}", "field": "question", **texts} for n in range(2)])
    with shown(chrome, page) as window:
        window.keyboard.press("2")
        assert window.locator("#progress").inner_text() == "0 of 2 decided"
        assert window.locator("#field-text").input_value() == "誰"
        window.keyboard.press("End")
        window.keyboard.type("d?")
        window.keyboard.press("Enter")
        assert window.locator("#progress").inner_text() == "1 of 2 decided"
        window.keyboard.press("a")
        done = saved(window, tmp_path / "pool.json")
    rows = REVIEWS.read(
        done, lambda _: texts, lambda _, row: (row["record_id"], row["decision"], row["text"])
    )
    assert rows == [("q0", "correct", "誰d?"), ("q1", "accept", "")]


def test_a_passage_is_marked_in_its_document_and_kept_with_its_words(
    project: Path, chrome: Browser
) -> None:
    audited(project, Chunk("c", 2, 8))
    bears("judgements", "pool", "pool.html", "--systems", "audit")
    with shown(chrome, project / "pool.html") as window:
        assert window.evaluate("document.querySelector('.passage').textContent") == "c c c "
        read = window.evaluate("document.getElementById('text-document').textContent")
        assert read == "c " * 2000
        window.keyboard.press("p")
        done = saved(window, project / "pool.json")
    bears("judgements", "import", str(done))
    (kept,) = parse(Ledger, read_ledger(Path("conf/ledger/mini.yaml")), "ledger").judgements
    assert (kept.doc_id, kept.decision, kept.quotation) == ("c", "partial", "c c c ")


def test_help_names_every_key_and_readers_of_screens_hear_what_happens(
    project: Path, chrome: Browser
) -> None:
    page = pooled(project, ["which: one", "which: two"], ["Which?"])
    with shown(chrome, page) as window:
        assert window.locator("mark").count() == 1
        window.keyboard.press("?")
        said = window.get_by_role("dialog").inner_text()
        for word in (*WORDS, "Back", "Skip", "Undo", "Note", "Save", "Open", "Help"):
            assert word in said
        window.keyboard.press("h")
        assert window.get_by_role("dialog").count() == 0
        window.keyboard.press("1")
        assert window.get_by_role("status").inner_text() == "relevant; 1 of 2 decided"
        window.keyboard.press("ArrowLeft")
        assert window.get_by_role("button", pressed=True).get_attribute("data-choice") == "relevant"
        for part in ("button", "textbox", "group"):
            for found in window.get_by_role(part).all():
                assert found.get_by_role(part, name="").count() == 0
        assert window.get_by_role("region", name="Your decision").count() == 1
        window.locator("#language").click()
        assert window.locator("html").get_attribute("lang") == "zh-Hant"
        assert window.get_by_role("region", name="您的決定").count() == 1


@pytest.mark.slow
def test_three_hundred_long_items_are_small_and_quick(tmp_path: Path, chrome: Browser) -> None:
    random, page = Random(1), tmp_path / "pool.html"
    words = ["pump", "heater", "invoice", "warranty", "relay", "valve", "sensor", "shelf"]
    sheet = Sheet(
        *(("draw",), ("question", "document"), ("grade",), ("grade",), "it", tuple("0123")),
        document="document",
        scale="relevance",
    )
    rows = []
    for n in range(300):
        text = " ".join(f"{random.choice(words)}{random.random():.4f}" for _ in range(1000))
        cells = {"draw": n, "question": f"Which pump has sensor {n}?", "document": text[:8000]}
        rows.append({**cells, WHOLE: text[:10_000]})
    sheet.write(page, rows)
    assert page.stat().st_size <= 5e6
    opened = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    with shown(chrome, page) as window:
        times = []
        for _ in range(3):
            window.reload()
            times.append(window.evaluate(opened))
        # The machine that runs tests may be busy with others.
        assert min(times) < 1000
        steps = window.evaluate(
            """async () => {
              const found = [];
              for (let n = 0; n < 60; n++) {
                const start = performance.now();
                dispatchEvent(new KeyboardEvent("keydown", { key: String(n % 4) }));
                document.body.offsetHeight;
                found.push(performance.now() - start);
                await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
              }
              return found;
            }"""
        )
        assert median(steps) < 50
    # Documents in Chinese take three bytes a character, and are cut until they fit.
    sheet.write(page, [{**row, WHOLE: f"{row['document']}{'字' * 9000}"} for row in rows])
    assert page.stat().st_size <= 1.1 * 5e6


def test_a_table_comes_with_its_rubric_in_a_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = answers(project / "a.csv", {1, 2}), answers(project / "b.csv", {3})
    assert main(["labels", "next", a, b, "--count", "3", "--out", "t.csv"]) == 0
    assert "t.rubric.md says what they mean" in capsys.readouterr().out
    rubric = Path("t.rubric.md").read_text("utf-8")
    assert "- `pass`: it says what one of the right answers says." in rubric
    with Path("t.csv").open(newline="") as file:
        assert "rubric" not in next(csv.reader(file))


def test_the_report_leads_to_the_documents_of_a_question_and_says_who_judged(
    workspace: Workspace, chrome: Browser
) -> None:
    words = ["report", "--judge", "judge #1?.html", "--top", "5"]
    assert "judge #1?.html: open it" in workspace.python("bears", *words)
    run = workspace.text("data/mini/runs/bm25.trec").replace(" Q0 ", " Q0 not-", 1)
    (workspace.root / "other.trec").write_text(run)
    refused = workspace.python("bears", "report", "other.trec", *words[1:], code=1)
    assert "'not-" in refused
    assert "Traceback" not in refused
    asked = next(iter(csv.DictReader(StringIO(workspace.text(QUESTIONS)))))["question_id"]
    with shown(chrome, workspace.root / "report.html", f"q={asked}", "#browser .open") as window:
        link = window.get_by_text("documents without a judgement")
        count = int("".join(filter(str.isdigit, link.inner_text())))
        link.click()
        window.wait_for_selector("#desk > *")
        first = window.locator("#text-question").inner_text()
        for _ in range(count):
            assert window.locator("#text-question").inner_text() == first
            window.keyboard.press("n")
        with window.expect_download() as download:
            window.keyboard.press("d")
        download.value.save_as(workspace.root / "judged.json")
    workspace.python("bears", "judgements", "import", "judged.json", "--author", "Ada")
    workspace.dvc("repro")
    workspace.python("bears", *words)
    with shown(chrome, workspace.root / "report.html", f"q={asked}", "#browser .open") as window:
        said = window.locator("#browser .open").inner_text()
    assert said.count("not relevant · Ada") == count > 0
    assert "without a judgement" not in said
