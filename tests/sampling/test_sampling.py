"""Sampling: v1 to the byte, v1 read again from its description, and v1 without its defects."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pytest

from bears.config import compose
from bears.config.ledger.entries import Ledger, Replacement
from bears.errors import ConfigurationError, SamplingError
from bears.files.records import read_documents, write_records
from bears.files.rows import SourceRecords
from bears.sampling.lineage import Sample, references_of
from bears.sampling.mixture import Mixture, PublishedRecipe, Quota, Recipe, V1Recipe, sampler_of
from bears.sampling.sample import count_reasons
from bears.types import Document, ParagraphPlace, Question
from tests.sampled import (
    BEARS,
    CHOICES,
    PUBLISHED,
    QUOTAS,
    V1,
    GivenSources,
    Raw,
    Rows,
    article,
    assert_sound,
    doc_ids,
    draw,
    generated,
    mixture_of,
    passage_row,
    question_ids,
    read_sources,
    small,
    typed,
    uuid,
)
from tests.workspace import ROOT


@pytest.fixture(scope="module")
def real(shared_data: Path) -> Rows:
    return read_sources("bears", shared_data / "raw")


@pytest.fixture(scope="module")
def published(shared_data: Path) -> Path:
    return shared_data / "bears-published"


# ------------------------------------------------------------------------- v1, to the byte


def digest(records: Sequence[Question | Document]) -> str:
    ids = (each.question_id if isinstance(each, Question) else each.doc_id for each in records)
    return sha256("\n".join(ids).encode()).hexdigest()


def test_seed_42_gives_the_digests_of_the_origin(real: Rows) -> None:
    drawn = draw(V1, real)
    found = {
        quota.source: digest([q for q in drawn.questions if q.source_dataset == quota.source])
        for quota in QUOTAS
    }
    assert found | {"questions": digest(drawn.questions), "documents": digest(drawn.documents)} == {
        "drcd": "55180599f3e515cff2d21082464195bfc6d154cc3548d43ece783ea701092fec",
        "hotpotqa": "b69558ed0e1da119d3b6c7ae790c2cb09d2075eb308f5788400dc28642c97348",
        "2wiki": "71cfddd1426d893e571e693b3091fbed5faba8407a4294666c0662205394ee5a",
        "questions": "aab12c3efdded494fdcd690c3436d57c4b5254e2ba0258d22587316fed96b297",
        "documents": "04dcdee381796097af1704ca9d4561841a026eeff421672ef94abfce04ca163d",
    }


def test_seed_42_gives_106_gold_and_304_hard_and_190_random_documents(real: Rows) -> None:
    documents = draw(V1, real).documents
    assert sum(d.is_gold for d in documents) == 106
    assert sum(not d.is_gold and d.original_source != "drcd" for d in documents) == 304
    assert sum(not d.is_gold and d.original_source == "drcd" for d in documents) == 190


@pytest.mark.parametrize("sampler", [V1Recipe, Recipe])
def test_the_questions_are_the_published_ones_to_the_byte(
    sampler: type[Mixture], real: Rows, published: Path, tmp_path: Path
) -> None:
    write_records(tmp_path / "q.json", draw(sampler(**vars(BEARS)), real).questions)
    assert (tmp_path / "q.json").read_bytes() == (published / "queries_raw.json").read_bytes()


def test_the_published_corpus_comes_out_to_the_byte(
    real: Rows, published: Path, tmp_path: Path
) -> None:
    """Our sample of the upstream file lacks the paragraphs of the row that the author turned to."""
    records = real["2wiki"]
    first = records.questions[0]
    assert first.passages == ()
    appended = read_documents(published / "corpus_raw.json")[-2:]
    hard = Document("h", "a paragraph that is no gold", "2wiki", "a title", False)
    brought = [appended[0], hard, appended[1]]
    place = len(records.documents)
    passages = tuple(
        ParagraphPlace(d.original_id, place + n, d is not hard) for n, d in enumerate(brought)
    )
    questions = [replace(first, passages=passages), *records.questions[1:]]
    sources = {**real, "2wiki": SourceRecords([*records.documents, *brought], questions)}
    drawn = draw(PUBLISHED, sources)
    write_records(tmp_path / "c.json", drawn.documents)
    assert (tmp_path / "c.json").read_bytes() == (published / "corpus_raw.json").read_bytes()
    assert len(set(doc_ids(drawn))) == 600


def test_the_published_corpus_cannot_be_made_without_that_row(real: Rows) -> None:
    with pytest.raises(SamplingError, match=r"2wiki: row \w+.* brings 0 gold .* has 2; .*complete"):
        draw(PUBLISHED, real)


def test_the_samplers_of_the_origin_take_no_ledger(real: Rows) -> None:
    ledger = Ledger(replacements=(Replacement("any", "unclear"),))
    for mixture in (V1, PUBLISHED):
        with pytest.raises(Exception, match=r"takes no ledger; use sample\._target_=.*Recipe"):
            draw(mixture, real, ledger)


# ------------------------------------------------------- v1, read a second time, step by step


@dataclass
class Book:
    """What a straightforward reading of v1's description gives."""

    question_ids: list[str]
    gold: list[list[str]]
    documents: list[tuple[str, str, bool]]
    rejected: int


