"""Every measure of ir_measures against what its own command line prints."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from ir_measures import measures

from bears.errors import ConfigurationError, FormatError
from bears.evaluation.evaluate import evaluate, listed_names, our_name, parse_measure, summarize
from bears.evaluation.foreign import foreign_measure
from bears.files.trec import run_writer
from bears.types import Hit, Ranking

Qrels = dict[str, dict[str, int]]
NEEDED = {
    **{name: f"{name}(max_rel=3)" for name in ("INST", "INSQ", "NERR10", "NERR11")},
    **{name: f"{name}(max_rel=3)@10" for name in ("BPM", "NERR8", "NERR9", "SDCG")},
    **{name: f"{name}@10" for name in ("P", "R", "Success", "alpha_DCG", "alpha_nDCG")},
    **{name: f"{name}@10" for name in ("ERR_IA", "nERR_IA", "P_IA", "StRecall")},
    **{"ERR": "ERR@20", "IPrec": "IPrec@.1", "RBP": "RBP(p=.8,rel=1)"},
}
"""The parameters without which the package does not compute a measure."""
FIRST_NAMES = {each: name for name, each in reversed([*measures.registry.items()])}
NAMES = [NEEDED.get(name, name) for name in FIRST_NAMES.values()]
OTHERS = [
    *("P(rel=2)@10", "nDCG(dcg='exp-log2')@10", "AP(judged_only=True)", "SetF(beta=2.0)"),
    *("Compat(p=0.9)", "Judged@10", "infAP(rel=2)", "Success(rel=3)@5"),
]


def graded(seed: int) -> tuple[Qrels, dict[str, Ranking]]:
    """Judgements from -1 to 3 and rankings without ties; a few rankings are missing or short."""
    dice = random.Random(seed)
    documents = [f"MED-{n}" for n in range(120)]
    qrels: Qrels = {}
    run: dict[str, Ranking] = {}
    for n in range(1, 31):
        grades = {name: dice.choice([-1, 0, 0, 1, 2, 3]) for name in dice.sample(documents, 25)}
        qrels[str(n)] = {**grades, next(iter(grades)): 1}
        found = dice.sample(documents, dice.choice([2, 40, 80]))
        if n % 9:
            run[str(n)] = tuple(Hit(name, 1.0 - at / 128) for at, name in enumerate(found))
    return qrels, run


def printed(folder: Path, qrels: Qrels, run: dict[str, Ranking]) -> dict[str, dict[str, float]]:
    """What `ir_measures qrels run NAMES -q` prints: name to question, or all, to value."""
    lines = [f"{q} 0 {d} {grade}\n" for q, own in qrels.items() for d, grade in own.items()]
    (folder / "qrels").write_text("".join(lines), encoding="ascii")
    with run_writer(folder / "run", "tag") as write:
        for question_id, ranking in run.items():
            write(question_id, ranking)
    command = [sys.executable, "-m", "ir_measures", "--by_query", "--places", "-1", "qrels", "run"]
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    # Together with others, Accuracy is 0 where it is undefined by itself, and NumRet may have the
    # values of NumRelRet, depending on Python's hash seed.
    alone = ["Accuracy", "NumRelRet", "NumRet"]
    rest = [name for name in (*NAMES, *OTHERS) if name not in alone]
    for names in (*([name] for name in alone), rest):
        done = subprocess.run(
            [*command, *names], cwd=folder, capture_output=True, text=True, check=True
        )
        for line in done.stdout.splitlines():
            question_id, name, value = line.split("\t")
            found[name][question_id] = float(value)
    return found


@pytest.mark.slow
def test_all_41_are_what_the_command_line_prints(tmp_path: Path) -> None:
    assert len(NAMES) == 41
    qrels, run = graded(7)
    theirs = printed(tmp_path, qrels, run)
    asked = [parse_measure(name) for name in (*NAMES, *OTHERS)]
    found = evaluate(run, qrels, asked)
    means = summarize(found)
    assert len(theirs) == len(asked)
    for name, measure in zip(theirs, map(parse_measure, theirs), strict=True):
        values = dict(theirs[name])
        mean = values.pop("all")
        column = found.values[measure.name]
        ours = {q: v for q, v in zip(qrels, column.tolist(), strict=True) if not np.isnan(v)}
        assert ours == pytest.approx(values, abs=1e-6), name
        assert means[measure.name] == pytest.approx(mean, abs=1e-6), name


def test_any_id_of_a_question_gives_the_same_values() -> None:
    """gdeval refuses ids that are not numbers, and drops what is before a hyphen."""
    qrels, run = graded(8)
    asked = [parse_measure(name) for name in ("ERR@20", "nDCG(dcg='exp-log2')@10", "Bpref")]
    expected = evaluate(run, qrels, asked).values
    ids = {key: f"PLAIN-7-{key} {'é' * int(key)}" for key in qrels}
    named = {ids[key]: own for key, own in qrels.items()}
    found = evaluate({ids[key]: own for key, own in run.items()}, named, asked).values
    for name, column in expected.items():
        assert column.sum() > 0
        np.testing.assert_array_equal(found[name], column)


def test_a_question_is_undefined_where_nothing_is_judged() -> None:
    asked = [parse_measure("Bpref"), parse_measure("Judged@5")]
    gold = {"known": {"a": 1, "b": 0}, "unjudged": None, "empty": {}, "partial": {"a": 0.5}}
    ranking = (Hit("b", 2.0), Hit("a", 1.0))
    found = evaluate(dict.fromkeys(gold, ranking), gold, asked).values
    assert found["Judged@5"][0] == 1
    # The one relevant document is after the one that is not.
    assert found["Bpref"][0] == 0
    assert np.isnan(found["Bpref"][1:]).all()
    assert np.isnan(evaluate({}, {"q": None}, asked).values["Bpref"]).all()


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        *[("P(rel=1)@10", "precision@10"), ("MRR@10", "mrr@10"), ("nDCG(dcg='log2')", "ndcg")],
        *[
            ("RBP(p=.8)", "RBP(rel=1)"),
            ("RBP(p=.5)", "RBP(p=0.5,rel=1)"),
            ("IPrec@.1", "IPrec@0.1"),
            ("BPref", "Bpref"),
        ],
        *[("my_score", "my_score"), ("module.f1@5", "module.f1@5"), ("ndcg@0", "ndcg@0")],
    ],
)
def test_one_measure_has_one_name(name: str, ours: str) -> None:
    assert our_name(name) == our_name(ours) == ours


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ERR", "cannot compute 'ERR'"),
        ("alpha_nDCG", "give the parameters that it needs, such as a cutoff"),
        ("INST", "the best grade"),
        ("nDCG(dcg='other')@10", "invalid param dcg='other'"),
        ("Bpref(cutoff=3)", "unsupported params found"),
        ("RBPP(p=.8)", "unknown measure 'RBPP"),
        ("P@0", "unknown measure 'P@0'"),
    ],
)
def test_what_cannot_be_computed_is_refused_before_anything_runs(name: str, why: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_measure(name)
    assert why in str(caught.value)


def test_a_run_that_the_package_refuses_names_the_measure() -> None:
    """gdeval knows grades up to 4."""
    with pytest.raises(FormatError, match=r"cannot compute ERR@20 of this run: .*; leave the"):
        evaluate({"q": (Hit("a", 1.0),)}, {"q": {"a": 5}}, [parse_measure("ERR@20")])


def test_without_the_package_a_sentence_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    foreign_measure.cache_clear()
    with pytest.raises(ConfigurationError, match=r"ir_measures if it is installed: `make measur"):
        parse_measure("Bpref")
    assert our_name("nDCG@10") == "ndcg@10"
    # Other tests of this process have the package.
    foreign_measure.cache_clear()


def test_a_list_is_split_at_the_commas_between_measures() -> None:
    assert listed_names("mrr, INST(T=1.0,max_rel=2),Bpref") == [
        *("mrr", "INST(T=1.0,max_rel=2)", "Bpref"),
    ]
