"""Say what differences of pass rates are worth, from people's labels."""

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from bears.config import parse, read_ledger
from bears.config.ledger.entries import Ledger
from bears.layout import ledger_of
from bears.publishing.report.advice import Sentence
from bears.publishing.report.words import signed
from bears.results.system import System


def label_notes(systems: Sequence[System]) -> list[Sentence]:
    """Return what differences of pass rates are worth, for systems with judged answers."""
    from bears.answers.judging.pairs import Pair

    judged = {
        each.name: each.judged for each in systems if each.judged and "pass_rate" in each.values
    }
    path = ledger_of(str(systems[0].benchmark.get("name", ""))) if systems else Path()
    labels = parse(Ledger, read_ledger(path), str(path)).labels if judged else ()
    judges = sorted({str(s.revision.selection.get("judge")) for s in systems if s.revision})
    notes: list[Sentence] = []
    for a, b in combinations(judged, 2):
        pair = Pair(judged[a], judged[b])
        about = {"a": a, "b": b, "judge": judges, "of": len(pair.questions)}
        found, worth = pair.corrected(labels)
        if found is None:
            notes.append(("labels_none", about))
            continue
        # One hundred more, of a finite set.
        rest = max(len(pair.questions) - found.n, 1)
        more = min(100, rest)
        narrower = math.sqrt(found.n / (found.n + more) * (rest - more) / rest)
        about |= {"worth": f"{100 * (worth or 1):.0f}", "difference": signed(found.value)}
        about |= {"low": signed(found.low), "high": signed(found.high), "more": more, "n": found.n}
        notes.append(("labels_some", {**about, "half": (found.high - found.low) / 2 * narrower}))
    known = [note for note in notes if note[0] == "labels_some"]
    return known or notes[:1]
