"""Quotations survive what people do to files: they are found again, or lost and named."""

from __future__ import annotations

import random
import re
import textwrap
import time
import unicodedata
from pathlib import Path

import pytest
from fpdf import FPDF
from hypothesis import assume, given
from hypothesis import strategies as st

from bears.evaluation.evaluate import evaluate, gold_of, parse_measure
from bears.evaluation.metric import span_gold
from bears.language.quotations import SEED, Holders, QuotedText, found_again, letters_of
from bears.sources.folder.documents import read_document
from bears.types import Chunk, Document, Question, Span, chunks_in_order

SUBJECTS = ["valve", "pump", "sensor", "filter", "motor", "switch", "cable", "lamp", "gauge"]
VERBS = ["closes", "starts", "reports", "cleans", "drives", "opens", "carries", "warns", "feeds"]
PLACES = ["the cellar", "the north hall", "the boiler room", "the roof", "the yard", "the lift"]
EXTRAS = [
    "before anyone enters “the zone”",
    "unless the naïve operator objects",
    "after 3.5 minutes of silence",
    "while the café is closed",
    "because regulation 12 demands it",
    "when the daily test has failed",
]


def sentences(chance: random.Random, number: int) -> list[str]:
    """Sentences that share most of their words, and that no other one repeats."""
    return [
        f"In {chance.choice(PLACES)}, {chance.choice(SUBJECTS)} {code} {chance.choice(VERBS)} the "
        f"{chance.choice(SUBJECTS)} of line {chance.randrange(10**4)} {chance.choice(EXTRAS)}."
        for code in chance.sample(range(1000, 9999), number)
    ]


def files(chance: random.Random) -> dict[str, list[list[str]]]:
    """Ten files, each of ten paragraphs of five sentences."""
    return {f"guide{n}": [sentences(chance, 5) for _ in range(10)] for n in range(10)}


def as_html(paragraphs: list[list[str]]) -> str:
    marked = ("<p>" + " ".join(p).replace("the ", "<em>the</em> ") + "</p>" for p in paragraphs)
    return f"<html><body><nav>Home</nav><h1>Guide</h1>{''.join(marked)}</body></html>"


def as_markdown(paragraphs: list[list[str]], width: int = 70) -> str:
    wrapped = (
        textwrap.fill(" ".join(p).replace("cellar", "**cellar**"), width) for p in paragraphs
    )
    return "\n\n".join(["# Guide", *wrapped])


def as_pdf(paragraphs: list[list[str]], path: Path) -> None:
    page = FPDF()
    page.set_font("Helvetica", size=11)
    page.add_page()
    for paragraph in paragraphs:
        text = " ".join(paragraph).replace("“", '"').replace("”", '"')
        page.multi_cell(0, text=text, new_x="LMARGIN", new_y="NEXT")
        page.ln()
    page.output(str(path))


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".txt", ".md", ".html", ".pdf"])
def test_two_hundred_quotations_are_found_in_every_form_of_their_file(
    ending: str, tmp_path: Path
) -> None:
    chance = random.Random(ending)
    written = files(chance)
    for name, paragraphs in written.items():
        path = tmp_path / f"{name}{ending}"
        if ending == ".pdf":
            as_pdf(paragraphs, path)
        elif ending == ".html":
            path.write_text(as_html(paragraphs))
        else:
            path.write_text(as_markdown(paragraphs))
    texts = {
        n: QuotedText(read_document(tmp_path / f"{n}{ending}", "", tmp_path).text) for n in written
    }
    asked = [(n, s) for n, paragraphs in written.items() for p in paragraphs for s in p]
    for name, sentence in chance.sample(asked, 200):
        match = texts[name].find(sentence)
        assert match is not None
        found = texts[name].text[match.start : match.end]
        assert letters_of(found) == letters_of(sentence)
        assert not any(other.find(sentence) for key, other in texts.items() if key != name)


