"""Folders of documents: what is read, what is left out and said, and how people name the gold."""

from __future__ import annotations

import csv
import io
import os
import re
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF

from bears.config.shape import Source
from bears.errors import FormatError, SourceError
from bears.language.blocks import blocks
from bears.language.quotations import found_again
from bears.sources.convert import convert
from bears.sources.folder.documents import blocks_of_html
from bears.sources.folder.read import read_own
from bears.types import Document, Question, SourceQuestion, Span
from tests.sources.files import parts_of, row, workbook

PARAGRAPH = "The {0} is kept in the {0} house, and nobody but its keeper has the key to it. "


class Folder:
    """A folder that a test fills, and what the reader makes of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts = parts_of("own", {"folder": [path]})

    def put(self, name: str, content: str | bytes) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def ask(self, *rows: tuple[str, ...], header: str = "question,answer,document") -> None:
        text = io.StringIO(newline="")
        csv.writer(text).writerows([header.split(","), *rows])
        self.put("questions.csv", text.getvalue())

    def read(self, **settings: Any) -> tuple[dict[str, str], list[Question]]:
        """Return id to text of the documents, and the questions."""
        self.parts = parts_of("own", {"folder": [self.path]}, self.path.parent, **settings)
        found = [record for row in read_own(self.parts) for record in row]
        texts = {each.doc_id: each.content for each in found if isinstance(each, Document)}
        return texts, [each.question for each in found if isinstance(each, SourceQuestion)]

    def told(self) -> dict[str, str]:
        return {record: what for record, what, _ in self.parts.report.remarks}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "in").mkdir()
    return Folder(tmp_path / "in")


def pdf(*pages: list[str]) -> FPDF:
    file = FPDF()
    file.set_font("Helvetica", size=12)
    for lines in pages:
        file.add_page()
        for line in lines:
            file.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    return file


def docx(body: str, **parts: str) -> bytes:
    """A file of Word with this XML in its body."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{types}"><Override PartName="/word/document.xml" '
        f'ContentType="{main}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{office}" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>',
        **parts,
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return stream.getvalue()


FONT = files("matplotlib") / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
ENTITIES = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'


def paragraph(text: str, style: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:t>{text}</w:t></w:r></w:p>"


# --------------------------------------------------------------------------------------- the kinds


def test_every_kind_of_file_gives_its_text_under_its_path(folder: Folder) -> None:
    folder.put("a.txt", "Plain text of the first file.")
    folder.put("deep/er/b.md", "# A title\n\nMarked text, **bold**.\n")
    folder.put(
        "c.html",
        "<html><head><title>Site</title><script>var x = '<p>no';</script></head><body><nav>Home"
        "</nav><h1>Head</h1><p>One &amp; two<p>three<table><tr><td>x<td>y</table></body>",
    )
    pdf(["A line of a page."]).output(str(folder.path / "d.PDF"))
    texts, questions = folder.read()
    assert texts == {
        "a.txt": "Plain text of the first file.",
        "c.html": "# Head\n\nOne & two\n\nthree\n\nx y",
        "d.PDF": "A line of a page.",
        "deep/er/b.md": "# A title\n\nMarked text, **bold**.",
    }
    assert questions == []
    assert folder.told() == {"c.html": "4 characters of navigation and footers are left out"}


def test_a_file_of_word_gives_its_headings_paragraphs_and_tables(folder: Folder) -> None:
    cell = "<w:tc>{}</w:tc>".format
    table = f"<w:tbl><w:tr>{cell(paragraph('left'))}{cell(paragraph('right'))}</w:tr></w:tbl>"
    folder.put(
        "a.docx", docx(paragraph("Chapter", "Heading1") + paragraph("Body &lt;1&gt;") + table)
    )
    assert folder.read()[0] == {"a.docx": "# Chapter\n\nBody <1>\n\nleft\n\nright"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("# One\nbelow\n## Two ##\n", [("# One", True), ("below", False), ("## Two ##", True)]),
        ("Title\n=====\n\ntext", [("Title\n=====", True)]),
        ("```\n# no heading\n\ncode\n```\non", [("```\n# no heading\n\ncode\n```\non",)]),
        ("~~~~\n```\n# code\n~~~~", [("~~~~\n```\n# code\n~~~~",)]),
        ("#tag is no heading", [("#tag is no heading",)]),
        ("```\nnever closed\n\n# code", [("```\nnever closed\n\n# code",)]),
    ],
)
def test_markdown_has_the_blocks_that_commonmark_says(content: str, expected: list[Any]) -> None:
    for (start, end, found), (text, *heading) in zip(blocks(content), expected, strict=False):
        assert (content[start:end], [found]) == (text, heading or [False])


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ("<nav>menu<p>text that an unclosed", ["menutext that an unclosed"]),
        ("<div>a<nav>m<nav>n</nav>o</nav>b</div>", ["a", "b"]),
        ("<title>T</title><p>no heading", ["# T", "no heading"]),
        ("<h2>A <b>b</b><br>c</h2>on", ["## A b c", "on"]),
        ("<pre>a\n  b</pre>c", ["a\n  b", "c"]),
        ("<ul><li>a<li>b</ul><p> x\n y ", ["a\nb", "x y"]),
        ("<style>p{}</style><svg><text>no</text></svg>a&nbsp;&#x4e2d;", ["a 中"]),
        ("<p>" + "<b>" * 20_000 + "deep", ["deep"]),
        ("<", ["<"]),
        ("a < b", ["a < b"]),
        ("text" + "<!--" * 200_000, ["text"]),
        ("<script>if (a.b('<!--')) c();</script>text<!-- no --> on", ["text on"]),
        ("", []),
    ],
)
def test_a_page_gives_what_a_reader_sees(page: str, texts: list[str]) -> None:
    assert blocks_of_html(page)[0] == texts


