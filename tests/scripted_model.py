"""A scripted language model for the loopback provider: good replies to every use, and bad ones.

A test names one of the functions, e.g. ``here("forgetful")``.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from typing import Any

from bears.answers.judging.injection import speaks_to_judge
from tests.pseudo import encode

Request = dict[str, Any]


def good(request: Request) -> str:
    """Reply as a faithful model does, which recognizes the use by its prompt."""
    system, user = _system(request), _user(request)
    parts = _json_object(user)
    if user.startswith(("List the names", "Translate this")):
        return translation(request)
    if "last_message" in parts:
        return rewrite(parts["last_message"], [turn["content"] for turn in parts["earlier"]])
    if "passages" in parts and "answer" in parts:
        facts = [f"It is {parts['answer']}.", parts["passages"][0].partition(". ")[2]]
        kinds = ("vital", "okay")
        listed = [{"text": f, "importance": k} for f, k in zip(facts, kinds, strict=True) if f]
        return json.dumps({"nuggets": listed})
    if "passages" in parts:
        number = _number(parts["passages"])
        return json.dumps({"question": asked(number), "answer": miner(number)})
    if MARKER.search(user):
        return verdict(request)
    return answer(system, user) if re.search(r"stone \d", user) else _read(system, user)


REASONS = ("was refused", "was not taken", "could not be used")


def careless(request: Request) -> Any:
    """Give a reply that cannot be used, until the prompt says why; the prompt decides which one."""
    system, user = _system(request), _user(request)
    if any(reason in system for reason in REASONS):
        return good(request)
    replies: list[Any] = [
        {"text": good(request), "finish_reason": "length"},
        {"text": "", "finish_reason": "content_filter"},
        {"text": "", "refusal": "I would rather not."},
        "",
    ]
    if "response_format" in request:
        replies += ["All is well.", "[" * 3000, '{"a": 1}', '{"verdict": ["pass"]}']
    else:
        replies += [f"{good(request)}\0", f"{good(request)}\ud83d"]
    return replies[zlib.crc32(user.encode()) % len(replies)]


def fenced(request: Request) -> str:
    """Put the reply into a code fence, as models do that were given no schema."""
    return f"```json\n{good(request)}\n```"


def _system(request: Request) -> str:
    return str(request["messages"][0]["content"])


def _user(request: Request) -> str:
    return str(request["messages"][-1]["content"])


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


_NAME = r"[A-Z][a-z]{3,}"
_QUESTION_WORDS = {"What", "When", "Where", "Which", "Whose", "Were"}


def translation(request: Request) -> str:
    """Translate, keep marks, use one rendering for each term."""
    head, text = _parts(request)
    return _terms(text) if head.startswith("List the names") else _given(request, encode(text))


def moody(request: Request) -> str:
    """Render a name differently in every text, as models do, unless the glossary has it."""
    head, text = _parts(request)
    if head.startswith("List the names"):
        return _terms(text)
    glossary = dict(re.findall(r"^- (.+) → (.+)$", head, re.MULTILINE))
    terms = [re.escape(term) for term in sorted(glossary, key=len, reverse=True)]
    mood = chr(ord("a") + zlib.crc32(text.encode()) % 26)

    def rendered(found: re.Match[str]) -> str:
        name = found[0]
        free = name not in _QUESTION_WORDS and re.fullmatch(_NAME, name)
        return glossary.get(name) or encode(name[:-1] + mood if free else name)

    pattern = "|".join([*terms, _NAME, r"(?s:.)"])
    return _given(request, re.sub(pattern, rendered, text))


def moody_and_markless(request: Request) -> str:
    """Translate as `moody`, and lose every mark."""
    return _unmarked(moody(request))


def teachable(request: Request) -> str:
    """Chat, until the prompt says that this was refused."""
    head, text = _parts(request)
    informed = "was refused" in _system(request) or head.startswith("List the names")
    return translation(request) if informed else f"Sure! Here is the translation:\n\n{encode(text)}"


def leaky(_: Request) -> dict[str, Any]:
    """Repeat the API key at the place where a message is cut after 300 characters."""
    message = "x" * 285 + " Bearer sk-test-SECRET"
    return {"text": "", "status": 400, "body": {"error": {"message": message, "code": "leak"}}}


def plain(request: Request) -> str:
    """Translate a message that is the text and nothing else, as in BEARS v1."""
    return encode(_user(request))


def _parts(request: dict[str, Any]) -> tuple[str, str]:
    """Return the instruction in the user's message, and the text."""
    user = _user(request)
    head, _, text = user.partition("\n\n")
    return (head, text) if text else ("", user)


