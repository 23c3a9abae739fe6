"""The glossary: one rendering per term, found where it is a word, corrected by people's tools."""

from __future__ import annotations

import json
import re
from itertools import permutations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bears.errors import FormatError
from bears.translation.glossary import CONTROL, Glossary, Origin, Term, parse_terms
from bears.translation.spreadsheet import COLUMNS, read_csv, write_glossary
from bears.translation.tbx import read_tbx, write_tbx

HEADER = ",".join(COLUMNS) + "\n"


def term(source: str, rendering: str = "譯", origin: Origin = "learned") -> Term:
    return Term(source, rendering, "en", "zh-TW", origin)


def found(text: str, *sources: str) -> list[str]:
    return [source for source, _ in Glossary(map(term, sources)).slice(text)]


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("He left New York.", ["New York", "York"], ["New York"]),
        ("New York and York", ["New York", "York"], ["New York", "York"]),
        ("the New York Times", ["New York", "York Times"], ["York Times"]),
        ("comparison", ["Paris", "paris"], []),
        ("Paris's streets", ["Paris"], ["Paris"]),
        ("paris", ["Paris"], []),
        ("Photosynthesis in Peru", ["photosynthesis", "Peru"], ["Peru", "photosynthesis"]),
        ("US bus us", ["US"], ["US"]),
        ("Apple pie", ["apple", "Apple"], ["Apple"]),
        ("他在臺北市工作", ["臺北", "臺北市"], ["臺北市"]),
        ("用Python寫", ["Python"], ["Python"]),
        ("서울은", ["서울"], ["서울"]),
        ("Cafe\u0301 Noir", ["Café"], ["Café"]),
        ("İstanbul and Ankara", ["Ankara"], ["Ankara"]),
        ("b a b", ["b", "a"], ["a", "b"]),
        ("", ["a"], []),
    ],
)
def test_which_terms_occur(text: str, sources: list[str], expected: list[str]) -> None:
    for order in permutations(sources):
        assert found(text, *order) == expected


def test_a_slice_needs_one_pair_of_languages() -> None:
    glossary = Glossary([term("Paris", "巴黎"), Term("Paris", "パリ", "en", "ja")])
    with pytest.raises(ValueError, match="pair"):
        glossary.slice("Paris")
    assert glossary.pair("en", "ja").slice("Paris") == (("Paris", "パリ"),)
    assert Glossary().slice("Paris") == ()


def test_who_goes_before_whom() -> None:
    learned = Glossary([term("Paris", "first"), term("Paris", "second")])
    assert learned.slice("Paris") == (("Paris", "first"),)
    curated = learned.merged([term("Paris", "curated", "curated")])
    assert curated.merged([term("Paris", "third")]).slice("Paris") == (("Paris", "curated"),)
    corrected = curated.merged([term("Paris", "corrected", "curated")])
    assert corrected.slice("Paris") == (("Paris", "corrected"),)
    assert len(corrected) == 1
    assert learned.slice("Paris") == (("Paris", "first"),)


@pytest.mark.parametrize("bad", ["", " ", " a", "a\n", "a\tb", "a\x00", "\ud800"])
def test_a_term_is_one_clean_line(bad: str) -> None:
    with pytest.raises(ValueError, match="source"):
        term(bad)
    with pytest.raises(ValueError, match="rendering"):
        term("a", bad)