# ------------------------------------------------------------------------------ what is dropped


def test_a_document_is_a_whole_file_however_long(folder: Folder) -> None:
    sections = [f"## Part {n}\n\n" + PARAGRAPH.format(f"lamp{n}") * 50 for n in range(5)]
    folder.put("a.md", "# Lamps\n\n" + "\n\n".join(sections))
    texts, _ = folder.read()
    assert texts == {"a.md": "# Lamps\n\n" + "\n\n".join(map(str.strip, sections))}


def test_headers_and_menus_that_many_files_share_are_dropped_and_told(folder: Folder) -> None:
    for n in range(4):
        text = PARAGRAPH.format(f"item{n}")
        folder.put(f"{n}.md", f"Home | Products\n\n{text}\n\nACME Inc. 2020")
    folder.put("other.txt", "ACME Inc. 2020\n\nA file of another kind.")
    texts, _ = folder.read()
    kept = [PARAGRAPH.format(f"item{n}").strip() for n in range(4)]
    assert [texts[f"{n}.md"] for n in range(4)] == kept
    assert "ACME" in texts["other.txt"]
    dropped = [text for _, what, text in folder.parts.report.remarks if what.startswith("dropped")]
    assert len(dropped) == 8
    assert set(dropped) == {"ACME Inc. 2020", "Home | Products"}
    assert "ACME" in folder.read(repeated=None)[0]["0.md"]


def test_the_headers_of_a_pdfs_pages_are_dropped_and_told(folder: Folder) -> None:
    pages = [
        ["Annual report", f"Text of page {'abcd'[n]} ends here.", f"{n + 1} of 4"] for n in range(4)
    ]
    pdf(*pages).output(str(folder.path / "a.pdf"))
    (text,) = folder.read()[0].values()
    assert "Annual report" not in text
    assert "of 4" not in text
    assert all(f"Text of page {letter} ends" in text for letter in "abcd")
    assert folder.told() == {"a.pdf": "8 headers and footers of pages"}


def test_a_file_that_repeats_another_is_dropped_unless_its_numbers_differ(
    folder: Folder,
) -> None:
    text = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(200))
    folder.put("a.txt", text)
    folder.put("b.txt", f"{text}\n")
    folder.put("c.txt", f"{text} and more")
    folder.put("d.txt", f"{text} and more!")
    other = text.replace("word", "thing")
    folder.put("price 1.txt", f"{other} costs 10")
    folder.put("price 2.txt", f"{other} costs 20")
    rows = ("Who?", "", "b.txt", ""), ("What?", "", "", text[:50]), ("When?", "", "d.txt", "")
    folder.ask(*rows, header="question,answer,document,quotation")
    texts, questions = folder.read()
    assert list(texts) == ["a.txt", "price%201.txt", "price%202.txt"]
    assert [folder.told()[f"{name}.txt"] for name in "bcd"] == [
        "dropped: 100% the same as a.txt",
        "dropped: 99% the same as a.txt",
        "dropped: 100% the same as c.txt",
    ]
    assert [question.gold_doc_ids for question in questions] == [("a.txt",)] * 3
    folder.ask(("Who?", "", ""))
    assert "c.txt" in folder.read(near_duplicate=1.0)[0]
    assert "b.txt" in folder.read(near_duplicate=None)[0]