def by_the_book(raw: Raw, seed: int, questions: int, documents: int) -> Book:
    rng = random.Random(seed)
    paragraphs = [paragraph for article in raw["drcd"] for paragraph in article["paragraphs"]]
    asked = [(paragraph, qa) for paragraph in paragraphs for qa in paragraph["qas"]]
    rng.shuffle(asked)
    ids: list[str] = []
    golds: list[list[str]] = []
    gold: list[tuple[str, str, bool]] = []
    hard: list[tuple[str, str, bool]] = []
    used: set[str] = set()
    rejected = 0
    for paragraph, qa in asked:
        if len(ids) == questions:
            break
        if paragraph["context"] not in used:
            used.add(paragraph["context"])
            ids.append(uuid(f"q:drcd:{qa['id']}"))
            gold.append((uuid(f"drcd:{qa['id']}"), paragraph["context"], True))
            golds.append([gold[-1][0]])
    for source in ("hotpotqa", "2wiki"):
        rows = list(raw[source])
        rng.shuffle(rows)
        used_here: set[str] = set()
        taken = 0
        for row in rows:
            if taken == questions:
                break
            facts, context = row["supporting_facts"]["title"], row["context"]
            fresh = [
                (uuid(f"{source}:{row['id']}_{title}"), " ".join(sentences), title in facts)
                for title, sentences in zip(context["title"], context["sentences"], strict=True)
                if " ".join(sentences) not in used_here
            ]
            hard += [document for document in fresh if not document[2]]
            if not any(document[2] for document in fresh):
                rejected += 1
                continue
            taken += 1
            used_here |= {text for _, text, _ in fresh}
            ids.append(uuid(f"q:{source}:{row['id']}"))
            golds.append([document[0] for document in fresh if document[2]])
            gold += [document for document in fresh if document[2]]
        used |= used_here
    negatives = (each["context"] for each in paragraphs if each["context"] not in used)
    named = [(uuid(f"drcd:neg_{k}"), text, False) for k, text in enumerate(negatives)]
    rng.shuffle(named)
    pool = gold + hard + named[: max(0, documents - len(gold) - len(hard))]
    rng.shuffle(pool)
    return Book(ids, golds, pool, rejected)


def assert_by_the_book(drawn: Sample, book: Book) -> None:
    assert question_ids(drawn) == book.question_ids
    assert [list(q.gold_doc_ids) for q in drawn.questions] == book.gold
    assert [(d.doc_id, d.content, d.is_gold) for d in drawn.documents] == book.documents


@pytest.mark.parametrize("seed", range(3))
def test_v1_agrees_with_its_description_on_real_data(
    seed: int, real: Rows, shared_data: Path
) -> None:
    raw = {
        quota.source: json.loads((shared_data / "raw" / f"{quota.source}.json").read_bytes())
        for quota in QUOTAS
    }
    book = by_the_book(raw, seed, questions=20, documents=600)
    assert len(book.documents) == 600
    assert_by_the_book(draw(replace(V1, seed=seed), real), book)


def test_v1_agrees_with_its_description_on_overlapping_sources() -> None:
    rejected = repeated = shared = 0
    for seed in range(60):
        raw = generated(random.Random(seed))
        book = by_the_book(raw, seed, questions=4, documents=90)
        if len(book.question_ids) < 12 or len(book.documents) != 90:
            with pytest.raises(SamplingError):
                draw(small(V1Recipe, seed, 4, 90), typed(raw))
            continue
        assert_by_the_book(draw(small(V1Recipe, seed, 4, 90), typed(raw)), book)
        rejected += book.rejected
        repeated += len({i for i, _, _ in book.documents}) < 90
        shared += len({text for _, text, _ in book.documents}) < 90
    assert rejected > 50, "the generator must show rejected rows"
    assert repeated > 12, "and rows that repeat a title"
    assert shared > 25, "and paragraphs that several rows share"


# ------------------------------------------------------------------ what `bears` always holds to


def assert_order_of_v1(bears: Sample, v1: Sample) -> None:
    in_both = set(doc_ids(bears)) & set(doc_ids(v1))
    assert [i for i in doc_ids(bears) if i in in_both] == [
        i for i in dict.fromkeys(doc_ids(v1)) if i in in_both
    ]


@pytest.mark.parametrize("seed", [*range(9), 42])
def test_bears_is_sound_on_real_data(seed: int, real: Rows) -> None:
    bears, v1 = draw(replace(BEARS, seed=seed), real), draw(replace(V1, seed=seed), real)
    assert_sound(bears, BEARS, real)
    assert question_ids(bears) == question_ids(v1)
    assert_order_of_v1(bears, v1)


