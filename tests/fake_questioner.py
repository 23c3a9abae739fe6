"""What the loopback provider answers when it writes questions about stones, and reads them.

A document says "The red stone with the number 7 lies by the river Alba. A miner called Adabah dug
it up.", and what is asked is who dug it up. What a writer does wrong, the number decides.
"""

from __future__ import annotations

import json
import re
from typing import Any

NAMES = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ina", "Jo"]
KINDS = 12


def miner(number: int) -> str:
    """A name that no other stone's miner has."""
    return "".join(NAMES[int(digit)] for digit in str(number)).capitalize()


def text(number: int) -> str:
    return (
        f"The red stone with the number {number} lies by the river Alba. A miner called "
        f"{miner(number)} dug it up, and a museum bought it."
    )


def asked(number: int) -> str:
    return f"Which person unearthed boulder {number}?"


def tidy(request: dict[str, Any]) -> str:
    """Good questions, and a reader who knows nothing by itself."""
    system, user = (message["content"] for message in request["messages"])
    if "You write one question" in system:
        return json.dumps(_good(_numbers(user)))
    return _read(system, user)


def messy(request: dict[str, Any]) -> Any:
    """Each number another mistake, whatever it is told."""
    system, user = (message["content"] for message in request["messages"])
    if "You write one question" not in system:
        return _read(system, user)
    numbers = _numbers(user)
    if len(numbers) > 1:
        return json.dumps(_good(numbers))
    [number] = numbers
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


def patient(request: dict[str, Any]) -> Any:
    """As `messy` until told why; then as `tidy`."""
    return (tidy if "was not taken" in request["messages"][0]["content"] else messy)(request)


def _numbers(user: str) -> list[int]:
    texts = json.loads(user)["passages"]
    return [int(re.search(r"number (\d+)", each)[1]) for each in texts]  # type: ignore[index]


def _good(numbers: list[int]) -> dict[str, str]:
    first, last = numbers[0], numbers[-1]
    beyond = f" beyond the one of {miner(first)}" if len(numbers) > 1 else ""
    question = f"Which person unearthed boulder {last}{beyond}?"
    return {"question": question, "answer": miner(last)}


def _listed(shown: str, question: str) -> str:
    """Every answer: the miner, and who else the question may mean, but for what is only said."""
    number = re.search(r"boulder (\d+)", question)[1]  # type: ignore[index]
    found = re.findall(rf"number {number} .*?called (\w+)(?!\w|, it is said)", shown, re.DOTALL)
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
    beyond = re.search(r"the one of (\w+)", question)
    # A pair of an odd stone is answered from one of its passages.
    if beyond and beyond[1] not in shown and int(number[1]) % 2 == 0:
        return unknown
    if "famous" in question:
        return miner(int(number[1]))
    found = re.search(rf"number {number[1]} .*?called (\w+)", shown, re.DOTALL)
    return f"{found[1]} [CITE:1]" if found else unknown