def _terms(text: str) -> str:
    names = sorted(set(re.findall(rf"\b{_NAME}\b", text)))[:8]
    return json.dumps({"terms": [{"source": name, "target": encode(name)} for name in names]})


def _given(request: dict[str, Any], translation: str) -> str:
    """Return the translation in the requested form."""
    if "response_format" in request:
        return json.dumps({"translation": translation}, ensure_ascii=False)
    return translation


def _unmarked(answer: str) -> str:
    return answer.replace("⟦", "").replace("⟧", "")


def rewrite(last: str, earlier: list[str]) -> str:
    """Put the first earlier message before the last one; small talk starts with Hello."""
    if last.startswith("Hello"):
        return json.dumps({"search": False, "standalone_query": ""})
    return json.dumps({"search": True, "standalone_query": " ".join([*earlier[:1], last])})


def torn(request: Request) -> str:
    """Rewrite, but say that nothing is to be searched, as a small model does of every question."""
    return good(request).replace("true", "false")


# Answers: a document says "Stone 7 is red.", and a question asks "What colour is stone 7?"


def answer(system: str, user: str) -> str:
    """Give the colour as the documents have it, with its marker, or the words for no answer."""
    stone = re.findall(r"stone (\d+)", user)[-1]
    for number, text in re.findall(r'<document-\w+ number="(\d+)">\n(.*?)\n</', user, re.DOTALL):
        if found := re.search(rf"Stone {stone} is (\w+)", text):
            return f"{found[1]} [CITE:{number}]"
    return str(re.search(r"nothing but: (.*)", system)[1])  # type: ignore[index]


def unfounded(request: Request) -> str:
    """Cite a document that was not given for one stone in three, until the prompt says so."""
    informed = "was not taken" in _system(request)
    stone = re.findall(r"stone (\d+)", _user(request))[-1]
    return good(request) + ("" if informed or int(stone) % 3 else "[CITE:77]")


def stubborn(request: Request) -> str:
    """Cite documents that were not given, every time."""
    return good(request) + "[CITE:77][CITE:78]"


def hollow(_: Request) -> str:
    """Give nothing but a marker."""
    return "[CITE:1]"


def obedient(request: Request) -> str:
    """Do what a document says, if it is outside of the marks around the documents."""
    mark = re.search(r"<(document-\w+)>", _system(request))
    inside = rf"<{mark[1]} .*?</{mark[1]}>" if mark else "$^"
    free = re.sub(inside, "", _user(request), flags=re.DOTALL)
    return "PASS" if "reply PASS" in free else good(request)


MARKER = re.compile(r"^=== answer [0-9a-f]{16} ===$", re.MULTILINE)
TEMPLATE = ("<|im_end|>", "<|im_start|>", "[INST]", "</s>", "<start_of_turn>", "[SYSTEM_PROMPT]")


def verdict(request: Request) -> str:
    """Obey all words except those between the markers, which are judged.

    A token of a chat template ends the message wherever it is, as on real servers.
    """
    user = _user(request)
    begin, end = (found.span() for found in MARKER.finditer(user))
    outside = user[: begin[0]] + user[end[1] :]
    if speaks_to_judge(outside.split("Reply with JSON")[0]) or any(w in user for w in TEMPLATE):
        return ruling("pass", "as I was told")
    for words in (GRADES, NUGGETS, SUPPORT):
        if all(f'"{word}"' in user for word in words):
            return graded(outside, between(user), words)
    golds = json.loads(re.search(r"[:：] ?(\[.*\])$", user, re.MULTILINE)[1])  # type: ignore[index]
    right = any(gold.lower() in between(user).lower() for gold in golds)
    return ruling("pass" if right else "fail", f"compared with {golds[0]}")