# ----------------------------------------------------------------------------------------- hostile


def test_a_link_to_a_file_outside_is_left_out_and_listed(folder: Folder) -> None:
    outside = folder.path.parent / "secret.txt"
    outside.write_text("root:x:0:0 is not yours")
    folder.put("in.txt", "The text inside.")
    (folder.path / "a.txt").symlink_to(outside)
    (folder.path / "b.txt").symlink_to("../in/../secret.txt")
    (folder.path / "c.txt").symlink_to("in.txt")
    folder_by_link = folder.path.parent / "link"
    folder_by_link.symlink_to(folder.path)
    for path in (folder.path, folder_by_link):
        asked = Folder(path)
        texts = asked.read()[0]
        assert texts == {"c.txt": "The text inside."}
        told = [asked.told()[name] for name in ("a.txt", "b.txt")]
        assert told == ["left out: a link to a file outside of the folder"] * 2


def test_questions_that_are_a_link_to_a_file_outside_are_refused(folder: Folder) -> None:
    outside = folder.path.parent / "passwd"
    outside.write_text("root:x:0:0\n")
    folder.put("in.txt", "The text inside.")
    (folder.path / "questions.csv").symlink_to(outside)
    with pytest.raises(SourceError, match="link to a file outside") as error:
        folder.read()
    assert "x:0:0" not in str(error.value)


def test_letters_that_a_pdfs_font_does_not_name_are_left_out_and_told(folder: Folder) -> None:
    for name, lines in (("some.pdf", 9), ("all.pdf", 1)):
        file = pdf(["A line of a page."] * lines)
        file.add_font("Sans", fname=str(FONT))
        file.set_font("Sans", size=12)
        file.cell(text="Letters that nothing names.")
        written = bytes(file.output())
        nameless = re.sub(rb"/ToUnicode \d+ 0 R", lambda found: b" " * len(found[0]), written)
        assert nameless != written
        folder.put(name, nameless)
    texts, _ = folder.read()
    assert {*texts["some.pdf"].split()} == {"A", "line", "of", "a", "page."}
    left_out = len("Letters that nothing names.")
    assert f"{left_out} characters are left out" in folder.told()["some.pdf"]
    assert "do not say which letters they show" in folder.told()["all.pdf"]
    assert list(texts) == ["some.pdf"]


def test_a_quotation_over_the_end_of_a_page_is_found_with_the_pages_number_in_it(
    folder: Folder,
) -> None:
    texts = [f"Section {word} tells what the {word} did, and how" for word in "abcdefgh"]
    pages = [[*[text] * 2, f"the part ends with {n} items.", f"Report | {n + 40}"]
             for n, text in enumerate(texts)]  # fmt: skip
    pdf(*pages).output(str(folder.path / "a.pdf"))
    as_published = f"{texts[3]}\nthe part ends with 3 items.\nReport | 43\n{texts[4]}"
    other = as_published.replace("3 items", "5 items")
    header = "question,answer,document,quotation"
    folder.ask(("What?", "", "a.pdf", as_published), ("Who?", "", "a.pdf", other), header=header)
    documents, asked = folder.read()
    [found], [lost] = (question.gold_spans for question in asked)
    text = documents["a.pdf"][found.start : found.end]
    assert text.startswith("Section d")
    assert text.endswith("the e did, and how")
    assert lost.lost
    # The other stages don't know what was left out.
    assert list(found_again(asked[:1], documents)) == asked[:1]