LINE = st.one_of(
    st.text(st.sampled_from(list("'=+-@＝,;\"<&>]a漢 \u3000\u2028")), min_size=1, max_size=6),
    st.text(min_size=1, max_size=8),
).filter(lambda t: t == t.strip() != "" and not CONTROL.search(t) and not set(t) & {"\n", "\t"})
NOTE = st.text(max_size=8).filter(lambda t: t == t.strip() and not CONTROL.search(t))
TERMS = st.lists(
    st.builds(Term, LINE, LINE, st.just("en"), st.just("zh-TW"), st.just("curated"), NOTE),
    min_size=1,
    max_size=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(terms=TERMS)
def test_csv_and_tbx_bring_back_what_was_written(tmp_path: Path, terms: list[Term]) -> None:
    glossary = Glossary(terms)
    write_glossary(tmp_path / "terms.csv", glossary)
    assert list(Glossary(read_csv(tmp_path / "terms.csv"))) == list(glossary)
    write_tbx(tmp_path / "terms.tbx", glossary)
    assert list(Glossary(read_tbx(tmp_path / "terms.tbx", "en", "zh-TW"))) == list(glossary)


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    rows = [term("=1+1", "@SUM(A1)"), term("-ism", "＋主義"), term("'=quoted", "'plain")]
    write_glossary(path, Glossary(rows))
    assert path.read_text() == (
        HEADER + "''=quoted,'plain,en,zh-TW,\n'-ism,'＋主義,en,zh-TW,\n'=1+1,'@SUM(A1),en,zh-TW,\n"
    )
    assert {t.source for t in read_csv(path)} == {"=1+1", "-ism", "'=quoted"}


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + HEADER + "Paris,巴黎,en,zh-TW,\n",
        HEADER.replace("\n", "\r\n") + "Paris,巴黎,en,zh-TW,\r\n",
        (HEADER + "Paris,巴黎,en,zh-TW,\n").replace(",", ";"),
        (HEADER + "Paris,巴黎,en,zh-TW,\n").replace(",", "\t"),
        HEADER + "\n,,,,\n Paris ,巴黎,en,zh-TW,",
        '"source","target","source_language","target_language","note"\nParis,"巴黎",en,zh-TW,\n',
    ],
    ids=["BOM", "CRLF", "semicolons", "tabs", "blank rows", "quoted"],
)
def test_csv_as_spreadsheets_save_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "terms.csv"
    path.write_bytes(text.encode())
    assert read_csv(path) == [term("Paris", "巴黎", "curated")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1: empty"),
        (b"a,b\n", "line 1: the columns must be source,target"),
        (HEADER.encode() + b'"x\ny",b,en,ja,\n', "line 2, column source: holds control"),
        (HEADER.encode() + b'a,b,en,ja,"x\ny"\n,b,en,ja,\n', "line 4, column source: is empty"),
        (HEADER.encode() + b"a,b,en,ja,\na,,en,ja,\n", "line 3, column target: is empty"),
        (HEADER.encode() + b"a,b,en\n", "line 2, column target_language: expected 5 cells"),
        (HEADER.encode() + b"a,b,en,ja,x,y\n", "line 2, column 6: expected 5 cells, found 6"),
        (HEADER.encode() + b'a,"b\n', "line 2: not valid CSV"),
        (HEADER.encode() + b"a,b,en,ja,\na,c,en,ja,\n", "line 3, column target: .* on line 2"),
        (HEADER.encode() + b"a,b,en,ja,\nab\xff,c,en,ja,\n", "line 3, byte 3: not UTF-8"),
        (HEADER.encode() + b"a,b,en,ja,\x00\n", "line 2, column note: holds control"),
    ],
)
def test_a_csv_that_cannot_be_read_names_the_place(
    tmp_path: Path, data: bytes, message: str
) -> None:
    path = tmp_path / "terms.csv"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=rf"terms\.csv, {message}"):
        read_csv(path)


MARTIF = """<?xml version="1.0"?>
<!DOCTYPE martif SYSTEM "http://127.0.0.1:9/TBXcoreStructV02.dtd">
<martif type="TBX-Basic" xml:lang="en"><martifHeader/><text><body>
<termEntry id="1"><note>a city</note>
  <langSet xml:lang="en-US"><tig><term>Paris</term></tig><tig><term>City of
    Light</term></tig></langSet>
  <langSet xml:lang="zh-tw"><ntig><termGrp><term>巴<hi>黎</hi></term></termGrp></ntig></langSet>
</termEntry>
<termEntry id="2"><langSet xml:lang="en"><tig><term>Rome</term></tig></langSet></termEntry>
</body></text></martif>
"""


def test_the_older_tbx_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "terms.tbx"
    path.write_text(MARTIF)
    assert read_tbx(path, "en", "zh-TW") == [
        Term("Paris", "巴黎", "en", "zh-TW", "curated", "a city"),
        Term("City of Light", "巴黎", "en", "zh-TW", "curated", "a city"),
    ]
    with pytest.raises(FormatError, match=r"both en and ja; .* are en, en-US, zh-tw"):
        read_tbx(path, "en", "ja")