def test_a_sentence_that_was_removed_is_lost_though_others_are_alike() -> None:
    chance = random.Random(8)
    whole = sentences(chance, 60)
    text = QuotedText("\n".join(whole[20:]))
    assert [text.find(sentence) for sentence in whole[:20]] == [None] * 20


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        # A word was replaced, and a mark of a footnote was added.
        ("The committee met in the old hall on a rainy Monday", True),
        # The number is another one.
        ("The budget was raised to 52 million euros in that year", False),
        # Two passages are equally alike.
        ("Option beta is disabled by default on all machines.", False),
        ("short one", False),
    ],
)
def test_a_similar_passage_is_found_if_it_is_the_only_one_and_has_the_numbers(
    quotation: str, found: bool
) -> None:
    text = QuotedText(
        "The committee met in the old hall [1] on a rainy Tuesday.\n"
        "The budget was raised to 53 million euros in that year.\n"
        "Option zeta is disabled by default on all machines.\n"
        "Option theta is disabled by default on all machines."
    )
    assert (text.find(quotation) is not None) == found


@given(st.text(min_size=1), st.text(), st.text())
def test_what_is_there_is_found_at_its_own_words(quotation: str, before: str, after: str) -> None:
    # A sign at an end of the quotation would belong to a number beside it.
    before += " x "
    text = f"{before}{quotation} x {after}"
    match = QuotedText(text).find(quotation, similar=False)
    visible = "".join(quotation.split())
    # What begins with a combining mark begins within a character.
    if visible and unicodedata.category(visible[0])[0] != "M":
        assert match is not None
        found = text[match.start : match.end]
        # A sign of a currency belongs to its number.
        assert visible in "".join(found.split())
        assert len("".join(found.split())) <= len(visible) + 2
        assert match.start <= len(before + quotation) - len(quotation.strip())


@pytest.mark.parametrize(
    ("quotation", "text", "found"),
    [
        ("1.5 mg", "Take 15 mg daily.", ""),
        ("1,5 mg", "Nimm 15 mg täglich.", ""),
        ("١٫٥ ملغ", "خذ ١٥ ملغ يوميا", ""),
        ("१.५ मिलीग्राम", "रोज १५ मिलीग्राम लें", ""),
        ("每日１．５毫克", "每日15毫克", ""),
        ("每日１．５毫克", "每日1.5毫克。", "每日1.5毫克"),
        ("١٫٥ ملغ", "خذ 1.5 ملغ يوميا", "1.5 ملغ"),
        ("-5 %", "It fell by 5 %.", ""),
        ("5 %", "A change of \u22125 % in May.", ""),
        ("-5 %", "A change of \u22125 % in May.", "\u22125 %"),
        ("-$5", "It cost $5 in May.", ""),
        ("5–10 mg", "Take 5-10 mg.", "5-10 mg"),
        ("5-10 mg", "Take 510 mg.", ""),
        ("$27.3", "A price of $273", ""),
        ("€27", "A price of $27", ""),
        (".5 mg", "Take 5 mg.", ""),
        ("10² units", "All 102 units", ""),
        ("1½ cups", "Take 112 cups", ""),
        ("x > 5", "if x < 5 then", ""),
        ("x ≥ 5", "if x >= 5 then", "x >= 5"),
        ("3 ‰", "only 3 % of them", ""),
        ("a + b", "the sum a - b", "a - b"),
        ("5 mg", "Take 25 mg, never 1.5 mg, at most 5 mg daily.", "5 mg"),
        ("5 mg", "Take 25 mg.", ""),
        ("the art", "the artist saw the art", "the art"),
        ("кот", "который", ""),
        ("בית", "הביתה", ""),
        ("para", "pa\u00adra\u00adgraph", ""),
        ("कल", "वह काल था", ""),
        ("มา", "ม้า", ""),
        ("かき", "かぎ", ""),
        ("서울", "서울은 수도", "서울"),
        ("北京", "在北京市", "北京"),
        ("ไทย", "ประเทศไทยงาม", "ไทย"),
        ("naïve café", "a nai\u0308ve cafe", "nai\u0308ve cafe"),
        ("가", "각", ""),
        ("Total 1, 2 and 3", "**Total** 1,2 and 3", "Total** 1,2 and 3"),
    ],
)
def test_a_number_matches_only_as_that_number_and_a_word_only_as_a_word(
    quotation: str, text: str, found: str
) -> None:
    match = QuotedText(text).find(quotation)
    assert (text[match.start : match.end] if match else "") == found