def test_a_pdf_is_read_once_and_what_crashes_its_reader_is_left_out(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        pdf([f"The text of file {number}."]).output(str(folder.path / f"{number}.pdf"))
    first, _ = folder.read()
    monkeypatch.setattr("sys.executable", "/bin/false")
    again, _ = folder.read()
    assert again == first == {f"{n}.pdf": f"The text of file {n}." for n in range(3)}
    pdf(["Another text."]).output(str(folder.path / "3.pdf"))
    assert list(folder.read()[0]) == list(first)
    assert "PDFium crashed" in folder.told()["3.pdf"]


def test_a_wrong_header_of_the_questions_is_told_before_any_document_is_read(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.put("a.md", "The text.")
    folder.ask(("What", "a.md"), header="thema,datei")
    monkeypatch.setattr("bears.sources.folder.read._documents", None)
    with pytest.raises(SourceError, match="its fields are thema, datei; expected question"):
        folder.read()


def test_what_cannot_be_read_is_left_out_with_its_reason_and_the_rest_is_read(
    folder: Folder,
) -> None:
    encrypted = pdf(["The text inside."])
    encrypted.set_encryption("secret", "secret")
    encrypted.output(str(folder.path / "locked.pdf"))
    pdf([]).output(str(folder.path / "picture.pdf"))
    nothing = "there is no text in it"
    evils = {
        "empty.txt": (b"", nothing),
        "blank.md": (b"\n \n", nothing),
        "binary.txt": (bytes(range(256)), "NUL"),
        "latin.txt": (b"caf\xe9", "not UTF-8"),
        "page.html": (b'<meta charset="no-such">caf\xe9', "not 'no-such' either"),
        "escape.html": (b'<meta charset="unicode_escape">caf\xe9', "not an encoding of files"),
        "half.html": (b'<meta charset="utf-7">caf\xe9 +2AA-', "not 'utf-7' either"),
        "cut.pdf": (b"%PDF-1.4\n1 0 obj", "cannot be read"),
        "no.docx": (b"PK\x03\x04 but no zip", ""),
        "open.docx": (docx("<w:p>" * 5000), ""),
        "entities.docx": (docx("", **{"word/document.xml": ENTITIES}), ""),
        "bomb.docx": (docx("", **{"word/media/picture.png": "x" * 70_000_000}), ""),
        "picture.png": (b"\x89PNG", "not one of .txt"),
        ".hidden.md": (b"hidden", "hidden"),
    }
    for name, (data, _) in evils.items():
        folder.put(name, data)
    folder.put(".git/config", "[core]")
    folder.put("good.txt", "The only text.")
    (folder.path / "loop").symlink_to(folder.path)
    (folder.path / "itself.md").symlink_to("itself.md")
    (folder.path / "nowhere.txt").symlink_to("nothing")
    os.mkfifo(folder.path / "pipe.txt")
    assert folder.read()[0] == {"good.txt": "The only text."}
    reasons = {name: reason for name, (_, reason) in evils.items()} | {
        **{"locked.pdf": "Incorrect password", "picture.pdf": nothing, ".git": "hidden"},
        **{"loop": "a link to a folder", "itself.md": "cannot be read"},
        **{"nowhere.txt": "the link leads to nothing", "pipe.txt": "a pipe or a device"},
    }
    told = folder.told()
    assert told.keys() == reasons.keys()
    assert [name for name, reason in reasons.items() if reason not in told[name]] == []
    assert all(str(folder.path) not in what for what in told.values())
    assert folder.parts.report.notes["files left out"] == len(reasons)


@pytest.mark.parametrize(
    ("data", "settings", "remark"),
    [
        ("\ufeffKöln".encode(), {}, None),
        ("Köln".encode("utf-16"), {}, "read as utf-16"),
        ("Köln".encode("utf-16-be"), {"encoding": "utf-16-be"}, None),
        ("Köln".encode("cp1252"), {"encoding": "latin-1"}, "read as cp1252"),
        ("Köln".encode(), {"encoding": "latin-1"}, None),
    ],
)
def test_an_encoding_is_told_and_never_guessed(
    folder: Folder, data: bytes, settings: dict[str, str], remark: str | None
) -> None:
    folder.put("a.txt", data)
    if settings.get("encoding") == "utf-16-be":
        with pytest.raises(SourceError, match="NUL"):
            folder.read(**settings)
        return
    assert folder.read(**settings)[0] == {"a.txt": "Köln"}
    assert folder.told().get("a.txt") == remark


def test_a_page_is_read_in_the_encoding_that_it_declares(folder: Folder) -> None:
    folder.put("a.html", '<meta charset="big5"><p>茶葉'.encode("big5"))
    folder.put("b.html", '<?xml version="1.0" encoding="ISO-8859-1"?><p>“K\xf6ln”'.encode("cp1252"))
    assert folder.read()[0] == {"a.html": "茶葉", "b.html": "“Köln”"}
    assert folder.told() == {"a.html": "read as big5", "b.html": "read as cp1252"}


def test_names_of_any_kind_become_ids_of_one_word_that_differ(folder: Folder) -> None:
    names = ["a b.txt", "a%20b.txt", "A b.txt", "x#1.txt", "新 聞.txt", "new\nline.txt"]
    for n, name in enumerate([*names, "\u3000.txt"]):
        folder.put(name, f"Text number {n}.")
    raw = os.fsencode(folder.path) + b"/caf\xe9.txt"
    Path(os.fsdecode(raw)).write_bytes(b"Not in UTF-8.")
    folder.ask(*((f"Question {n}?", "", name) for n, name in enumerate(names)))
    texts, questions = folder.read()
    ids = list(texts)
    assert len(set(ids)) == len(names) + 2
    assert all(i.split() == [i] for i in ids)
    assert "caf%E9.txt" in ids
    assert "新%20聞.txt" in ids
    gold = ["a%20b.txt", "a%2520b.txt", "A%20b.txt", "x%231.txt", "新%20聞.txt", "new%0Aline.txt"]
    assert [question.gold_doc_ids for question in questions] == [(name,) for name in gold]


# --------------------------------------------------------------------------------------- questions


@pytest.fixture
def house(folder: Folder) -> Folder:
    """Short files, and a long one."""
    folder.put("tea.txt", "Tea is made of leaves.\nIt was first drunk in Yunnan.")
    folder.put("sub/coffee.md", "Coffee is made of **beans**, [roasted](http://x.org/y) ones.")
    rooms = [f"# Room {n}\n\n" + PARAGRAPH.format(name) * 8 for n, name in enumerate("abc")]
    folder.put("rooms.md", "\n\n".join(rooms) + "\n\nThe cellar is 42 feet deep. Is it? Nein.")
    return folder


YUNNAN = "It was first drunk in Yunnan."


@pytest.mark.parametrize(
    ("document", "quotation", "gold", "quoted"),
    [
        ("tea.txt", "", "tea.txt", ""),
        ("./sub/coffee.md", "", "sub/coffee.md", ""),
        ("sub\\coffee.md", "", "sub/coffee.md", ""),
        ("coffee.md", "", "sub/coffee.md", ""),
        ("rooms.md", "", "rooms.md", ""),
        ("tea.txt", YUNNAN, "tea.txt", YUNNAN),
        ("", YUNNAN, "tea.txt", YUNNAN),
        ("", "FIRST  drunk in yunnan", "tea.txt", "first drunk in Yunnan"),
        ("", "leaves. It was", "tea.txt", "leaves.\nIt was"),
        ("", "beans, roasted ones", "sub/coffee.md", "beans**, [roasted](http://x.org/y) ones"),
        ("rooms.md", "The cellar is 42 feet deep", "rooms.md", "The cellar is 42 feet deep"),
        # The words changed a little.
        (
            "rooms.md",
            "The cellar was 42 feet deep. Is it? Nein!",
            "rooms.md",
            "cellar is 42 feet deep",
        ),
        # They are in another file, or the file has another name now.
        ("rooms.md", YUNNAN, "tea.txt", YUNNAN),
        ("old/tee.txt", YUNNAN, "tea.txt", YUNNAN),
    ],
)
def test_gold_is_a_document_by_its_path_and_a_span_by_its_words(
    house: Folder, document: str, quotation: str, gold: str, quoted: str
) -> None:
    house.ask(("What?", "", document, quotation), header="question,answer,document,quotation")
    texts, [question] = house.read()
    assert question.gold_doc_ids == (gold,)
    spans = [texts[span.doc_id][span.start : span.end] for span in question.gold_spans]
    assert (quoted in spans[0]) if quoted else not spans


@pytest.mark.parametrize(
    ("document", "quotation", "gold"),
    [
        ("tea.txt", "It was first drunk in Assam.", ("tea.txt",)),
        ("tee.txt", "It was first drunk in Assam.", ()),
        ("rooms.md", "The cellar is 43 feet deep. Is it? Nein.", ("rooms.md",)),
        ("", "no such words", ()),
        # In two documents, neither of them the one that is named.
        ("rooms.md", "is made of", ("rooms.md",)),
    ],
)
def test_a_quotation_that_is_not_found_is_lost_and_named_not_dropped(
    house: Folder, document: str, quotation: str, gold: tuple[str, ...]
) -> None:
    house.ask(("What?", "", document, quotation), header="question,answer,document,quotation")
    [question] = house.read()[1]
    assert (question.gold_doc_ids, question.judged) == (gold, bool(gold))
    assert question.gold_spans == (Span(document, 0, 0, quotation),)
    assert quotation in house.told()["questions.csv, line 2"]


def test_several_rows_give_several_spans_and_one_that_is_there_twice_is_said(
    house: Folder,
) -> None:
    house.put("twice.txt", "Buy milk. Then read. Buy milk.")
    rows = [("Q?", "", "tea.txt", "made of leaves"), ("Q?", "", "twice.txt", "Buy milk.")]
    house.ask(*rows, *rows[:1], header="question,answer,document,quotation")
    [question] = house.read()[1]
    assert question.gold_doc_ids == ("tea.txt", "twice.txt")
    assert question.gold_spans == (
        Span("tea.txt", 7, 21, "made of leaves"),
        Span("twice.txt", 0, 9, "Buy milk."),
    )
    told = house.told()
    assert told["questions.csv, line 3"] == "twice.txt has it 2 times; the first is gold"
    assert "questions.csv, line 2" not in told


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("Q?", "", "tae.txt")], "line 2: there is no file 'tae.txt'"),
        ([("Q?", "", "", "is made of")], "line 2: 'is made of' is in 2 places: sub/coffee.md, tea"),
        ([("Q?", "", "empty.txt")], "line 2: empty.txt is left out: there is no text in it"),
        ([("Q?", "a", ""), ("Q?", "b", "")], "line 3: an earlier row answers 'a'"),
        ([("\u200b", "a", "")], "line 2: the question is empty"),
        ([("Q?", "", "wine.md"), ("R?", "", "beer.md")], r"line 2: .* line 3: "),
        ([], "there is no question in it"),
    ],
)
def test_a_row_that_names_nothing_is_named(
    house: Folder, rows: list[tuple[str, ...]], message: str
) -> None:
    house.put("empty.txt", "")
    header = ["question", "answer", "document", "quotation"]
    house.ask(*rows, header=",".join(header[: len(rows[0]) if rows else 3]))
    with pytest.raises(SourceError, match=message):
        house.read()


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("---\ntitle: Tea\ntags: [a]\n---\nIt is hot.", ["# Tea", "It is hot."]),
        ("---\r\ntitle: Tea\r\n...\r\n# Cups\r\n", ["# Cups"]),
        ("---\ndate: 2020-01-01\n---\n", []),
        ("---\n---\nA line above", ["---\n---\nA line above"]),
        ("---\nno mapping\n---\non", ["---\nno mapping\n---\non"]),
        ("---\na: b: c\n---", ["---\na: b: c\n---"]),
        ("---\na: b", ["---\na: b"]),
        ("on\n\n---\na: b\n---", ["on", "---\na: b\n---"]),
    ],
)
def test_yaml_before_a_markdown_text_is_none_of_it_but_for_its_title(
    folder: Folder, content: str, texts: list[str]
) -> None:
    folder.put("a.md", content)
    folder.put("b.md", "Another file.")
    found, _ = folder.read()
    assert found.get("a.md", "") == "\n\n".join(texts)