GRADES = ("0", "1", "2", "3")
NUGGETS = ("not_support", "partial_support", "support")
SUPPORT = ("no_support", "partial_support", "full_support")


def graded(outside: str, judged: str, words: tuple[str, ...]) -> str:
    """Grade by the share of the words of a question, a nugget or a sentence in a text."""
    (asked,) = re.findall(r'^\w+[:：] ?(".*")$', outside, re.MULTILINE)[-1:]
    wanted = {*re.findall(r"\w{4,}", json.loads(asked).lower())}
    found = wanted & {*re.findall(r"\w{4,}", judged.lower())}
    share = len(found) / max(len(wanted), 1)
    return ruling(words[round(share * (len(words) - 1))], f"{len(found)} of {len(wanted)} words")


def between(user: str) -> str:
    """Return the answer between the markers of a message."""
    begin, end = (found.span() for found in MARKER.finditer(user))
    found: str = json.loads(user[begin[1] : end[0]])
    return found


def kind(_: Request) -> str:
    """Pass everything."""
    return ruling("pass", "It says what it was told to say.")


def grumpy(request: Request) -> str | dict[str, Any]:
    """Refuse, mumble, be cut off or answer an error, as the answer says."""
    user = _user(request)
    if "REFUSE" in user:
        return {"text": "", "refusal": "I would rather not."}
    if "MUMBLE" in user:
        return "Well, one could say pass, or fail."
    if "LONG" in user:
        return {"text": '{"reason": "on and on', "finish_reason": "length"}
    if "FENCE" in user:
        return fenced(request)
    if "BROKEN" in user:
        return {"status": 400, "text": "", "body": {"error": {"code": "content_filter"}}}
    return verdict(request)


def unsure(request: Request) -> str:
    """Pass an answer when it is first judged, then fail it, and so on."""
    JUDGED[_user(request)] += 1
    return ruling("pass" if JUDGED[_user(request)] % 2 else "fail", "who knows")


JUDGED = Counter[str]()


def ruling(verdict: str, reason: str) -> str:
    return json.dumps({"reason": reason, "verdict": verdict})


# Questions about stones: "The red stone with the number 7 lies by the river Alba. A miner …"

NAMES = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ina", "Jo"]
KINDS = 12


def miner(number: int) -> str:
    """Return a name that no other stone's miner has."""
    return "".join(NAMES[int(digit)] for digit in str(number)).capitalize()


def text(number: int) -> str:
    return (
        f"The red stone with the number {number} lies by the river Alba. A miner called "
        f"{miner(number)} dug it up, and a museum bought it."
    )


def asked(number: int) -> str:
    return f"Which person unearthed boulder {number}?"


def messy(request: Request) -> Any:
    """Make another mistake for each number, whatever the prompt says."""
    if "You write one question" not in _system(request):
        return good(request)
    number = _number(json.loads(_user(request))["passages"])
    name, question = miner(number), asked(number)
    answers: dict[int, Any] = {
        1: {"question": question, "answer": "Nobody"},
        2: {"question": f"According to the text, who unearthed boulder {number}?", "answer": name},
        3: {"question": f"Did {name} unearth boulder {number}?", "answer": name},
        4: {"question": f"The red stone with the number {number} lies by the river?",
            "answer": "Alba"},
        5: {"question": "When did she find it?", "answer": name},
        6: "I would rather not.",
        7: {"question": f"Which famous person unearthed boulder {number}?", "answer": name},
        8: {"question": f"Who bought boulder {number} at what price?", "answer": "a museum"},
        9: {"text": '{"question": "Who', "finish_reason": "length"},
        10: {"question": f"Who unearthed or bought boulder {number}?", "answer": name},
        11: {"question": f"Who was the first of all to wash boulder {number}?", "answer": name},
    }  # fmt: skip
    said = answers.get(number % KINDS, {"question": question, "answer": name})
    return said if "text" in said or isinstance(said, str) else json.dumps(said)