def test_a_chunk_may_begin_and_end_within_words_and_numbers() -> None:
    text = "The pump of the mill takes 1250 litres. A valve opens at 3.5 bar."
    cut = QuotedText(text, cut=True).find(text[5:28], similar=False)
    assert cut is not None
    assert (cut.start, cut.end) == (5, 28)
    assert QuotedText(text).find(text[5:28], similar=False) is None
    assert QuotedText(text, cut=True).find("opens at 35 bar", similar=False) is None


def test_a_similar_passage_has_the_signs_of_the_quotation_too() -> None:
    text = QuotedText("The valve opens when the pressure is > 5.5 bar in the northern line.")
    assert text.find("The valve opens if the pressure is > 5.5 bar in the northern line")
    assert not text.find("The valve opens if the pressure is < 5.5 bar in the northern line")
    assert not text.find("The valve opens if the pressure is > 55 bar in the northern line")


def test_a_page_number_within_a_quotation_is_no_other_number() -> None:
    words = "Net sales grew in every region and reached a new high in the last quarter of the year"
    text = QuotedText(f"Before it. {words}. After it.", dropped=["Annual report | 45", "46"])
    cut = words.replace("reached", "\n46\nreached")
    match = text.find(cut)
    assert match is not None
    assert text.text[match.start : match.end] == words
    assert match.similarity < 100
    assert text.find(cut.replace("46", "47")) is None
    grown = QuotedText(text.text.replace("grew in", "grew 44 % in"), dropped=["45"])
    assert grown.find(words.replace("grew in", "grew 45 % in")) is None