def test_other_columns_are_passed_over_and_listed(house: Folder) -> None:
    house.ask(("Q?", "a", "tea.txt", "mine"), header="Question,Answer,document,note")
    [question] = house.read()[1]
    assert (question.gold_answer, question.gold_doc_ids) == ("a", ("tea.txt",))
    told = house.told()
    assert told["questions.csv, field note"] == "not read, such as mine: 1"
    assert told["questions.csv, field document"] == "document, such as tea.txt: 1 of 1"


def test_columns_of_other_tools_are_read_and_the_rest_cannot_refuse_a_file(house: Folder) -> None:
    header = "user_input,reference_answer,is_answerable,file"
    house.ask(("Q?", "a", "yes", "tea.txt"), ("R?", "", "no", ""), header=header)
    question, other = house.read()[1]
    assert (question.gold_answer, question.gold_doc_ids) == ("a", ("tea.txt",))
    assert (other.question, other.gold_doc_ids, other.judged) == ("R?", (), True)


def test_a_file_that_is_not_there_is_named_though_its_name_has_spaces(house: Folder) -> None:
    house.ask(("Q?", "a", "Travel expenses 2026.pdf"))
    with pytest.raises(SourceError, match=r"there is no file 'Travel expenses 2026\.pdf'"):
        house.read()