def test_bears_is_sound_on_overlapping_sources() -> None:
    drawn = 0
    for seed in range(50):
        sources = typed(generated(random.Random(seed)))
        mixture = small(Recipe, seed, 4, 90)
        try:
            bears, v1 = draw(mixture, sources), draw(V1Recipe(**vars(mixture)), sources)
        except SamplingError:
            continue
        drawn += 1
        assert_sound(bears, mixture, sources)
        assert question_ids(bears) == question_ids(v1)
        assert_order_of_v1(bears, v1)
    assert drawn > 30


def test_what_seed_42_changes_against_v1(real: Rows) -> None:
    """The two second copies are dropped, and two more negatives are at the end."""
    bears, v1 = draw(BEARS, real), draw(V1, real)
    assert [d.content for d in bears.documents[:598]] == list(
        dict.fromkeys(d.content for d in v1.documents)
    )
    added = bears.documents[598:]
    assert all(not d.is_gold and d.original_source == "drcd" for d in added)


# ------------------------------------------------------------- what is skipped, and refusals


def test_rows_that_give_no_question_are_listed_with_their_reasons() -> None:
    rows = [
        passage_row("bare"),
        passage_row("no-gold", ("A", "a", False)),
        passage_row("good", ("G", "g", True)),
        passage_row("late", ("G", "g", True)),
    ]
    sources = {"hop": [*rows, passage_row("other", ("O", "o", True))], "fill": [article("f")]}
    seen: set[tuple[str, int, str, str]] = set()
    for seed in range(20):
        passed = draw(mixture_of(3, seed, hop=2), sources).notes["passed_over_rows"]
        seen |= {(r["source"], r["row"], r["upstream_id"], r["reason"]) for r in passed}
        assert sum(count_reasons(passed).get("hop", {}).values()) == len(passed)
    assert seen == {
        ("hop", 1, "bare", "the row has no paragraphs"),
        ("hop", 2, "no-gold", "the row has no gold paragraph"),
        ("hop", 3, "good", "an earlier question uses its gold paragraphs"),
        ("hop", 4, "late", "an earlier question uses its gold paragraphs"),
    }


ONE = passage_row("a", ("G", "g", True))
TWICE = passage_row("a", ("G", "g", True), ("H", "h", False), ("H", "h", False))


@pytest.mark.parametrize(
    ("mixture", "sources", "message"),
    [
        (
            mixture_of(2, hop=2),
            {"hop": [ONE, passage_row("b")], "fill": [article("f")]},
            r"source hop: asked for 2 .* only 1 of its 2 can be",
        ),
        *(
            (
                sampler(**vars(mixture_of(4, hop=1))),
                {"hop": [ONE], "fill": [article("f0", "f1", "g")]},
                r"sample.documents is 4, but .* (are|is) ",
            )
            for sampler in (Recipe, V1Recipe)
        ),
        # It wants a row that gave no question.
        (
            PublishedRecipe(**vars(mixture_of(4, hop=1))),
            {"hop": [TWICE], "fill": [article("f0", "f1")]},
            r"row \(none\)",
        ),
        (mixture_of(1, hop=1, hip=1), {"hop": [ONE]}, "source hip is asked for .* has only hop;"),
        (mixture_of(1, hop=1), {"hop": [ONE]}, "source fill is asked for .* has only hop;"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    mixture: Mixture, sources: GivenSources, message: str
) -> None:
    with pytest.raises(SamplingError, match=message):
        draw(mixture, sources)


def test_a_source_that_is_named_twice_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected each source once"):
        replace(BEARS, sources=(Quota("drcd", 1), Quota("drcd", 2)))


# ---------------------------------------------------------------------------------- randomness


def test_a_sample_is_a_function_of_its_arguments() -> None:
    sources = typed(generated(random.Random(5)))
    random.seed(1)
    state = random.getstate()
    first = draw(small(Recipe, 7, 2, 80), sources)
    assert random.getstate() == state
    random.seed(2)
    assert draw(small(Recipe, 7, 2, 80), sources) == first
    assert draw(small(Recipe, 8, 2, 80), sources) != first


def test_documents_of_the_mini_benchmark_are_sound_at_every_seed() -> None:
    sources = read_sources("mini")
    conf = compose(ROOT / "conf", {"benchmark": "mini", **CHOICES})
    mixture = sampler_of(conf["sample"])
    for seed in range(21):
        assert_sound(draw(replace(mixture, seed=seed), sources), mixture, sources)


def test_a_document_is_the_same_record_under_every_seed(real: Rows) -> None:
    """An id stands for one text, one source and one name, whatever else is sampled."""
    known: dict[str, Document] = {}
    for seed in range(10):
        for document in draw(replace(BEARS, seed=seed), real).documents:
            bare = replace(document, is_gold=False)
            assert known.setdefault(document.doc_id, bare) == bare


def test_references_are_answers_that_differ() -> None:
    assert references_of(["Rome", "Rome", " "]) == []
    assert references_of(["Rome", "the city of Rome", "Rome"]) == ["Rome", "the city of Rome"]