@pytest.mark.parametrize("letters", [7_000, pytest.param(90_000, marks=pytest.mark.slow)])
def test_a_long_passage_that_was_edited_is_found_in_seconds(letters: int) -> None:
    chance = random.Random(letters)
    words = [
        "".join(chance.choices("abcdefghijklmnop", k=chance.randrange(2, 9))) for _ in range(5000)
    ]
    passage = " ".join(chance.choices(words, k=letters // 5))
    other = [" ".join(chance.choices(words, k=letters // 5)) for _ in range(6)]
    document = QuotedText(". ".join([*other[:3], passage, *other[3:]]))
    edited = " ".join(w for w in passage.split() if chance.random() > 0.05)
    start = time.process_time()
    match = document.find(edited)
    missing = document.find(" ".join(chance.choices(words, k=letters // 5)))
    assert time.process_time() - start < 10
    assert missing is None
    assert match is not None
    assert match.start == pytest.approx(document.text.index(passage), abs=100)
    assert match.end - match.start == pytest.approx(len(passage), abs=200)


def benchmark(width: int, name: str) -> tuple[list[Question], dict[str, str]]:
    """The same questions over the same files under another name, wrapped at another width."""
    written = files(random.Random(5))
    texts = {f"{name}{n}.md": as_markdown(p, width) for n, p in enumerate(written.values())}
    questions = []
    for n, paragraphs in enumerate(written.values()):
        for number, paragraph in enumerate(paragraphs):
            key = f"q{n}-{number}"
            span = Span(f"{name}{n}.md", 0, 1, paragraph[2])
            asked = Question(key, "?", "", (span.doc_id,), "own", "ad-hoc", gold_spans=(span,))
            questions.append(asked)
    return list(found_again(questions, texts)), texts


def test_measures_are_the_same_to_the_last_digit_after_a_rename_and_another_wrapping() -> None:
    names = ["span_recall@3", "span_precision@3", "span_iou@3", "span_success@1", "ndcg@10"]
    values = []
    for width, name in ((60, "old"), (97, "new/")):
        questions, texts = benchmark(width, name)
        chance = random.Random(2)
        run = {}
        for question in questions:
            ranges = []
            for n in chance.sample(range(10), 5):
                text = texts[f"{name}{n}.md"]
                paragraphs = [m.span() for m in re.finditer(r"(?s)[^\n].*?(?=\n\n|\Z)", text)]
                ranges += [(n, *paragraphs[k]) for k in chance.sample(range(11), 3)]
            chunks = (Chunk(f"{name}{n}.md", a, b) for n, a, b in ranges)
            run[question.question_id] = chunks_in_order(chunks)
        documents = [Document(i, text, "own", i, True) for i, text in texts.items()]
        spans = span_gold(questions, documents)
        assert sum(span.lost for q in questions for span in q.gold_spans) == 0
        measures = [parse_measure(measure) for measure in names[:4]]
        found = evaluate({}, gold_of(questions), measures, spans.rankings(run))
        values.append({measure: column.tolist() for measure, column in found.values.items()})
    assert values[0] == values[1]
    assert 0 < sum(values[0]["span_recall@3"]) < 100


TOKENS = st.sampled_from(
    ["Room 101", "grade A", "C", "C++", "1.5e3", "naïve", "x2", "5 kg", "O'Brien"]
)
ENDS = st.sampled_from(
    [" ", ".", ", ", ")", "”", "*", "|", "</b>", "\n", "; then", " + more", "—so", "」"]
)
GLUED = st.sampled_from(["A", "x", "7", "+", "++", "#", "-", "ß"])


@given(TOKENS, ENDS, st.sampled_from(["", " ", "(", "“", "*", "|", "<b>", "\n", "—", "「"]))
def test_a_quotation_is_found_where_its_tokens_end(token: str, end: str, begin: str) -> None:
    match = QuotedText(f"See{begin or ' '}{token}{end}there.").find(token)
    assert match is not None
    assert match.similarity == 100


@given(TOKENS, GLUED, st.booleans())
def test_a_quotation_is_not_found_within_a_longer_token(token: str, more: str, long: bool) -> None:
    """`Room 101` is not `Room 101A`, nor is `C` the same as `C++`, in a long quotation either."""
    before = "Everything that is written down there is about " if long else ""
    assume((token[-1], more) not in (("+", "A"), ("+", "x"), ("+", "7"), ("+", "ß")))
    match = QuotedText(f"{before}{token}{more} and so on.").find(f"{before}{token}")
    assert match is None or match.similarity < 100


@pytest.mark.parametrize(
    ("written", "quoted"),
    [
        ("1 000 000", "1,000,000"),
        ("1'000'000", "1 000 000"),
        ("12\u202f345", "12,345"),
        ("H₂O", "H2O"),
        ("½", "1/2"),
        ("1½", "1 1/2"),
        ("1.5e3", "1.5e3"),
        ("２", "2"),
        ("Ⅳ", "IV"),
    ],
)
def test_what_is_the_same_in_another_form_is_found(written: str, quoted: str) -> None:
    for text, quotation in ((written, quoted), (quoted, written)):
        match = QuotedText(f"It is {text} in all.").find(quotation)
        assert match is not None
        assert match.similarity == 100


@pytest.mark.parametrize(
    ("written", "quoted"),
    [("1.5e-3", "1.5e3"), ("x²", "x2"), ("1.500", "1,500"), ("1,000,000", "1,000"), ("2½", "2")],
)
def test_what_only_looks_the_same_is_not_found(written: str, quoted: str) -> None:
    assert QuotedText(f"It is {written} in all.").find(quoted) is None


@given(st.lists(st.text("abc ", min_size=SEED, max_size=30), min_size=1, max_size=30), st.data())
def test_a_quotation_may_be_in_every_text_that_has_it(
    texts: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(texts) - 1))
    start = data.draw(st.integers(0, len(texts[at]) - SEED))
    quotation = texts[at][start : data.draw(st.integers(start + SEED, len(texts[at])))]
    letters = letters_of(quotation)
    assume(len(letters) >= SEED)
    named = {str(number): text for number, text in enumerate(texts)}
    having = {name for name, text in named.items() if letters in letters_of(text)}
    holders = Holders(named, [quotation])
    assert having <= {*holders.of(quotation)}
    # A text without one of its pieces cannot have it.
    pieces = [letters[n : n + SEED] for n in range(len(letters) - SEED + 1)]
    whole = {n for n, text in named.items() if all(each in letters_of(text) for each in pieces)}
    assert {*holders.of(quotation)} == whole
