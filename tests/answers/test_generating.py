"""What a question's answerer is shown, what it cites, and the baseline that needs no model."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.answers.answered import best_sentence
from bears.answers.citations import as_ours, cited
from bears.answers.prompts import AnswerPrompt, messages
from bears.answers.shown import BYTES_A_TOKEN, show
from bears.config.shape import WrittenIn
from bears.errors import ConfigurationError
from bears.language.normalization import normalization_of
from bears.language.yes_no import says_unanswerable
from bears.types import Chunk, Turn


def whole(doc_id: str, text: str) -> tuple[Chunk, str]:
    return Chunk(doc_id), text


def ids(chunks: Iterable[Chunk]) -> tuple[str, ...]:
    return tuple(chunk.doc_id for chunk in chunks)


SKY = "The sky is blue. It is so by day. At night it is black."


def test_what_fits_is_shown_whole_and_in_order() -> None:
    shown = show([whole("b", SKY), whole("a", "Grass is green.")], 100)
    assert ids(shown.chunks) == ("b", "a")
    assert shown.texts == (SKY, "Grass is green.")
    assert shown.cut == shown.left_out == ()


def test_a_document_without_room_ends_with_a_sentence_and_those_after_it_are_left_out() -> None:
    # 16 tokens are 48 bytes: 15 of the grass, so 33 of the sky, whose second sentence ends there.
    pool = [whole("g", "Grass is green."), whole("s", SKY), whole("x", "No.")]
    shown = show(pool, 16)
    assert shown.texts == ("Grass is green.", "The sky is blue. It is so by day.")
    assert ids(shown.chunks) == ("g", "s")
    assert (ids(shown.cut), ids(shown.left_out)) == (("s",), ("x",))


def test_where_no_sentence_fits_nothing_is_shown_but_of_the_first_document() -> None:
    second = show([whole("g", "Grass is green."), whole("s", SKY)], 8)
    assert ids(second.chunks) == ("g",)
    assert (second.cut, ids(second.left_out)) == ((), ("s",))
    first = show([whole("s", SKY)], 3)
    assert (first.texts, ids(first.cut)) == (("The sky i",), ("s",))


def test_chinese_is_cut_at_its_own_full_stops_and_never_within_a_character() -> None:
    text = "天空是藍色的。夜裡是黑的。"
    assert show([whole("d", text)], 9).texts == ("天空是藍色的。",)
    assert show([whole("d", "😀" + text)], 2).texts == ("😀",)


@given(st.lists(st.text(max_size=60), max_size=5), st.integers(1, 60))
def test_the_limit_holds_and_every_document_is_shown_or_left_out(
    texts: list[str], tokens: int
) -> None:
    pool = [whole(str(n), text) for n, text in enumerate(texts)]
    shown = show(pool, tokens)
    assert sum(len(text.encode()) for text in shown.texts) <= tokens * BYTES_A_TOKEN
    assert shown.chunks + shown.left_out == tuple(chunk for chunk, _ in pool)
    assert all(full.startswith(text) for (_, full), text in zip(pool, shown.texts, strict=False))
    assert all(
        (texts[int(chunk.doc_id)] != text) == (chunk in shown.cut)
        for chunk, text in zip(shown.chunks, shown.texts, strict=True)
    )


def test_no_word_of_a_chat_template_reaches_a_model_whole() -> None:
    words = ["<|im_end|>", "</s>", "[/INST]", "[SYSTEM_PROMPT]", "[TOOL_CALLS]", "<end_of_turn>"]
    evil, prompt = "\n".join(words), AnswerPrompt("a", 1, "{mark}", "-")
    language = WrittenIn("en", "English", "English", "", "Unanswerable")
    _, user = messages(evil, [Turn("user", evil)], [evil, "x < y [1]"], prompt, language)
    assert not any(word in user for word in words)
    assert "x < y [1]" in user


@pytest.mark.parametrize(
    ("answer", "text", "positions", "unknown"),
    [
        ("Paris [CITE:1].", "Paris.", (0,), 0),
        ("Paris.[CITE:3][CITE:1][CITE:3]", "Paris.", (2, 0), 0),
        ("巴黎[CITE:1]是首都【CITE：２】。", "巴黎是首都。", (0, 1), 0),
        ("A [cite: 1, 2] B [ CITE:1, CITE:3 ]", "A B", (0, 1, 2), 0),
        ("Paris [CITE:4] [CITE:0] [CITE:4]", "Paris", (), 2),
        ("Paris [CITE:the first]", "Paris", (), 1),
        ("Paris [CITE:1", "Paris", (0,), 0),
        ("[CITE:1, 2 Paris, since 987", "Paris, since 987", (0, 1), 0),
        ("[CITE:1. Paris, since 987", ". Paris, since 987", (0,), 0),
        (f"Paris [CITE:{', '.join(map(str, range(1, 31)))}]", "Paris", (0, 1, 2), 27),
        ("Paris [CITE:99999999999999999999999999]", "Paris", (), 1),
        ("Paris [1] and [sic]", "Paris [1] and [sic]", (), 0),
        ("[CITE:1]", "", (0,), 0),
        ("[CI[CITE:1]TE:2] Paris", "Paris", (0, 1), 0),
    ],
)
def test_markers_become_positions_and_leave_the_answer(
    answer: str, text: str, positions: tuple[int, ...], unknown: int
) -> None:
    found = cited(answer, 3)
    assert (found.text, found.positions, found.unknown) == (text, positions, unknown)


def test_no_marker_is_left_however_they_are_nested() -> None:
    dice = random.Random(1)
    pieces = ["[CITE:1]", "[CI", "TE:2]", "[", "]", "CITE:", "【", "：3】", " ", "[CITE:", "x"]
    for _ in range(3000):
        answer = "".join(dice.choices(pieces, k=dice.randint(1, 40)))
        assert not re.search(r"\[CITE:", cited(answer, 3).text, re.IGNORECASE), answer
    deep = "[CI" * 20_000 + "TE:1]" * 20_000
    assert "[CITE:" not in cited(deep, 3).text


@pytest.mark.parametrize(
    ("language", "question", "texts", "expected"),
    [
        # "the" does not count, every sentence has "is", and one each has "colour" and "sky".
        ("en", "What colour is the sky?", ["Grass is green. The sky is of one colour.", SKY],
         ("The sky is of one colour.", 0)),
        ("en", "When is it black?", ["The grass is green.", SKY], ("At night it is black.", 1)),
        ("zh-Hant-TW", "台灣最高的山是哪一座？", ["潭是湖。", "玉山是臺灣最高的山。我不是。"],
         ("玉山是臺灣最高的山。", 1)),
        ("ko", "하늘은 무슨 색인가?", ["풀은 초록이다. 하늘은 파란색이다."],
         ("하늘은 파란색이다.", 0)),
        ("en", "Zebra?", [SKY], None),
        ("en", "Who?", [], None),
        ("en", "Who?", ["", " \n"], None),
        ("en", "sky sky", ["Sky one. Sky two.", "Sky three."], ("Sky one.", 0)),
    ],
)  # fmt: skip
def test_the_baseline_answers_with_the_sentence_that_holds_most_of_the_question(
    language: str, question: str, texts: list[str], expected: tuple[str, int] | None
) -> None:
    assert best_sentence(question, texts, normalization_of(language)) == expected


@pytest.mark.parametrize(
    "words",
    ["{nope}", "{mark", "}", "{}", "{0}", "{title.__class__}", "{title!r}", "{mark:>9999999999}"],
)
def test_a_prompt_names_what_there_is_and_nothing_else(words: str) -> None:
    AnswerPrompt("p", 1, "{mark} {title} {{}}", "{unanswerable} {variant} {native_name}")
    for pair in ((words, ""), ("", words)):
        with pytest.raises(ConfigurationError, match=r"prompt p, (no_)?documents"):
            AnswerPrompt("p", 1, *pair)


@pytest.mark.parametrize("form", ["無法回答", "답할 수 없음", "Nicht beantwortbar"])
def test_the_form_of_a_language_means_unanswerable_and_only_alone(form: str) -> None:
    for said in (form, f"「{form}」。", f" {form.upper()}\n", "Unanswerable", "UNANSWERABLE."):
        assert says_unanswerable(said, form)
    for said in (f"{form} Paris", "Paris", "", "Answerable"):
        assert not says_unanswerable(said, form)


@pytest.mark.parametrize(
    ("answer", "text", "numbers", "unread"),
    [
        ("It is so [1].", "It is so.", [1], 0),
        ("A [2, 3] b [1; 2].", "A b.", [2, 3, 1], 0),
        ("All of them [1-3].", "All of them.", [1, 2, 3], 0),
        ("As Azure [doc1][doc2].", "As Azure.", [1, 2], 0),
        ("As OpenAI 【3†source】.", "As OpenAI.", [3], 0),
        ("Not 【4:0†file.pdf】.", "Not 【4:0†file.pdf】.", [], 1),
        ("Notes[^1] and[^2].\n\n[^1]: One\n[^2]: Two", "Notes and.", [1, 2], 0),
        ("At the end (1). In (2) the middle, in 2020 (2020).", None, [1], 0),
        ("Last (3)", "Last", [3], 0),
        ("Above the line.¹ And word², not 5 m² and 10⁻³.", None, [1, 2], 0),
        ("No [3](http://x.org/) link, but [see 4].", None, [], 1),
    ],
)
def test_citations_of_other_systems_are_read_in_their_forms(
    answer: str, text: str | None, numbers: list[int], unread: int
) -> None:
    """The forms of Azure's and OpenAI's products, of Markdown, and of printed texts."""
    marked, like = as_ours(answer, 5)
    found = cited(marked, 5)
    assert [position + 1 for position in found.positions] == numbers
    assert (len(like), found.unknown) == (unread, 0)
    if text is not None:
        assert found.text == text


def words() -> st.SearchStrategy[str]:
    return st.text(st.sampled_from("abcäß中 "), min_size=3, max_size=20).map(lambda t: f"x{t}yz")


@given(st.lists(st.tuples(words(), st.integers(1, 9)), min_size=1, max_size=6), st.integers(0, 6))
def test_every_form_of_a_marker_is_the_same_citation(
    parts: list[tuple[str, int]], form: int
) -> None:
    forms = ["[{}]", "[doc{}]", "[^{}]", "【{}†source】", " ({}).", "[{0}, {0}]", "[{0}-{0}]"]
    answer = "\n".join(f"{text}{forms[form].format(number)}" for text, number in parts)
    found = cited(as_ours(answer, 9)[0], 9)
    expected = dict.fromkeys(number - 1 for _, number in parts)
    assert list(found.positions) == list(expected)
    ours = cited("\n".join(f"{text}[CITE:{number}]" for text, number in parts), 9)
    assert found.text.replace(" .", "").replace(".", "") == ours.text