@pytest.mark.parametrize("header", ["question,answer,documnet", "frage,antwort,datei"])
def test_a_column_is_read_by_its_values_whatever_its_name(house: Folder, header: str) -> None:
    house.ask(("Q?", "a", "tea.txt"), header=header)
    [question] = house.read()[1]
    assert (question.gold_answer, question.gold_doc_ids) == ("a", ("tea.txt",))


def test_two_columns_of_one_name_are_refused(house: Folder) -> None:
    house.ask(("Q?", "a", "tea.txt"), header="question,answer,Answer")
    with pytest.raises(FormatError, match="two columns are called the same"):
        house.read()


def test_a_workbook_asks_what_a_csv_file_asks(house: Folder) -> None:
    header = "question", "answer", "document", "quotation"
    rows = [("Q?", "3", "tea.txt", "no such words"), ("Q?", "", "coffee.md"), ("R?",)]
    house.ask(*(each + ("",) * (4 - len(each)) for each in rows), header=",".join(header))
    expected, told = house.read(), house.told()
    house.put("questions.xlsx", workbook(row(*header) + "".join(row(*each) for each in rows)))
    with pytest.raises(SourceError, match=r"questions\.csv and .*questions\.xlsx are both there"):
        house.read()
    (house.path / "questions.csv").unlink()
    assert house.read() == expected
    assert house.told() == {name.replace(".csv", ".xlsx"): what for name, what in told.items()}


