"""Check texts and bundles: against those before translation, and whether all is answerable."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, TypeVar

from bears.language.answers import kept, term_renderings
from bears.language.declared import LENGTH, MOST, SOME, contradiction, disagreeing
from bears.language.gates import check
from bears.language.text import Text
from bears.language.yes_no import yes_or_no
from bears.quality.verification.structure import TranslatedBenchmark
from bears.types import Finding, Question

CHANGED = "differs from the raw record in more than its texts"
SAMPLED = 2000
"""How many questions and documents, evenly spread, are compared with the declared language."""
T = TypeVar("T")
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


DeclaredText = tuple[str, str, str, str]
"""The source, id and field of a text, and the text."""


def same_records(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find records that are missing, added, moved, or changed in more than their texts."""
    question_ids = [[q.question_id for q in side] for side in (b.raw_questions, b.questions)]
    doc_ids = [[d.doc_id for d in side] for side in (b.raw_documents, b.documents)]
    yield from _same_ids("queries", *question_ids)
    yield from _same_ids("corpus", *doc_ids)
    for raw, question in b.questions_beside():
        if replace(question, question=raw.question, gold_answer=raw.gold_answer) != raw:
            yield Finding("changed_field", "error", question.question_id, CHANGED)
    for before, document in b.documents_beside():
        if replace(document, content=before.content) != before:
            yield Finding("changed_field", "error", document.doc_id, CHANGED)


def _same_ids(file: str, raw: Sequence[str], translated: Sequence[str]) -> Iterator[Finding]:
    before, after = dict.fromkeys(raw), dict.fromkeys(translated)
    for name, here, there in ((f"{file}_raw", before, after), (file, after, before)):
        for record_id in (i for i in here if i not in there):
            yield Finding("record_set", "error", record_id, f"is in {name}.json only")
    if before.keys() == after.keys() and list(raw) != list(translated):
        message = f"{file}.json has another order than {file}_raw.json"
        yield Finding("order", "error", file, message)


def texts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find native texts that were changed, and gates that other texts fail."""
    for raw, question in b.questions_beside():
        answers = (raw.gold_answer, question.gold_answer)
        languages = (b.languages.get(question.source_dataset, ""), b.target.name)
        asked = Text("question", raw.question, question.question, *languages, answers)
        answer = Text("gold_answer", *answers, *languages)
        yield from _of_record(b, question.question_id, [asked, answer])
    for before, document in b.documents_beside():
        languages = (b.languages.get(document.original_source, ""), b.target.name)
        text = Text("content", before.content, document.content, *languages)
        yield from _of_record(b, document.doc_id, [text])


def _of_record(b: TranslatedBenchmark, record_id: str, texts: Sequence[Text]) -> Iterator[Finding]:
    for text in texts:
        if text.source_language == text.target and text.source != text.translation:
            message = "is in the target language already, but its text was changed"
            yield Finding("native_changed", "error", record_id, message)
            return
        # `structure.empty_texts` reports empty texts, native ones included.
        for flag in check(text, b.target, {**b.gates, "empty": "off"}):
            yield Finding(flag.gate, flag.severity, record_id, flag.message, text.field)


def calibrated(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Warn if the gates' rate of false alarms was never measured for the language."""
    if not b.target.calibrated_on and set(b.languages.values()) - {b.target.name}:
        message = f"the false alarms of the gates were never counted for {b.target.title}"
        yield Finding("not_calibrated", "warning", b.target.name, message)


def doubts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Report doubts that the translation itself noted, such as a lost mark."""
    for doubt in b.doubts:
        yield Finding(
            doubt["kind"], "warning", doubt["record_id"], doubt["message"], doubt["field"]
        )


def languages(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find texts that are not in the declared language.

    If most texts of a set contradict the declared language, that is an error; single texts are
    warnings. A set is the questions or the documents of one source, or of all sources if a
    benchmark is taken whole. Translated texts are left to the gates.
    """
    if not b.written_in:
        return
    questions = [
        (q.source_dataset, q.question_id, "question", q.question) for q in _some(b.questions)
    ]
    documents = [(d.original_source, d.doc_id, "content", d.content) for d in _some(b.documents)]
    for what, texts in (("questions", questions), ("documents", documents)):
        sets = defaultdict(list)
        for text in texts:
            sets["" if b.shares is None else text[0]].append(text)
        for source, of_source in sets.items():
            yield from _of_set(b, f"{source} {what}".strip(), of_source)


def _some(records: Sequence[T]) -> Sequence[T]:
    return records[:: -(-len(records) // SAMPLED) or 1]


def _of_set(b: TranslatedBenchmark, name: str, texts: Sequence[DeclaredText]) -> Iterator[Finding]:
    reason, share = disagreeing((text for *_, text in texts), b.written_in)
    if share > SOME:
        message = f"{share:.0%} of them do not look like {b.written_in}: {reason}"
        yield Finding("language", "error" if share > MOST else "warning", name, message)
    if share > MOST:
        return
    for source, record_id, field, text in texts:
        native = b.languages.get(source) == b.target.name
        if native and (found := contradiction(text[:LENGTH], b.written_in)):
            message = f"does not look like {b.written_in}: {found}"
            yield Finding("language", "warning", record_id, message, field)


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
