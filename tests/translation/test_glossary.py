"""The glossary: one rendering per term, found as whole words, edited in spreadsheets."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bears.errors import FormatError
from bears.translation.glossary import (
    COLUMNS,
    CONTROL,
    Glossary,
    Term,
    parse_terms,
    read_glossary,
    write_glossary,
)
from bears.translation.source_texts import SourceTexts

HEADER = ",".join(COLUMNS) + "\n"


def term(source: str, rendering: str = "譯") -> Term:
    return Term(source, rendering, "en", "zh-TW")


def found(text: str, *sources: str) -> list[str]:
    return [source for source, _ in Glossary((each, "譯") for each in sources).slice(text)]


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


def test_a_glossary_has_the_terms_of_one_pair_of_languages() -> None:
    terms = [Term("Paris", "巴黎", "en", "zh-TW"), Term("Paris", "パリ", "en", "ja")]
    given = SourceTexts([], [], {}, "ja", glossary=terms)
    assert given.curated("en").slice("Paris") == (("Paris", "パリ"),)
    assert given.curated("fr").slice("Paris") == ()


def test_the_first_rendering_of_a_term_counts() -> None:
    assert Glossary([("Paris", "1"), ("Paris", "2")]).slice("Paris") == (("Paris", "1"),)


@pytest.mark.parametrize("bad", ["", " ", " a", "a\n", "a\tb", "a\x00"])
def test_a_term_is_one_clean_line(bad: str) -> None:
    for name, source, target in (("source", bad, "a"), ("target", "a", bad)):
        terms, (problem,) = parse_terms(answer({"source": source, "target": target}), f"a {bad}")
        assert terms == []
        assert f"term 1: {name} " in problem


LINE = st.one_of(
    st.text(st.sampled_from(list("'=+-@＝,;\"<&>]a漢 \u3000\u2028")), min_size=1, max_size=6),
    st.text(min_size=1, max_size=8),
).filter(lambda t: t == t.strip() != "" and not CONTROL.search(t) and not set(t) & {"\n", "\t"})
NOTE = st.text(max_size=8).filter(lambda t: t == t.strip() and not CONTROL.search(t))
TERM = st.builds(Term, LINE, LINE, st.just("en"), st.just("zh-TW"), NOTE)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(terms=st.lists(TERM, min_size=1, max_size=5))
def test_a_csv_brings_back_what_was_written(tmp_path: Path, terms: list[Term]) -> None:
    first = {each.source: each for each in reversed(terms)}
    assert write_glossary(tmp_path / "terms.csv", terms) == len(first)
    assert read_glossary(tmp_path / "terms.csv") == [first[source] for source in sorted(first)]


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    rows = [term("=1+1", "@SUM(A1)"), term("-ism", "＋主義"), term("'=quoted", "'plain")]
    write_glossary(path, rows)
    assert path.read_text() == (
        HEADER + "''=quoted,'plain,en,zh-TW,\n'-ism,'＋主義,en,zh-TW,\n'=1+1,'@SUM(A1),en,zh-TW,\n"
    )
    assert {t.source for t in read_glossary(path)} == {"=1+1", "-ism", "'=quoted"}


def test_white_space_around_a_cell_and_empty_rows_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text(HEADER + "\n,,,,\n Paris ,巴黎,en,zh-TW,")
    assert read_glossary(path) == [term("Paris", "巴黎")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n", "line 1: the columns must be source,target"),
        (HEADER.encode() + b'"x\ny",b,en,ja,\n', "line 2, column source: holds control"),
        (HEADER.encode() + b'a,b,en,ja,"x\ny"\n,b,en,ja,\n', "line 4, column source: is empty"),
        (HEADER.encode() + b"a,b,en,ja,\na,,en,ja,\n", "line 3, column target: is empty"),
        (HEADER.encode() + b"a,b,en,ja,\na,c,en,ja,\n", "line 3: 'a' is rendered 'c' here and"),
    ],
)
def test_the_line_of_an_error_in_a_csv_is_named(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "terms.csv"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=rf"terms\.csv[,:] {message}"):
        read_glossary(path)


def answer(*terms: object) -> str:
    return json.dumps({"terms": terms})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        (r'{"terms": "\ud800"}', "half of a surrogate pair"),
        ("[" * 100_000, "not valid JSON"),
        ('```json\n{"terms": []}\n```', "not valid JSON"),
        (answer({"source": "Paris"}), "terms.0.target: Field required"),
        (answer({"source": "Paris", "target": None}), "terms.0.target: Input should be"),
        (answer(*[{"source": "Paris", "target": "x"}] * 2), "term 2: 'Paris' is a duplicate"),
        (answer({"source": "Rome", "target": "x"}), "term 1: 'Rome' does not occur"),
        (answer({"source": "Par", "target": "x"}), "term 1: 'Par' does not occur"),
    ],
)
def test_an_answer_in_another_form_is_refused(text: str, message: str) -> None:
    problems = parse_terms(text, "Paris is here.")[1]
    assert len(problems) == 1
    assert message in problems[0]