def test_a_question_of_several_rows_has_the_documents_of_all(house: Folder, tmp_path: Path) -> None:
    house.ask(("Q?", "", "tea.txt"), ("Q?", "yes", "coffee.md"), ("Q?", "", "tea.txt"))
    [question] = house.read()[1]
    expected = ("yes", ("tea.txt", "sub/coffee.md"))
    assert (question.gold_answer, question.gold_doc_ids) == expected
    (house.path / "questions.csv").rename(tmp_path / "mine.csv")
    assert house.read(questions=str(tmp_path / "mine.csv"))[1] == [question]
    with pytest.raises(FormatError, match="no such file"):
        house.read(questions="absent.csv")


# ------------------------------------------------------------------------------ the whole of it


def test_the_report_lies_beside_the_rows_and_is_the_same_every_time(
    house: Folder, tmp_path: Path
) -> None:
    house.put("a.png", b"")
    house.ask(
        ("What?", "", "rooms.md", "no such words"), header="question,answer,document,quotation"
    )
    source = Source("own", "en", "CC0-1.0", "own", path=str(house.path))
    found = [convert(source, read_own, None, tmp_path, tmp_path / n / "own") for n in "12"]
    for name in ("own.documents.jsonl", "own.report.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    assert found[0] == found[1]
    assert [file["name"] for file in found[0]["files"]] == [
        *("rooms.md", "tea.txt", "sub/coffee.md", "questions.csv")
    ]
    report = (tmp_path / "1/own.report.csv").read_text(encoding="utf-8")
    assert report.startswith("record,what,text\na.png,left out: not one of .txt")
    assert "\"questions.csv, line 2\",lost: 'no such words' is in no document" in report


def test_a_folder_without_a_document_says_what_is_there_instead(folder: Folder) -> None:
    with pytest.raises(SourceError, match="there is no document in"):
        folder.read()
    folder.put("a.xls", b"")
    with pytest.raises(SourceError, match=r"1 files that are left out, such as a\.xls: not one of"):
        folder.read()


def test_what_is_around_a_page_is_left_out_to_its_own_end() -> None:
    page = "<nav>a<nav>b</nav>c</nav><p>first</p><footer>d</footer><p>last</p>"
    blocks, around = blocks_of_html(page)
    assert blocks == ["first", "last"]
    assert around == len("abc") + len("d")