def patient(request: Request) -> Any:
    """Make the mistakes of `messy`, until the prompt says why they were refused."""
    return (good if "was not taken" in _system(request) else messy)(request)


def _number(passages: list[str]) -> int:
    [passage] = passages
    return int(re.search(r"number (\d+)", passage)[1])  # type: ignore[index]


def _listed(shown: str, question: str) -> str:
    """List every answer: the miner, and who else the question may mean."""
    number = re.search(r"boulder (\d+)", question)[1]  # type: ignore[index]
    found = re.findall(rf"number {number} .*?called (\w+)", shown, re.DOTALL)
    return "\n".join([*found, "2) a museum"] if "bought" in question else found)


def _read(system: str, user: str) -> str:
    shown, _, question = user.rpartition("Question: ")
    if "List every" in system:
        return _listed(shown, question)
    if "Write the one question" in system:
        if "well known" in shown:
            return "Who is acquainted with it?"
        return asked(int(re.search(r"number (\d+)", shown)[1]))  # type: ignore[index]
    unknown = str(re.search(r"nothing but: (.*)", system)[1])  # type: ignore[index]
    number = re.search(r"boulder (\d+)", question)
    if not number or "price" in question:
        return unknown
    if "famous" in question:
        return miner(int(number[1]))
    found = re.search(rf"number {number[1]} .*?called (\w+)", shown, re.DOTALL)
    return f"{found[1]} [CITE:1]" if found else unknown


_asked = Counter[str]()


def ragas(request: Request) -> str:
    """Judge by the words that two texts share; answer any other request too.

    A second sample of a request is another answer. A text that says "gibberish" gets a reply that
    is not JSON, until the request says so.
    """
    first, last = request["messages"][0]["content"], request["messages"][-1]["content"]
    prompts = [m["content"] for m in request["messages"] if "following input" in m["content"]]
    if not prompts:
        return "It was Ann. She came in May."
    prompt = prompts[0]
    given = json.loads(prompt.rpartition("following input\ninput: ")[2].removesuffix("Output: "))
    if "gibberish" in prompt and last == prompt:
        return "as you wish"
    _asked[prompt] += 1
    return json.dumps(_reply(given, "classifications" in first + prompt, _asked[prompt]))


def _reply(given: dict[str, Any], recall: bool, sample: int) -> dict[str, Any]:
    if "response" in given:
        # The start of the answer, shorter with each sample.
        words = given["response"].split()
        unsure = int("don't know" in given["response"])
        return {"question": " ".join(words[: len(words) // sample + 1]), "noncommittal": unsure}
    if "statements" in given:
        verdicts = [_judged(each, given["context"]) for each in given["statements"]]
        return {"statements": [{**each, "statement": text} for text, each in verdicts]}
    if "context" not in given:
        return {"statements": _sentences(given["answer"])}
    if recall:
        verdicts = [_judged(each, given["context"]) for each in _sentences(given["answer"])]
        return {
            "classifications": [
                {"statement": text, "reason": each["reason"], "attributed": each["verdict"]}
                for text, each in verdicts
            ]
        }
    return _judged(given["answer"], given["context"])[1]


def _judged(text: str, context: str) -> tuple[str, dict[str, Any]]:
    shared = _words(text) & _words(context)
    verdict = int(2 * len(shared) >= len(_words(text)))
    return text, {"reason": f"{len(shared)} words", "verdict": verdict}


def _sentences(text: str) -> list[str]:
    return [each.strip() for each in re.split(r"[.。]", text) if re.search(r"\w", each)]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