def test_written_tbx_has_the_form_of_the_standard(tmp_path: Path) -> None:
    path = tmp_path / "terms.tbx"
    write_tbx(path, Glossary([Term("A & <B>", "甲", "en", "zh-TW", "curated", "why")]))
    root = ElementTree.parse(path).getroot()
    name = "{urn:iso:std:iso:30042:ed-2}"
    assert (root.tag, root.get("type"), root.get("style")) == (f"{name}tbx", "TBX-Core", "dct")
    assert [child.tag for child in root] == [f"{name}tbxHeader", f"{name}text"]
    entry = root.find(f"{name}text/{name}body/{name}conceptEntry")
    assert entry is not None
    assert [child.tag for child in entry] == [f"{name}note", f"{name}langSec", f"{name}langSec"]
    terms = [term.text for term in entry.findall(f"{name}langSec/{name}termSec/{name}term")]
    assert terms == ["A & <B>", "甲"]


def hostile(declarations: str, text: str) -> str:
    return (
        f"<!DOCTYPE tbx {declarations}>\n<tbx><text><body><conceptEntry>"
        f'<langSec xml:lang="en"><termSec><term>{text}</term></termSec></langSec>'
        '<langSec xml:lang="ja"><termSec><term>x</term></termSec></langSec>'
        "</conceptEntry></body></text></tbx>"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (hostile('[<!ENTITY a "b">]', "&a;"), "line 1, column .*: the document type tbx has"),
        (hostile('[<!ENTITY a SYSTEM "file:///etc/passwd">]', "&a;"), "line 1, .* declarations"),
        (hostile('SYSTEM "x" [<!ENTITY % p SYSTEM "y"> %p;]', "a"), "line 1, .* declarations"),
        (hostile('SYSTEM "file:///etc/passwd"', "&a;"), "line 2, column 70: the entity a"),
        (hostile('SYSTEM "x"', " "), "line 2, column 64: source is empty"),
        ("<tbx>&a;</tbx>", "line 1, column 6: not valid XML"),
        ("<tbx>\n<text></tbx>", "line 2, column 9: not valid XML"),
        ("", "line 1, column 1: not valid XML"),
        ("<html/>", "line 1, column 1: expected tbx or martif, found html"),
        ('<?xml version="1.0" encoding="nonsense"?><tbx/>', "line 1, .* encoding"),
    ],
)
def test_hostile_or_broken_tbx_is_refused_by_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "terms.tbx"
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"terms\.tbx, {message}"):
        read_tbx(path, "en", "ja")


def test_a_tbx_with_two_renderings_of_a_term_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "terms.tbx"
    entry = re.findall("<termEntry.*?</termEntry>", MARTIF, re.DOTALL)[0]
    path.write_text(MARTIF.replace("</body>", entry.replace("巴", "芭") + "</body>"))
    with pytest.raises(FormatError, match=r"line 11, column \d+: 'Paris' is rendered '芭黎'"):
        read_tbx(path, "en", "zh-TW")


@pytest.mark.parametrize("read", [read_csv, lambda path: read_tbx(path, "en", "ja")])
def test_an_absent_file_is_named(tmp_path: Path, read: object) -> None:
    assert callable(read)
    with pytest.raises(FormatError, match="no such file"):
        read(tmp_path / "none")


def answer(*terms: object) -> str:
    return json.dumps({"terms": terms})


def test_a_models_terms_are_read() -> None:
    text = "Paris is in France."
    given = [{"source": "Paris", "target": "巴黎"}, {"source": "France", "target": "法國"}]
    assert parse_terms(answer(*given), text) == [("Paris", "巴黎"), ("France", "法國")]
    assert parse_terms('{"terms": []}', text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('```json\n{"terms": []}\n```', "not valid JSON"),
        ("[]", "expected an object"),
        ('{"terms": [], "more": 1}', '"terms" alone'),
        ('{"terms": {}}', "not a list"),
        (answer("Paris"), "term 1: expected source and target"),
        (answer({"source": "Paris"}), "term 1: expected source and target"),
        (answer({"source": "Paris", "target": None}), "term 1: expected strings"),
        (answer({"source": "", "target": "x"}), "term 1: source is empty"),
        (answer({"source": "Paris", "target": " "}), "term 1: target is empty"),
        (answer({"source": "Paris", "target": "a\nb"}), "term 1: target holds control"),
        (answer(*[{"source": "Paris", "target": "x"}] * 2), "term 2: 'Paris' stands there twice"),
        (answer({"source": "Rome", "target": "x"}), "term 1: 'Rome' does not occur"),
        (answer({"source": "Par", "target": "x"}), "term 1: 'Par' does not occur"),
    ],
)
def test_a_models_answer_of_another_form_is_refused(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_terms(text, "Paris is here.")
