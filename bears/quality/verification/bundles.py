"""Check a question together with its gold documents: is it still answerable?"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from bears.language.answers import kept, term_renderings
from bears.language.yes_no import yes_or_no
from bears.quality.verification.benchmark import TranslatedBenchmark
from bears.types import Finding, Question

_RENDERED = re.compile(r"([^\s（）()，。；：、！？,.;:!?]+)\s*[（(]([^（）()]+)[）)]")
_TITLE = re.compile(r"[《「『〈“]([^》」』〉”]+)[》」』〉”]?\Z")
_UNMARKED = str.maketrans("", "", "《》「」『』〈〉“”\"'")
_JOINTS = tuple("·・‧•＝=-－–")
_BEFORE_NAMES = tuple("與和及跟同或由是為在於從向對將被讓把給的之は")
"""Characters that end the words before a name in languages without spaces between words."""
LEAST_TERMS = 10
"""A share of fewer terms is not reported."""
_SURELY_A_NAME = 4
"""So many equal characters are not a coincidence."""


@dataclass(frozen=True)
class Bundle:
    """One translated question with its gold documents, each as (before, after)."""

    raw: Question
    question: Question
    documents: list[tuple[str, str]]
    source_language: str


def bundles(b: TranslatedBenchmark) -> Iterator[Bundle]:
    """Yield every translated question with its translated gold documents."""
    contents = {
        after.doc_id: (before.content, after.content) for before, after in b.documents_beside()
    }
    for raw, question in b.questions_beside():
        language = b.languages.get(question.source_dataset, "")
        if language != b.target.name:
            documents = [contents[i] for i in question.gold_doc_ids if i in contents]
            yield Bundle(raw, question, documents, language)


def extractive(bundle: Bundle) -> bool:
    """Return whether the answer was in a gold document before translation; yes and no never are.

    Case is ignored, because 2WikiMultihopQA capitalizes the small words of titles in answers.
    """
    answer = bundle.raw.gold_answer.strip().casefold()
    if not answer or yes_or_no(answer, bundle.source_language):
        return False
    return any(answer in before.casefold() for before, _ in bundle.documents)


def answers_lost(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find extractive answers that are in no gold document any more."""
    severity = b.bundle_gates.get("answer_lost", "warning")
    if severity == "off":
        return
    for bundle in bundles(b):
        if extractive(bundle) and _kept(b, bundle) == "lost":
            message = f"the answer {bundle.question.gold_answer!r:.60} is in no gold document"
            record_id = bundle.question.question_id
            yield Finding("answer_lost", severity, record_id, message, "gold_answer")


def terms_inconsistent(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find terms with several renderings in a question and its gold documents."""
    severity = b.bundle_gates.get("term_consistency", "warning")
    if severity == "off":
        return
    for bundle in bundles(b):
        for term, same in _terms(b, bundle):
            if not same:
                message = f"{term!r:.60} has several renderings in the question and its documents"
                yield Finding("term_consistency", severity, bundle.question.question_id, message)


def measures(b: TranslatedBenchmark) -> dict[str, Any]:
    """Measure how answerable questions stayed.

    Returns:
        ``answer_preserved``: how many of ``n`` extractive answers are in a translated gold document
        to the letter (``exact``), after normalization (``normalised``), in another form (``alias``:
        a part, the original, without particles), or not at all (``lost``). ``term_consistency``:
        the share of ``terms`` with one rendering; None if there are too few terms.
    """
    kinds = Counter(_kept(b, bundle) for bundle in bundles(b) if extractive(bundle))
    terms = [same for bundle in bundles(b) for _, same in _terms(b, bundle)]
    return {
        "answer_preserved": {
            "n": kinds.total(),
            **{kind: kinds[kind] for kind in ("exact", "normalised", "alias", "lost")},
        },
        "term_consistency": sum(terms) / len(terms) if len(terms) >= LEAST_TERMS else None,
        "terms": len(terms),
    }


def _kept(b: TranslatedBenchmark, bundle: Bundle) -> str:
    documents = [after for _, after in bundle.documents]
    return kept(bundle.question.gold_answer, bundle.raw.gold_answer, documents, b.target)


def _terms(b: TranslatedBenchmark, bundle: Bundle) -> Iterator[tuple[str, bool]]:
    """Yield each term, and whether it has one rendering.

    Terms are those of the glossary, or else those whose original follows in parentheses.
    """
    texts = [(bundle.raw.question, bundle.question.question), *bundle.documents]
    if pairs := b.terms.get(bundle.question.question_id):
        yield from term_renderings(pairs, texts, b.target)
        return
    found: dict[str, list[str]] = defaultdict(list)
    for before, after in texts:
        for match in _RENDERED.finditer(after):
            original = match[2].strip()
            # A year after a title is not a name.
            if original in before and any(character.isalpha() for character in original):
                found[original].append(match[1])
    for term, renderings in found.items():
        if len(renderings) > 1:
            yield term, _one_rendering(renderings, b.target.spaced)


def _one_rendering(found: Sequence[str], spaced: bool) -> bool:
    """Return whether the texts before the parentheses are one name.

    The beginning of a name is known if spaces separate words, or if a mark opens the name.
    Otherwise other words of the clause may come before the name. Then the renderings must end
    alike, and the rest must end with a character that comes before names: 由諾蘭 and 和諾蘭 are one
    name, 由諾蘭 and 導演諾蘭 cannot be compared, 基里巴斯 and 吉里巴斯 are two names.
    """
    titles = [title[1].translate(_UNMARKED) for text in found if (title := _TITLE.search(text))]
    names = [text.translate(_UNMARKED) for text in found]
    shortest = min(names, key=len)
    if spaced:
        return all(name.casefold() == shortest.casefold() for name in names)
    if titles or all(name.endswith(shortest) for name in names):
        return all(name.endswith(known) for name in names for known in titles or [shortest])
    endings = takewhile(lambda ends: len({*ends}) == 1, zip(*map(reversed, names), strict=False))
    common = "".join(ends[0] for ends in endings)[::-1]
    if not common or common.startswith(_JOINTS):
        return False
    others = [name.removesuffix(common) for name in names]
    clauses = all(not other or other.endswith(_BEFORE_NAMES) for other in others)
    return clauses or len(common) >= _SURELY_A_NAME
